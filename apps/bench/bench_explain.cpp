#include "apps/bench/bench_explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;
using runtime::CounterReading;
using runtime::HardwareCounts;

struct NamedCounter {
  const char* name;
  const char* key;
  CounterReading HardwareCounts::*reading;
};
constexpr NamedCounter counters[] = {{"instructions", "instructions", &HardwareCounts::instructions},
                                     {"cycles", "cycles", &HardwareCounts::cycles},
                                     {"LLC misses", "llc_misses", &HardwareCounts::cache_misses},
                                     {"memory bytes", "memory_bytes", &HardwareCounts::memory_bytes}};

constexpr double line_bytes = 64;

}  // namespace

Roofline roofline_of(const KernelBytes& kernel, double triad, double read, double peak_gflops) {
  Roofline roofline;
  roofline.triad = triad;
  roofline.read = read;
  roofline.peak_gflops = peak_gflops;
  const double write_time = std::max(0.0, 3 / triad - 2 / read);  // ns a byte
  roofline.write = write_time > 0 ? 1 / write_time : std::numeric_limits<double>::infinity();
  roofline.memory_gbs = kernel.of_core / ((kernel.of_core - kernel.written) / read + kernel.written * write_time);
  roofline.memory_gflops = roofline.memory_gbs * kernel.flops / kernel.of_core;
  return roofline;
}

std::string explain(const DslashTiming& t, const Roofline* roofline) {
  std::vector<std::string> parts{fmt::format("{:.0f} flop and {:.0f} B per site ({:.0f} written; {:.0f} of the core), fields {:.1f} MB",
                                             t.kernel.flops, t.kernel.bytes, t.kernel.written, t.kernel.of_core, t.kernel.resident * 1e-6)};
  if (roofline != nullptr) {
    const bool computes = roofline->gflops() > 0;
    parts.push_back(fmt::format("{:.0f} % of the cache-aware roofline of {:.1f} {} (there triad {:.1f}, read {:.1f} GB/s)",
                                100 * roofline->fraction(t), computes ? roofline->gflops() : roofline->memory_gbs,
                                computes ? "GFLOP/s" : "GB/s", roofline->triad, roofline->read));
    if (computes && roofline->peak_gflops > 0)
      parts.push_back(
          fmt::format("{:.0f} % of the arithmetic peak of {:.1f}", 100 * t.best_gflops / roofline->peak_gflops, roofline->peak_gflops));
  }
  const HardwareCounts& c = t.counts_a_site;
  if (c.instructions.available()) parts.push_back(fmt::format("{:.1f} instructions per site", c.instructions.value));
  if (c.cycles.available()) parts.push_back(fmt::format("{:.1f} cycles", c.cycles.value));
  if (c.cache_misses.available()) parts.push_back(fmt::format("LLC misses {:.1f} B", line_bytes * c.cache_misses.value));
  if (c.memory_bytes.available()) parts.push_back(fmt::format("from and to memory {:.1f} B", c.memory_bytes.value));
  if (t.pages.available()) parts.push_back(fmt::format("{:.0f} % on huge pages", 100 * t.pages.fraction()));
  return fmt::format("{}", fmt::join(parts, "; "));
}

void explain(Json& row, const DslashTiming& t, const Roofline* roofline) {
  row["flops_per_site"] = t.kernel.flops;
  row["bytes_per_site"] = t.kernel.bytes;
  row["core_bytes_per_site"] = t.kernel.of_core;
  row["bytes_written_per_site"] = t.kernel.written;
  row["fields_bytes"] = t.kernel.resident;
  row["cache_aware"] = nullptr;
  if (roofline != nullptr)
    row["cache_aware"] = {{"triad_gbs", roofline->triad},
                          {"read_gbs", roofline->read},
                          {"memory_gbs", roofline->memory_gbs},
                          {"memory_gflops", roofline->memory_gflops},
                          {"peak_gflops", roofline->peak_gflops > 0 ? Json(roofline->peak_gflops) : Json()},
                          {"gflops", roofline->gflops()},
                          {"fraction", roofline->fraction(t)}};
  for (const NamedCounter& counter : counters) {
    const CounterReading& reading = t.counts_a_site.*counter.reading;
    row[std::string(counter.key) + "_per_site"] = reading.available() ? Json(reading.value) : Json();
  }
  row["huge_page_fraction"] = t.pages.available() ? Json(t.pages.fraction()) : Json();
}

namespace {

Roofline measure_roofline(const BenchOptions& options, const runtime::Session& session, const BenchMemory& memory,
                          const DslashTiming& timing, Precision precision) {
  constexpr int arrays = 3, few_megabytes = 64;
  const double megabytes = timing.kernel.resident * 1e-6 / (arrays * timing.owners);
  // A pass over little takes microseconds: then more of them.
  const int repetitions = megabytes < few_megabytes ? std::max(options.repetitions, 20) : options.repetitions;
  const BenchMemory beside = measure_memory(std::min(megabytes, options.array_megabytes), repetitions, session);
  return roofline_of(timing.kernel, beside.owners_triad, beside.owners_read,
                     precision == Precision::double_ ? memory.owners_peak.double_ : memory.owners_peak.single);
}

}  // namespace

std::string explain_measured(Json& row, const BenchOptions& options, const runtime::Session& session, const BenchMemory& memory,
                             const DslashTiming& timing, Precision precision) {
  std::optional<Roofline> roofline;
  if (session.gpu_count() == 0) roofline = measure_roofline(options, session, memory, timing, precision);
  const Roofline* known = roofline ? &*roofline : nullptr;
  explain(row, timing, known);
  return explain(timing, known);
}

std::string describe_counters(const HardwareCounts& counts) {
  std::vector<std::string> known, missing;
  for (const NamedCounter& counter : counters) {
    const CounterReading& reading = counts.*counter.reading;
    if (reading.available()) known.push_back(counter.name);
    else missing.push_back(fmt::format("{} ({})", counter.name, reading.unavailable));
  }
  const std::string there = known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "));
  return missing.empty() ? there : fmt::format("{}; unavailable: {}", there, fmt::join(missing, ", "));
}

Json counters_json(const HardwareCounts& counts) {
  Json json;
  for (const NamedCounter& counter : counters) {
    const CounterReading& reading = counts.*counter.reading;
    json[counter.key] = reading.available() ? Json() : Json("unavailable: " + reading.unavailable);
  }
  return json;
}

BenchMemory measure_for_rows(Json& result, const BenchOptions& options, const std::string& devices, const runtime::Session& session,
                             const runtime::HardwareCounters& counters, const HardwareCounts& at_start) {
  BenchMemory memory = measure_memory(options.array_megabytes, options.repetitions, session);
  measure_peak(memory, options.repetitions, session);
  const HardwareCounts counted = counters.read() - at_start;
  result["machine"] = machine_facts(session);
  result["stream"] = stream_json(memory);
  result["triad_gbs"][devices] = memory.owners_triad;
  result["counters"] = counters_json(counted);
  if (options.json) return memory;
  print_stream(memory);
  fmt::print("hardware counters: {}\n", describe_counters(counted));
  return memory;
}

}  // namespace quarkstar::app
