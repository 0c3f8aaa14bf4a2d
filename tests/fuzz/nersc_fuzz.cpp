// Fuzz target: NERSC archives.
#include "codelets/io/nersc.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quarkstar;
  fuzzing::demand_clear_error([&] { (void)format::parse_nersc(*fuzzing::input(data, size)); });
  fuzzing::read_gauge_from(data, size);
  return 0;
}
