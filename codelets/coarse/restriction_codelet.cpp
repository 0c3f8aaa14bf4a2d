#include "codelets/arch/implementations.hpp"
#include "codelets/coarse/join_cuda.hpp"
#include "codelets/coarse/restriction.hpp"
#include "codelets/lattice/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::coarse {
namespace {

using runtime::Call;
using runtime::Codelet;

/// Buffers: lists, out on even and on odd sites, pieces, then the state where there is one.
struct JoinTask {
  std::int32_t sites, words, pieces, has_state;
  Obedience obedience;

  const std::int32_t* idle(Call& call) const {
    return obedience.idle(has_state != 0 ? call.buffer<const VectorStatus>(3 + pieces) : nullptr);
  }
  template <class F>
  JoinArguments<F> unpack(Call& call) const {
    JoinArguments<F> a{};
    a.from = call.buffer<const std::uint32_t>(0);
    a.to = a.from + sites;
    for (int parity = 0; parity < 2; ++parity) a.out[parity] = call.buffer<F>(1 + parity);
    for (int piece = 0; piece < pieces; ++piece) a.pieces[piece] = call.buffer<const F>(3 + piece);
    a.sites = sites;
    a.words = words;
    return a;
  }
};

template <class F>
void run_join(Call& call) {
  const auto& task = call.arguments<JoinTask>();
  if (const std::int32_t* idle = task.idle(call); idle != nullptr && *idle != 0) return call.skip();
  const JoinArguments<F> a = task.unpack<F>(call);
  call.team().for_range(a.sites, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t site = begin; site < end; ++site)
      for (int word = 0; word < a.words; ++word) join_word(a, static_cast<std::size_t>(site), word);
  });
}
#ifdef QUARKSTAR_CUDA
template <class F>
void run_join_on_cuda(Call& call) {
  const auto& task = call.arguments<JoinTask>();
  cuda::launch_coarse_join(task.unpack<F>(call), task.idle(call), static_cast<runtime::CudaStream>(call.stream()));
}
#endif

template <class F>
const Codelet& join_codelet() {
  static const Codelet codelet(fmt::format("coarse.join.{}", name_of(NumberFormat<F>::precision)), runtime::CodeletKind::copy,
                               QUARKSTAR_BOTH(run_join, F));
  return codelet;
}

}  // namespace

Restriction::Restriction(const Aggregates& aggregates, int vectors) : aggregates_(aggregates) {
  if (aggregates.coarse() == aggregates.pieces()) return;
  const Lattice& lattice = *aggregates.pieces();
  pieces_.emplace(aggregates.pieces(), both_parities, aggregates.components(), vectors);
  const auto bytes_of_site =
      static_cast<std::size_t>(2 * aggregates.components() * vectors) * computed_bytes(aggregates.pieces()->precision());
  of_all_.emplace(
      lattice.decomposition(),
      [&](int b) { return static_cast<std::size_t>(volume(lattice.decomposition().block(b).extents)) * bytes_of_site; }, "coarse vectors");
  make_lists();
}

void Restriction::make_lists() {
  const runtime::Decomposition& cut = aggregates_.pieces()->decomposition();
  const BlockShape& whole = aggregates_.coarse()->block(0).shape();
  for (int first = 0; first < cut.count(); first += most_joined_pieces) {
    Part part{.first = first, .pieces = std::min(most_joined_pieces, cut.count() - first), .sites = 0, .lists = {}};
    std::vector<std::uint32_t> from, to;
    for (int piece = 0; piece < part.pieces; ++piece) {
      const runtime::Block& block = cut.block(first + piece);
      const BlockShape shape = shape_of_coarse(block);
      for (std::uint32_t in_piece = 0; const int parity : {0, 1})
        for (int outer = 0; outer < shape.outer_sites(); ++outer) {
          Coord site = shape.local_site({parity, outer, 0});
          for (std::size_t mu = 0; mu < 4; ++mu) site[mu] += block.origin[mu];
          const SitePosition place = whole.locate(site);
          from.push_back(static_cast<std::uint32_t>(piece) << site_bits | in_piece++);
          to.push_back(2 * static_cast<std::uint32_t>(place.outer) + static_cast<std::uint32_t>(place.parity));
        }
    }
    part.sites = static_cast<int>(from.size());
    from.insert(from.end(), to.begin(), to.end());
    part.lists = runtime::Handle(from.size() * sizeof from[0]);
    {
      const runtime::HostView<std::uint32_t> view(part.lists, runtime::HostAccess::overwrite);
      std::copy(from.begin(), from.end(), view.get());
    }
    part.lists.freeze();
    parts_.push_back(std::move(part));
  }
}

void Restriction::apply(const FullField& out, const Aggregates::Fine& in, const runtime::Guard& guard, const Layer& layer) {
  if (!pieces_) return aggregates_.restrict(out, in, guard, layer);
  aggregates_.restrict({&*pieces_, &*pieces_}, in, guard, layer);
  join(out, guard);
}

void Restriction::null_vectors(const FullField& out, const FullField& before, int field) {
  if (!pieces_) return aggregates_.restrict_null_vectors(Aggregates::both(out), before, field);
  aggregates_.restrict_null_vectors({&*pieces_, &*pieces_}, before, field);
  join(out, {});
}

void Restriction::join(const FullField& out, const runtime::Guard& guard) {
  const BlockGeometry& geometry = aggregates_.coarse()->block(0);
  const Precision precision = aggregates_.coarse()->precision();
  const runtime::AllGather::Piece own = [&](int b) -> const runtime::Handle& { return pieces_->block(b); };
  of_all_->exchange(own);
  for (const Part& part : parts_) {
    auto task = runtime::blank<JoinTask>();
    task.sites = part.sites;
    task.words = 2 * pieces_->components() * pieces_->vectors();
    task.pieces = part.pieces;
    task.has_state = guard.state != nullptr ? 1 : 0;
    task.obedience = Obedience(guard);
    runtime::AccessList accesses{runtime::in(part.lists)};
    for (const int parity : {0, 1}) {
      const runtime::Handle& handle = out.of(parity).block(0);
      accesses.push_back(part.first == 0 && !guard.keeps ? runtime::out(handle) : runtime::inout(handle));
    }
    for (int piece = 0; piece < part.pieces; ++piece) accesses.push_back(runtime::in(of_all_->piece(part.first + piece, own)));
    if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
    const double bytes = 2.0 * part.sites * task.words * static_cast<double>(computed_bytes(precision));
    runtime::submit(precision == Precision::double_ ? join_codelet<double>() : join_codelet<float>(), task, accesses, {0, bytes},
                    placement_of(geometry, runtime::role_of(guard.when)));
  }
}

}  // namespace quarkstar::coarse
