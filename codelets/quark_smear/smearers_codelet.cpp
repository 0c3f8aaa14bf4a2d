#include "codelets/field/places_of.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/quark_smear/colours_cuda.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace quarkstar {
namespace {

using quark_smear::ColoursTask, quark_smear::SpaceLinksTask, runtime::Call;

/// Buffers: what is written, what is read. Back: colour vectors become spinors.
template <bool Back>
void run_colours(Call& call) {
  const auto& task = call.arguments<ColoursTask>();
  double* to = call.buffer<double>(0);
  const double* from = call.buffer<const double>(1);
  call.team().for_range(task.colours.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int lane = 0; lane < task.colours.lanes; ++lane)
        if constexpr (Back) quark_smear::move_colours(to, from, task, outer, lane);
        else quark_smear::move_colours(from, to, task, outer, lane);
  });
}

/// Buffers: links of even and odd sites, the configuration's.
void run_links(Call& call) {
  const auto& task = call.arguments<SpaceLinksTask>();
  const double* links = call.buffer<const double>(2);
  for (const int parity : {0, 1}) {
    double* to = call.buffer<double>(parity);
    call.team().for_range(task.shape.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto outer = static_cast<int>(begin); outer < end; ++outer)
        for (int lane = 0; lane < task.shape.lanes; ++lane) quark_smear::write_space_links(to, links, task, parity, outer, lane);
    });
  }
}

#ifdef QUARKSTAR_CUDA
template <bool Back>
void run_colours_on_cuda(Call& call) {
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  double* to = call.buffer<double>(0);
  const double* from = call.buffer<const double>(1);
  if constexpr (Back) cuda::launch_colours(to, from, call.arguments<ColoursTask>(), stream);
  else cuda::launch_colours(from, to, call.arguments<ColoursTask>(), stream);
}
void run_links_on_cuda(Call& call) {
  cuda::launch_space_links(call.buffer<double>(0), call.buffer<double>(1), call.buffer<const double>(2), call.arguments<SpaceLinksTask>(),
                           static_cast<runtime::CudaStream>(call.stream()));
}
#else
template <bool Back>
constexpr runtime::Implementation run_colours_on_cuda = nullptr;
constexpr runtime::Implementation run_links_on_cuda = nullptr;
#endif

const runtime::Codelet spread_codelet("quark_smear.spread", runtime::CodeletKind::copy, run_colours<false>, run_colours_on_cuda<false>);
const runtime::Codelet gather_codelet("quark_smear.gather", runtime::CodeletKind::copy, run_colours<true>, run_colours_on_cuda<true>);
const runtime::Codelet links_codelet("quark_smear.links", runtime::CodeletKind::copy, run_links, run_links_on_cuda);

/// Between vectors of a field and colour vectors. keeps: whether others of `spinors` stay as they are.
template <bool Back>
void submit_colours(const FullField& spinors, const FullField& colours, std::span<const int> vectors, bool keeps) {
  for (const int parity : {0, 1}) {
    const Field &a = spinors.of(parity), &b = colours.of(parity);
    auto task = runtime::blank<ColoursTask>();
    task.spinor_places = places_of(a);
    task.colour_places = places_of(b);
    task.parity = parity;
    task.spins = a.components() / colour_components;
    task.count = static_cast<int>(vectors.size());
    std::copy(vectors.begin(), vectors.end(), task.vector);
    for (const int i : b.lattice()->local_blocks()) {
      task.spinors = a.lattice()->block(i).shape();
      task.colours = b.lattice()->block(i).shape();
      const runtime::Cost cost{0, 2 * b.block_bytes(i)};
      const runtime::Placement placement = placement_of(b.lattice()->block(i));
      if (!Back) runtime::submit(spread_codelet, task, {runtime::out(b.block(i)), runtime::in(a.block(i))}, cost, placement);
      else
        runtime::submit(gather_codelet, task, {keeps ? runtime::inout(a.block(i)) : runtime::out(a.block(i)), runtime::in(b.block(i))},
                        cost, placement);
    }
  }
}

/// The configuration on the graph, with a border in space, APE-smeared.
std::unique_ptr<gauge::GaugeField> smeared_links(const runtime::Decomposition& decomposition, const HostGauge& host, double alpha,
                                                 int steps) {
  const Coord border{1, 1, 1, 0};
  auto links = std::make_unique<gauge::GaugeField>(decomposition, border);
  gauge::load(*links, host);
  gauge::exchange_border(*links);
  std::unique_ptr<gauge::GaugeField> other;
  if (steps > 0) other = std::make_unique<gauge::GaugeField>(decomposition, border);
  for (int step = 0; step < steps; ++step) {
    smear::ape_links(*other, *links, alpha);
    gauge::exchange_border(*other);
    std::swap(links, other);
  }
  return links;
}

}  // namespace

QuarkSmearers::QuarkSmearers(const runtime::Decomposition& decomposition, const HostGauge& links, std::span<const QuarkSmearing> smearings)
    : lattice_(std::make_shared<Lattice>(decomposition, Precision::double_, periodic)) {
  for (const QuarkSmearing& smearing : smearings) {
    const auto same = [&](const auto& hops) { return hops->ape == smearing.ape && hops->ape_steps == smearing.ape_steps; };
    if (std::any_of(hops_.begin(), hops_.end(), same)) continue;
    const auto smeared = smeared_links(decomposition, links, smearing.ape, smearing.ape_steps);
    Hops& hops =
        *hops_.emplace_back(new Hops{smearing.ape, smearing.ape_steps, staggered::Links(lattice_, 0, 0), staggered::Links(lattice_, 1, 0)});
    for (const int b : lattice_->local_blocks()) {
      const BlockGeometry& block = lattice_->block(b);
      const runtime::Handle& from = smeared->handle(block.block());
      runtime::submit(links_codelet, SpaceLinksTask{block.shape(), smeared->shape(block.block())},
                      {runtime::out(hops.even.fat.block(b)), runtime::out(hops.odd.fat.block(b)), runtime::in(from)},
                      {0, 3.0 * static_cast<double>(smeared->shape(block.block()).reals()) * sizeof(double)}, placement_of(block));
    }
    runtime::Session::current().wait_all();
    hops.even.fat.freeze();
    hops.odd.fat.freeze();
  }
}

QuarkSmearers::Hops& QuarkSmearers::hops_of(const QuarkSmearing& smearing) const {
  for (const auto& hops : hops_)
    if (hops->ape == smearing.ape && hops->ape_steps == smearing.ape_steps) return *hops;
  throw ShapeError("QuarkSmearers", "a smearing that was not announced");
}

void QuarkSmearers::smear(const QuarkSmearing& smearing, const FullField& to, const FullField& from, std::span<const int> vectors) const {
  for (const FullField* field : {&to, &from}) {
    const Lattice& lattice = *field->even.lattice();
    if (lattice.precision() != Precision::double_ || lattice.decomposition().grid() != lattice_->decomposition().grid() ||
        lattice.decomposition().lattice() != lattice_->decomposition().lattice() || is_coarse(field->even.components()))
      throw ShapeError("QuarkSmearers", "fields of another decomposition or kind, or not of double precision");
  }
  const int n = static_cast<int>(vectors.size()), spins = to.even.components() / colour_components;
  if (from.even.components() != to.even.components() || to.even.vectors() != n ||
      std::any_of(vectors.begin(), vectors.end(), [&](int v) { return v < 0 || v >= from.even.vectors(); }))
    throw ShapeError("QuarkSmearers", "fields of two kinds, or another number of vectors than is smeared");
  Hops& hops = hops_of(smearing);
  const int most = most_vectors / spins, groups = (n + most - 1) / most, size = (n + groups - 1) / std::max(1, groups);
  const double weight = smearing.weight();
  for (int first = 0; first < n; first += size) {
    const int count = std::min(size, n - first), colours = count * spins;
    std::unique_ptr<staggered::Dslash>& dslash = hops.of_vectors[colours];
    if (!dslash) dslash = std::make_unique<staggered::Dslash>(hops.even, hops.odd, colours);
    FullField psi(lattice_, colour_components, colours), next(lattice_, colour_components, colours);
    submit_colours<false>(from, psi, vectors.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), true);
    for (int step = 0; step < smearing.steps; ++step) {
      for (const int parity : {0, 1})
        dslash->apply(next.of(parity), psi.of(1 - parity),
                      {.x = &psi.of(parity), .diagonal = same_for_all(1 - 6 * weight), .scale = same_for_all(weight)});
      std::swap(psi, next);
    }
    std::vector<int> places;
    for (int i = first; i < first + count; ++i) places.push_back(i);
    submit_colours<true>(to, psi, places, first > 0 || &to == &from);
  }
}

}  // namespace quarkstar
