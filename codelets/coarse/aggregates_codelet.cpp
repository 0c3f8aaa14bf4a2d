#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/coarse/aggregates.hpp"
#include "codelets/coarse/transfer_cuda.hpp"
#include "codelets/coarse/transfer_kernels.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace quarkstar::coarse {
namespace {

using runtime::Call;
using runtime::Codelet;

constexpr const char* names[] = {"prolong", "restrict", "orthonormalise", "columns"};  // by TransferStep

}  // namespace

runtime::Decomposition coarse_decomposition(const runtime::Decomposition& fine, const Coord& aggregate) {
  Coord lattice{};
  runtime::SlabCuts cuts;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    lattice[mu] = fine.lattice()[mu] / aggregate[mu];
    cuts[mu].resize(static_cast<std::size_t>(fine.ranks()[mu]));
    for (const runtime::Block& block : fine.blocks()) {
      Coord others = block.position;
      others[mu] = 0;
      if (others == Coord{})
        cuts[mu][static_cast<std::size_t>(coordinates(block.rank, fine.ranks())[mu])].push_back(block.extents[mu] / aggregate[mu]);
    }
  }
  const Coord first = fine.block(fine.local().front()).position;
  return {lattice, cuts, fine.rank(), [&](const Coord& position) {
            Coord place{};
            for (std::size_t mu = 0; mu < 4; ++mu) place[mu] = first[mu] + position[mu];
            return fine.block(static_cast<int>(lexicographic(place, fine.grid()))).owner;
          }};
}

/// Buffers: tables, null vectors of even and of odd sites of each field of them, then fine vectors of the parities that are there, coarse
/// ones of both, and the state, where there are these.
struct Aggregates::Task {
  TransferStep step;
  std::int32_t fine_buffer[2], coarse_buffer[2], state_buffer;  ///< -1: none
  std::int32_t aggregate_sites, lanes, count, at_once, vectors, components, of_coarse;
  Layer layer;
  std::int32_t chirality, chunked, triangular, first;
  std::int64_t groups, places;  ///< places: where they begin in the table
  std::int64_t odd_words;       ///< where coarse vectors of both parities are in one buffer: words of the even ones
  Obedience obedience;

  const VectorStatus* status(Call& call) const { return state_buffer < 0 ? nullptr : call.buffer<const VectorStatus>(state_buffer); }

  template <class F>
  TransferArguments<F> unpack(Call& call) const {
    TransferArguments<F> a{};
    a.sites = call.buffer<const std::uint32_t>(0);
    a.places = a.sites + places;
    for (int parity = 0; parity < 2; ++parity) {
      for (int field = 0; field < count / at_once; ++field) a.null_vectors[field][parity] = call.buffer<F>(1 + 2 * field + parity);
      a.fine[parity] = fine_buffer[parity] < 0 ? nullptr : call.buffer<F>(fine_buffer[parity]);
      a.coarse[parity] = coarse_buffer[parity] < 0 ? nullptr : call.buffer<F>(coarse_buffer[parity]);
    }
    if (coarse_buffer[0] >= 0 && coarse_buffer[0] == coarse_buffer[1]) a.coarse[1] += odd_words;
    a.left_out = obedience.left_out(status(call));
    a.aggregate_sites = aggregate_sites;
    a.lanes = lanes;
    a.count = count;
    a.at_once = at_once;
    a.vectors = vectors;
    a.components = components;
    a.layer = layer;
    a.chirality = chirality;
    a.triangular = triangular;
    a.first = first;
    return a;
  }

  template <class F>
  static void run(Call& call) {
    const auto& task = call.arguments<Task>();
    if (const std::int32_t* idle = task.obedience.idle(task.status(call)); idle != nullptr && *idle != 0) return call.skip();
    static constexpr arch::KernelTable<TransferKernel<F> (*)(TransferStep, int, bool)> table = QUARKSTAR_KERNEL_TABLE(transfer_kernel<F>);
    const TransferKernel<F> kernel = table.current()(task.step, task.lanes, task.of_coarse != 0);
    const TransferArguments<F> a = task.unpack<F>(call);
    call.team().for_range(task.groups, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
  }
#ifdef QUARKSTAR_CUDA
  template <class F>
  static void run_on_cuda(Call& call) {
    const auto& task = call.arguments<Task>();
    cuda::launch_transfer(task.unpack<F>(call), task.step, task.of_coarse != 0, task.chunked != 0, task.groups,
                          task.obedience.idle(task.status(call)), static_cast<runtime::CudaStream>(call.stream()));
  }
#endif

  template <class F>
  static const Codelet& codelet_of(TransferStep step) {
    const auto made = [](TransferStep which) {
      return Codelet(fmt::format("coarse.{}.{}", names[static_cast<std::size_t>(which)], name_of(NumberFormat<F>::precision)),
                     runtime::CodeletKind::vector, QUARKSTAR_BOTH(run, F));
    };
    static const Codelet codelets[] = {made(TransferStep::prolong), made(TransferStep::restrict), made(TransferStep::orthonormalise),
                                       made(TransferStep::columns)};
    return codelets[static_cast<std::size_t>(step)];
  }
};

namespace {

void refuse_aggregate(const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, Parameter("aggregate"), what, remedy);
}

}  // namespace

void require_null_vectors(int null_vectors) {
  if (null_vectors < 4 || null_vectors > most_null_vectors || null_vectors % (null_vectors > most_vectors ? 8 : 4) != 0)
    throw Error(ErrorKind::input, Parameter("null-vectors"), fmt::format("{} null vectors", null_vectors),
                fmt::format("give a multiple of 4 from 4 to {}, or of 8 up to {}", most_vectors, most_null_vectors));
}

void require_aggregates(const Coord& lattice, const Coord& aggregate, int null_vectors, int components) {
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const char direction = "xyzt"[mu];
    if (aggregate[mu] < 2) refuse_aggregate(fmt::format("{} sites in {}", aggregate[mu], direction), "give 2 or more");
    if (aggregate[mu] > lattice[mu] / 2 || lattice[mu] % (2 * aggregate[mu]) != 0)
      refuse_aggregate(fmt::format("{} = {} is no even number of aggregates of {} sites", direction, lattice[mu], aggregate[mu]),
                       "give a divisor of half of the lattice's extent");
  }
  require_null_vectors(null_vectors);
  if (null_vectors > components / 2 * volume(aggregate))
    throw Error(ErrorKind::input, Parameter("null-vectors"),
                fmt::format("{} null vectors on aggregates of {} sites, which have {} components of each chirality", null_vectors,
                            volume(aggregate), components / 2 * volume(aggregate)),
                "give fewer, or larger aggregates");
}

namespace {

/// body(block, direction, sites of which it has no whole number) where a block cuts aggregates.
template <class Body>
void for_cut_aggregates(const runtime::Decomposition& decomposition, const Coord& aggregate, Body&& body) {
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const int extent = aggregate[mu], unit = mu == 0 ? 2 * extent : extent;  // coarse blocks need an even extent along x
    for (const runtime::Block& block : decomposition.blocks())
      if (block.origin[mu] % extent != 0 || block.extents[mu] % unit != 0) body(block, mu, unit);
  }
}

}  // namespace

bool has_whole_aggregates(const runtime::Decomposition& decomposition, const Coord& aggregate) {
  bool whole = true;
  for_cut_aggregates(decomposition, aggregate, [&](const runtime::Block&, std::size_t, int) { whole = false; });
  return whole;
}

void require_aggregates(const runtime::Decomposition& decomposition, const Coord& aggregate, int null_vectors, int components) {
  require_aggregates(decomposition.lattice(), aggregate, null_vectors, components);
  for_cut_aggregates(decomposition, aggregate, [](const runtime::Block& block, std::size_t mu, int unit) {
    refuse_aggregate(fmt::format("a block of {} sites in {} from {} on is no whole number of {} sites", block.extents[mu], "xyzt"[mu],
                                 block.origin[mu], unit),
                     "cut that direction into fewer blocks or ranks, or give smaller aggregates");
  });
}

Coord unit_of(const Coord& aggregate) {
  Coord unit = aggregate;
  for (int& extent : unit) extent = std::lcm(std::max(extent, 1), 2);
  return unit;
}

Aggregates::Aggregates(const LatticePointer& fine, int fine_components, const Coord& aggregate, int null_vectors, NextLevel next)
    : fine_((require_aggregates(fine->decomposition(), aggregate, null_vectors, fine_components), fine)), extents_(aggregate) {
  const auto lattice_of = [&](const runtime::Decomposition& decomposition) {
    return std::make_shared<Lattice>(decomposition, fine->precision(), periodic, LayoutRequest{.most_lanes = 1});
  };
  const runtime::Decomposition cut = coarse_decomposition(fine->decomposition(), aggregate);
  coarse_ = pieces_ = lattice_of(cut);
  if (next == NextLevel::whole && cut.count() > 1) coarse_ = lattice_of(runtime::Decomposition::uncut(cut.lattice(), cut.first_owner()));
  if (fine->precision() == Precision::half || fine->vectors_in_lanes() > 1)
    throw ShapeError("Aggregates", "vectors in half precision, or in lanes");
  const int at_once = null_vectors_at_once(null_vectors);
  for (int first = 0; first < null_vectors; first += at_once) null_vectors_.emplace_back(fine, fine_components, at_once);
  tables_.resize(static_cast<std::size_t>(fine->block_count()));
  for (const int b : fine->local_blocks()) make_tables(b);
}

void Aggregates::make_tables(int b) {
  const BlockShape &fine = fine_->block(b).shape(), &piece = pieces_->block(b).shape();
  Coord number{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (fine.outer[mu] % extents_[mu] != 0) throw ShapeError("Aggregates", "the lattice's lanes cut an aggregate");
    number[mu] = fine.outer[mu] / extents_[mu];
  }
  const bool whole = coarse_ != pieces_;
  std::vector<std::uint32_t> sites, places, places_in_whole;
  const auto number_of = [](const SitePosition& position) {
    return 2 * static_cast<std::uint32_t>(position.outer) + static_cast<std::uint32_t>(position.parity);
  };
  for (std::int64_t group = 0; group < volume(number); ++group) {
    const Coord of_group = coordinates(group, number);
    Coord first{};
    for (std::size_t mu = 0; mu < 4; ++mu) first[mu] = of_group[mu] * extents_[mu];
    for (std::int64_t k = 0; k < volume(extents_); ++k) sites.push_back(number_of(fine.locate(site_of(Box(first, extents_), k))));
    const SitePosition position = fine.locate(first);
    for (int lane = 0; lane < fine.lanes; ++lane) {
      Coord place = fine.local_site({position.parity, position.outer, lane});
      for (std::size_t mu = 0; mu < 4; ++mu) place[mu] /= extents_[mu];
      places.push_back(number_of(piece.locate(place)));
      if (!whole) continue;
      for (std::size_t mu = 0; mu < 4; ++mu) place[mu] += pieces_->block(b).block().origin[mu];
      places_in_whole.push_back(number_of(coarse_->block(0).shape().locate(place)));
    }
  }
  for (const auto& more : {places, places_in_whole}) sites.insert(sites.end(), more.begin(), more.end());
  runtime::Handle table(sites.size() * sizeof(std::uint32_t));
  {
    const runtime::HostView<std::uint32_t> view(table, runtime::HostAccess::overwrite);
    std::copy(sites.begin(), sites.end(), view.get());
  }
  table.freeze();
  tables_[static_cast<std::size_t>(b)] = std::move(table);
}

void Aggregates::submit(TransferStep step, const Fine& fine, const Pieces& coarse, const runtime::Guard& guard, Task task,
                        double flops) const {
  const char* const name = names[static_cast<std::size_t>(step)];
  task.step = step;
  task.lanes = fine_->lanes().lanes;
  task.count = null_vector_count();
  task.at_once = null_vectors_at_once(task.count);
  task.aggregate_sites = static_cast<std::int32_t>(volume(extents_));
  task.components = fine_components();
  task.of_coarse = is_coarse(fine_components()) ? 1 : 0;
  task.chunked = null_vectors_.front().even.chunked() ? 1 : 0;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  task.vectors = task.at_once;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    const Field* field = fine[parity];
    if (field == nullptr) continue;
    if (field->lattice() != fine_ || field->parity() != static_cast<int>(parity) || field->components() != fine_components())
      throw ShapeError(name, "fine vectors of another lattice, parity or kind");
    task.vectors = field->vectors();
  }
  const bool writes_null_vectors = step == TransferStep::orthonormalise, writes_coarse = step == TransferStep::restrict,
             reads_whole = !writes_coarse && coarse_ != pieces_, together = coarse[0] == coarse[1];
  for (const Field* field : {fine[0], fine[1], coarse[0], coarse[1]})
    if (field != nullptr && field->vectors() != task.vectors) throw ShapeError(name, "fields with other numbers of vectors");
  for (const Field* field : coarse)
    if (field != nullptr && (field->lattice() != (writes_coarse ? pieces_ : coarse_) || field->components() != components()))
      throw ShapeError(name, "coarse vectors of another lattice or kind");
  const auto written = [&](const runtime::Handle& handle) { return guard.keeps ? runtime::inout(handle) : runtime::out(handle); };
  for (const int b : fine_->local_blocks()) {
    const BlockGeometry& geometry = fine_->block(b);
    task.groups = geometry.outer_sites() * std::int64_t{2} / task.aggregate_sites;
    task.places = task.groups * (task.aggregate_sites + (reads_whole ? task.lanes : 0));
    task.odd_words = std::int64_t{2} * pieces_->block(b).outer_sites() * components() * task.vectors;
    runtime::AccessList accesses{runtime::in(tables_[static_cast<std::size_t>(b)])};
    const auto add = [&](const runtime::Access& access) {
      accesses.push_back(access);
      return static_cast<std::int32_t>(accesses.size()) - 1;
    };
    double bytes = 0;
    for (const FullField& field : null_vectors_)
      for (const int parity : {0, 1}) {
        const runtime::Handle& handle = field.of(parity).block(b);
        add(writes_null_vectors ? runtime::inout(handle) : runtime::in(handle));
        bytes += field.of(parity).block_bytes(b);
      }
    for (std::size_t parity = 0; parity < 2; ++parity) {
      task.fine_buffer[parity] = -1;
      if (fine[parity] == nullptr) continue;
      task.fine_buffer[parity] = add(writes_coarse ? runtime::in(fine[parity]->block(b)) : written(fine[parity]->block(b)));
      bytes += fine[parity]->block_bytes(b);
    }
    for (std::size_t parity = 0; parity < 2; ++parity) {
      task.coarse_buffer[parity] = parity == 1 && together ? task.coarse_buffer[0] : -1;
      if (coarse[parity] == nullptr || task.coarse_buffer[parity] >= 0) continue;
      const runtime::Handle& handle = coarse[parity]->block(reads_whole ? 0 : b);
      task.coarse_buffer[parity] = add(writes_coarse ? written(handle) : runtime::in(handle));
    }
    task.state_buffer = guard.state == nullptr ? -1 : add(runtime::in(*guard.state));
    const double sites = 2.0 * geometry.outer_sites() * task.lanes;
    const Codelet& codelet = fine_->precision() == Precision::double_ ? Task::codelet_of<double>(step) : Task::codelet_of<float>(step);
    runtime::submit(codelet, task, accesses, {sites * flops, bytes}, placement_of(geometry, runtime::role_of(guard.when)));
  }
}

void Aggregates::orthonormalise() const {
  const double n = null_vector_count();
  submit(TransferStep::orthonormalise, {}, {}, {}, runtime::blank<Task>(), 4 * 8 * fine_components() * n * (n + 1) / 2);
}

void Aggregates::prolong(const Fine& out, const FullField& in, const runtime::Guard& guard) const {
  const double parities = (out[0] != nullptr ? 0.5 : 0) + (out[1] != nullptr ? 0.5 : 0);
  submit(TransferStep::prolong, out, both(in), guard, runtime::blank<Task>(),
         parities * 8 * fine_components() * null_vector_count() * in.even.vectors());
}

void Aggregates::restrict(const Pieces& out, const Fine& in, const runtime::Guard& guard, const Layer& layer) const {
  auto task = runtime::blank<Task>();
  task.layer = layer;
  const double parities = (in[0] != nullptr ? 0.5 : 0) + (in[1] != nullptr ? 0.5 : 0), part = layer.stride == 0 ? 1.0 : 1.0 / layer.extent;
  submit(TransferStep::restrict, in, out, guard, task, part * parities * 8 * fine_components() * null_vector_count() * out[0]->vectors());
}

void Aggregates::restrict_null_vectors(const Pieces& out, const FullField& before, int field) const {
  auto task = runtime::blank<Task>();
  task.triangular = 1;
  const int n = null_vectors_at_once(null_vector_count());
  task.first = field * n;
  if (out[0]->vectors() != n) throw ShapeError("Aggregates::restrict_null_vectors", "other numbers of vectors");
  submit(TransferStep::restrict, both(before), out, {}, task, 8 * fine_components() * n * (task.first + (n + 1) / 2.0));
}

void Aggregates::columns(const FullField& out, int chirality, int field) const {
  auto task = runtime::blank<Task>();
  task.chirality = chirality;
  const int n = null_vectors_at_once(null_vector_count());
  task.first = field * n;
  if (out.even.vectors() != n) throw ShapeError("Aggregates::columns", "other numbers of vectors");
  submit(TransferStep::columns, both(out), {}, {}, task, 0);
}

Layer Aggregates::edge(int mu) const {
  Layer layer{.stride = 1, .extent = extents_[static_cast<std::size_t>(mu)]};
  for (int nu = 0; nu < mu; ++nu) layer.stride *= extents_[static_cast<std::size_t>(nu)];
  return layer;
}

}  // namespace quarkstar::coarse
