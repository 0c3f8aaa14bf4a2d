#pragma once
// What tests of contractions share: correlators of columns in host memory, by tasks.
#include "codelets/contract/contraction.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::testing {

/// How the columns lie on the graph.
struct ContractionLayout {
  Coord blocks{1, 1, 1, 1};
  LayoutRequest request{};
  int vectors = 0;  ///< of the field, of which the columns are the last ones, in reverse order; 0: the columns alone, in order
};

/// Needs a session.
inline std::vector<Correlator> contracted(std::span<const HostField> columns, std::string_view family,
                                          const contract::Request& request = {}, const Source& source = {},
                                          const ContractionLayout& layout = {}) {
  const runtime::Decomposition decomposition(columns.front().extents, layout.blocks, runtime::Session::current().block_owners());
  const auto lattice = std::make_shared<Lattice>(decomposition, Precision::double_, periodic, layout.request);
  std::vector<HostField> all(columns.begin(), columns.end());
  std::vector<int> vectors;
  const int n = static_cast<int>(columns.size()), count = std::max(n, layout.vectors);
  if (layout.vectors > 0) {
    std::reverse(all.begin(), all.end());
    all.insert(all.begin(), static_cast<std::size_t>(count - n), HostField(columns.front().components, columns.front().extents));
  }
  for (int c = 0; c < n; ++c) vectors.push_back(layout.vectors > 0 ? count - 1 - c : c);
  const FullField field(lattice, columns.front().components, count);
  for (const int parity : {0, 1}) transfer::load(field.of(parity), all);
  runtime::Session::current().wait_all();  // `all` does not outlive what may be refused next
  const auto choices = contract::that_fit(contract::choose({family}, request.names), source);
  const contract::Contraction contraction(choices, request, field, vectors, source);
  std::vector<Correlator> correlators = contraction.correlators();
  runtime::Session::current().wait_all();
  return correlators;
}

inline const Correlator& named(const std::vector<Correlator>& correlators, std::string_view name) {
  return *std::find_if(correlators.begin(), correlators.end(), [name](const Correlator& c) { return c.name == name; });
}

/// Every bit of every one.
inline bool same_bits(const std::vector<Correlator>& a, const std::vector<Correlator>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Correlator& x, const Correlator& y) {
    return x.name == y.name && x.values == y.values && x.imaginary == y.imaginary;
  });
}

}  // namespace quarkstar::testing
