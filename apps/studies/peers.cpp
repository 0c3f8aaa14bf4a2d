// Measured speeds beside those of QUDA: the picture of the README.
#include "apps/studies/figures.hpp"

namespace quarkstar::app::model {

FigureTable peers(const Inputs&) {
  FigureTable figure{"peers",
                     "Dslash on one H200, 32^4, GFLOP/s",
                     "Dslash",
                     {"Quarkstar", "QUDA"},
                     {{"Wilson half", {11565, 10650}},
                      {"Wilson single", {7867, 7077}},
                      {"Wilson double", {4338, 3478}},
                      {"HISQ n = 1", {3851, 4087}},
                      {"HISQ n = 4", {11805, 9833}},
                      {"HISQ n = 8", {15102, 11274}},
                      {"HISQ n = 16", {17951, 11297}}},
                     {"docs/results/2026-11-23-peers.md; Wilson with links of 12 reals, n right-hand sides of HISQ in single precision",
                      "Quarkstar: 2026-11-23, tuned, HISQ with long links of 18 reals",
                      "QUDA: develop 9521952 (October 2024), autotuned, 2026-11-21, HISQ with long links of 13 reals, where it is fastest"},
                     {}};
  BarChart chart{figure.title, "GFLOP/s", {}, {}};
  for (const std::string& name : figure.columns) chart.series.push_back({name, {}});
  for (const FigureRow& row : figure.rows) {
    chart.groups.push_back(row.label);
    for (std::size_t c = 0; c < row.values.size(); ++c) chart.series[c].values.push_back(row.values[c]);
  }
  chart.series[0].name += ", 2026-11-23 (HISQ: single precision, long links of 18 reals)";
  chart.series[1].name += " develop 9521952 (HISQ: single precision, long links of 13 reals)";
  figure.chart = chart;
  return figure;
}

}  // namespace quarkstar::app::model
