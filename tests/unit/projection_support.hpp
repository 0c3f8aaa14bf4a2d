#pragma once
// Projections as their tests compute them.
#include "codelets/field/projection.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/eigen/eigen_projector.hpp"
#include "tests/unit/runtime_support.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace quarkstar::projection_testing {

inline constexpr Coord extents{4, 4, 6, 4};

/// Vectors of many magnitudes, as those of a source near a point, and of numbers alike.
inline std::vector<HostField> random_fields(int components, int n, std::mt19937_64& random, const Coord& lattice = extents) {
  std::normal_distribution<double> number;
  std::uniform_int_distribution<int> exponent(-40, 40), kind(0, 2);
  std::vector<HostField> fields(static_cast<std::size_t>(n), HostField(components, lattice));
  for (HostField& field : fields) {
    const double size = std::ldexp(1.0, exponent(random));
    const int of_field = kind(random);
    for (auto& z : field.data) {
      z = {number(random), number(random)};
      if (of_field == 1) z *= std::ldexp(1.0, -std::abs(exponent(random)) / 2);
      if (of_field == 2) z = 1.0 + 1e-3 * z;
      z *= size;
    }
  }
  return fields;
}

/// What the tasks make of vectors a, in fields of `room`, and b.
struct Outcome {
  std::vector<double> scales_of_a, scales_of_b, products;
  std::vector<runtime::ComplexScalar> coefficients;
  std::vector<HostField> combined, added;
};

/// vectors: of the coefficients. cut: blocks, on two workers where there are several; gpus: 1 for a GPU alone.
inline Outcome compute(const std::vector<HostField>& a, const std::vector<HostField>& b, int room, const Coord& cut,
                       std::optional<int> most_lanes, int vectors, int gpus = 0) {
  const int workers = static_cast<int>(volume(cut) > 1 ? 2 : 1), components = a[0].components;
  const Coord lattice_extents = a[0].extents;
  runtime::Session session({.cpu_workers = workers, .threads_per_worker = workers == 1 ? 3 : 1, .cuda_workers = gpus});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(lattice_extents, cut, session.block_owners()), Precision::double_,
                                                 antiperiodic_in_time, LayoutRequest{.most_lanes = most_lanes});
  const int count = static_cast<int>(a.size()), n = static_cast<int>(b.size()), blocks = static_cast<int>(volume(cut));
  Outcome outcome;
  std::vector<Field> fields;
  blas::VectorsInTiles tiles{{}, count};
  for (int first = 0; first < count; first += room) {
    std::vector<HostField> some(static_cast<std::size_t>(room), HostField(components, lattice_extents));
    std::copy(a.begin() + first, a.begin() + std::min(first + room, count), some.begin());
    transfer::load(fields.emplace_back(lattice, 0, components, room), some);
    session.wait_all();
    const std::vector<double> scales = blas::scales_of(fields.back());
    outcome.scales_of_a.insert(outcome.scales_of_a.end(), scales.begin(), scales.end());
  }
  outcome.scales_of_a.resize(a.size());
  for (const Field& field : fields) tiles.fields.push_back(&field);
  const Field right(lattice, 0, components, n), out(lattice, 0, components, vectors);
  transfer::load(right, b);
  const runtime::Handle modes(2 * a.size() * sizeof(double)), scales(b.size() * sizeof(double)),
      coefficients(a.size() * static_cast<std::size_t>(vectors) * sizeof(runtime::ComplexScalar));
  {
    const runtime::HostView<double> view(modes, runtime::HostAccess::overwrite);
    std::copy(outcome.scales_of_a.begin(), outcome.scales_of_a.end(), view.get());
    for (std::size_t i = 0; i < a.size(); ++i) view[a.size() + i] = 0.25 * static_cast<double>(i + 1);
  }
  const runtime::PartialSums magnitudes(blocks, 2 * n), products(blocks, 2 * count * n);
  blas::submit_scales(scales, right, magnitudes);
  blas::rounded_products(tiles, modes, right, scales, products);
  outcome.products = runtime::values_of(products, 2 * count * n);
  PerVector shifts{};
  for (std::size_t v = 0; v < shifts.size(); ++v) shifts[v] = 0.1 * static_cast<double>(v);
  blas::submit_coefficients(coefficients, products, modes, count, scales, n, vectors, shifts, 0);
  const auto result = [&](const Field* base) {
    blas::combine(out, base, tiles, coefficients);
    std::vector<HostField> host(static_cast<std::size_t>(vectors), HostField(components, lattice_extents));
    transfer::store(host, out);
    session.wait_all();
    return host;
  };
  outcome.combined = result(nullptr);
  outcome.added = result(&out);
  const runtime::HostView<double> of_b(scales);
  outcome.scales_of_b.assign(of_b.get(), of_b.get() + n);
  const runtime::HostView<runtime::ComplexScalar> view(coefficients);
  outcome.coefficients.assign(view.get(), view.get() + count * vectors);
  return outcome;
}

/// What a projector of such modes makes of right-hand sides, in the third of three passes: on a GPU the second one is captured, the third
/// one replayed.
inline std::vector<HostField> projected(const runtime::SessionOptions& options, const Coord& cut, const std::vector<HostField>& modes,
                                        const std::vector<HostField>& rhs, Precision stored = Precision::double_,
                                        ModesMemory where = ModesMemory::device) {
  runtime::Session session(options);
  const Coord whole = modes[0].extents;
  const auto lattice =
      std::make_shared<Lattice>(runtime::Decomposition(whole, cut, session.block_owners()), Precision::double_, antiperiodic_in_time);
  const int components = modes[0].components, n = static_cast<int>(rhs.size()), count = static_cast<int>(modes.size());
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(1e-3 * (i + 1));
  EigenProjector projector(lattice, 0, components, values, stored, where);
  for (int first = 0; first < count; first += EigenProjector::block_for(count))
    projector.add(std::span(modes).subspan(static_cast<std::size_t>(first),
                                           static_cast<std::size_t>(std::min(EigenProjector::block_for(count), count - first))));
  const Field in(lattice, 0, components, n), out(lattice, 0, components, n);
  transfer::load(in, rhs);
  for (int pass = 0; pass < 3; ++pass) projector.apply(out, in, {});
  std::vector<HostField> result(rhs.size(), HostField(components, whole));
  transfer::store(result, out);
  session.wait_all();
  return result;
}

inline bool same(const std::vector<runtime::ComplexScalar>& a, const std::vector<runtime::ComplexScalar>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.re == y.re && x.im == y.im; });
}

}  // namespace quarkstar::projection_testing
