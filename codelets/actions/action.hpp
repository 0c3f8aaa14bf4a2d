#pragma once
// An action with its links, as a solver sees it.
#include "codelets/actions/prepared_action.hpp"
#include "codelets/actions/wilson/parameters.hpp"

namespace quarkstar {

/// What a solver asks of an operator.
struct ActionRequest {
  Precision precision = Precision::double_;  ///< of the Krylov solver
  int link_reals = 18;                       ///< of the links whose form can be chosen, there
  Schur schur = Schur::asymmetric;
  std::optional<SchwarzSettings> schwarz{};
  Speed speed{};
  const PreparedAction* wide = nullptr;  ///< the same action in double precision, from which links may be copied
  Coord unit{2, 2, 2, 2};                ///< LayoutRequest::unit of the Krylov solver's lattice, where no Schwarz domains are
};

inline transfer::WideLinks wide_links_of(const ActionRequest& request) {
  return request.wide != nullptr ? request.wide->wide_links() : transfer::WideLinks{};
}

/// The operator of a solve: in double precision, for right-hand sides, corrections and true residuals; and that of the Krylov solver where
/// it is another one.
struct PreparedActions {
  std::unique_ptr<PreparedAction> outer, inner;
  PreparedAction& krylov() const { return inner ? *inner : *outer; }
  /// Tells each what the links of all take of its owners' memory.
  void set_resident() const {
    const double bytes_per_site = outer->link_bytes() + (inner ? inner->link_bytes() : 0);
    outer->set_resident(bytes_per_site);
    if (inner) inner->set_resident(bytes_per_site);
  }
};

class Action {
 public:
  virtual ~Action() = default;
  /// Of the vectors it acts on.
  virtual int components() const = 0;
  /// Of a fifth dimension; 1: there is none.
  virtual int slices() const { return 1; }
  /// Whether the even-odd system is hermitian and positive.
  virtual bool is_hermitian() const = 0;
  /// How the kernels for so many vectors are launched without a measurement.
  virtual stencil::Launch usual_launch(int vectors) const = 0;
  /// Throws Error(input) for a request that the action cannot fulfil, before anything is allocated.
  virtual void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const = 0;
  // The next two submit tasks that copy the links. They throw Error(input) for links that cannot be stored as requested, and for blocks or
  // domains that the operator cannot have; ShapeError where the links are not those of the decomposition's lattice.

  /// In request.precision alone.
  virtual std::unique_ptr<PreparedAction> in_precision(const runtime::Decomposition& decomposition, const ActionRequest& request) const = 0;
  /// What a solve needs: outer, and inner where the Krylov solver's is another.
  virtual PreparedActions prepared(const runtime::Decomposition& decomposition, const ActionRequest& request) const = 0;
};

}  // namespace quarkstar
