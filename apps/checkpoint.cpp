#include "apps/checkpoint.hpp"

#include "apps/parse.hpp"
#include "codelets/lattice/format/part_checksum.hpp"
#include "runtime/atomic_file.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/shared_file.hpp"
#include "runtime/mpi/shared_output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace quarkstar::app {
namespace {

using nlohmann::json;
using runtime::mpi::Job;
using runtime::mpi::SharedFile;

constexpr std::size_t header_bytes = 4096;
constexpr std::size_t site_bytes = HostSpinor::components * sizeof(std::complex<double>);

/// Checksums of a whole field (crc32 of each site, rotated by its number), from the parts of all ranks.
std::array<std::uint32_t, 2> checksums(Job& job, const HostSpinor& part, const Coord& lattice) {
  format::PayloadChecksum mine(format::ChecksumKind::scidac, format::ByteOrder::little, site_bytes);
  format::add_box(mine, part.box(), lattice, std::as_bytes(std::span(part.data)));
  return format::over_ranks(job, mine).sums();
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::input, path, what, "remove it to solve the column anew, or give another --checkpoint");
}

json read_header(const std::string& path, const std::string& problem, const Coord& lattice) {
  std::ifstream file(path, std::ios::binary);
  std::string text(header_bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) refuse(path, "the restart file ends within its header");
  const json header = json::parse(text, nullptr, false);
  if (!header.is_object() || header.value("format", "") != "quarkstar checkpoint 1") refuse(path, "this is not a restart file");
  if (header.value("problem", "") != problem) refuse(path, fmt::format("the restart file belongs to another problem ({})", header.value("problem", "")));
  const std::uint64_t expected = header_bytes + static_cast<std::uint64_t>(volume(lattice)) * site_bytes;
  if (const std::uint64_t size = std::filesystem::file_size(path); size != expected)
    refuse(path, fmt::format("the restart file has {} bytes instead of {}", size, expected));
  return header;
}

}  // namespace

Checkpoint::Checkpoint(std::string folder, std::string problem, const Coord& lattice, const Box& part)
    : folder_(std::move(folder)), problem_(std::move(problem)), lattice_(lattice), part_(part) {
  Job::current().on_root([this] {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw_write_error("--checkpoint: " + folder_, "making the folder", error.value());
    const AtomicFile probe(path_of(0));
  });
}

std::string Checkpoint::path_of(int column) const { return fmt::format("{}/column{:02}.checkpoint", folder_, column); }

std::optional<int> Checkpoint::load(int column, HostSpinor& solution) const {
  Job& job = Job::current();
  const std::string path = path_of(column);
  bool found = false;
  job.on_root([&] { found = std::filesystem::exists(path); });
  if (!job.any(found)) return std::nullopt;
  json header;
  job.together([&] { header = read_header(path, problem_, lattice_); });
  SharedFile file(job, path, SharedFile::Mode::read);
  file.read({header_bytes, site_bytes, lattice_}, part_, std::as_writable_bytes(std::span(solution.data)));
  const std::array<std::uint32_t, 2> sums = checksums(job, solution, lattice_);
  int iterations = 0;
  job.together([&] {
    if (header.value("checksums", json()) != json(sums)) refuse(path, "the data do not match the restart file's checksums");
    iterations = header.value("iterations", 0);
  });
  return iterations;
}

void Checkpoint::save(int column, const HostSpinor& solution, int iterations) const {
  Job& job = Job::current();
  const std::array<std::uint32_t, 2> sums = checksums(job, solution, lattice_);
  std::string header = json{{"format", "quarkstar checkpoint 1"}, {"problem", problem_}, {"iterations", iterations}, {"checksums", sums}}.dump();
  runtime::mpi::SharedOutput file(job, path_of(column));
  job.on_root([&] {
    if (header.size() >= header_bytes) throw ShapeError("Checkpoint::save", "the header is too long");
    header.resize(header_bytes, ' ');
    file.root()->append(header);
  });
  file.fill({header_bytes, site_bytes, lattice_}, part_, std::as_bytes(std::span(solution.data)));
  file.commit();
}

std::string describe_problem(const RunConfig& config, double plaquette, double link_trace) {
  return fmt::format("plaquette {:.13e} link trace {:.13e} kappa {:.17g} {} boundary {} source {}", plaquette, link_trace, config.wilson.kappa,
                     config.wilson.normalisation == WilsonParameters::Normalisation::mass ? "mass" : "kappa", text_of(config.wilson.boundary),
                     text_of(config.source));
}

}  // namespace quarkstar::app
