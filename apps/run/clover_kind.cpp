#include "apps/run/wilson_kind.hpp"
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/clover/site_matrices.hpp"
#include "codelets/actions/twisted_mass/action.hpp"

namespace quarkstar::app {
namespace {

/// Wilson-type actions whose term per site is stored: beside the links its matrices, and on the host the term they are made of.
class CloverKind : public WilsonKind {
 public:
  CloverKind() {
    name = "clover";
    title = "Clover";
    settings = {"kappa", "mass", "normalisation", "schur", "restart"};
    numbers = {{"csw", "CSW", "Clover: coefficient of the clover term (default 1)", 1.0}};
    bench_solvers = {"bicgstab"};
  }
  std::unique_ptr<Action> action(const HostGauge& gauge, const RunConfig& config) const override {
    return std::make_unique<clover::Action>(gauge, config.wilson, clover::Parameters{number(config, "csw"), 0});
  }
  OperatorShape shape(const RunConfig& config) const override {
    OperatorShape shape = wilson_shape(config.solver);
    const bool symmetric = config.solver.schur == Schur::symmetric, mixed = shape.inner_links > 0;
    if (!has_term(config)) return shape;
    shape.outer_links += clover::SiteMatrices::bytes_per_site(Precision::double_, symmetric);
    if (mixed) shape.inner_links += clover::SiteMatrices::bytes_per_site(config.solver.precision, symmetric);
    return shape;
  }
  void add_links(std::vector<MemoryNeed>& needs, const runtime::Session& session, const runtime::Decomposition& decomposition,
                 const RunConfig& config) const override {
    WilsonKind::add_links(needs, session, decomposition, config);
    if (has_term(config)) needs.back().other += host_gauge_bytes(decomposition.part());
  }

 protected:
  virtual bool has_term(const RunConfig&) const { return true; }
};

/// Without csw its term needs no memory.
class TwistedMassKind final : public CloverKind {
 public:
  TwistedMassKind() {
    name = "twisted-mass";
    title = "Twisted mass";
    numbers = {{"mu", "MU", "Twisted mass: mu of 2 i kappa mu gamma_5 (default 0.1)", 0.1},
               {"csw", "CSW", "Clover and twisted mass: coefficient of the clover term (default 1 and 0)", 0.0}};
  }
  std::unique_ptr<Action> action(const HostGauge& gauge, const RunConfig& config) const override {
    const double mu = number(config, "mu"), csw = number(config, "csw");
    if (csw == 0) return std::make_unique<twisted_mass::Action>(gauge, config.wilson, mu);
    return std::make_unique<clover::Action>(gauge, config.wilson, clover::Parameters{csw, mu});
  }

 private:
  bool has_term(const RunConfig& config) const override { return number(config, "csw") != 0; }
};

}  // namespace

const ActionKind& clover_kind() {
  static const CloverKind kind;
  return kind;
}
const ActionKind& twisted_mass_kind() {
  static const TwistedMassKind kind;
  return kind;
}

}  // namespace quarkstar::app
