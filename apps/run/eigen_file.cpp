#include "apps/run/eigen_file.hpp"

#include "apps/run/hdf5_file.hpp"
#include "apps/run/report.hpp"
#include "codelets/io/part_checksum.hpp"
#include "runtime/mpi/shared_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace quarkstar::app {
namespace {

using runtime::mpi::Job;
using runtime::mpi::SharedFile;
using Complex = std::complex<double>;

constexpr const char* eigenvector_format = "quarkstar eigenvectors 1";

/// The sites of one parity as those of a lattice of half the extent in x. Parts begin at even x.
Coord halved(Coord extents) {
  extents[0] /= 2;
  return extents;
}
Box halved(const Box& box) { return {halved(box.origin), halved(box.extents)}; }

/// The site of `parity` in a box that is number `half` of the halved box.
std::int64_t site_of_half(std::int64_t half, const Box& box, int parity) {
  Coord local = coordinates(half, halved(box.extents));
  int others = parity;
  for (std::size_t mu = 1; mu < 4; ++mu) others += local[mu] + box.origin[mu];
  local[0] = 2 * local[0] + others % 2;
  return lexicographic(local, box.extents);
}

std::size_t site_bytes(const EigenHeader& header) { return static_cast<std::size_t>(header.components) * sizeof(Complex); }

std::array<std::uint32_t, 2> checksums_of(const EigenHeader& header, const Box& part, const std::vector<Complex>& half) {
  format::PayloadChecksum mine(format::ChecksumKind::scidac, format::ByteOrder::little, site_bytes(header));
  format::add_box(mine, halved(part), halved(header.lattice), std::as_bytes(std::span(half)));
  return format::over_ranks(Job::current(), mine).sums();
}

/// Of all that is not vectors, as bits.
std::string header_checksum(const EigenHeader& header, std::span<const std::uint32_t> checksums) {
  std::string text =
      fmt::format("{} {} {} {} {}", eigenvector_format, header.problem, fmt::join(header.lattice, ","), header.components, header.parity);
  for (const std::vector<double>* numbers : {&header.values, &header.residuals, &header.state}) {
    text += fmt::format(" {}:", numbers->size());
    for (const double number : *numbers) text += fmt::format(" {:a}", number);
  }
  text += fmt::format(" {}", fmt::join(checksums, " "));
  format::PayloadChecksum sum(format::ChecksumKind::scidac, format::ByteOrder::little, text.size());
  sum.add(0, std::as_bytes(std::span(text)));
  return fmt::format("{:08x}", sum.sums()[0]);
}

std::vector<int> as_ints(const std::vector<std::uint32_t>& numbers) { return {numbers.begin(), numbers.end()}; }

constexpr std::string_view deflate_key = "deflate", basis_key = "basis vectors", host_key = "host vectors";

int number_in(const RunConfig& config, std::string_view key) {
  const auto found = config.settings.find(key);
  return found == config.settings.end() ? 0 : std::get<int>(found->second);
}

}  // namespace

std::vector<Complex> compact(const HostField& field, int parity) {
  const auto components = static_cast<std::size_t>(field.components);
  std::vector<Complex> half(field.data.size() / 2);
  for (std::size_t i = 0; i < half.size() / components; ++i)
    std::copy_n(&field.at(site_of_half(static_cast<std::int64_t>(i), field.box(), parity), 0), components, &half[i * components]);
  return half;
}
void expand(HostField& field, std::span<const Complex> half, int parity) {
  const auto components = static_cast<std::size_t>(field.components);
  for (std::size_t i = 0; i < half.size() / components; ++i)
    std::copy_n(&half[i * components], components, &field.at(site_of_half(static_cast<std::int64_t>(i), field.box(), parity), 0));
}

std::string deflation_file(const RunConfig& config) {
  const auto found = config.settings.find(deflate_key);
  return found == config.settings.end() ? "" : std::get<std::string>(found->second);
}
void set_deflation_file(RunConfig& config, std::string_view file) {
  config.settings.insert_or_assign(std::string(deflate_key), std::string(file));
}
int basis_vectors(const RunConfig& config) { return number_in(config, basis_key); }
void set_basis_vectors(RunConfig& config, int vectors) { config.settings.insert_or_assign(std::string(basis_key), vectors); }
int host_vectors(const RunConfig& config) {
  // Of multigrid noise, or files, of all null vectors together.
  const int null_vectors = config.solver.multigrid ? config.solver.multigrid->null_vectors : 0;
  return std::max(number_in(config, host_key), null_vectors);
}
void set_host_vectors(RunConfig& config, int vectors) { config.settings.insert_or_assign(std::string(host_key), vectors); }
int host_vectors_of_writing(int block) { return 2 * block + 1; }  // one is packed
void count_projector(RunConfig& config, int modes) {
  set_basis_vectors(config, EigenProjector::vectors_for(modes));
  set_host_vectors(config, EigenProjector::block_for(std::max(1, modes)) + 1);  // one is unpacked
}

EigenProblem eigen_problem(const ActionKind& kind, const RunOperator& made, double mass, Schur schur) {
  if (kind.is_hermitian) return {made.equation + " even-odd system of mass 0", 0};
  const std::string of_mass = kind.names_masses ? fmt::format(" {} {}", kind.mass_key, mass) : "";
  return {fmt::format("{}{} {} even-odd system squared", made.equation, of_mass, schur == Schur::symmetric ? "symmetric" : "asymmetric"),
          mass};
}

void write_eigen_file(const std::string& path, const EigenHeader& header, int vectors, int block, const Box& part,
                      const EigenVectorsOf& of) {
  Job& job = Job::current();
  std::vector<HostField> fields;
  const auto each = [&](const std::function<void(const std::vector<Complex>&)>& use) {
    for (int first = 0; first < vectors; first += block) {
      fields.assign(static_cast<std::size_t>(std::min(block, vectors - first)), HostField(header.components, part));
      of(first, fields);
      for (const HostField& field : fields) use(compact(field, header.parity));
    }
  };
  std::vector<std::uint32_t> checksums;  // written before the vectors, which therefore are asked for twice
  each([&](const std::vector<Complex>& half) {
    for (const std::uint32_t sum : checksums_of(header, part, half)) checksums.push_back(sum);
  });
  std::optional<Hdf5File> file;
  std::uint64_t offset = 0;
  job.on_root([&] {
    file.emplace(path);
    file->attribute("format", eigenvector_format);
    file->attribute("problem", header.problem);
    file->attribute("quarkstar", version_line());
    file->attribute("checksum", header_checksum(header, checksums));
    file->write("lattice", std::vector<int>(header.lattice.begin(), header.lattice.end()));
    file->write("parity", std::vector<int>{header.parity});
    for (const auto& [name, numbers] :
         {std::pair{"eigenvalues", &header.values}, {"residuals", &header.residuals}, {"state", &header.state}})
      if (!numbers->empty()) file->write(name, *numbers);
    file->write("checksums", as_ints(checksums));
    const Coord half = halved(header.lattice);
    std::vector<hsize_t> shape{static_cast<hsize_t>(vectors)};
    for (std::size_t mu = 4; mu-- > 0;) shape.push_back(static_cast<hsize_t>(half[mu]));
    shape.push_back(static_cast<hsize_t>(header.components));
    const Hdf5Id real(H5Tcopy(H5T_IEEE_F64LE), H5Tclose), stored = complex_type(real);
    offset = file->leave_room("vectors", stored, shape);
    file->close();
  });
  SharedFile parts(job, file ? file->temporary() : "", SharedFile::Mode::write, path);
  const std::size_t bytes = site_bytes(header);
  each([&](const std::vector<Complex>& half) {
    parts.write({offset, bytes, halved(header.lattice)}, halved(part), std::as_bytes(std::span(half)));
    offset += static_cast<std::uint64_t>(volume(halved(header.lattice))) * bytes;
  });
  parts.close();
  job.on_root([&] { file->commit(); });
}

EigenFile::EigenFile(std::string path, std::string remedy) : path_(std::move(path)), remedy_(std::move(remedy)) {
  Job::current().together([&] {
    const Hdf5Input file(path_, remedy_);
    if (file.attribute("format") != eigenvector_format) refuse("this is no file of eigenvectors of this version");
    header_.problem = file.attribute("problem");
    const std::vector<int> lattice = file.integers("lattice"), parity = file.integers("parity"), sums = file.integers("checksums");
    if (lattice.size() != 4 || parity.size() != 1 || sums.size() % 2 != 0) refuse("its data sets have other sizes than they should");
    std::copy(lattice.begin(), lattice.end(), header_.lattice.begin());
    header_.parity = parity.front();
    const std::vector<std::string> names = file.names("/");
    for (const auto& [name, numbers] :
         {std::pair{"eigenvalues", &header_.values}, {"residuals", &header_.residuals}, {"state", &header_.state}})
      if (std::find(names.begin(), names.end(), name) != names.end()) *numbers = file.doubles(name);
    checksums_.assign(sums.begin(), sums.end());
    const Hdf5Input::Place place = file.place_of("vectors");
    const std::vector<std::uint64_t> expected{checksums_.size() / 2, static_cast<std::uint64_t>(lattice[3]),
                                              static_cast<std::uint64_t>(lattice[2]), static_cast<std::uint64_t>(lattice[1]),
                                              static_cast<std::uint64_t>(lattice[0] / 2)};
    if (place.shape.size() != 6 || !std::equal(expected.begin(), expected.end(), place.shape.begin()))
      refuse("its vectors have another shape than its lattice");
    header_.components = static_cast<int>(place.shape.back());
    offset_ = place.offset;
    if (file.attribute("checksum") != header_checksum(header_, checksums_)) refuse("what it says does not match its checksum");
  });
}

void EigenFile::refuse(const std::string& what) const { throw Error(ErrorKind::input, path_, what, remedy_); }

void EigenFile::require_problem(const std::string& problem, const Coord& lattice) const {
  Job::current().together([&] {
    if (header_.problem != problem || header_.lattice != lattice)
      refuse(fmt::format("its eigenvectors are those of another operator or configuration ({}, not {})", header_.problem, problem));
  });
}

void EigenFile::read(const Box& part, int block, const std::function<void(std::span<const HostField>)>& take) const {
  Job& job = Job::current();
  SharedFile file(job, path_, SharedFile::Mode::read);
  const std::size_t bytes = site_bytes(header_);
  std::uint64_t offset = offset_;
  for (int first = 0; first < vectors(); first += block) {
    std::vector<HostField> fields(static_cast<std::size_t>(std::min(block, vectors() - first)), HostField(header_.components, part));
    for (std::size_t v = 0; v < fields.size(); ++v) {
      std::vector<Complex> half(fields[v].data.size() / 2);
      file.read({offset, bytes, halved(header_.lattice)}, halved(part), std::as_writable_bytes(std::span(half)));
      offset += static_cast<std::uint64_t>(volume(halved(header_.lattice))) * bytes;
      const auto sums = checksums_of(header_, part, half);
      const std::size_t number = static_cast<std::size_t>(first) + v;
      job.together([&] {
        if (!std::equal(sums.begin(), sums.end(), checksums_.begin() + static_cast<std::ptrdiff_t>(2 * number)))
          refuse(fmt::format("vector {} does not match its checksums", number));
      });
      expand(fields[v], half, header_.parity);
    }
    take(fields);
  }
  file.close();
}

namespace {

EigenFile opened(const std::string& path) {
  return {path, "give --deflate the file that `quarkstar eigen` writes for this configuration and operator"};
}

}  // namespace

std::shared_ptr<const EigenProjector> load_projector(const std::string& path, const std::string& problem, const LatticePointer& lattice) {
  const EigenFile file = opened(path);
  file.require_problem(problem, lattice->decomposition().lattice());
  const EigenHeader& header = file.header();
  Job::current().together([&] {
    if (header.values.empty() || static_cast<int>(header.values.size()) != file.vectors())
      throw Error(ErrorKind::input, path, "it holds a solve that has not ended", "let `quarkstar eigen` end");
  });
  const auto projector = std::make_shared<EigenProjector>(lattice, header.parity, header.components, header.values);
  file.read(lattice->decomposition().part(), EigenProjector::block_for(projector->modes()),
            [&](std::span<const HostField> vectors) { projector->add(vectors); });
  return projector;
}

int modes_in(const std::string& path) { return opened(path).vectors(); }

}  // namespace quarkstar::app
