#pragma once
// The figures of the seed documents, computed: each a table with a chart.
#include "apps/report/bars_svg.hpp"
#include "apps/report/plot_svg.hpp"
#include "apps/studies/machines.hpp"
#include "runtime/cut/coord.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace quarkstar::app::model {

/// What the figures are drawn for.
struct Inputs {
  std::vector<Machine> machines;  ///< those of the documents, and the one at hand
  std::optional<Coord> lattice;   ///< none: the figure's own
  std::vector<int> nrhs{1, 2, 3, 4, 5};
  double overhead_us = assumed_overhead_us;
  std::vector<std::optional<double>> measured_dslash;  ///< GFLOP/s of the HISQ Dslash by machine, where it was measured
};

struct FigureRow {
  std::string label;
  std::vector<std::optional<double>> values;
};

struct FigureTable {
  std::string name, title, head;     ///< head: of the labels
  std::vector<std::string> columns;  ///< of the values
  std::vector<FigureRow> rows;
  std::vector<std::string> notes;  ///< what the document prints, and what is assumed
  std::variant<Plot, BarChart> chart;
};

/// A figure by its name.
struct NamedFigure {
  const char* name;
  const char* help;
  FigureTable (*make)(const Inputs&);
};
const std::vector<NamedFigure>& figures();

/// Measured Dslash speeds of this package and of QUDA on one H200 (peers.cpp).
FigureTable peers(const Inputs&);

/// For a terminal; "unavailable" where there is no value.
std::string text_of(const FigureTable& figure);
/// {figure, title, columns, rows: [{label, column: value or null}], notes}
nlohmann::ordered_json json_of(const FigureTable& figure);
std::string svg_of(const FigureTable& figure);

/// All figures of the machines with their sources: the inputs.
std::string sources_text(const std::vector<Machine>& machines);
nlohmann::ordered_json sources_json(const std::vector<Machine>& machines);

}  // namespace quarkstar::app::model
