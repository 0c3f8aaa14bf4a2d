#include "apps/studies/figures.hpp"

#include "apps/studies/estimates.hpp"
#include "apps/studies/hisq_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app::model {
namespace {

using Value = std::optional<double>;

Value times(Value a, double b) { return a ? Value(*a * b) : std::nullopt; }
Value over(Value a, Value b) { return a && b && *b > 0 ? Value(*a / *b) : std::nullopt; }

std::string extents_text(const Coord& l) { return fmt::format("{}", fmt::join(l, "x")); }

/// The machines of seed 0 and the one at hand.
std::vector<Machine> machines_of_seed0(const Inputs& inputs, bool with_power8 = false) {
  std::vector<Machine> chosen;
  for (const Machine& machine : inputs.machines)
    if (machine.name != "V100" && (with_power8 || machine.name != "POWER8")) chosen.push_back(machine);
  return chosen;
}

/// Part of the 16 neighbours that the machine's cache holds; 0 where nothing is known of it.
double cache_hits(const Machine& machine, const Coord& lattice) {
  return machine.cache_kib.value ? cached_neighbours(*machine.cache_kib.value * 1024, lattice) / 16. : 0;
}

/// Columns as bars, rows as groups.
BarChart bars_of(const FigureTable& figure, const std::string& y_label, const std::vector<std::size_t>& columns) {
  BarChart chart{figure.title, y_label, {}, {}};
  for (const FigureRow& row : figure.rows) chart.groups.push_back(row.label);
  for (const std::size_t c : columns) {
    BarSeries series{figure.columns[c], {}};
    for (const FigureRow& row : figure.rows) series.values.push_back(row.values[c]);
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Columns as lines over the rows' numbers.
Plot lines_of(const FigureTable& figure, const std::string& x_label, const std::string& y_label, const std::vector<double>& x) {
  Plot plot{.title = figure.title, .x_label = x_label, .y_label = y_label, .wide = true, .series = {}};
  for (std::size_t c = 0; c < figure.columns.size(); ++c) {
    Series series{figure.columns[c], {}, {}};
    for (std::size_t r = 0; r < figure.rows.size(); ++r)
      if (figure.rows[r].values[c]) {
        series.x.push_back(x[r]);
        series.y.push_back(*figure.rows[r].values[c]);
      }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

FigureTable dslash(const Inputs& inputs) {
  const Coord lattice = inputs.lattice.value_or(Coord{32, 32, 32, 8});
  FigureTable figure{
      "dslash",  fmt::format("HISQ Dslash, single precision, one right-hand side, {}: estimated GFLOP/s", extents_text(lattice)),
      "machine", {"peak", "triad", "triad, cache", "triad, 15 of 16", "measured", "cached/16"},
      {},        {},
      {}};
  for (std::size_t m = 0; m < inputs.machines.size(); ++m) {
    const Machine& machine = inputs.machines[m];
    if (machine.name == "V100") continue;
    const double hits = cache_hits(machine, lattice);
    const Value triad = machine.triad.value;
    figure.rows.push_back(
        {machine.name,
         {times(machine.bandwidth.value, hisq_model::intensity(1)), times(triad, hisq_model::intensity(1)),
          machine.cache_kib.value ? times(triad, hisq_model::intensity(1, hits)) : std::nullopt,
          times(triad, hisq_model::intensity(1, 15 / 16.)), m < inputs.measured_dslash.size() ? inputs.measured_dslash[m] : std::nullopt,
          machine.cache_kib.value ? Value(16 * hits) : std::nullopt}});
  }
  figure.notes = {
      fmt::format("peak: bandwidth x {:.2f} flop a byte; triad: STREAM's bandwidth in its place; cache: neighbours that a core's cache "
                  "holds cost nothing",
                  hisq_model::intensity(1)),
      "seed 0, slides 8 to 17, measures between the estimates without and with cache; on a K40 7 to 9 of 16 neighbours were in L1"};
  figure.chart = bars_of(figure, "GFLOP/s", {0, 1, 2, 3, 4});
  return figure;
}

FigureTable wilson(const Inputs& inputs) {
  FigureTable figure{"wilson",  "Wilson Dslash as seed 1 counts it (1488 flop, 9 spinors read): GFLOP/s at the memory's peak",
                     "machine", {"double", "double, links 12", "single", "single, links 12", "double, triad"},
                     {},        {},
                     {}};
  const auto speed = [](Value bandwidth, int link_reals, int bytes) {
    return over(bandwidth, SeedWilson::bytes_a_flop(link_reals, bytes));
  };
  for (const Machine& machine : inputs.machines) {
    const Value peak = machine.bandwidth.value;
    figure.rows.push_back(
        {machine.name,
         {speed(peak, 18, 8), speed(peak, 12, 8), speed(peak, 18, 4), speed(peak, 12, 4), speed(machine.triad.value, 18, 8)}});
  }
  figure.notes = {fmt::format("seed 1 prints 139.8 and 279.6 for a K40, from 2.06 bytes a flop; unrounded it is {:.4f}",
                              SeedWilson::bytes_a_flop(18, 8)),
                  "seed 1 measures 1 TFLOP/s in double and 2 TFLOP/s in single precision on 8 K40s: 125 and 250 each"};
  const Machine* k40 = find_machine(inputs.machines, "K40");
  if (const Machine* node = find_machine(inputs.machines, "POWER8"); node != nullptr && k40 != nullptr)
    figure.notes.push_back(fmt::format(
        "POWER8 beside two K40s: the node's processors add at most {:.1f} % to the GPUs; a K40 has {:.1f} times the bandwidth of a socket",
        100 * *node->bandwidth.value / (2 * *k40->bandwidth.value), *k40->bandwidth.value / (*node->bandwidth.value / 2)));
  figure.chart = bars_of(figure, "GFLOP/s", {0, 1, 2, 3, 4});
  return figure;
}

/// Columns: machines of seed 0 with a triad.
FigureTable solver_table(const Inputs& inputs, const char* name, const std::string& title, const std::string& head) {
  FigureTable figure{name, title, head, {}, {}, {}, {}};
  for (const Machine& machine : machines_of_seed0(inputs)) figure.columns.push_back(machine.name);
  figure.notes = {
      fmt::format("even-odd CG: two Dslashes and {} vectors of traffic an iteration; triad bandwidth, {} kernels of {:g} us overhead "
                  "(assumed); caches are left out",
                  HisqCg::vectors, HisqCg::kernels, inputs.overhead_us)};
  return figure;
}

FigureRow solver_row(const Inputs& inputs, const std::string& label, const Coord& lattice, int n) {
  FigureRow row{label, {}};
  for (const Machine& machine : machines_of_seed0(inputs))
    row.values.push_back(machine.triad.value ? Value(cg_speed(lattice, n, 0, *machine.triad.value, inputs.overhead_us)) : std::nullopt);
  return row;
}

FigureTable solver_by_lattice(const Inputs& inputs) {
  const int n = inputs.nrhs.size() == 1 ? inputs.nrhs.front() : 4;
  FigureTable figure = solver_table(
      inputs, "solver-lattice", fmt::format("HISQ CG, single precision, {} right-hand sides: estimated GFLOP/s by lattice", n), "lattice");
  const std::vector<Coord> lattices =
      inputs.lattice ? std::vector<Coord>{*inputs.lattice}
                     : std::vector<Coord>{{16, 16, 16, 4}, {32, 32, 32, 8}, {48, 48, 48, 12}, {32, 32, 32, 64}, {64, 64, 64, 16}};
  for (const Coord& lattice : lattices) figure.rows.push_back(solver_row(inputs, extents_text(lattice), lattice, n));
  std::vector<std::size_t> columns(figure.columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c] = c;
  figure.chart = bars_of(figure, "GFLOP/s", columns);
  return figure;
}

FigureTable solver_by_vectors(const Inputs& inputs) {
  const Coord lattice = inputs.lattice.value_or(Coord{64, 64, 64, 16});
  FigureTable figure = solver_table(
      inputs, "solver-rhs", fmt::format("HISQ CG, single precision, {}: estimated GFLOP/s by right-hand sides", extents_text(lattice)),
      "right-hand sides");
  std::vector<double> x;
  for (const int n : inputs.nrhs) {
    figure.rows.push_back(solver_row(inputs, fmt::format("{}", n), lattice, n));
    x.push_back(n);
  }
  figure.notes.push_back(
      fmt::format("Dslash alone, 4 right-hand sides over 1: {:.2f} (seed 0, slide 25, prints 2.16 and measures about 2.5)",
                  hisq_model::intensity(4) / hisq_model::intensity(1)));
  figure.chart = lines_of(figure, "right-hand sides", "GFLOP/s", x);
  return figure;
}

FigureTable relative(const Inputs& inputs) {
  FigureTable figure{"relative", "Speed over that of a K20, 4 right-hand sides",
                     "machine",  {"peak bandwidth", "triad", "32x32x32x8 CG", "64x64x64x16 CG"},
                     {},         {},
                     {}};
  const auto values = [&](const Machine& machine) {
    const auto speed = [&](const Coord& lattice) {
      return machine.triad.value ? Value(cg_speed(lattice, 4, 0, *machine.triad.value, inputs.overhead_us)) : std::nullopt;
    };
    return std::vector<Value>{machine.bandwidth.value, machine.triad.value, speed({32, 32, 32, 8}), speed({64, 64, 64, 16})};
  };
  const Machine* k20 = find_machine(inputs.machines, "K20");
  const std::vector<Value> one = k20 != nullptr ? values(*k20) : std::vector<Value>(figure.columns.size());
  for (const Machine& machine : machines_of_seed0(inputs, true)) {
    FigureRow row{machine.name, values(machine)};
    for (std::size_t c = 0; c < one.size(); ++c) row.values[c] = over(row.values[c], one[c]);
    figure.rows.push_back(std::move(row));
  }
  figure.notes = {"seed 0, slide 40; its triads are a chart without numbers, ours are in `quarkstar model machines`"};
  figure.chart = bars_of(figure, "over K20", {0, 1, 2, 3});
  return figure;
}

FigureTable watts(const Inputs& inputs) {
  const Coord lattice = inputs.lattice.value_or(Coord{32, 32, 32, 8});
  FigureTable figure{
      "watts",   fmt::format("HISQ CG, single precision, {}: estimated GFLOP/s per watt of thermal design power", extents_text(lattice)),
      "machine", {"1 right-hand side", "4 right-hand sides", "watts"},
      {},        {},
      {}};
  Value phi, kepler, one, four;
  for (const Machine& machine : machines_of_seed0(inputs, true)) {
    const auto speed = [&](int n) {
      return machine.triad.value ? Value(cg_speed(lattice, n, 0, *machine.triad.value, inputs.overhead_us)) : std::nullopt;
    };
    figure.rows.push_back({machine.name, {over(speed(1), machine.watts.value), over(speed(4), machine.watts.value), machine.watts.value}});
    if (machine.name == "5110") phi = figure.rows.back().values[1];
    if (machine.name == "K40") kepler = figure.rows.back().values[1], one = figure.rows.back().values[0], four = kepler;
  }
  figure.notes = {"design power, which a program that waits for memory does not reach: the true ratios are higher"};
  if (const Value ratio = over(kepler, phi))
    figure.notes.push_back(fmt::format("K40 over 5110: {:.2f}; seed 0, slide 45, measures about 1.5 between the two kinds", *ratio));
  if (const Value ratio = over(four, one))
    figure.notes.push_back(fmt::format("4 right-hand sides over 1 on a K40: {:.2f}; seed 0, slide 45: about 2", *ratio));
  figure.chart = bars_of(figure, "GFLOP/s per watt", {0, 1});
  return figure;
}

FigureTable v100(const Inputs& inputs) {
  /// GB/s that seed 2 prints at its curves for large lattices, links of 12 reals.
  struct Curve {
    const char* precision;
    int bytes;
    double plain, tuned;
  };
  constexpr Curve curves[] = {{"half", 2, 1013, 1312}, {"single", 4, 1119, 1291}, {"double", 8, 1115, 1180}};
  constexpr int link_reals = 12;
  FigureTable figure{"v100", "Wilson Dslash on a Tesla V100, links of 12 reals: GFLOP/s by lattice length", "L", {}, {}, {}, {}};
  const Machine* card = find_machine(inputs.machines, "V100");
  std::vector<double> bandwidths;
  for (const Curve& curve : curves) figure.columns.push_back(fmt::format("{} tuned", curve.precision));
  for (const Curve& curve : curves) figure.columns.push_back(fmt::format("{} plain", curve.precision));
  for (const Curve& curve : curves) figure.columns.push_back(fmt::format("{} STREAM", curve.precision));
  std::vector<double> x;
  for (int length = 8; length <= 32; length += 4) {
    const Coord lattice{length, length, length, length};
    FigureRow row{fmt::format("{}", length), {}};
    for (const double Curve::*bandwidth : {&Curve::tuned, &Curve::plain})
      for (const Curve& curve : curves)
        row.values.push_back(wilson_speed(lattice, link_reals, curve.bytes, curve.*bandwidth, inputs.overhead_us));
    for (const Curve& curve : curves)
      row.values.push_back(wilson_speed(lattice, link_reals, curve.bytes, *card->triad.value, inputs.overhead_us));
    figure.rows.push_back(std::move(row));
    x.push_back(length);
  }
  figure.notes = {
      "bandwidths that seed 2 prints, slides 14 and 18: half 1013, single 1119, double 1115 GB/s with blocks of 32 threads (plain), 1312, "
      "1291, 1180 tuned; STREAM 850; all reads in L2 about 1700",
      fmt::format("what the curves lose on small lattices is {:g} us a kernel (assumed); the documents print no other points",
                  inputs.overhead_us),
      fmt::format("naive intensity, single precision, links of 18 reals: {:.2f} (seed 2, slide 13: 0.92); 24^4 sites are 331776, not the "
                  "3.3 million of that slide",
                  Wilson::intensity(18, 4))};
  figure.chart = lines_of(figure, "lattice length", "GFLOP/s", x);
  return figure;
}

}  // namespace

const std::vector<NamedFigure>& figures() {
  static const std::vector<NamedFigure> all{
      {"dslash", "HISQ Dslash from peak, triad and cache-aware bandwidth (seed 0)", dslash},
      {"solver-lattice", "HISQ CG by lattice (seed 0)", solver_by_lattice},
      {"solver-rhs", "HISQ CG by right-hand sides (seed 0)", solver_by_vectors},
      {"relative", "machines over a K20 (seed 0)", relative},
      {"watts", "GFLOP/s per watt (seed 0)", watts},
      {"wilson", "Wilson Dslash at the memory's peak (seed 1)", wilson},
      {"v100", "Wilson Dslash on a V100 by lattice length (seed 2)", v100},
      {"peers", "Dslash on an H200 beside QUDA's, both measured", peers},
  };
  return all;
}

}  // namespace quarkstar::app::model
