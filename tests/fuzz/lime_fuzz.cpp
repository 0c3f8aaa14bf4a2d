// Fuzz target: LIME files, read as gauge configurations, as fields and as propagators.
#include "codelets/io/propagator.hpp"
#include "codelets/io/scidac_field.hpp"
#include "tests/fuzz/fuzzing.hpp"

namespace {

using namespace quarkstar;
using format::ChecksumPolicy;

void read_fields(const std::uint8_t* data, std::size_t size) {
  const format::ScidacFieldFile file(fuzzing::input(data, size));
  (void)file.file_text();
  for (const format::ScidacRecord& record : file.description().records) {
    (void)file.record_text(record);
    for (const int reals_per_site : {2, 6, 24}) {
      fuzzing::demand_clear_error([&] { (void)file.read(record, reals_per_site, ChecksumPolicy::report); });
    }
  }
}

void read_propagator(const std::uint8_t* data, std::size_t size) {
  const format::PropagatorFile file(fuzzing::input(data, size));
  for (const auto& column : file.columns()) (void)file.read_column(column.spin, column.colour, ChecksumPolicy::report);
  (void)file.read_source(ChecksumPolicy::report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzzing::demand_clear_error([&] { (void)format::scan_scidac(*fuzzing::input(data, size)); });
  fuzzing::read_gauge_from(data, size);
  fuzzing::demand_clear_error([&] { read_fields(data, size); });
  fuzzing::demand_clear_error([&] { read_propagator(data, size); });
  return 0;
}
