// quarkstar bench blas: the vector operations of the solvers, each by itself
#include "apps/bench/bench_explain.hpp"
#include "apps/bench/bench_options.hpp"
#include "apps/run/device_plan.hpp"
#include "apps/run/parse.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/cut/decomposition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

template <class Operation>
DslashTiming time_operation(runtime::Session& session, const LatticePointer& lattice, int components, int vectors, int repetitions,
                            const runtime::HardwareCounters& counters) {
  constexpr std::size_t count = blas::field_count<Operation>;
  std::vector<Field> fields;
  fields.reserve(count);
  std::array<const Field*, count> pointers{};
  for (const Field*& pointer : pointers) {
    pointer = &fields.emplace_back(lattice, 0, components, vectors);
    blas::submit<blas::Fill>({pointer}, {{{0.7, -0.4}}});
  }
  // Below 1, so that what is applied again and again stays finite.
  std::array<blas::Coefficient, Operation::coefficients> coefficients;
  coefficients.fill({0.5, -0.25});
  const runtime::PartialSums sums = partial_sums_on(*lattice, std::max(1, Operation::sums * vectors));
  const int owners = owner_count(lattice->decomposition());
  const PairTiming times = time_pairs(
      session, owners, repetitions,
      [&] {
        for (int i = 0; i < 2; ++i) blas::submit<Operation>(pointers, coefficients, {}, &sums);
      },
      &counters);
  const double site = vectors * static_cast<double>(site_bytes(lattice->precision(), 2 * components));
  const auto sites = static_cast<double>(lattice->sites_of_parity());
  KernelBytes kernel{.flops = static_cast<double>(vectors * components) * Operation::flops,
                     .resident = static_cast<double>(count) * site * sites};
  for (const blas::Use use : Operation::uses) {
    kernel.bytes += use == blas::Use::inout ? 2 * site : site;
    kernel.written += use == blas::Use::in ? 0 : site;
  }
  kernel.of_core = kernel.bytes;
  return dslash_timing(times, kernel, sites, owners);
}

/// The rows of one session, printed as they come.
class BlasTable {
 public:
  BlasTable(const BenchOptions& options, const std::string& devices, runtime::Session& session, const BenchMemory& memory,
            const runtime::HardwareCounters& counters)
      : options_(options), devices_(devices), session_(session), memory_(memory), counters_(counters) {}

  void print_header() const {
    if (options_.json) return;
    fmt::print(
        "\nVector operations on {}, one parity; roofline = bytes of every field, once for each way it is used, at a "
        "triad of {:.1f} GB/s\n"
        "{:>14} {:>8} {:>38} {:>5} {:>10} {:>10} {:>9} {:>9}\n",
        devices_, memory_.owners_triad, "lattice", "format", "operation", "nrhs", "GFLOP/s", "GB/s", "roofline", "us/task");
  }

  void add(const Coord& extents, const std::string& precision) {
    const ActionKind& kind = kind_named(options_.action);
    const int owners = session_.block_owners();
    const LayoutRequest layout{.most_lanes = 16, .reach = kind.reach};
    const auto lattice =
        std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, owners}, owners), parse_precision(precision), periodic, layout);
    for (const int vectors : numbers_of_right_hand_sides(options_)) add_operations(extents, precision, lattice, kind.components, vectors);
  }

  Json rows = Json::array();

 private:
  void add_operations(const Coord& extents, const std::string& precision, const LatticePointer& lattice, int components, int vectors) {
#define QUARKSTAR_OPERATION(operation)                    \
  add(extents, precision, blas::operation::name, vectors, \
      time_operation<blas::operation>(session_, lattice, components, vectors, options_.repetitions, counters_));
    QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_OPERATION)
#undef QUARKSTAR_OPERATION
  }

  void add(const Coord& extents, const std::string& precision, const char* operation, int vectors, const DslashTiming& t) {
    rows.push_back({{"devices", devices_},
                    {"action", options_.action},
                    {"lattice", extents},
                    {"precision", precision},
                    {"operation", operation},
                    {"nrhs", vectors},
                    {"gflops", t.best_gflops},
                    {"gflops_median", t.median_gflops},
                    {"gbs", t.best_gbs},
                    {"roofline_fraction", t.best_gbs / memory_.owners_triad},
                    {"us_per_task", t.runtime_cost.us_per_task}});
    const std::string why = explain_measured(rows.back(), options_, session_, memory_, t, parse_precision(precision));
    if (options_.json) return;
    fmt::print("{:>14} {:>8} {:>38} {:>5} {:>10.2f} {:>10.2f} {:>8.0f}% {:>9.1f}\n{:>14} {}\n", fmt::format("{}", fmt::join(extents, ",")),
               precision, operation, vectors, t.best_gflops, t.best_gbs, 100 * t.best_gbs / memory_.owners_triad,
               t.runtime_cost.us_per_task, "", why);
    std::fflush(stdout);
  }

  const BenchOptions& options_;
  const std::string& devices_;
  runtime::Session& session_;
  const BenchMemory& memory_;
  const runtime::HardwareCounters& counters_;
};

}  // namespace

void run_bench_blas(const BenchOptions& options) {
  Json result = {{"blas", Json::array()}};
  const runtime::HardwareCounters counters;  // before the sessions, whose threads it counts
  const runtime::HardwareCounts at_start = counters.read();
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const BenchMemory memory = measure_for_rows(result, options, devices, session, counters, at_start);
    BlasTable table(options, devices, session, memory, counters);
    table.print_header();
    const std::vector<Coord> defaults{{16, 16, 16, 16}, {24, 24, 24, 24}};
    for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices)
      for (const std::string& precision : options.precisions) table.add(lattice, precision);
    for (const Json& row : table.rows) result["blas"].push_back(row);
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace quarkstar::app
