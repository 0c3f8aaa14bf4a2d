#include "runtime/observe/chrome_trace.hpp"

#include <fmt/format.h>

#include <iterator>

#include "runtime/atomic_file.hpp"

namespace quarkstar::runtime {

void write_chrome_trace(const Session& session, const Events& events, const std::string& path) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  auto end = std::back_inserter(text);
  double origin = 0;
  bool have_origin = false;
  for (int w = 0; w < events.workers(); ++w)
    for (const Event& event : events.of_worker(w))
      if (!have_origin || event.begin_us < origin) origin = event.begin_us, have_origin = true;
  for (int w = 0; w < events.workers(); ++w) {
    fmt::format_to(end, "{}{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
                   w == 0 ? "" : ",\n", w, session.worker(w).name);
    for (const Event& event : events.of_worker(w))
      if (!event.skipped)
        fmt::format_to(end,
                       ",\n{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},"
                       "\"args\":{{\"block\":{},\"flops\":{:.0f},\"bytes\":{:.0f}}}}}",
                       event.name, w, event.begin_us - origin, event.end_us - event.begin_us, event.block,
                       event.cost.flops, event.cost.bytes);
  }
  text += "\n]}\n";
  AtomicFile file(path);
  file.append(text);
  file.commit();
}

}  // namespace quarkstar::runtime
