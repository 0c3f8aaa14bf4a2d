#include "codelets/actions/clover/clover_epilogue.hpp"
#include "codelets/actions/clover/hopping.hpp"
#include "codelets/actions/wilson/hopping_run.hpp"

namespace quarkstar::clover {

std::unique_ptr<wilson::Hopping> hopping(const LinkField& even, const LinkField& odd, int vectors, bool has_matrices) {
  return std::make_unique<wilson::HoppingWith<Epilogue>>(even, odd, vectors, has_matrices ? CloverTerm::flops : CloverTerm::twist_flops);
}

}  // namespace quarkstar::clover
