#include "apps/run/checkpoint.hpp"

#include "codelets/io/part_checksum.hpp"
#include "runtime/mpi/shared_file.hpp"
#include "runtime/mpi/shared_output.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
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

/// Fields that are not finite are no start for anything: the file of before stays. Collective.
bool are_finite(std::span<const std::span<const std::complex<double>>> fields) {
  const auto finite = [](const std::complex<double>& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); };
  return !Job::current().any(!std::ranges::all_of(fields, [&](const auto& field) { return std::ranges::all_of(field, finite); }));
}

/// Checksums of whole fields, from the parts of all ranks.
Checksums checksums(Job& job, std::span<const std::span<const std::complex<double>>> fields, const Box& part, const Coord& lattice) {
  std::vector<Checksums> all;
  for (const auto& field : fields) {
    format::PayloadChecksum mine = empty_sum(site_bytes_of(field, part));
    format::add_box(mine, part, lattice, std::as_bytes(field));
    all.push_back(format::over_ranks(job, mine).sums());
  }
  if (all.empty()) return {};
  if (all.size() == 1) return all.front();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(all));
  return {crc32_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), static_cast<std::uint32_t>(all.size())};
}

/// Says no to a file: of which path, and with what to do about it.
struct Refusal {
  std::string path, remedy;
  [[noreturn]] void operator()(const std::string& what) const { throw Error(ErrorKind::input, path, what, remedy); }
};

/// Of a file that cannot be read nobody knows whether it is damaged.
[[noreturn]] void refuse_to_guess(const std::string& path, int code) {
  throw Error(ErrorKind::environment, path, "reading failed: " + std::generic_category().message(code),
              "every rank must be able to read it");
}

struct Header {
  std::string problem;
  int iterations = 0;
  Checksums checksums{};
  std::size_t fields = 1, numbers = 0;  ///< bytes of numbers
  std::uint32_t checksum_of_numbers = 0;
};

json fields_of(const Header& header) {
  json fields{{"format", restart_format}, {"problem", header.problem}, {"iterations", header.iterations}, {"checksums", header.checksums}};
  if (header.numbers > 0)
    fields.update({{"fields", header.fields}, {"numbers", header.numbers}, {"numbers-checksum", header.checksum_of_numbers}});
  return fields;
}

Header header_of(const json& fields) {
  return {fields.at("problem").get<std::string>(), fields.at("iterations").get<int>(),      fields.at("checksums").get<Checksums>(),
          fields.value("fields", std::size_t{1}),  fields.value("numbers", std::size_t{0}), fields.value("numbers-checksum", 0u)};
}

std::string header_text(const Header& header) {
  std::string text = fields_of(header).dump();
  if (text.size() > header_bytes - digits_bytes) throw ShapeError("Checkpoint::save", "the header is too long");
  text.resize(header_bytes - digits_bytes, ' ');
  return text + fmt::format("{:08x}", crc32_of(text));
}

bool is_of(const std::string& problem, const std::string& wanted) { return wanted.empty() || problem == wanted; }

Header read_header(const Refusal& refuse, const Coord& lattice, std::size_t site_bytes) {
  const std::string& path = refuse.path;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) refuse_to_guess(path, errno);
  std::string text(header_bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    if (file.bad()) refuse_to_guess(path, errno);
    refuse("the restart file ends within its header");
  }
  const std::string digits = text.substr(header_bytes - digits_bytes);
  text.resize(header_bytes - digits_bytes);
  Header header;
  try {
    const json fields = json::parse(text);
    if (fields.at("format") != restart_format) refuse("this is not a restart file of this version");
    if (digits != fmt::format("{:08x}", crc32_of(text))) refuse("the header does not match the restart file's checksum");
    header = header_of(fields);
  } catch (const json::exception&) {
    refuse("this is not a restart file");
  }
  const std::uint64_t expected = header_bytes + header.numbers + static_cast<std::uint64_t>(volume(lattice)) * site_bytes * header.fields;
  file.seekg(0, std::ios::end);
  if (const auto size = static_cast<std::uint64_t>(file.tellg()); size != expected)
    refuse(fmt::format("the restart file has {} bytes instead of {}", size, expected));
  return header;
}

}  // namespace

/// What read() finds.
struct Checkpoint::Loaded {
  std::string problem;
  int iterations = 0;
  std::string numbers;
  std::vector<std::vector<std::complex<double>>> fields;
};

Checkpoint::Checkpoint(std::string folder, const Coord& lattice, const Box& part, Access access, Words words)
    : folder_(std::move(folder)), lattice_(lattice), part_(part), words_(std::move(words)) {
  if (access == Access::read) return;
  if (access == Access::redundant) {
    parts_.emplace(folder_, lattice, part);
    return;
  }
  Job::current().on_root([this] {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw_write_error(words_.setting + ": " + folder_, "making the folder", error.value());
    if (::access(folder_.c_str(), W_OK | X_OK) != 0) throw_write_error(words_.setting + ": " + folder_, "writing into the folder", errno);
    remove_leftovers(folder_, [](std::string_view name) { return name.ends_with(ending); });
    const AtomicFile probe(path_of("probe"));
  });
}

std::string Checkpoint::path_of(const std::string& name) const { return fmt::format("{}/{}{}", folder_, name, ending); }

std::optional<Checkpoint::Loaded> Checkpoint::read(const RestartKey& key, int components) const {
  Job& job = Job::current();
  const std::string path = path_of(key.name);
  const Refusal refuse{path, words_.remedy};
  Loaded loaded;
  const std::size_t site_bytes = static_cast<std::size_t>(components) * sizeof(std::complex<double>),
                    mine = static_cast<std::size_t>(volume(part_.extents) * components);
  if (parts_) {
    const std::optional<PartSet> set = parts_->load(key.name + std::string(ending));
    if (!set) return std::nullopt;
    const Header header = header_of(json::parse(set->header));
    loaded = {header.problem, header.iterations, {}, {}};
    loaded.numbers.assign(reinterpret_cast<const char*>(set->numbers.data()), set->numbers.size());
    for (const std::vector<std::byte>& bytes : set->fields) {
      if (bytes.size() != mine * sizeof(std::complex<double>)) throw ShapeError("Checkpoint::load", "fields of another kind");
      std::memcpy(loaded.fields.emplace_back(mine).data(), bytes.data(), bytes.size());
    }
    return loaded;
  }
  bool found = false;
  job.on_root([&] { found = std::filesystem::exists(path); });
  if (!job.any(found)) return std::nullopt;
  Header header;
  job.together([&] {
    header = read_header(refuse, lattice_, site_bytes);
    loaded.numbers.resize(header.numbers);
    std::ifstream file(path, std::ios::binary);
    file.seekg(header_bytes);
    if (!file.read(loaded.numbers.data(), static_cast<std::streamsize>(loaded.numbers.size()))) refuse_to_guess(path, errno);
    if (header.numbers > 0 && crc32_of(loaded.numbers) != header.checksum_of_numbers)
      refuse("the numbers do not match the restart file's checksum");
  });
  loaded.problem = header.problem;
  loaded.iterations = header.iterations;
  if (!is_of(header.problem, key.problem)) return loaded;
  SharedFile file(job, path, SharedFile::Mode::read);
  std::vector<Numbers> parts;
  std::uint64_t offset = header_bytes + header.numbers;
  for (std::size_t i = 0; i < header.fields; ++i, offset += static_cast<std::uint64_t>(volume(lattice_)) * site_bytes) {
    loaded.fields.emplace_back(mine);
    file.read({offset, site_bytes, lattice_}, part_, std::as_writable_bytes(std::span(loaded.fields.back())));
  }
  file.close();
  for (const auto& field : loaded.fields) parts.emplace_back(field);
  const Checksums sums = checksums(job, parts, part_, lattice_);
  job.together([&] {
    if (!parts.empty() && sums != header.checksums) refuse("the data do not match the restart file's checksums");
  });
  return loaded;
}

void Checkpoint::write(const RestartKey& key, std::span<const Numbers> fields, int iterations, std::span<const std::byte> numbers) const {
  Job& job = Job::current();
  const std::string_view text(reinterpret_cast<const char*>(numbers.data()), numbers.size());
  Header header{key.problem, iterations, {}, fields.size(), numbers.size(), numbers.empty() ? 0 : crc32_of(text)};
  if (parts_) {
    std::vector<std::span<const std::byte>> bytes;
    for (const Numbers& field : fields) bytes.push_back(std::as_bytes(field));
    return parts_->save(key.name + std::string(ending), fields_of(header).dump(), numbers, bytes);
  }
  header.checksums = checksums(job, fields, part_, lattice_);
  SiteRecords records{header_bytes + numbers.size(), fields.empty() ? 0 : site_bytes_of(fields[0], part_), lattice_};
  const std::uint64_t of_field = static_cast<std::uint64_t>(volume(lattice_)) * records.record_bytes;
  runtime::mpi::SharedOutput file(job, path_of(key.name));
  file.on_root([&] {
    file.root()->append(header_text(header));
    file.root()->append(numbers);
    if (!fields.empty()) file.root()->leave_room(of_field * fields.size());
  });
  for (std::size_t i = 0; i < fields.size(); ++i, records.offset += of_field) file.fill(records, part_, std::as_bytes(fields[i]));
  file.commit();
}

std::optional<int> Checkpoint::load(const RestartKey& key, std::span<std::complex<double>> solution) const {
  const std::optional<Loaded> loaded = read(key, static_cast<int>(solution.size() / static_cast<std::size_t>(volume(part_.extents))));
  if (!loaded) return std::nullopt;
  Job::current().together([&] {
    if (!is_of(loaded->problem, key.problem))
      Refusal{path_of(key.name), words_.remedy}(fmt::format("the restart file belongs to another problem ({})", loaded->problem));
  });
  std::copy(loaded->fields[0].begin(), loaded->fields[0].end(), solution.begin());
  return loaded->iterations;
}

std::optional<std::string> Checkpoint::problem_of(const std::string& name, int components) const {
  constexpr const char* none_is_called_so = "-";  // so that no data are read
  const std::optional<Loaded> found = read({name, none_is_called_so}, components);
  return found ? std::optional(found->problem) : std::nullopt;
}

void Checkpoint::save(const RestartKey& key, std::span<const std::complex<double>> solution, int iterations) const {
  if (are_finite({{solution}})) write(key, {{solution}}, iterations, {});
}

std::optional<SolveState> Checkpoint::load_state(const RestartKey& key, int components) const {
  const auto without = [&](const std::string& why) {
    if (Job::current().is_root())
      spdlog::warn("{}; the solve goes on from restart files of solutions where there are some, and else begins anew", why);
    return std::nullopt;
  };
  std::optional<Loaded> loaded;
  try {
    loaded = read(key, components);
  } catch (const runtime::mpi::SharedError& error) {
    if (!parts_ || error.kind() != ErrorKind::input) throw;
    return without(error.what());  // what a host has kept that was away
  }
  if (!loaded) return std::nullopt;
  if (!is_of(loaded->problem, key.problem))
    return without(
        fmt::format("{}: this state of a solver is of another problem, or of other settings or another version", path_of(key.name)));
  SolveState state;
  const json numbers = json::from_cbor(loaded->numbers);
  for (const json& one : numbers.at("results")) {
    SolveResult& result = state.results.emplace_back();
    result.reason = static_cast<StopReason>(one.at("reason").get<int>());
    result.iterations = one.at("iterations");
    result.by_multigrid = one.value("by_multigrid", 0);
    result.restarts = one.at("restarts");
    result.refreshes = one.at("refreshes");
    result.true_residual = one.at("residual");
    result.residual_history = one.at("history").get<std::vector<double>>();
  }
  const auto& bytes = numbers.at("numbers").get_binary();
  state.numbers.assign(reinterpret_cast<const std::byte*>(bytes.data()), reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size());
  for (auto& field : loaded->fields) (state.fields.emplace_back(components, part_)).data = std::move(field);
  return state;
}

void Checkpoint::save_state(const RestartKey& key, const SolveState& state) const {
  json results = json::array();
  int most = 0;
  for (const SolveResult& result : state.results) {
    results.push_back({{"reason", static_cast<int>(result.reason)},
                       {"iterations", result.iterations},
                       {"by_multigrid", result.by_multigrid},
                       {"restarts", result.restarts},
                       {"refreshes", result.refreshes},
                       {"residual", result.true_residual},
                       {"history", result.residual_history}});
    most = std::max(most, result.iterations);
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(state.numbers.data());
  const std::vector<std::uint8_t> numbers =
      json::to_cbor({{"results", std::move(results)}, {"numbers", json::binary({bytes, bytes + state.numbers.size()})}});
  std::vector<Numbers> fields;
  for (const HostField& field : state.fields) fields.emplace_back(field.data);
  if (are_finite(fields)) write(key, fields, most, std::as_bytes(std::span(numbers)));
}

void Checkpoint::remove_state(const RestartKey& key) const {
  if (parts_) return parts_->remove(key.name + std::string(ending));
  Job::current().on_root([&] {
    std::error_code ignored;
    std::filesystem::remove(path_of(key.name), ignored);
  });
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
