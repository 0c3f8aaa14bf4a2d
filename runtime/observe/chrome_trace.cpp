#include "runtime/observe/chrome_trace.hpp"

#include "runtime/system/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace quarkstar::runtime {
namespace {

/// The array of events, as text.
class Trace {
 public:
  void add_row(int row, const std::string& name) {
    begin();
    fmt::format_to(end_, "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", row, name);
  }
  void place_row(int row, int place) {
    begin();
    fmt::format_to(end_, "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":{},\"args\":{{\"sort_index\":{}}}}}", row, place);
  }
  void add(const Event& event, int row, double origin) {
    begin();
    fmt::format_to(end_, "{{\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{",
                   event.name, name_of(event.kind), row, event.begin_us - origin, event.end_us - event.begin_us);
    if (event.codelets > 1) fmt::format_to(end_, "\"kernels\":{},", event.codelets);
    fmt::format_to(end_, "\"block\":{},\"flops\":{:.0f},\"bytes\":{:.0f}}}}}", event.block, event.cost.flops, event.cost.bytes);
  }
  std::string text() { return text_ + "\n]}\n"; }

 private:
  void begin() {
    if (!first_) text_ += ",\n";
    first_ = false;
  }

  std::string text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  std::back_insert_iterator<std::string> end_ = std::back_inserter(text_);
  bool first_ = true;
};

/// When the first event began.
double begin_of(const Events& events) {
  double origin = 0;
  bool found = false;
  for (int w = 0; w < events.workers(); ++w)
    for (const Event& event : events.of_worker(w))
      if (!found || event.begin_us < origin) {
        origin = event.begin_us;
        found = true;
      }
  return origin;
}

}  // namespace

void write_chrome_trace(const Session& session, const Events& events, const std::string& path) {
  const double origin = begin_of(events);
  const int workers = events.workers();
  const auto has_side_lane = [&](int w) {
    const std::vector<Event>& all = events.of_worker(w);
    return std::any_of(all.begin(), all.end(), [](const Event& event) { return event.side; });
  };
  Trace trace;
  for (int w = 0; w < workers; ++w) {
    trace.add_row(w, session.worker(w).name);
    const int side = workers + w;
    if (has_side_lane(w)) {
      trace.add_row(side, session.worker(w).name + " exchange");
      trace.place_row(w, 2 * w);
      trace.place_row(side, 2 * w + 1);
    }
    for (const Event& event : events.of_worker(w))
      if (!event.skipped) trace.add(event, event.side ? side : w, origin);
  }
  AtomicFile file(path);
  file.append(trace.text());
  file.commit();
}

}  // namespace quarkstar::runtime
