#include "apps/run/part_files.hpp"

#include "codelets/io/part_checksum.hpp"
#include "runtime/mpi/exchange.hpp"
#include "runtime/mpi/host_groups.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>

namespace quarkstar::app {
namespace {

using nlohmann::json;
using runtime::mpi::Combine;
using runtime::mpi::Parcel;

constexpr std::size_t part_header_bytes = 4096, checksum_digits = 8;
constexpr const char* part_format = "quarkstar part 1";

std::uint32_t crc32_of_bytes(std::span<const std::byte> bytes) {
  format::PayloadChecksum sum(format::ChecksumKind::scidac, format::ByteOrder::little, std::max<std::size_t>(bytes.size(), 1));
  if (!bytes.empty()) sum.add(0, bytes);
  return sum.sums()[0];
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string part_head(const std::string& header, const Box& box, std::span<const std::span<const std::byte>> pieces) {
  std::uint32_t all = 0;
  for (const auto& piece : pieces) all = (all << 1 | all >> 31) ^ crc32_of_bytes(piece);
  std::string text = json{
      {"format", part_format},
      {"header", header},
      {"origin", box.origin},
      {"extents", box.extents},
      {"numbers", pieces.front().size()},
      {"fields", pieces.size() - 1},
      {"bytes", pieces.size() > 1 ? pieces.back().size() : 0},
      {"checksum", all}}.dump();
  if (text.size() > part_header_bytes - checksum_digits) throw ShapeError("PartFiles::save", "the header is too long");
  text.resize(part_header_bytes - checksum_digits, ' ');
  return text + fmt::format("{:08x}", crc32_of_bytes(bytes_of(text)));
}

/// copy(place in the box, place in `common`) for the sites of a box that are also in another.
template <class Copy>
void for_common(const Box& box, const Box& common, const Coord& lattice, Copy&& copy) {
  for (std::int64_t i = 0; i < volume(common.extents); ++i)
    copy(static_cast<std::size_t>(index_in(box, site_of(common, i), lattice)), static_cast<std::size_t>(i));
}

/// From a part's fields, or (Back) into them, the sites of `common`, field after field.
template <bool Back, class Fields>
void move_sites(Fields& fields, const Box& box, const Box& common, const Coord& lattice, std::vector<std::byte>& packed) {
  const auto sites = static_cast<std::size_t>(volume(common.extents));
  std::byte* at = packed.data();
  for (auto& field : fields) {
    const std::size_t a_site = field.size() / static_cast<std::size_t>(volume(box.extents));
    for_common(box, common, lattice, [&](std::size_t here, std::size_t there) {
      if constexpr (Back) std::memcpy(field.data() + here * a_site, at + there * a_site, a_site);
      else std::memcpy(at + there * a_site, field.data() + here * a_site, a_site);
    });
    at += sites * a_site;
  }
}

}  // namespace

/// A file of this host.
struct PartFiles::Found {
  std::uint64_t set;
  int rank, ranks, copy;
  int holder = 0;
};

/// A part as it is in a file.
struct PartFiles::Part {
  std::string header;
  Box box;
  std::vector<std::byte> numbers;
  std::vector<std::vector<std::byte>> fields;
};

/// One that is taken.
struct PartFiles::ChosenPart {
  int holder = 0;            ///< the rank that has it
  std::optional<Part> held;  ///< there
  Box box{};
};

/// Throws Error(input) where the file is damaged.
PartFiles::Part PartFiles::read_part(const std::string& path) {
  const auto refuse = [&](std::string_view what) { throw Error(ErrorKind::input, path, what, ""); };
  std::ifstream file(path, std::ios::binary);
  std::string head(part_header_bytes, '\0');
  if (!file.read(head.data(), static_cast<std::streamsize>(head.size()))) refuse("the file cannot be read, or ends within its header");
  const std::string digits = head.substr(part_header_bytes - checksum_digits);
  head.resize(part_header_bytes - checksum_digits);
  if (digits != fmt::format("{:08x}", crc32_of_bytes(bytes_of(head)))) refuse("the header does not match its checksum");
  Part part;
  std::vector<std::size_t> sizes;
  std::vector<std::uint32_t> checksums;
  try {
    const json fields = json::parse(head);
    if (fields.at("format") != part_format) refuse("this is not a part file of this version");
    part.header = fields.at("header").get<std::string>();
    part.box = {fields.at("origin").get<Coord>(), fields.at("extents").get<Coord>()};
    sizes = {fields.at("numbers").get<std::size_t>()};
    sizes.resize(1 + fields.at("fields").get<std::size_t>(), fields.at("bytes").get<std::size_t>());
    checksums = {fields.at("checksum").get<std::uint32_t>()};
  } catch (const json::exception&) {
    refuse("this is not a part file");
  }
  std::uint32_t all = 0;
  for (const std::size_t& size : sizes) {
    std::vector<std::byte> bytes(size);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) refuse("the file ends early");
    all = (all << 1 | all >> 31) ^ crc32_of_bytes(bytes);
    if (&size == sizes.data()) part.numbers = std::move(bytes);
    else part.fields.push_back(std::move(bytes));
  }
  if (all != checksums.front()) refuse("the data do not match their checksum");
  return part;
}

std::vector<int> partners(std::span<const int> host) {
  const auto ranks = static_cast<int>(host.size());
  std::map<int, std::vector<int>> of_host;
  for (int rank = 0; rank < ranks; ++rank) of_host[host[static_cast<std::size_t>(rank)]].push_back(rank);
  std::vector<int> partner(host.size());
  for (const auto& [number, mine] : of_host) {
    const auto next = std::next(of_host.find(number));
    const std::vector<int>& theirs = next == of_host.end() ? of_host.begin()->second : next->second;
    for (std::size_t i = 0; i < mine.size(); ++i)
      partner[static_cast<std::size_t>(mine[i])] = of_host.size() > 1 ? theirs[i % theirs.size()] : mine[(i + 1) % mine.size()];
  }
  return partner;
}

PartFiles::PartFiles(std::string folder, const Coord& lattice, const Box& part) : job_(runtime::mpi::Job::current()), lattice_(lattice) {
  const runtime::mpi::HostGroups hosts = runtime::mpi::host_groups(job_);
  const auto me = static_cast<std::size_t>(job_.rank());
  const char* const name = std::getenv("QUARKSTAR_HOST");
  folder_ = folder + "/" + (name != nullptr && *name != '\0' ? name : job_.hosts()[me]);
  first_of_host_ = hosts.ranks_of(hosts.of_rank[me]).front() == job_.rank();
  parts_ = job_.gather(part);
  const std::vector<int> partner = partners(hosts.of_rank);
  partner_ = partner[me];
  for (int rank = 0; rank < job_.size(); ++rank)
    if (partner[static_cast<std::size_t>(rank)] == job_.rank() && rank != job_.rank()) copies_of_.push_back(rank);
  if (hosts.count == 1 && job_.is_root())
    spdlog::warn(
        "--redundant: all ranks are on one host, so the copies of their restart files are there too, and the loss of it loses all");
  job_.together([this] {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw_write_error("--checkpoint: " + folder_, "making the folder", error.value());
    if (::access(folder_.c_str(), W_OK | X_OK) != 0) throw_write_error("--checkpoint: " + folder_, "writing into the folder", errno);
    if (first_of_host_) remove_leftovers(folder_, [](std::string_view) { return true; });
  });
}

std::string PartFiles::path(const std::string& name, std::uint64_t set, int rank, int ranks, bool copy) const {
  return fmt::format("{}/{}.{}.{}-of-{}{}", folder_, name, set, rank, ranks, copy ? ".copy" : "");
}

std::vector<PartFiles::Found> PartFiles::list(const std::string& name) const {
  std::vector<Found> found;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(folder_, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string file = entry->path().filename().string();
    Found one{};
    char rest[8] = {};
    if (!file.starts_with(name + ".")) continue;
    const int fields = std::sscanf(file.c_str() + name.size(), ".%llu.%d-of-%d%7s", reinterpret_cast<unsigned long long*>(&one.set),
                                   &one.rank, &one.ranks, rest);
    one.copy = fields == 4 ? 1 : 0;
    if (fields >= 3 && one.rank >= 0 && one.rank < one.ranks &&
        path(name, one.set, one.rank, one.ranks, one.copy != 0).ends_with("/" + file))
      found.push_back(one);
  }
  return found;
}

void PartFiles::remove_before(const std::string& name, std::uint64_t set) const {
  if (!first_of_host_) return;
  std::error_code ignored;
  for (const Found& one : list(name))
    if (one.set < set) std::filesystem::remove(path(name, one.set, one.rank, one.ranks, one.copy != 0), ignored);
}

void PartFiles::remove(const std::string& name) const {
  job_.barrier();
  remove_before(name, UINT64_MAX);
}

void PartFiles::save(const std::string& name, const std::string& header, std::span<const std::byte> numbers,
                     std::span<const std::span<const std::byte>> fields) const {
  // The time of day: a host that comes back has sets whose numbers nobody has used again.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::uint64_t set = job_.is_root() ? static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) : 0;
  if (first_of_host_)
    for (const Found& one : list(name)) set = std::max(set, one.set + 1);
  set = job_.combined(set, Combine::maximum);

  const Box& mine = parts_[static_cast<std::size_t>(job_.rank())];
  std::vector<std::span<const std::byte>> pieces{numbers};
  pieces.insert(pieces.end(), fields.begin(), fields.end());
  std::map<int, std::unique_ptr<AtomicFile>> files;  // by the rank whose part it is
  const auto open = [&](int rank) { files[rank] = std::make_unique<AtomicFile>(path(name, set, rank, job_.size(), rank != job_.rank())); };
  std::string head;
  job_.together([&] {
    head = part_head(header, mine, pieces);
    open(job_.rank());
    for (const int rank : copies_of_) open(rank);
  });
  pieces.insert(pieces.begin(), bytes_of(head));
  // Errors of writing wait until no rank waits for another.
  std::exception_ptr failure;
  const auto append = [&](int rank, std::span<const std::byte> bytes) {
    try {
      if (!failure) files[rank]->append(bytes);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    // What is sent is not written to: a Parcel serves both ways.
    std::vector<Parcel> send, receive;
    if (partner_ != job_.rank()) send.push_back({partner_, {const_cast<std::byte*>(pieces[i].data()), pieces[i].size()}});
    std::vector<std::vector<std::byte>> theirs;
    for (const int rank : copies_of_) {
      const bool of_sites = i >= 2;
      const auto sites = static_cast<std::size_t>(volume(parts_[static_cast<std::size_t>(rank)].extents));
      theirs.emplace_back(of_sites ? pieces[i].size() / static_cast<std::size_t>(volume(mine.extents)) * sites : pieces[i].size());
    }
    for (std::size_t c = 0; c < theirs.size(); ++c) receive.push_back({copies_of_[c], theirs[c]});
    exchange(job_, send, receive);
    append(job_.rank(), pieces[i]);
    for (std::size_t c = 0; c < theirs.size(); ++c) append(copies_of_[c], theirs[c]);
    job_.note_progress();
  }
  job_.together([&] {
    if (failure) std::rethrow_exception(failure);
    for (const auto& [rank, file] : files) file->commit();
  });
  remove_before(name, set);
}

/// What all hosts have: of each set, newest first, and number of ranks, the files of each part, the ranks' own before copies.
PartFiles::Sets PartFiles::sets(const std::string& name) const {
  std::string mine;
  if (first_of_host_)
    for (const Found& one : list(name)) mine += fmt::format("{} {} {} {} {}\n", one.set, one.rank, one.ranks, one.copy, job_.rank());
  std::vector<Found> all;
  for (const std::string& text : job_.gather_text(mine)) {
    std::istringstream words(text);
    for (Found one{}; words >> one.set >> one.rank >> one.ranks >> one.copy >> one.holder;) all.push_back(one);
  }
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.copy < b.copy; });
  Sets sets;
  for (const Found& one : all) {
    auto& parts = sets[{one.set, one.ranks}];
    if (one.rank >= one.ranks || static_cast<std::size_t>(one.ranks) > all.size()) continue;  // no such set can be whole
    parts.resize(static_cast<std::size_t>(one.ranks));
    parts[static_cast<std::size_t>(one.rank)].push_back(one);
  }
  return sets;
}

/// The parts of a set, each in memory of the rank that holds its file; of a damaged file the next one that has the part is taken. Nothing
/// where a part is in no file, undamaged.
std::optional<PartFiles::Chosen> PartFiles::choose(const std::string& name, const std::vector<std::vector<Found>>& files) const {
  Chosen chosen(files.size());
  std::vector<std::size_t> choice(files.size(), 0);
  std::vector<std::uint64_t> lacks(files.size(), 1);  // files to be read
  while (std::any_of(lacks.begin(), lacks.end(), [](std::uint64_t one) { return one != 0; })) {
    for (std::size_t p = 0; p < files.size(); ++p)
      if (choice[p] >= files[p].size()) return std::nullopt;
    for (std::size_t p = 0; p < files.size(); ++p) {
      const Found& file = files[p][choice[p]];
      chosen[p].holder = file.holder;
      if (std::exchange(lacks[p], 0) == 0 || file.holder != job_.rank()) continue;
      try {
        chosen[p].held = read_part(path(name, file.set, file.rank, file.ranks, file.copy != 0));
      } catch (const Error& error) {
        lacks[p] = 1;
        spdlog::warn("{}; {}", error.what(), choice[p] + 1 < files[p].size() ? "the copy of it is taken" : "there is no other copy of it");
      }
      job_.note_progress();
    }
    job_.combine(std::span(lacks), Combine::maximum);
    for (std::size_t p = 0; p < files.size(); ++p) choice[p] += lacks[p];
  }
  return chosen;
}

/// What is the same in all parts, from the first: header, numbers, and as many fields without their sites.
PartSet PartFiles::common_to_all(const Chosen& chosen) const {
  std::string head;
  if (const auto& first = chosen[0].held; first)
    head = json{{"header", first->header}, {"fields", first->fields.size()}}.dump() + "\n" +
           std::string(reinterpret_cast<const char*>(first->numbers.data()), first->numbers.size());
  for (const std::string& text : job_.gather_text(head))
    if (!text.empty()) head = text;
  const std::size_t line = head.find('\n');
  const json fields = json::parse(head.substr(0, line));
  PartSet result;
  result.header = fields.at("header").get<std::string>();
  const std::span<const std::byte> behind = bytes_of(head).subspan(line + 1);
  result.numbers.assign(behind.begin(), behind.end());
  result.fields.resize(fields.at("fields").get<std::size_t>());
  return result;
}

/// Tells all ranks where each part lies; returns the bytes of a site of one field.
std::size_t PartFiles::tell_places(Chosen& chosen) const {
  constexpr std::size_t words = 9;
  std::vector<std::uint64_t> places(chosen.size() * words, 0);
  const auto word = [&](std::size_t p, std::size_t number) -> std::uint64_t& { return places[words * p + number]; };
  for (std::size_t p = 0; p < chosen.size(); ++p) {
    const std::optional<Part>& held = chosen[p].held;
    if (!held) continue;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      word(p, mu) = static_cast<std::uint64_t>(held->box.origin[mu]);
      word(p, 4 + mu) = static_cast<std::uint64_t>(held->box.extents[mu]);
    }
    if (!held->fields.empty()) word(p, 8) = held->fields[0].size() / static_cast<std::size_t>(volume(held->box.extents));
  }
  job_.combine(std::span(places), Combine::maximum);
  for (std::size_t p = 0; p < chosen.size(); ++p)
    for (std::size_t mu = 0; mu < 4; ++mu) {
      chosen[p].box.origin[mu] = static_cast<int>(word(p, mu));
      chosen[p].box.extents[mu] = static_cast<int>(word(p, 4 + mu));
    }
  return static_cast<std::size_t>(places[8]);
}

/// Sends the sites of part p to the ranks whose parts have them now; gives the part up.
void PartFiles::spread(ChosenPart& part, std::size_t bytes_a_site, PartSet& to) const {
  const auto packed_of = [&](const Box& box) {
    return std::vector<std::byte>(static_cast<std::size_t>(volume(box.extents)) * bytes_a_site * to.fields.size());
  };
  std::vector<Parcel> send, receive;
  std::vector<std::vector<std::byte>> sent(part.held ? parts_.size() : 0);
  for (std::size_t rank = 0; rank < sent.size(); ++rank) {
    const Box shared = common(part.box, parts_[rank]);
    sent[rank] = packed_of(shared);
    if (sent[rank].empty()) continue;
    move_sites<false>(part.held->fields, part.box, shared, lattice_, sent[rank]);
    if (static_cast<int>(rank) != job_.rank()) send.push_back({static_cast<int>(rank), sent[rank]});
  }
  const Box& wanted = parts_[static_cast<std::size_t>(job_.rank())];
  const Box shared = common(part.box, wanted);
  const bool mine = part.holder == job_.rank();
  std::vector<std::byte> got = mine ? std::move(sent[static_cast<std::size_t>(part.holder)]) : packed_of(shared);
  if (!mine && !got.empty()) receive.push_back({part.holder, got});
  exchange(job_, send, receive);
  if (!got.empty()) move_sites<true>(to.fields, wanted, shared, lattice_, got);
  part.held.reset();
  job_.note_progress();
}

std::optional<PartSet> PartFiles::load(const std::string& name) const {
  const Sets all = sets(name);
  if (all.empty()) return std::nullopt;
  for (const auto& [key, files] : all) {
    std::optional<Chosen> chosen;
    if (files.empty() || !(chosen = choose(name, files))) continue;
    PartSet result = common_to_all(*chosen);
    const std::size_t bytes_a_site = tell_places(*chosen);
    const std::int64_t own_sites = volume(parts_[static_cast<std::size_t>(job_.rank())].extents);
    for (std::vector<std::byte>& field : result.fields) field.resize(static_cast<std::size_t>(own_sites) * bytes_a_site);
    std::int64_t sites = 0;
    for (ChosenPart& part : *chosen) {
      sites += volume(part.box.extents);
      spread(part, bytes_a_site, result);
    }
    if (!result.fields.empty() && sites != volume(lattice_))
      throw runtime::mpi::SharedError(ErrorKind::input, folder_ + "/" + name,
                                      fmt::format("the part files hold {} sites of {}", sites, volume(lattice_)),
                                      "give another --checkpoint");
    return result;
  }
  throw runtime::mpi::SharedError(ErrorKind::input, folder_ + "/" + name,
                                  "of no set of part files all parts are on the hosts of this job, undamaged",
                                  "start the job on the hosts that wrote them (all but one are enough), or remove the files to begin anew");
}

}  // namespace quarkstar::app
