// Fuzz target: MILC lattice files.
#include "codelets/io/milc.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quarkstar;
  fuzzing::demand_clear_error([&] { (void)format::parse_milc(*fuzzing::input(data, size)); });
  fuzzing::read_gauge_from(data, size);
  return 0;
}
