#include "apps/run/checkpoint.hpp"

#include "codelets/io/part_checksum.hpp"
#include "runtime/mpi/shared_file.hpp"
#include "runtime/mpi/shared_output.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace quarkstar::app {
namespace {

using nlohmann::json;
using runtime::mpi::Job;
using runtime::mpi::SharedFile;
using runtime::mpi::SiteRecords;

constexpr std::size_t header_bytes = 4096, digits_bytes = 8;
constexpr const char* restart_format = "quarkstar checkpoint 3";
constexpr std::string_view ending = ".checkpoint";

/// Bytes of a site of a field whose part of the lattice is `part`.
std::size_t site_bytes_of(std::span<const std::complex<double>> field, const Box& part) {
  return field.size() / static_cast<std::size_t>(volume(part.extents)) * sizeof(std::complex<double>);
}

using Checksums = std::array<std::uint32_t, 2>;

/// Of records that each have their crc32, rotated by their number.
format::PayloadChecksum empty_sum(std::size_t record_bytes) {
  return {format::ChecksumKind::scidac, format::ByteOrder::little, record_bytes};
}

/// The crc32 of a text: that of record 0 is not rotated.
std::uint32_t crc32_of(std::string_view text) {
  format::PayloadChecksum sum = empty_sum(text.size());
  sum.add(0, std::as_bytes(std::span(text)));
  return sum.sums()[0];
}

/// Checksums of a whole field, from the parts of all ranks.
Checksums checksums(Job& job, std::span<const std::complex<double>> field, const Box& part, const Coord& lattice) {
  format::PayloadChecksum mine = empty_sum(site_bytes_of(field, part));
  format::add_box(mine, part, lattice, std::as_bytes(field));
  return format::over_ranks(job, mine).sums();
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::input, path, what, "remove it to solve the column anew, or give another --checkpoint");
}

/// Of a file that cannot be read nobody knows whether it is damaged.
[[noreturn]] void refuse_to_guess(const std::string& path, int code) {
  throw Error(ErrorKind::environment, path, "reading failed: " + std::generic_category().message(code),
              "every rank must be able to read it");
}

struct Header {
  std::string problem;
  int iterations = 0;
  Checksums checksums{};
};

std::string header_text(const Header& header) {
  std::string text =
      json{{"format", restart_format}, {"problem", header.problem}, {"iterations", header.iterations}, {"checksums", header.checksums}}
          .dump();
  if (text.size() > header_bytes - digits_bytes) throw ShapeError("Checkpoint::save", "the header is too long");
  text.resize(header_bytes - digits_bytes, ' ');
  return text + fmt::format("{:08x}", crc32_of(text));
}

Header read_header(const std::string& path, const std::string& problem, const Coord& lattice, std::size_t site_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) refuse_to_guess(path, errno);
  std::string text(header_bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    if (file.bad()) refuse_to_guess(path, errno);
    refuse(path, "the restart file ends within its header");
  }
  const std::string digits = text.substr(header_bytes - digits_bytes);
  text.resize(header_bytes - digits_bytes);
  Header header;
  try {
    const json fields = json::parse(text);
    if (fields.at("format") != restart_format) refuse(path, "this is not a restart file of this version");
    if (digits != fmt::format("{:08x}", crc32_of(text))) refuse(path, "the header does not match the restart file's checksum");
    header = {fields.at("problem").get<std::string>(), fields.at("iterations").get<int>(), fields.at("checksums").get<Checksums>()};
  } catch (const json::exception&) {
    refuse(path, "this is not a restart file");
  }
  if (!problem.empty() && header.problem != problem)
    refuse(path, fmt::format("the restart file belongs to another problem ({})", header.problem));
  const std::uint64_t expected = header_bytes + static_cast<std::uint64_t>(volume(lattice)) * site_bytes;
  file.seekg(0, std::ios::end);
  if (const auto size = static_cast<std::uint64_t>(file.tellg()); size != expected)
    refuse(path, fmt::format("the restart file has {} bytes instead of {}", size, expected));
  return header;
}

}  // namespace

Checkpoint::Checkpoint(std::string folder, const Coord& lattice, const Box& part, Access access)
    : folder_(std::move(folder)), lattice_(lattice), part_(part) {
  if (access == Access::read) return;
  Job::current().on_root([this] {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw_write_error("--checkpoint: " + folder_, "making the folder", error.value());
    if (::access(folder_.c_str(), W_OK | X_OK) != 0) throw_write_error("--checkpoint: " + folder_, "writing into the folder", errno);
    remove_leftovers(folder_, [](std::string_view name) { return name.ends_with(ending); });
    const AtomicFile probe(path_of("probe"));
  });
}

std::string Checkpoint::path_of(const std::string& name) const { return fmt::format("{}/{}{}", folder_, name, ending); }

std::optional<int> Checkpoint::load(const RestartKey& key, std::span<std::complex<double>> solution) const {
  Job& job = Job::current();
  const std::string path = path_of(key.name);
  bool found = false;
  job.on_root([&] { found = std::filesystem::exists(path); });
  if (!job.any(found)) return std::nullopt;
  const std::size_t site_bytes = site_bytes_of(solution, part_);
  Header header;
  job.together([&] { header = read_header(path, key.problem, lattice_, site_bytes); });
  SharedFile file(job, path, SharedFile::Mode::read);
  file.read({header_bytes, site_bytes, lattice_}, part_, std::as_writable_bytes(solution));
  file.close();
  const Checksums sums = checksums(job, solution, part_, lattice_);
  job.together([&] {
    if (sums != header.checksums) refuse(path, "the data do not match the restart file's checksums");
  });
  return header.iterations;
}

void Checkpoint::save(const RestartKey& key, std::span<const std::complex<double>> solution, int iterations) const {
  Job& job = Job::current();
  // A field that is not finite is no start for anything: the file of before stays.
  const auto finite = [](const std::complex<double>& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); };
  if (job.any(!std::all_of(solution.begin(), solution.end(), finite))) return;
  const Checksums sums = checksums(job, solution, part_, lattice_);
  const SiteRecords records{header_bytes, site_bytes_of(solution, part_), lattice_};
  runtime::mpi::SharedOutput file(job, path_of(key.name));
  file.on_root([&] {
    file.root()->append(header_text(Header{key.problem, iterations, sums}));
    file.root()->leave_room(static_cast<std::uint64_t>(volume(lattice_)) * records.record_bytes);
  });
  file.fill(records, part_, std::as_bytes(solution));
  file.commit();
}

bool worth_saving(const SolveResult& result) {
  // CG comes nearer while its residual still grows; what has stagnated above that of zero does not.
  if (result.reason == StopReason::stagnation && result.true_residual >= 1) return false;
  return std::isfinite(result.true_residual) && result.reason != StopReason::zero_denominator && result.reason != StopReason::not_finite;
}

std::function<bool(int iterations)> restart_file_due(int every, SaveRequests& requests) {
  return [every, &requests, last = 0, seen = requests.so_far()](int iterations) mutable {
    const bool counted = every > 0 && iterations - last >= every;
    const int so_far = requests.ask();
    const bool asked = so_far > seen;  // each solve in flight answers each request
    seen = so_far;
    if (counted) last = iterations;
    return counted || asked;
  };
}

RestartKey restart_key(const std::string& equation, const Source& source, int column, std::optional<double> mass) {
  return {fmt::format("column{:02}{}", column, mass ? fmt::format("-mass{}", *mass) : ""),
          fmt::format("{} source {}{}", equation, text_of(source), mass ? fmt::format(" mass {}", *mass) : "")};
}

}  // namespace quarkstar::app
