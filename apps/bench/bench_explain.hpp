#pragma once
// Why a kernel is as fast as it is: its bytes and flops, the roofline over them, and what hardware counters saw.
#include "apps/bench/bench_options.hpp"
#include "apps/bench/bench_timing.hpp"
#include "codelets/field/precision.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace quarkstar::app {

/// The cache-aware roofline of one kernel on CPUs (Ilic, Pratas, Sousa, "Cache-aware Roofline model: Upgrading the loft", IEEE Computer
/// Architecture Letters 13, 2014): all bytes that a core loads and stores, KernelBytes::of_core, at the bandwidth with which it sees the
/// level of the memory where the fields are. That is measured beside the kernel, on arrays of their size. A loaded byte takes 1 / read; a
/// stored one, from triad = 24 / (16 / read + 8 / write), where triad is the better one of plain and streaming stores. A kernel whose loads
/// are answered by levels nearer to the core can be above it.
struct Roofline {
  double triad = 0, read = 0;  ///< GB/s, of all owners
  double write = 0;            ///< GB/s; infinite where the triad is as fast as reading alone
  double memory_gbs = 0;       ///< of the core's bytes
  double memory_gflops = 0;    ///< what the bytes allow; 0: a kernel without arithmetic
  double peak_gflops = 0;      ///< what the arithmetic allows; 0: not known
  double gflops() const { return peak_gflops > 0 && peak_gflops < memory_gflops ? peak_gflops : memory_gflops; }
  /// What a kernel achieves of it; without arithmetic by its bytes.
  double fraction(const DslashTiming& timing) const { return gflops() > 0 ? timing.best_gflops / gflops() : timing.best_gbs / memory_gbs; }
};
Roofline roofline_of(const KernelBytes& kernel, double triad, double read, double peak_gflops);

/// One line under a row of the table.
std::string explain(const DslashTiming& timing, const Roofline* roofline);

/// The keys that it adds to a row: bytes and flops of a site, roofline, counters (null where they cannot be read), huge pages.
void explain(nlohmann::ordered_json& row, const DslashTiming& timing, const Roofline* roofline);

/// Both for a row that was just measured. Returns the line. On sessions without GPUs, of whose memory only the triad is known, it measures
/// the bandwidths of the roofline.
std::string explain_measured(nlohmann::ordered_json& row, const BenchOptions& options, const runtime::Session& session,
                             const BenchMemory& memory, const DslashTiming& timing, Precision precision);

/// Which counters there are: "instructions, cycles; unavailable: LLC misses (why)", and the same as JSON, with a reason or null for each.
std::string describe_counters(const runtime::HardwareCounts& counts);
nlohmann::ordered_json counters_json(const runtime::HardwareCounts& counts);

/// What a table's rows are compared with: measures bandwidths and arithmetic peak of a session, adds them, the machine and which counters
/// there are to the JSON, and without --json prints them. at_start: what the counters read before the session.
BenchMemory measure_for_rows(nlohmann::ordered_json& result, const BenchOptions& options, const std::string& devices,
                             const runtime::Session& session, const runtime::HardwareCounters& counters,
                             const runtime::HardwareCounts& at_start);

}  // namespace quarkstar::app
