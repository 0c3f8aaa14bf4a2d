#pragma once

namespace quarkstar::app::lab {

/// The page's script: Gantt chart and block map of the traced runs on two canvases with one time axis, and tables that sort by a click.
/// It reads the element #traces, JSON: [{name, workers, names, groups, group, blocks, tasks: [[worker, block, name, begin, duration], ...]
/// in microseconds, all}]. #cell=2&from=10&to=90 in the address chooses a run and a piece of its time; #selftest checks the charts, and
/// writes "passed" or what failed to the attribute data-selftest of the document.
inline constexpr char page_script[] = R"js(
(() => {
  'use strict';
  for (const head of document.querySelectorAll('table.sorts th')) {
    head.tabIndex = 0;
    const sort = () => {
      const table = head.closest('table'), at = head.cellIndex, rows = [...table.rows].slice(1);
      const down = head.dataset.order !== 'up';
      for (const other of table.querySelectorAll('th')) delete other.dataset.order;
      head.dataset.order = down ? 'up' : 'down';
      const value = row => { const text = row.cells[at].textContent, number = parseFloat(text); return isNaN(number) ? text : number; };
      const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1;
      rows.sort((a, b) => (down ? 1 : -1) * compare(value(a), value(b)));
      for (const row of rows) row.parentNode.appendChild(row);
    };
    head.addEventListener('click', sort);
    head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
  }

  const source = document.getElementById('traces');
  const traces = source ? JSON.parse(source.textContent) : [];
  const gantt = document.getElementById('gantt'), map = document.getElementById('map'), strip = document.getElementById('strip');
  const choice = document.getElementById('trace-choice'), note = document.getElementById('trace-note');
  const legend = document.getElementById('trace-legend'), owners = document.getElementById('worker-legend'), tip = document.getElementById('trace-tip');
  const left = 92, right = 26, axis = 38, narrow = 0.4;
  let at = 0, from = 0, to = 1, drawn = 0, picked = null;

  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const current = () => traces[at];
  const whole = trace => {
    let end = 0;
    for (const task of trace.tasks) end = Math.max(end, task[3] + task[4]);
    return [trace.tasks.length ? trace.tasks[0][3] : 0, Math.max(end, 1e-3)];
  };
  const round_step = raw => {
    const power = 10 ** Math.floor(Math.log10(raw)), part = raw / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
  };

  function prepare(canvas, height) {
    const width = canvas.parentElement.clientWidth, scale = window.devicePixelRatio || 1;
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.clearRect(0, 0, width, height);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    return [pen, width];
  }

  // Rows of bars: one row per worker (Gantt) or a block (map).
  function rows_chart(canvas, labels, row_height, row_of, colour_of, text_of) {
    const trace = current(), rows = labels.length, [pen, width] = prepare(canvas, rows * row_height + axis);
    const place = time => left + (time - from) / (to - from) * (width - left - right);
    const every = Math.max(1, Math.ceil(14 / row_height));
    pen.fillStyle = colour('--soft');
    pen.textAlign = 'right';
    for (let row = 0; row < rows; row += every) pen.fillText(labels[row], left - 8, Math.max(7, (row + 0.5) * row_height));
    const step = round_step((to - from) / Math.max(2, width / 130)), unit = step >= 1000 ? 1000 : 1;
    pen.textAlign = 'center';
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
      pen.fillStyle = colour('--line');
      pen.fillRect(place(tick), 0, 1, rows * row_height + 4);
      pen.fillStyle = colour('--soft');
      pen.fillText(+(tick / unit).toPrecision(6), place(tick), rows * row_height + 13);
    }
    pen.fillText(unit === 1000 ? 'milliseconds' : 'microseconds', (left + width - right) / 2, rows * row_height + 30);
    const gap = row_height >= 12 ? 3 : row_height >= 6 ? 1 : 0;
    let count = 0;
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width - left - right, rows * row_height);
    pen.clip();
    pen.textAlign = 'left';
    for (const task of trace.tasks) {
      if (task[3] > to || task[3] + task[4] < from) continue;
      const row = row_of(task);
      if (row < 0) continue;
      ++count;
      const x = place(task[3]), w = Math.max(narrow, place(task[3] + task[4]) - x);
      pen.fillStyle = colour_of(task);
      pen.globalAlpha = picked && picked !== task ? 0.45 : 1;
      pen.fillRect(x, row * row_height + gap, w, row_height - 2 * gap);
      const begin = Math.max(x, left), room = Math.min(x + w, width - right) - begin - 8;
      const text = room > 30 && row_height > 14 ? text_of(task).find(name => pen.measureText(name).width < room) : '';
      if (text) {
        pen.fillStyle = colour('--bg');
        pen.fillText(text, begin + 4, (row + 0.5) * row_height);
      }
    }
    pen.restore();
    return count;
  }

  const palette = () => [0, 1, 2, 3, 4, 5, 6, 7].map(i => colour('--c' + i));
  const block_rows = trace => new Map(trace.blocks.map((block, row) => [block, row]));
  const map_row_height = trace => Math.max(3, Math.min(22, Math.floor(420 / Math.max(1, trace.blocks.length))));

  function draw() {
    const trace = current(), colours = palette(), rows = block_rows(trace);
    const gantt_row = Math.max(14, Math.min(30, Math.floor(480 / Math.max(1, trace.workers.length))));
    drawn = rows_chart(gantt, trace.workers, gantt_row, task => task[0], task => colours[trace.group[task[2]] % 8],
                       task => [trace.names[task[2]], trace.groups[trace.group[task[2]]], trace.groups[trace.group[task[2]]].split(' ').pop()]);
    rows_chart(map, trace.blocks.map(block => 'block ' + block), map_row_height(trace), task => rows.has(task[1]) ? rows.get(task[1]) : -1,
               task => colours[task[0] % 8], task => [trace.workers[task[0]]]);
    const [pen, width] = prepare(strip, 26), [begin, end] = whole(trace);
    const place = time => left + (time - begin) / (end - begin) * (width - left - right);
    pen.fillStyle = colour('--soft');
    pen.textAlign = 'right';
    pen.fillText('all', left - 8, 13);
    for (const task of trace.tasks) {
      pen.fillStyle = colours[trace.group[task[2]] % 8];
      pen.fillRect(place(task[3]), 6, Math.max(narrow, task[4] / (end - begin) * (width - left - right)), 14);
    }
    pen.strokeStyle = colour('--fg');
    pen.lineWidth = 2;
    pen.strokeRect(place(from), 2, Math.max(3, place(to) - place(from)), 22);
  }

  let waiting = false;
  function show(new_from, new_to) {
    const [begin, end] = whole(current());
    const span = Math.min(Math.max(new_to - new_from, 0.5), end - begin);
    from = Math.min(Math.max(new_from, begin), end - span);
    to = from + span;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }
  const reset = () => show(...whole(current()));
  const zoom = (factor, around = 0.5 * (from + to)) => show(around - (around - from) * factor, around + (to - around) * factor);
  const move = share => show(from + share * (to - from), to + share * (to - from));

  function choose(index) {
    at = index;
    picked = null;
    choice.value = String(index);
    const trace = current();
    note.textContent = trace.tasks.length < trace.all
      ? trace.tasks.length + ' consecutive tasks from the middle of ' + trace.all : 'all ' + trace.all + ' tasks';
    const entries = names => names.map((name, i) => {
      const entry = document.createElement('span'), box = document.createElement('i');
      entry.className = 't' + i % 8;
      entry.append(box, name);
      return entry;
    });
    legend.replaceChildren(...entries(trace.groups));
    owners.replaceChildren(...entries(trace.workers));
    reset();
  }

  const time_at = event => {
    const box = gantt.getBoundingClientRect();
    return from + (event.clientX - box.left - left) / (box.width - left - right) * (to - from);
  };

  function task_at(event) {
    const trace = current(), in_map = event.currentTarget === map, box = event.currentTarget.getBoundingClientRect(), rows = block_rows(trace);
    const count = in_map ? trace.blocks.length : trace.workers.length, height = (box.height - axis) / Math.max(1, count);
    const row = Math.floor((event.clientY - box.top) / height), time = time_at(event), slack = (to - from) / box.width;
    let best = null;
    for (const task of trace.tasks) {
      if ((in_map ? rows.get(task[1]) : task[0]) !== row) continue;
      if (task[3] - slack <= time && time <= task[3] + task[4] + slack) best = task;
    }
    return best;
  }

  function wire(canvas) {
    let drag = null;
    canvas.addEventListener('wheel', event => {
      if (document.activeElement !== canvas && !event.ctrlKey) return;  // else the page scrolls
      event.preventDefault();
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), time_at(event));
    }, { passive: false });
    canvas.addEventListener('pointerdown', event => { drag = { x: event.clientX, from, to }; try { canvas.setPointerCapture(event.pointerId); } catch (none) { } });
    canvas.addEventListener('pointerup', () => { drag = null; });
    canvas.addEventListener('pointermove', event => {
      if (drag) {
        const shift = (drag.x - event.clientX) / (canvas.clientWidth - left - right) * (drag.to - drag.from);
        show(drag.from + shift, drag.to + shift);
        return;
      }
      const task = task_at(event), trace = current();
      if (task !== picked) { picked = task; draw(); }
      tip.hidden = !task;
      if (!task) return;
      tip.textContent = trace.names[task[2]] + (task[1] >= 0 ? ', block ' + task[1] : '') + ', ' + trace.workers[task[0]] + ': ' +
        task[4].toFixed(1) + ' us from ' + task[3].toFixed(1) + ' us';
      tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + 'px';
      tip.style.top = event.clientY + 16 + 'px';
    });
    canvas.addEventListener('pointerleave', () => { tip.hidden = true; if (picked) { picked = null; draw(); } });
    canvas.addEventListener('dblclick', reset);
    canvas.addEventListener('keydown', event => {
      const act = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': reset, ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2) }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  function from_address() {
    const words = new URLSearchParams(location.hash.slice(1));
    if (words.has('cell')) choose(Math.min(Math.max(0, parseInt(words.get('cell')) || 0), traces.length - 1));
    if (words.has('from') && words.has('to')) show(parseFloat(words.get('from')), parseFloat(words.get('to')));
    draw();
  }

  // How many colours a canvas shows, background apart.
  function colours_of(canvas) {
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    const pen = copy.getContext('2d', { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const seen = new Set(), data = pen.getImageData(0, 0, copy.width, copy.height).data;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
  }

  function selftest() {
    const wrong = [];
    const expect = (what, good) => { if (!good) wrong.push(what); };
    const near = (a, b) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a));
    for (let i = 0; i < traces.length; ++i) {
      choose(i);
      draw();
      const trace = current(), [begin, end] = whole(trace), label = trace.name + ': ';
      expect(label + 'all tasks are drawn', drawn === trace.tasks.length);
      expect(label + 'the Gantt chart is not empty', colours_of(gantt) > 3);
      expect(label + 'the map is not empty', trace.blocks.length === 0 || colours_of(map) > 2);
      gantt.focus();
      const box = gantt.getBoundingClientRect(), x = Math.round(box.left + left + 0.25 * (box.width - left - right));
      const under = time_at({ clientX: x }), all = drawn;
      for (let turn = 0; turn < 8; ++turn)
        gantt.dispatchEvent(new WheelEvent('wheel', { deltaY: -200, clientX: x, clientY: box.top + 5, cancelable: true }));
      draw();
      expect(label + 'the wheel zooms in', to - from < 0.05 * (end - begin));
      expect(label + 'the wheel keeps the time under the pointer', near(time_at({ clientX: x }), under));
      expect(label + 'fewer tasks are seen after zooming', all < 50 || drawn < all);
      const before = [from, to];
      gantt.dispatchEvent(new PointerEvent('pointerdown', { clientX: x, clientY: box.top + 5, pointerId: 1 }));
      gantt.dispatchEvent(new PointerEvent('pointermove', { clientX: x - 50, clientY: box.top + 5, pointerId: 1 }));
      gantt.dispatchEvent(new PointerEvent('pointerup', { pointerId: 1 }));
      expect(label + 'dragging moves', from > before[0] && near(to - from, before[1] - before[0]));
      map.dispatchEvent(new KeyboardEvent('keydown', { key: '-', cancelable: true }));
      expect(label + 'the key - zooms out', to - from > before[1] - before[0]);
      gantt.dispatchEvent(new MouseEvent('dblclick'));
      expect(label + 'a double click shows all', near(from, begin) && near(to, end));
    }
    const table = document.querySelector('table.sorts');
    if (table && table.rows.length > 2) {
      const head = table.rows[0].cells[1], column = () => [...table.rows].slice(1).map(row => parseFloat(row.cells[1].textContent));
      head.click();
      const up = column();
      expect('a click sorts the table', up.every((value, i) => i === 0 || !(value < up[i - 1])));
    }
    document.documentElement.dataset.selftest = wrong.length ? 'failed: ' + wrong.join('; ') : 'passed';
  }

  if (traces.length) {
    for (const [index, trace] of traces.entries()) choice.add(new Option(trace.name, String(index)));
    choice.addEventListener('change', () => choose(parseInt(choice.value)));
    for (const [id, act] of [['zoom-in', () => zoom(0.5)], ['zoom-out', () => zoom(2)], ['zoom-all', reset]])
      document.getElementById(id).addEventListener('click', act);
    wire(gantt);
    wire(map);
    strip.addEventListener('pointerdown', event => {
      const [begin, end] = whole(current()), box = strip.getBoundingClientRect();
      const time = begin + (event.clientX - box.left - left) / (box.width - left - right) * (end - begin);
      show(time - 0.5 * (to - from), time + 0.5 * (to - from));
    });
    window.addEventListener('resize', draw);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    window.addEventListener('hashchange', from_address);
    choose(0);
    from_address();
  }
  if (location.hash === '#selftest') selftest();
})();
)js";

}  // namespace quarkstar::app::lab
