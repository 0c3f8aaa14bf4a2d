#include "apps/run/eigen_file.hpp"

#include "apps/run/eigen_scidac.hpp"
#include "apps/run/hdf5_file.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/report.hpp"
#include "codelets/field/transfer_site.hpp"
#include "codelets/io/part_checksum.hpp"
#include "runtime/mpi/shared_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace quarkstar::app {
namespace {

using runtime::mpi::Job;
using runtime::mpi::SharedFile;

constexpr Precision precisions[] = {Precision::double_, Precision::single, Precision::half};

/// Earlier versions know files in double precision alone, and no fifth dimension.
std::string format_of(Precision stored, int slices) {
  if (slices > 1) return fmt::format("quarkstar eigenvectors 3, {} slices, {}", slices, name_of(stored));
  return stored == Precision::double_ ? "quarkstar eigenvectors 1" : fmt::format("quarkstar eigenvectors 2, {}", name_of(stored));
}

/// The sites of one parity as those of a lattice of half the extent in x; of both as they are. Parts begin at even x.
Coord halved(Coord extents, int parity) {
  if (parity != both_parities) extents[0] /= 2;
  return extents;
}
Box halved(const Box& box, int parity) { return {halved(box.origin, parity), halved(box.extents, parity)}; }

/// The site of `parity` in a box that is number `half` of the halved box.
std::int64_t site_of_half(std::int64_t half, const Box& box, int parity) {
  if (parity == both_parities) return half;
  Coord local = coordinates(half, halved(box.extents, parity));
  int others = parity;
  for (std::size_t mu = 1; mu < 4; ++mu) others += local[mu] + box.origin[mu];
  local[0] = 2 * local[0] + others % 2;
  return lexicographic(local, box.extents);
}

std::size_t bytes_of_slice(const EigenHeader& header) { return site_bytes(header.stored, 2 * header.components); }
std::size_t bytes_of_site(const EigenHeader& header) { return bytes_of_slice(header) * static_cast<std::size_t>(header.slices); }
std::size_t bytes_of_part(const EigenHeader& header, const Box& part) {
  return static_cast<std::size_t>(volume(halved(part.extents, header.parity))) * bytes_of_site(header);
}

/// Elements of the data set `vectors`: complex numbers, or sites of a unit and 16-bit integers.
Hdf5Id element_type(const EigenHeader& header) {
  if (header.stored != Precision::half)
    return complex_type(Hdf5Id(H5Tcopy(header.stored == Precision::single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE), H5Tclose));
  const std::vector<hsize_t> numbers{static_cast<hsize_t>(header.components), 2};
  const Hdf5Id integers(H5Tarray_create2(H5T_STD_I16LE, 2, numbers.data()), H5Tclose);
  Hdf5Id type(H5Tcreate(H5T_COMPOUND, bytes_of_slice(header)), H5Tclose);
  H5Tinsert(type, "unit", 0, H5T_IEEE_F32LE);
  H5Tinsert(type, "numbers", sizeof(float), integers);
  return type;
}
/// Those of a vector, and their bytes.
std::vector<hsize_t> shape_of(const EigenHeader& header) {
  std::vector<hsize_t> shape;
  const Coord half = halved(header.lattice, header.parity);
  for (std::size_t mu = 4; mu-- > 0;) shape.push_back(static_cast<hsize_t>(half[mu]));
  if (header.slices > 1) shape.push_back(static_cast<hsize_t>(header.slices));
  if (header.stored != Precision::half) shape.push_back(static_cast<hsize_t>(header.components));
  return shape;
}
std::size_t element_bytes(const EigenHeader& header) {
  return bytes_of_slice(header) / (header.stored == Precision::half ? 1 : static_cast<std::size_t>(header.components));
}

/// body(type_identity<F>, integral constant of the components).
template <class Body>
void for_sites(Precision stored, int components, Body&& body) {
  with_format(stored, [&](auto format) { with_components(components, [&](auto count) { body(format, count); }); });
}

/// Fields have q + 32768 where the file has q, which others read as 16-bit integers.
template <class F>
void flip_integers(std::span<F> site) {
  if constexpr (is_half<F>)
    for (F& word : site.subspan(1)) word.word ^= 0x80008000u;
}

std::array<std::uint32_t, 2> checksums_of(const EigenHeader& header, const Box& part, const StoredVector& vector) {
  format::PayloadChecksum mine(format::ChecksumKind::scidac, format::ByteOrder::little, bytes_of_site(header));
  format::add_box(mine, halved(part, header.parity), halved(header.lattice, header.parity), vector);
  return format::over_ranks(Job::current(), mine).sums();
}

/// The first bytes tell, whatever the name.
bool begins_as_lime(const std::string& path) {
  char first[4]{};
  std::ifstream(path, std::ios::binary).read(first, sizeof first);
  return format::is_lime(std::as_bytes(std::span(first)));
}

std::vector<int> as_ints(const std::vector<std::uint32_t>& numbers) { return {numbers.begin(), numbers.end()}; }

constexpr std::string_view deflate_key = "deflate", basis_key = "basis vectors", device_key = "basis vectors on devices",
                           host_key = "host vectors", streamed_key = "streamed basis vectors", memory_key = "modes memory",
                           modes_key = "modes to project";

int number_in(const RunConfig& config, std::string_view key) {
  const auto found = config.settings.find(key);
  return found == config.settings.end() ? 0 : std::get<int>(found->second);
}

}  // namespace

StoredVector compact(std::span<const HostField> fields, int v, int n, int parity, Precision stored) {
  const VectorArrays from = VectorArrays::to_read(fields);
  StoredVector vector;
  for_sites(stored, from.components, [&](auto format, auto count) {
    using F = typename decltype(format)::type;
    constexpr int components = count;
    F site[NumberFormat<F>::site_words(2 * components)];
    const std::int64_t sites = volume(halved(from.box.extents, parity));
    vector.resize(static_cast<std::size_t>(sites * (from.count / n)) * sizeof site);
    std::byte* to = vector.data();
    for (std::int64_t i = 0; i < sites; ++i) {
      const std::size_t place = from.place(site_of_half(i, from.box, parity), parity);
      for (int field = v; field < from.count; field += n, to += sizeof site) {
        transfer::load_site<F, components>(site, from, field, place);
        flip_integers<F>(site);
        std::memcpy(to, site, sizeof site);
      }
    }
  });
  return vector;
}
void expand(std::span<HostField> fields, int v, int n, std::span<const std::byte> vector, int parity, Precision stored) {
  const VectorArrays to = VectorArrays::to_write(fields);
  for_sites(stored, to.components, [&](auto format, auto count) {
    using F = typename decltype(format)::type;
    constexpr int components = count;
    F site[NumberFormat<F>::site_words(2 * components)];
    const std::byte* from = vector.data();
    for (std::int64_t i = 0; i < volume(halved(to.box.extents, parity)); ++i) {
      const std::size_t place = to.place(site_of_half(i, to.box, parity), parity);
      for (int field = v; field < to.count; field += n, from += sizeof site) {
        std::memcpy(site, from, sizeof site);
        flip_integers<F>(site);
        transfer::store_site<F, components>(to, field, place, site);
      }
    }
  });
}
int host_vectors_of(int modes, int components, int parities, Precision stored) {
  return static_cast<int>(std::ceil(modes * parities * static_cast<double>(site_bytes(stored, 2 * components)) /
                                    (2.0 * static_cast<double>(site_bytes(Precision::double_, 2 * components)))));
}

std::string deflation_file(const RunConfig& config) {
  const auto found = config.settings.find(deflate_key);
  return found == config.settings.end() ? "" : std::get<std::string>(found->second);
}
void set_deflation_file(RunConfig& config, std::string_view file) {
  config.settings.insert_or_assign(std::string(deflate_key), std::string(file));
}
int basis_vectors(const RunConfig& config) { return number_in(config, basis_key); }
int modes_to_project(const RunConfig& config) { return number_in(config, modes_key); }
int basis_vectors_on_device(const RunConfig& config) {
  if (makes_basis(config)) return number_in(config, device_key);
  switch (modes_memory(config)) {
    case ModesMemory::device:
      return basis_vectors(config);
    case ModesMemory::streamed:
      return number_in(config, streamed_key);
    case ModesMemory::on_cpus:
      break;
  }
  return 0;
}
ModesMemory modes_memory(const RunConfig& config) { return static_cast<ModesMemory>(number_in(config, memory_key)); }
void set_modes_memory(RunConfig& config, ModesMemory where) {
  config.settings.insert_or_assign(std::string(memory_key), static_cast<int>(where));
}
bool makes_basis(const RunConfig& config) { return config.settings.contains(device_key); }
ModesOf parse_modes_of(std::string_view name) {
  return parse_name(name, {"even-odd", "gamma5"}) == "gamma5" ? ModesOf::gamma5 : ModesOf::even_odd;
}
SpectrumEnd parse_spectrum_end(std::string_view name) {
  return parse_name(name, {"lowest", "highest"}) == "highest" ? SpectrumEnd::highest : SpectrumEnd::lowest;
}
const char* name_of(ModesOf of) { return of == ModesOf::gamma5 ? "gamma5" : "even-odd"; }
const char* name_of(SpectrumEnd end) { return end == SpectrumEnd::highest ? "highest" : "lowest"; }
void require_target(const ActionKind& kind, const SettingValues& settings, EigenTarget target) {
  if (target.of != ModesOf::gamma5) return;
  if (kind.slices(settings) > 1)
    throw Error(ErrorKind::input, Parameter("operator"), fmt::format("gamma5, and {} has a fifth dimension", kind.name), "give even-odd");
  if (kind.components != spinor_components)
    throw Error(ErrorKind::input, Parameter("operator"), fmt::format("gamma5, and the vectors of {} have no spin", kind.name),
                "give even-odd: its eigenvalues are |lambda|^2 of the antihermitian D");
  for (const double mass : kind.masses(settings))
    if (kind.sequential_mass(mass) != mass)
      throw Error(ErrorKind::input, Parameter("operator"),
                  fmt::format("gamma5, and gamma_5 M of {} with {} {} is not hermitian", kind.name, kind.mass_key, mass),
                  fmt::format("give even-odd, or {} 0, whose eigenvectors are the same", kind.mass_key));
}
double dimension_of(const ActionKind& kind, const SettingValues& settings, const Coord& lattice, EigenTarget target) {
  return static_cast<double>(volume(lattice)) / 2 * target.parities() * kind.components * kind.slices(settings);
}
void count_basis(RunConfig& config, const EigenSettings& settings, EigenTarget target) {
  // Of the reflected operator its image; of gamma_5 M those, of both parities, that it is applied to and makes, that its square is made
  // of, and that come of and go to host memory.
  const int work = ((target.end == SpectrumEnd::highest ? 1 : 0) + (target.of == ModesOf::gamma5 ? 4 : 0)) * settings.block;
  const auto counted = [&](int vectors) { return target.parities() * (vectors + work); };
  const int components = config.action->components, slices = config.action->slices(config.settings);
  const int all = counted(fields_for(settings, components, slices));
  const int on_device = settings.basis_in_host_memory ? std::min(all, counted(fields_on_device(settings, components, slices))) : all;
  config.settings.insert_or_assign(std::string(basis_key), all);
  config.settings.insert_or_assign(std::string(device_key), on_device);
}
const char* name_of(BasisMemory memory) { return memory == BasisMemory::host ? "host" : "device"; }
BasisMemory parse_basis_memory(std::string_view name) {
  return parse_name(name, {"device", "host"}) == "host" ? BasisMemory::host : BasisMemory::device;
}
int host_vectors(const RunConfig& config) {
  // Of multigrid noise, or files, of all null vectors together.
  const int null_vectors = config.solver.multigrid ? config.solver.multigrid->null_vectors : 0;
  return std::max(number_in(config, host_key), null_vectors);
}
void set_host_vectors(RunConfig& config, int vectors) { config.settings.insert_or_assign(std::string(host_key), vectors); }
int host_vectors_of_writing(bool scidac, int block, int parities) {
  const int unpacked = scidac ? 2 : 0;                   // the mode and its bytes
  return block + (parities * block + 1) / 2 + unpacked;  // as they are computed, and the sites that are stored
}
void count_projector(RunConfig& config, const EigenHeader& header) {
  const int modes = static_cast<int>(header.values.size()), slices = config.action->slices(config.settings);
  const int block = EigenProjector::block_for(std::max(1, modes), slices), components = config.action->components;
  const auto count = [&](std::string_view key, ModesMemory where) {
    config.settings.insert_or_assign(std::string(key), EigenProjector::vectors_in_doubles(modes, components, header.stored, slices, where));
  };
  config.settings.insert_or_assign(std::string(modes_key), modes);
  count(basis_key, ModesMemory::device);
  count(streamed_key, ModesMemory::streamed);
  set_host_vectors(config, (block + 1) * slices);  // one is unpacked
}

EigenProblem eigen_problem(const ActionKind& kind, const RunOperator& made, double mass, Schur schur, EigenTarget target) {
  const std::string end = target.end == SpectrumEnd::highest ? " from its upper end" : "";
  if (kind.is_hermitian) return {made.equation + " even-odd system of mass 0" + end, 0};
  const std::string of_mass = kind.names_masses ? fmt::format(" {} {}", kind.mass_key, mass) : "";
  const std::string name = target.of == ModesOf::gamma5 ? "gamma_5 M"
                           : schur == Schur::symmetric  ? "symmetric even-odd system squared"
                                                        : "asymmetric even-odd system squared";
  return {fmt::format("{}{} {}{}", made.equation, of_mass, name, end), mass};
}

std::string header_checksum(const EigenHeader& header, std::span<const std::uint32_t> checksums) {
  std::string text = fmt::format("{} {} {} {} {}", format_of(header.stored, header.slices), header.problem, fmt::join(header.lattice, ","),
                                 header.components, header.parity);
  for (const std::vector<double>* numbers : {&header.values, &header.residuals, &header.state}) {
    text += fmt::format(" {}:", numbers->size());
    for (const double number : *numbers) text += fmt::format(" {:a}", number);
  }
  text += fmt::format(" {}", fmt::join(checksums, " "));
  format::PayloadChecksum sum(format::ChecksumKind::scidac, format::ByteOrder::little, text.size());
  sum.add(0, std::as_bytes(std::span(text)));
  return fmt::format("{:08x}", sum.sums()[0]);
}

bool is_scidac_name(const std::string& path) { return path.ends_with(".lime") || path.ends_with(".scidac"); }

void check_storable(const std::string& path, Precision stored, int slices) {
  if (!is_scidac_name(path)) return;
  if (slices > 1)
    throw Error(ErrorKind::input, path, "SciDAC files have no vectors of five dimensions", "give an HDF5 file, whose name ends otherwise");
  if (stored == Precision::half)
    throw Error(ErrorKind::input, path, "SciDAC files have no vectors in half precision",
                "store them in single precision, or in an HDF5 file, whose name ends otherwise");
}

void write_eigen_file(const std::string& path, const EigenHeader& header, int vectors, int block, const Box& part,
                      const EigenVectorsOf& of) {
  if (is_scidac_name(path)) return write_scidac_modes(path, header, block, part, of);
  Job& job = Job::current();
  const Coord sites = halved(header.lattice, header.parity);
  const Box mine = halved(part, header.parity);
  const auto each = [&](const std::function<void(const StoredVector&)>& use) {
    for (int first = 0; first < vectors; first += block)
      for (const StoredVector& vector : of(first, std::min(block, vectors - first))) use(vector);
  };
  std::vector<std::uint32_t> checksums;  // written before the vectors, which therefore are asked for twice
  each([&](const StoredVector& vector) {
    for (const std::uint32_t sum : checksums_of(header, part, vector)) checksums.push_back(sum);
  });
  std::optional<Hdf5File> file;
  std::uint64_t offset = 0;
  job.on_root([&] {
    file.emplace(path);
    file->attribute("format", format_of(header.stored, header.slices));
    file->attribute("problem", header.problem);
    file->attribute("quarkstar", version_line());
    file->attribute("checksum", header_checksum(header, checksums));
    file->write("lattice", std::vector<int>(header.lattice.begin(), header.lattice.end()));
    file->write("parity", std::vector<int>{header.parity});
    if (header.slices > 1) file->write("slices", std::vector<int>{header.slices});
    for (const auto& [name, numbers] :
         {std::pair{"eigenvalues", &header.values}, {"residuals", &header.residuals}, {"state", &header.state}})
      if (!numbers->empty()) file->write(name, *numbers);
    file->write("checksums", as_ints(checksums));
    std::vector<hsize_t> shape = shape_of(header);
    shape.insert(shape.begin(), static_cast<hsize_t>(vectors));
    offset = file->leave_room("vectors", element_type(header), shape);
    file->close();
  });
  SharedFile parts(job, file ? file->temporary() : "", SharedFile::Mode::write, path);
  const std::size_t bytes = bytes_of_site(header);
  each([&](const StoredVector& vector) {
    parts.write({offset, bytes, sites}, mine, vector);
    offset += static_cast<std::uint64_t>(volume(sites)) * bytes;
  });
  parts.close();
  job.on_root([&] { file->commit(); });
}

EigenFile::EigenFile(std::string path, std::string remedy) : path_(std::move(path)), remedy_(std::move(remedy)) {
  Job::current().together([&] {
    if (begins_as_lime(path_)) {
      scidac_ = std::make_shared<const ScidacModes>(path_, remedy_);
      header_ = scidac_->header();
      checksums_ = scidac_->checksums();
      return;
    }
    const Hdf5Input file(path_, remedy_);
    const std::string named = file.attribute("format");
    const std::vector<std::string> names = file.names("/");
    const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    if (const std::vector<int> slices = has("slices") ? file.integers("slices") : std::vector<int>{1};
        slices.size() == 1 && slices.front() >= 1 && slices.front() <= most_vectors)
      header_.slices = slices.front();
    const auto* const stored =
        std::find_if(std::begin(precisions), std::end(precisions), [&](Precision p) { return format_of(p, header_.slices) == named; });
    if (stored == std::end(precisions)) refuse("this is no file of eigenvectors of this version");
    header_.stored = *stored;
    header_.problem = file.attribute("problem");
    const std::vector<int> lattice = file.integers("lattice"), parity = file.integers("parity"), sums = file.integers("checksums");
    if (lattice.size() != 4 || parity.size() != 1 || sums.size() % 2 != 0) refuse("its data sets have other sizes than they should");
    std::copy(lattice.begin(), lattice.end(), header_.lattice.begin());
    header_.parity = parity.front();
    for (const auto& [name, numbers] :
         {std::pair{"eigenvalues", &header_.values}, {"residuals", &header_.residuals}, {"state", &header_.state}})
      if (has(name)) *numbers = file.doubles(name);
    checksums_.assign(sums.begin(), sums.end());
    const Hdf5Input::Place place = file.place_of("vectors");
    for (const int components : {colour_components, spinor_components}) {  // those with which the data set is as it is
      header_.components = components;
      std::vector<hsize_t> expected = shape_of(header_);
      expected.insert(expected.begin(), checksums_.size() / 2);
      if (place.shape == expected && place.number_bytes == element_bytes(header_)) break;
      if (components == spinor_components) refuse("its vectors have another shape than its lattice");
    }
    offset_ = place.offset;
    if (file.attribute("checksum") != header_checksum(header_, checksums_)) refuse("what it says does not match its checksum");
  });
}

void EigenFile::refuse(const std::string& what) const { throw Error(ErrorKind::input, path_, what, remedy_); }

namespace {

/// "kappa 0.15, not 0.16; ": where two texts of names and numbers first differ by a number. "" where it is something else.
std::string first_difference(const std::string& of_file, const std::string& wanted) {
  std::istringstream a(of_file), b(wanted);
  std::string name, in_file, here;
  while (a >> in_file && b >> here && in_file == here) name = in_file;
  const auto is_number = [](const std::string& word) {
    return !word.empty() && word.find_first_not_of("0123456789+-.e") == std::string::npos;
  };
  return is_number(in_file) && is_number(here) && !is_number(name) ? fmt::format("{} {}, not {}; ", name, in_file, here) : "";
}

}  // namespace

void EigenFile::require_problem(const std::string& problem, const Coord& lattice) const {
  Job::current().together([&] {
    if (header_.problem != problem || header_.lattice != lattice)
      refuse(fmt::format("its eigenvectors are those of another operator or configuration ({}it has {}, not {})",
                         first_difference(header_.problem, problem), header_.problem, problem));
  });
}

void EigenFile::require_modes() const {
  Job::current().together([&] {
    if (header_.values.empty() || static_cast<int>(header_.values.size()) != vectors())
      throw Error(ErrorKind::input, path_, "it holds a solve that has not ended", "let the solve for eigenvectors end");
  });
}

void EigenFile::read(const Box& part, int block, const std::function<void(std::span<const HostField>)>& take) const {
  Job& job = Job::current();
  if (scidac_) {
    for (int first = 0; first < vectors(); first += block) {
      std::vector<HostField> fields;
      for (int v = first; v < std::min(first + block, vectors()); ++v) fields.push_back(scidac_->read(v, part));
      take(fields);
    }
    return;
  }
  SharedFile file(job, path_, SharedFile::Mode::read);
  const std::size_t bytes = bytes_of_site(header_);
  std::uint64_t offset = offset_;
  const Coord sites = halved(header_.lattice, header_.parity);
  const Box mine = halved(part, header_.parity);
  StoredVector vector(bytes_of_part(header_, part));
  for (int first = 0; first < vectors(); first += block) {
    const int n = std::min(block, vectors() - first);
    std::vector<HostField> fields(static_cast<std::size_t>(n * header_.slices), HostField(header_.components, part));
    for (int v = 0; v < n; ++v) {
      file.read({offset, bytes, sites}, mine, vector);
      offset += static_cast<std::uint64_t>(volume(sites)) * bytes;
      const auto sums = checksums_of(header_, part, vector);
      const int number = first + v;
      job.together([&] {
        if (!std::equal(sums.begin(), sums.end(), checksums_.begin() + 2 * number))
          refuse(fmt::format("vector {} does not match its checksums", number));
      });
      expand(fields, v, n, vector, header_.parity, header_.stored);
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

std::shared_ptr<const EigenProjector> load_projector(const std::string& path, const std::string& problem, const LatticePointer& lattice,
                                                     ModesMemory where) {
  const EigenFile file = opened(path);
  file.require_problem(problem, lattice->decomposition().lattice());
  file.require_modes();
  const EigenHeader& header = file.header();
  const auto projector = std::make_shared<EigenProjector>(lattice, header.parity, header.components, header.values, header.stored, where);
  file.read(lattice->decomposition().part(), EigenProjector::block_for(projector->modes(), header.slices),
            [&](std::span<const HostField> vectors) { projector->add(vectors); });
  return projector;
}

EigenHeader header_in(const std::string& path) {
  const EigenFile file = opened(path);
  file.require_modes();
  return file.header();
}

}  // namespace quarkstar::app
