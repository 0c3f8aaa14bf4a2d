// Twisted mass, with csw twisted clover: clover's action with mu.
#include "codelets/actions/clover/kind.hpp"

namespace quarkstar {
namespace {

class TwistedMassKind final : public CloverKind {
 public:
  TwistedMassKind() : CloverKind(0) {
    name = "twisted-mass";
    title = "Twisted mass";
    flops = 1320 + 48;
    correlators = {"mesons"};  // a d quark is not the u quark that is solved for: baryons need both
    settings.push_back({.key = "mu", .metavar = "MU", .help = "Twisted mass: mu of 2 i kappa mu gamma_5 (default 0.1)", .initial = 0.1});
  }
};

}  // namespace

const ActionKind& twisted_mass_kind() {
  static const TwistedMassKind kind;
  return kind;
}

}  // namespace quarkstar
