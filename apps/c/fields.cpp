#include "apps/c/fields.hpp"

#include "apps/c/context.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/gpu/foreign_memory.hpp"
#include "runtime/graph/wait_for_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace quarkstar::c {
namespace {

constexpr int matrix_entries = 9;

bool is_of_sites(qs_layout layout) { return layout == QS_MILC_SITE; }

std::size_t bytes_of(qs_precision precision) { return precision == QS_DOUBLE ? sizeof(double) : sizeof(float); }

/// What links and vectors have in common. reals: of a site.
void check(const char* argument, qs_precision precision, qs_layout layout, qs_location location, std::size_t site_stride,
           std::size_t reals) {
  if (precision != QS_DOUBLE && precision != QS_SINGLE)
    refuse(argument, fmt::format("precision {}", static_cast<int>(precision)), "give QS_DOUBLE or QS_SINGLE");
  if (layout < QS_LEXICOGRAPHIC || layout > QS_PYQUDA_PROPAGATOR)
    refuse(argument, fmt::format("layout {}", static_cast<int>(layout)), "give one of qs_layout");
  if (location != QS_HOST && location != QS_CUDA)
    refuse(argument, fmt::format("location {}", static_cast<int>(location)), "give QS_HOST or QS_CUDA");
  const std::size_t real = bytes_of(precision);
  if (is_of_sites(layout) != (site_stride != 0) || site_stride % real != 0)
    refuse(argument, fmt::format("site_stride {}", site_stride),
           is_of_sites(layout) ? "give the size of the struct of a site, a multiple of a real's" : "it is for QS_MILC_SITE: give 0");
  if (is_of_sites(layout) && site_stride < reals * real)
    refuse(argument, fmt::format("site_stride {}, but a site has {} bytes", site_stride, reals * real),
           "give the size of the struct of a site");
}

void require_arrays(std::span<void* const> arrays, qs_location location, const char* argument) {
  for (const void* array : arrays) require(array, argument);
  if (location == QS_CUDA) runtime::require_foreign_memory(arrays, argument);
}

}  // namespace

/// Copies in host memory of a field's arrays in GPU memory, while a function works on them.
class Copies {
 public:
  /// Sites of each array that are copied, of `pitch` bytes each, the first `width` of which are the field's.
  struct Sites {
    std::size_t first, count, width, pitch;
    /// Of the array up to the last of them.
    std::size_t bytes() const { return (first + count - 1) * pitch + width; }
  };
  Copies(const Sites& sites, void* stream) : sites_(sites), stream_(stream) {}

  /// Puts the address of a copy in the place of the array's. read: it begins with what the array has.
  void put(void*& array, bool read) {
    const Copy& copy =
        copies_.emplace_back(Copy{static_cast<std::byte*>(array), std::make_unique_for_overwrite<std::byte[]>(sites_.bytes())});
    if (read) move(copy, runtime::ForeignCopy::to_host);
    array = copy.here.get();
  }
  /// What has been written goes to the arrays.
  void give_back() const {
    for (const Copy& copy : copies_) move(copy, runtime::ForeignCopy::to_device);
  }

 private:
  struct Copy {
    std::byte* there;
    std::unique_ptr<std::byte[]> here;
  };
  void move(const Copy& copy, runtime::ForeignCopy direction) const {
    const std::size_t first = sites_.first * sites_.pitch;
    runtime::copy_foreign({copy.there + first, copy.here.get() + first, sites_.width, sites_.pitch, sites_.count}, direction, stream_);
  }

  Sites sites_;
  void* stream_;
  std::vector<Copy> copies_;
};

namespace {

/// The number of a site in storage.
std::int64_t place(qs_layout layout, const Box& part, std::int64_t lexicographic) {
  return layout == QS_LEXICOGRAPHIC ? lexicographic : even_odd_place(part, lexicographic, parity_of(site_of(part, lexicographic)));
}

/// The matrix U_mu(x) of the caller, 18 reals that follow each other.
template <class Real>
Real* matrix(const qs_links& links, std::int64_t site, int mu, std::int64_t sites) {
  constexpr std::int64_t reals = 2 * matrix_entries;
  auto* const first = static_cast<Real*>(links.data[0]);
  switch (links.layout) {
    case QS_MILC_SITE:
      return reinterpret_cast<Real*>(static_cast<std::byte*>(links.data[0]) + static_cast<std::size_t>(site) * links.site_stride) +
             mu * reals;
    case QS_QDP:
      return static_cast<Real*>(links.data[mu]) + site * reals;
    case QS_PYQUDA:
      return first + (mu * sites + site) * reals;
    default:
      return first + (site * 4 + mu) * reals;
  }
}

template <class Real, class Gauge, class Move>
void each_matrix(const qs_links& links, Gauge& gauge, const runtime::Team& team, Move&& move) {
  const Box part = gauge.box();
  const std::int64_t sites = volume(part.extents);
  team.for_range(sites, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t site = begin; site < end; ++site)
      for (int mu = 0; mu < 4; ++mu) move(gauge.link(site, mu), matrix<Real>(links, place(links.layout, part, site), mu, sites));
  });
}

void check_links(const qs_links& links) {
  check("links", links.precision, links.layout, links.location, links.site_stride, HostGauge::reals_per_site);
  if (links.layout == QS_PYQUDA_PROPAGATOR) refuse("links", "the layout is a propagator's", "give QS_PYQUDA");
  require_arrays({links.data, links.layout == QS_QDP ? std::size_t{4} : std::size_t{1}}, links.location, "links");
}

/// Links in GPU memory: `here` becomes their description with copies in host memory.
Copies copies_of(qs_links& here, std::int64_t sites, bool read) {
  const bool one_a_direction = here.layout == QS_QDP;
  const std::size_t bytes = HostGauge::reals_per_site / (one_a_direction ? 4 : 1) * bytes_of(here.precision);
  Copies copies({0, static_cast<std::size_t>(sites), bytes, here.layout == QS_MILC_SITE ? here.site_stride : bytes}, here.cuda_stream);
  for (int mu = 0; mu < (one_a_direction ? 4 : 1); ++mu) copies.put(here.data[mu], read);
  return copies;
}

/// Vectors of a description whose arrays are at `data`.
VectorArrays described(const qs_vectors& vectors, const std::vector<void*>& data, int first, int n, int components, const Box& part) {
  const bool propagator = vectors.layout == QS_PYQUDA_PROPAGATOR;
  const std::size_t number = 2 * bytes_of(vectors.precision), of_site = static_cast<std::size_t>(components),
                    colours = static_cast<std::size_t>(colour_components);
  VectorArrays here;
  here.count = n;
  here.components = components;
  here.box = part;
  here.is_single = vectors.precision == QS_SINGLE ? 1 : 0;
  here.even_first = vectors.layout != QS_LEXICOGRAPHIC ? 1 : 0;
  // A propagator is [sink spin][source spin][sink colour][source colour].
  here.colour_bytes = (propagator ? colours : 1) * number;
  here.spin_bytes = (propagator ? of_site : 1) * colours * number;
  here.site_bytes = is_of_sites(vectors.layout) ? vectors.site_stride : (propagator ? of_site : 1) * of_site * number;
  for (std::size_t v = 0; v < static_cast<std::size_t>(n); ++v) {
    const std::size_t column = static_cast<std::size_t>(first) + v;
    here.data[v] = static_cast<std::byte*>(data[propagator ? 0 : column]);
    if (propagator) here.data[v] += (column / colours * colours * colours + column % colours) * number;
  }
  return here;
}

/// What is copied of each array of vectors in GPU memory.
Copies::Sites sites_of(const qs_vectors& vectors, const Box& part, int components, qs_parity parity) {
  const bool propagator = vectors.layout == QS_PYQUDA_PROPAGATOR;
  const std::size_t bytes = 2 * static_cast<std::size_t>(components * (propagator ? components : 1)) * bytes_of(vectors.precision);
  const std::size_t pitch = is_of_sites(vectors.layout) ? vectors.site_stride : bytes;
  const auto all = static_cast<std::size_t>(volume(part.extents));
  if (parity == QS_BOTH || vectors.layout == QS_LEXICOGRAPHIC) return {0, all, bytes, pitch};
  return {parity == QS_ODD ? all / 2 : 0, all / 2, bytes, pitch};
}

/// Whether no task waits for another rank.
bool is_alone() { return !runtime::mpi::Job::current().is_distributed(); }

/// Waits for the tasks in which the caller's memory is used: for all of them, before an error goes on. failure: that of their submission.
void wait_for_copies(const std::vector<const Field*>& fields, std::exception_ptr failure = nullptr) {
  const auto wait = [&failure](auto&& for_tasks) {
    try {
      for_tasks();
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  if (is_alone()) wait([] { runtime::wait_for_all_tasks_of_caller(); });  // once: a thread that sleeps is awake late
  else
    for (const Field* field : fields)
      for (const int b : field->lattice()->local_blocks()) wait([&] { runtime::wait_for_tasks(field->block(b), true); });
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace

HostGauge links_from(const qs_links& given, const Box& part, const runtime::Team& team) {
  check_links(given);
  qs_links links = given;
  std::optional<Copies> copies;
  if (given.location == QS_CUDA) copies = copies_of(links, volume(part.extents), true);
  HostGauge gauge{part.extents, HostReals(static_cast<std::size_t>(volume(part.extents)) * HostGauge::reals_per_site), part.origin};
  const auto read = [](std::span<double, 18> mine, const auto* theirs) {
    for (std::size_t i = 0; i < 18; ++i) mine[i] = theirs[i];
  };
  if (links.precision == QS_SINGLE) each_matrix<float>(links, gauge, team, read);
  else each_matrix<double>(links, gauge, team, read);
  return gauge;
}

void links_to(const qs_links& given, const HostGauge& part, const runtime::Team& team) {
  check_links(given);
  qs_links links = given;
  std::optional<Copies> copies;
  if (given.location == QS_CUDA) copies = copies_of(links, volume(part.extents), false);
  const auto write = [](std::span<const double, 18> mine, auto* theirs) {
    for (std::size_t i = 0; i < 18; ++i) theirs[i] = static_cast<std::remove_reference_t<decltype(*theirs)>>(mine[i]);
  };
  if (links.precision == QS_SINGLE) each_matrix<float>(links, part, team, write);
  else each_matrix<double>(links, part, team, write);
  if (copies) copies->give_back();
}

void check_parity(qs_parity parity) {
  if (parity < QS_BOTH || parity > QS_ODD) refuse("parity", fmt::format("{}", static_cast<int>(parity)), "give QS_BOTH, QS_EVEN or QS_ODD");
}

void check_vectors(const qs_vectors& vectors, const char* argument, int components) {
  check(argument, vectors.precision, vectors.layout, vectors.location, vectors.site_stride, 2 * static_cast<std::size_t>(components));
  if (vectors.count < 1) refuse(argument, fmt::format("count {}", vectors.count), "give one vector at least");
  require(vectors.data, argument);
  const bool propagator = vectors.layout == QS_PYQUDA_PROPAGATOR;
  if (propagator && vectors.count != components)
    refuse(argument, fmt::format("count {} of a propagator", vectors.count), fmt::format("give all its columns, {}", components));
  require_arrays({vectors.data, propagator ? 1 : static_cast<std::size_t>(vectors.count)}, vectors.location, argument);
}

CallersVectors::CallersVectors(const qs_vectors& vectors, int first, int n, int components, const Box& part, qs_parity parity, bool read,
                               std::optional<int> gpu, const CallersVectors* before)
    : stream_(vectors.cuda_stream) {
  const bool propagator = vectors.layout == QS_PYQUDA_PROPAGATOR;
  std::vector<void*> data(vectors.data, vectors.data + (propagator ? 1 : vectors.count));
  const auto used = std::span(data).subspan(propagator ? 0 : static_cast<std::size_t>(first), propagator ? 1 : static_cast<std::size_t>(n));
  const Copies::Sites sites = sites_of(vectors, part, components, parity);
  const auto aligned = [&](const void* array) { return reinterpret_cast<std::uintptr_t>(array) % bytes_of(vectors.precision) == 0; };
  const bool direct = vectors.location == QS_CUDA && gpu && std::ranges::all_of(used, aligned) &&  // as reals of a GPU are
                      runtime::kernels_reach(used, sites.bytes(), *gpu);
  if (direct) {
    const bool has_waited = before != nullptr && before->here_.on_gpu != 0 && runtime::is_one_stream(before->stream_, stream_);
    if (!has_waited) runtime::wait_for_foreign(used.front(), stream_);
  } else if (vectors.location == QS_CUDA) {
    copies_ = std::make_shared<Copies>(sites, stream_);
    // What is written lies between other columns, or other sites.
    const bool among_others = propagator ? n < components : parity != QS_BOTH && vectors.layout == QS_LEXICOGRAPHIC;
    for (void*& array : used) copies_->put(array, read || among_others);
  }
  here_ = described(vectors, data, first, n, components, part);
  here_.on_gpu = direct ? 1 : 0;
}

void CallersVectors::give_back() const {
  if (copies_) copies_->give_back();
}

void Loading::load(const Field& field) {
  if (by_pairs_ && field.parity() == 0) {
    even_ = &field;
    return;
  }
  std::vector<const Field*> asked;
  std::exception_ptr failure;
  try {
    for (const Field* one : {std::exchange(even_, nullptr), &field}) {
      if (one == nullptr) continue;
      if (is_in(parity_, one->parity())) asked.push_back(one);
      else blas::submit<blas::Fill>({one}, {0.0});
    }
    const VectorArrays vectors = vectors_.first(field.site_vectors());
    if (asked.size() == 2) transfer::load({*asked[0], *asked[1]}, vectors);
    else if (!asked.empty()) transfer::load(*asked[0], vectors);
  } catch (...) {
    failure = std::current_exception();
  }
  wait_for_copies(asked, failure);
}

void store(const VectorArrays& vectors, std::initializer_list<const Field*> fields, qs_parity parity) {
  std::vector<const Field*> asked;
  std::ranges::copy_if(fields, std::back_inserter(asked), [parity](const Field* field) { return is_in(parity, field->parity()); });
  if (!is_alone())
    for (const Field* field : asked)
      for (const int b : field->lattice()->local_blocks()) runtime::wait_for_tasks(field->block(b));  // maybe for other ranks
  std::exception_ptr failure;
  try {
    if (asked.size() == 2) transfer::store(vectors, {*asked[0], *asked[1]});
    else if (!asked.empty()) transfer::store(vectors, *asked[0]);
  } catch (...) {
    failure = std::current_exception();
  }
  wait_for_copies(asked, failure);
}

std::vector<HostField> zero_fields(std::size_t n, int components, const Box& part) {
  std::vector<HostField> fields;
  fields.reserve(n);
  for (std::size_t v = 0; v < n; ++v) fields.emplace_back(components, part);  // n copies of one would be written twice
  return fields;
}

void copy(const VectorArrays& to, const VectorArrays& from, qs_parity parity, const runtime::Team& team) {
  with_components(to.components, [&](auto components) {
    team.for_range(volume(to.box.extents), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t site = begin; site < end; ++site) {
        const int own = parity_of(site_of(to.box, site));
        if (!is_in(parity, own)) continue;
        for (int v = 0; v < to.count; ++v) {
          std::complex<double> numbers[components()];
          from.read(numbers, v, from.place(site, own));
          to.write(numbers, v, to.place(site, own));
        }
      }
    });
  });
}

std::vector<HostField> vectors_from(const qs_vectors& vectors, int n, int components, const Box& part, const runtime::Team& team) {
  const CallersVectors theirs(vectors, 0, n, components, part, QS_BOTH, true, std::nullopt);
  std::vector<HostField> fields = zero_fields(static_cast<std::size_t>(n), components, part);
  copy(VectorArrays::to_write(fields), theirs.here(), QS_BOTH, team);
  return fields;
}

void vector_to(const qs_vectors& vectors, int number, const HostField& field, const runtime::Team& team) {
  const CallersVectors theirs(vectors, number, 1, field.components, field.box(), QS_BOTH, false, std::nullopt);
  copy(theirs.here(), VectorArrays::to_read({&field, 1}), QS_BOTH, team);
  theirs.give_back();
}

}  // namespace quarkstar::c
