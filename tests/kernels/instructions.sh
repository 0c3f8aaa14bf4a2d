#!/usr/bin/env bash
# instructions.sh PROGRAM ARCH COMPILER [write]
# Counts the instructions of the hot kernels of one architecture and compares them with instructions.txt: a slower kernel is seen
# whatever else the machine does. write: prints the lines for that file, and an empty line and those for spills.txt, instead.
# PROGRAM: count_instructions. COMPILER: as in the first line of instructions.txt.
# scalar, avx2, vsx: callgrind. avx512, which callgrind does not know: one instruction at a time (ptrace). There also: stores and loads
# of whole registers in the stack frame on a site's path, compared with spills.txt.
set -euo pipefail
export LC_ALL=C
program=$1 arch=$2 compiler=$3 mode=${4:-compare}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
processor=$(uname -m)  # compilers make other instructions of the same architecture (scalar) for another one
tolerance=2  # percent, of instructions and of spills: the compiler's minor releases

skip() { echo "SKIPPED instructions of $arch: $*"; exit 77; }
"$program" list | grep -qx "$arch" || skip "not an architecture of this machine"
recorded_with=$(sed -n 's/^# compiler //p' "$here/instructions.txt")
[ "$mode" = write ] || [ "$compiler" = "$recorded_with" ] || skip "recorded with $recorded_with, built with $compiler"
[ "$mode" = write ] || grep -q "^$processor $arch " "$here/instructions.txt" || skip "instructions.txt has no lines for it on $processor"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" "$arch" sites > "$work/sites"

if [ "$arch" = avx512 ]; then
  "$program" "$arch" step > "$work/steps" || skip "no process here may trace another (ptrace)"
  awk 'NR == FNR { sites[++n] = $1; $1 = ""; name[n] = substr($0, 2); next }
       /^kernel / { k++; next }
       { count[k] += $2 }
       END { for (i = 1; i <= n; i++) printf "%.2f %s\n", count[i] / sites[i], name[i] }' "$work/sites" "$work/steps" > "$work/counts"
else
  command -v valgrind > /dev/null || skip "no valgrind"
  # A dump at each call: file k + 1 has what happened from call k to the next one.
  valgrind --tool=callgrind --dump-before='measured*' --callgrind-out-file="$work/dump" \
    "$program" "$arch" run > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  while read -r sites name; do
    call=$((${call:-0} + 2))
    few=$(sed -n 's/^summary: //p' "$work/dump.$call") more=$(sed -n 's/^summary: //p' "$work/dump.$((call + 1))")
    awk -v cost=$((more - few)) -v sites="$sites" -v name="$name" 'BEGIN { printf "%.2f %s\n", cost / sites, name }'
  done < "$work/sites" > "$work/counts"
fi

if [ "$arch" = avx512 ]; then
  # The disassembly of what was executed: whole registers whose memory operand is in the stack frame. Scalars that are spread over a
  # register (broadcast, {1to16}) are arguments, not spills.
  objdump -d --no-show-raw-insn "$program" |
    awk 'NR == FNR { if ($1 == "kernel") { n++; $1 = ""; name[n] = substr($0, 2) } else { at[$1] = at[$1] " " n ":" $2 } next }
         { address = $1; sub(/:$/, "", address) }
         !(address in at) || !/%zmm/ || !/\(%rsp[,)]|-0x[0-9a-f]+\(%rbp\)/ || /broadcast|\{1to/ { next }
         { is_store = /,-?(0x[0-9a-f]+)?\(%r[sb]p[^)]*\)(\{%k[0-7]\})?$/
           m = split(at[address], parts, " ")
           for (i = 1; i <= m; i++) { split(parts[i], part, ":"); if (is_store) stores[part[1]] += part[2]; else loads[part[1]] += part[2] } }
         END { for (i = 1; i <= n; i++) printf "%d %d %s\n", stores[i], loads[i], name[i] }' "$work/steps" - > "$work/spills_of_all"
  # Between the two runs lie two more outer sites.
  awk '/ (wilson|staggered) / { s = $1 / 2; l = $2 / 2; $1 = $2 = ""; printf "%d %d %s\n", s, l, substr($0, 3) }' "$work/spills_of_all" > "$work/spills"
fi

if [ "$mode" = write ]; then
  sed "s/^/$processor $arch /" "$work/counts"
  [ ! -f "$work/spills" ] || { echo; cat "$work/spills"; }
  exit
fi

status=0
awk -v processor="$processor" -v arch="$arch" -v tolerance=$tolerance '
  NR == FNR { if ($1 == processor && $2 == arch) { count = $3; $1 = $2 = $3 = ""; recorded[substr($0, 4)] = count } next }
  { count = $1; $1 = ""; name = substr($0, 2) }
  !(name in recorded) { print name ": no line in instructions.txt"; bad = 1; next }
  { change = 100 * (count / recorded[name] - 1)
    printf "%-45s %8.2f instructions per site, recorded %8.2f (%+.1f %%)\n", name, count, recorded[name], change
    if (change > tolerance) { print "  slower than recorded"; bad = 1 }
    if (change < -tolerance) print "  better than recorded: record it (record.sh)" }
  END { exit bad }' "$here/instructions.txt" "$work/counts" || status=1
if [ -f "$work/spills" ]; then
  awk -v most=$((100 + tolerance)) '
    NR == FNR { if (/^[0-9]/) { stores = $1; loads = $2; $1 = $2 = ""; most_stores[substr($0, 3)] = stores; most_loads[substr($0, 3)] = loads } next }
    { stores = $1; loads = $2; $1 = $2 = ""; name = substr($0, 3) }
    { printf "%-45s %d stores, %d loads in the stack frame an outer site, recorded %d, %d\n", name, stores, loads, most_stores[name], most_loads[name]
      if (100 * stores > most * most_stores[name] || 100 * loads > most * most_loads[name]) { print "  spills more than recorded"; bad = 1 } }
    END { exit bad }' "$here/spills.txt" "$work/spills" || status=1
fi
exit $status
