#include "apps/studies/scaling.hpp"

#include "apps/command/child_process.hpp"
#include "apps/lab/run.hpp"
#include "apps/studies/estimates.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace quarkstar::app::model {

FigureTable power8_scaling(const SimulatedSpeed& speed) {
  constexpr std::pair<int, const char*> machines[] = {{2, "k40-power8"}, {4, "k40-power8-x2"}, {8, "k40-power8-x4"}};
  constexpr const char* precisions[] = {"double", "single"};
  constexpr double published[] = {1000, 2000};  // on eight
  FigureTable figure{"power8", "Wilson Dslash on K40s in POWER8 nodes, simulated: GFLOP/s, 1488 flop per site", "K40s", {}, {}, {}, {}};
  for (const char* precision : precisions)
    for (const char* lattice : {"32^3x64", "48^3x96", "32^3x16 a GPU", "published"})
      figure.columns.push_back(fmt::format("{} {}", precision, lattice));
  Plot plot{.title = figure.title, .x_label = "K40s", .y_label = "GFLOP/s", .wide = true, .series = {}};
  for (const std::string& column : figure.columns) plot.series.push_back({column, {}, {}});
  for (const auto& [gpus, machine] : machines) {
    FigureRow row{fmt::format("{}", gpus), {}};
    for (std::size_t p = 0; p < std::size(precisions); ++p) {
      for (const Coord& lattice : {Coord{32, 32, 32, 64}, Coord{48, 48, 48, 96}, Coord{32, 32, 32, 16 * gpus}})
        row.values.push_back(speed(machine, lattice, precisions[p]) * SeedWilson::flops / Wilson::flops);
      row.values.push_back(gpus == 8 ? std::optional(published[p]) : std::nullopt);
    }
    for (std::size_t c = 0; c < row.values.size(); ++c)
      if (row.values[c]) {
        plot.series[c].x.push_back(gpus);
        plot.series[c].y.push_back(*row.values[c]);
      }
    figure.rows.push_back(std::move(row));
  }
  figure.notes = {
      "simulated by quarkstar-sim on apps/studies/machines/k40-power8*.toml, t alone cut, links of 12 reals; two K40s are a node",
      "seed 1 prints 1 TFLOP/s in double and 2 TFLOP/s in single precision on 8 K40s, of lattices that only its figures tell; the "
      "efficiency of the Dslash in the machine files was chosen with these two figures at hand"};
  figure.chart = std::move(plot);
  return figure;
}

double speed_of_simulator(const std::string& machine, const Coord& lattice, const std::string& precision) {
  constexpr double limit_seconds = 600;
  lab::require_simulator();
  const ChildResult child =
      run_child({lab::simulator(), "bench", "dslash", "--json", "--machine", machine, "--devices", "cuda", "--links", "12", "--repetitions",
                 "1", "--lattice", fmt::format("{}", fmt::join(lattice, ",")), "--precision", precision},
                limit_seconds);
  if (!child.ok()) throw Error(ErrorKind::environment, lab::simulator(), child.failure(), "see the machine file");
  try {
    return nlohmann::json::parse(child.out).at("dslash").at(0).at("gflops").get<double>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::environment, lab::simulator(), fmt::format("its answer cannot be read: {}", error.what()), "build it anew");
  }
}

}  // namespace quarkstar::app::model
