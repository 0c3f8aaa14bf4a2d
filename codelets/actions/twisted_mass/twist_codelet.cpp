#include "codelets/actions/twisted_mass/hopping.hpp"
#include "codelets/actions/twisted_mass/twist_term.hpp"
#include "codelets/actions/wilson/hopping_run.hpp"

namespace quarkstar::twisted_mass {

std::unique_ptr<wilson::Hopping> hopping(const LinkField& even, const LinkField& odd, int vectors) {
  return std::make_unique<wilson::HoppingWith<Epilogue>>(even, odd, vectors);
}

}  // namespace quarkstar::twisted_mass
