#pragma once
// Eigenvectors as the batteries compute and compare them.
#include "codelets/actions/action_kind.hpp"
#include "solvers/eigen/eigen_projector.hpp"
#include "solvers/eigen/lanczos.hpp"
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/squared_system.hpp"
#include "tests/battery/support.hpp"

#include <memory>
#include <vector>

namespace quarkstar::battery {

/// The hermitian positive operator of an action, for blocks of n vectors. Needs a session.
class HermitianOperator {
 public:
  HermitianOperator(const runtime::Decomposition& decomposition, const Action& action, int n, Schur schur = Schur::asymmetric)
      : prepared_(action.in_precision(decomposition, {.schur = schur, .speed = {.measure = false}})),
        mass_(action.is_hermitian() ? 0 : prepared_->own_mass().value_or(0.2)),
        system_(prepared_->system(n, same_for_all(mass_))) {
    if (!action.is_hermitian()) squared_ = std::make_unique<SquaredSystem>(*system_);
  }
  LinearOperator& operator*() { return squared_ ? static_cast<LinearOperator&>(*squared_) : *system_; }
  double mass() const { return mass_; }

 private:
  std::unique_ptr<PreparedAction> prepared_;
  double mass_;
  std::unique_ptr<EvenOdd> system_;
  std::unique_ptr<SquaredSystem> squared_;
};

/// A v for fields on the whole lattice, n at a time.
inline std::vector<HostField> images_of(LinearOperator& a, std::vector<HostField> vectors) {
  const auto n = static_cast<std::size_t>(a.vectors());
  const Field in = a.field(), out = a.field();
  for (std::size_t first = 0; first < vectors.size(); first += n) {
    std::vector<HostField> some(vectors.begin() + static_cast<std::ptrdiff_t>(first),
                                vectors.begin() + static_cast<std::ptrdiff_t>(first + n));
    transfer::load(in, some);
    a.apply(out, in, {}, false, {});
    runtime::Session::current().wait_all();
    for (HostField& field : some) std::fill(field.data.begin(), field.data.end(), 0.0);
    transfer::store(some, out);
    runtime::Session::current().wait_all();
    std::move(some.begin(), some.end(), vectors.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return vectors;
}

/// `count` vectors of a Basis, or modes of a BlockLanczos that has converged, on the whole lattice: of each all slices, one behind the
/// other.
template <class Vectors>
std::vector<HostField> extracted(const Vectors& from, int count) {
  std::vector<HostField> all;
  for (int first = 0; first < count;) {
    const Field block = from.field();
    from.extract(block, first);
    std::vector<HostField> host(static_cast<std::size_t>(block.site_vectors()),
                                HostField(block.components(), block.lattice()->decomposition().lattice()));
    transfer::store(host, block);
    runtime::Session::current().wait_all();
    for (int v = 0; v < block.vectors() && first < count; ++v, ++first)
      for (int i = v; i < block.site_vectors(); i += block.vectors()) all.push_back(std::move(host[static_cast<std::size_t>(i)]));
  }
  return all;
}

/// A projector of the first modes, for a solver.
inline std::shared_ptr<const Projector> projector_of(const EigenResult& result, std::span<const HostField> vectors, int parity,
                                                     const LatticePointer& lattice, Precision stored = Precision::double_,
                                                     ModesMemory where = ModesMemory::device) {
  const auto projector = std::make_shared<EigenProjector>(lattice, parity, vectors[0].components, result.values, stored, where);
  const std::size_t modes = result.values.size(), block = static_cast<std::size_t>(EigenProjector::block_for(projector->modes()));
  for (std::size_t first = 0; first < modes; first += block) projector->add(vectors.subspan(first, std::min(block, modes - first)));
  return projector;
}

/// Of the correlators of several sources.
inline MesonTimes mean_of(const std::vector<MesonTimes>& all) {
  MesonTimes mean = all.front();
  for (std::size_t c = 0; c < mean.size(); ++c)
    for (std::size_t t = 0; t < mean[c].size(); ++t) {
      mean[c][t] = 0;
      for (const MesonTimes& one : all) mean[c][t] += one[c][t] / static_cast<double>(all.size());
    }
  return mean;
}

}  // namespace quarkstar::battery
