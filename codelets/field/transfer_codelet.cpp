#include "codelets/arch/implementations.hpp"
#include "codelets/field/convert_cuda.hpp"
#include "codelets/field/link_tasks.hpp"
#include "codelets/field/places_of.hpp"
#include "codelets/field/row_form.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/field/transfer_cuda.hpp"
#include "codelets/field/transfer_site.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/lattice/lanes_in_a_row.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

namespace quarkstar::transfer {
namespace {

using runtime::Call;
using runtime::Codelet;

/// Outer sites that are copied together, lane after lane: in host memory those of a lane lie in a row, and those of other lanes far away.
/// With more than four of them the lanes of a lattice of 16^3 sites displace each other from the first cache.
constexpr int outer_sites_together = 4;
constexpr int most_lanes = 16;

/// Reads and writes of host memory wait for it, so what comes next is prefetched. docs/results/2026-11-28-callers-cpu.md
template <class F, bool Load>
void run_arrays_of(Call& call, F* field, const ArrayTask& task) {
  const VectorArrays& arrays = task.arrays;
  const int lanes = task.shape.lanes, vectors = task.places.vectors;
  with_components(arrays.components, [&](auto of_vector) {
    constexpr int components = of_vector, words = NumberFormat<F>::site_words(2 * components), head = site::head_words<F>;
    const int chunk = task.places.chunked ? site::chunk_words<F>(words - head) : 1, width = task.places.width();
    int first[words];  // place of each word of lane 0: those of other lanes follow from it without a division
    for (int w = 0; w < words; ++w) first[w] = site::word_place(w, 0, width, chunk, head);
    const auto move = [&](int outer, int lane, int v, std::size_t there) {
      F *group = field + task.places.group(words, outer, v), site[words];
      const int in_group = task.places.lane_of(v, lane);
      const auto place = [&](int w) { return first[w] + in_group * (w < head ? 1 : chunk); };
      if constexpr (Load) {
        load_site<F, components>(site, arrays, v, there);
        for (int w = 0; w < words; ++w) group[place(w)] = site[w];
      } else {
        for (int w = 0; w < words; ++w) site[w] = group[place(w)];
        store_site<F, components>(arrays, v, there, site);
      }
    };
    call.team().for_range(task.shape.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
      using Places = std::array<std::size_t, outer_sites_together * most_lanes>;
      Places here{}, next{};
      const auto look_up = [&](int from, Places& there) {
        for (int outer = from; outer < end && outer < from + outer_sites_together; ++outer)
          for_lanes(task.shape, task.origin, task.parity, outer,
                    [&](int lane, const Coord& x) { there[static_cast<std::size_t>((outer - from) * lanes + lane)] = task.place(x); });
      };
      look_up(static_cast<int>(begin), next);
      for (auto from = static_cast<int>(begin); from < end; from += outer_sites_together) {
        here = next;
        look_up(from + outer_sites_together, next);
        for (int v = 0; v < vectors; ++v) {
          const bool last = v + 1 == vectors;
          const Places& then = last ? next : here;
          const int to = std::min(from + outer_sites_together, static_cast<int>(end));
          for (int lane = 0; lane < lanes; ++lane)
            for (int outer = from; outer < to; ++outer) {
              const auto at = static_cast<std::size_t>((outer - from) * lanes + lane);
              arrays.prefetch(last ? 0 : v + 1, then[at], !Load);
              move(outer, lane, v, here[at]);
            }
        }
      }
    });
  });
}

template <class F, bool Load>
void run_arrays(Call& call) {
  const auto& task = call.arguments<ArrayTask>();
  for (int i = 0; i < task.fields(); ++i) run_arrays_of<F, Load>(call, call.buffer<F>(i), task.of_field(i));
}

#ifdef QUARKSTAR_CUDA
template <class F, bool Load>
void run_arrays_on_cuda(Call& call) {
  const auto& task = call.arguments<ArrayTask>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  for (int i = 0; i < task.fields(); ++i) {
    if constexpr (Load) cuda::launch_load(call.buffer<F>(i), task.of_field(i), stream);
    else cuda::launch_store(call.buffer<const F>(i), task.of_field(i), stream);
  }
}
#endif

struct ConvertTask {
  BlockShape to,
      from;  ///< not pointers to them: equal bytes of arguments must mean equal work, because graphs are kept by them
  VectorPlaces to_places, from_places;
  std::int32_t parity, to_odd, from_odd;  ///< the last two: whether the odd half of a field on both parities is meant
  bool has_state;
  Obedience obedience;

  /// First word of the parity in the buffers. Reals: of a vector.
  template <int Reals, class F>
  F* in_to(F* field) const {
    return field + to_odd * half<Reals, F>(to, to_places);
  }
  template <int Reals, class F>
  const F* in_from(const F* field) const {
    return field + from_odd * half<Reals, F>(from, from_places);
  }

 private:
  template <int Reals, class F>
  static std::ptrdiff_t half(const BlockShape& shape, const VectorPlaces& places) {
    return static_cast<std::ptrdiff_t>(places.group(NumberFormat<F>::site_words(Reals), static_cast<int>(shape.outer_sites()), 0));
  }
};

const VectorStatus* status_of(Call& call, const ConvertTask& task) { return task.has_state ? call.buffer<const VectorStatus>(2) : nullptr; }

template <class To, class From, int Components>
void run_convert(Call& call) {
  const auto& task = call.arguments<ConvertTask>();
  const VectorStatus* status = status_of(call, task);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(status);
  To* to = task.in_to<2 * Components>(call.buffer<To>(0));
  const From* from = task.in_from<2 * Components>(call.buffer<const From>(1));
  const VectorPlaces &to_places = task.to_places, &from_places = task.from_places;
  constexpr int to_words = NumberFormat<To>::site_words(2 * Components), from_words = NumberFormat<From>::site_words(2 * Components);
  const int to_width = to_places.width(), from_width = from_places.width(), in_a_row = lanes_in_a_row(task.to, task.from),
            vectors_in_a_row = std::min(to_places.vectors_in_lanes, from_places.vectors_in_lanes);
  call.team().for_range(task.to.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int first = 0; first < task.to.lanes; first += in_a_row) {
        const SitePosition source = task.from.locate(task.to.local_site({task.parity, outer, first}));
        for (int v = 0; v < to_places.vectors; v += vectors_in_a_row) {
          To* p = to + to_places.offset(to_words, outer, v, first);
          const From* q = from + from_places.offset(from_words, source.outer, v, source.lane);
          for (int w = 0; w < vectors_in_a_row; ++w) {
            if (left_out != nullptr && left_out[to_places.right_hand_side(v + w)] != 0) continue;
            for (int i = w; i < w + in_a_row; ++i) convert_vector<Components, To, From>(p + i, to_width, q + i, from_width);
          }
        }
      }
  });
}

#ifdef QUARKSTAR_CUDA
template <class To, class From, int Components>
void run_convert_on_cuda(Call& call) {
  const auto& task = call.arguments<ConvertTask>();
  cuda::launch_convert<Components>(task.in_to<2 * Components>(call.buffer<To>(0)), task.in_from<2 * Components>(call.buffer<const From>(1)),
                                   {task.to, task.to_places}, {task.from, task.from_places}, task.parity, status_of(call, task),
                                   task.obedience, static_cast<runtime::CudaStream>(call.stream()));
}
#endif

/// Arrays in host memory only CPUs reach.
template <bool Load>
const Codelet& array_codelet(Precision precision, bool on_gpu) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    using F = typename decltype(format)::type;
    static const std::string name = fmt::format("transfer.{}.{}", Load ? "load" : "store", name_of(precision));
    static const Codelet of_host(name, runtime::CodeletKind::copy, run_arrays<F, Load>);
    static const Codelet of_gpu(name + ".gpu", runtime::CodeletKind::copy, QUARKSTAR_BOTH(run_arrays, F, Load));
    return on_gpu ? of_gpu : of_host;
  });
}

const Codelet& convert_codelet(Precision to, Precision from, int components) {
  return with_format(to, [&](auto to_format) -> const Codelet& {
    return with_format(from, [&](auto from_format) -> const Codelet& {
      return with_components(components, [&](auto of_vector) -> const Codelet& {
        using To = typename decltype(to_format)::type;
        using From = typename decltype(from_format)::type;
        constexpr int count = of_vector;
        static const Codelet codelet(fmt::format("transfer.{}_to_{}{}", name_of(from), name_of(to), count == 3 ? ".colour" : ""),
                                     runtime::CodeletKind::copy, QUARKSTAR_BOTH(run_convert, To, From, count));
        return codelet;
      });
    });
  });
}

/// 12 and 8 reals cannot hold what is not SU(3). The same verdict on all ranks that have parts of the lattice.
void require_special_unitary(const HostGauge& gauge, int reals, bool distributed) {
  const runtime::Team& team = runtime::Session::current().cpu_team();
  const gauge::UnitarityDeviation deviation =
      distributed ? gauge::unitarity_deviation_of_all_ranks(gauge, team) : gauge::unitarity_deviation(gauge, team);
  deviation.require_small("use 18, or reunitarize the configuration", "links",
                          fmt::format("{} reals store SU(3) matrices only, and these links are not", reals));
}

}  // namespace

void load_links(LinkField& even, LinkField& odd, const HostGauge& gauge, const std::array<double, 4>& factors, const WideLinks& wide) {
  const Lattice& lattice = *even.lattice();
  if (even.parity() != 0 || odd.parity() != 1 || odd.lattice().get() != &lattice || even.reals() != odd.reals())
    throw ShapeError("load_links", "the two link fields do not belong together");
  if (even.reals() < 18 && std::any_of(factors.begin(), factors.end(), [](double factor) { return factor != 1; }))
    throw ShapeError("load_links", "scaled links that are stored as SU(3) matrices");
  lattice.require_part("load_links", gauge.box(), 1);
  if (even.reals() < 18 && runtime::backend::computes)
    require_special_unitary(gauge, even.reals(), lattice.decomposition().is_distributed());
  if (even.reals() == 8) {
    submit_link_load("transfer.compact_links", even, odd, gauge, 1, CompactForm{}, true);
  } else {
    const RowForm form{even.reals(), {factors[0], factors[1], factors[2], factors[3]}};
    if (wide.even != nullptr) {
      submit_link_copy("transfer.copy_links", even, *wide.even, form, true);
      submit_link_copy("transfer.copy_links", odd, *wide.odd, form, true);
    } else {
      submit_link_load("transfer.links", even, odd, gauge, 1, form, true);
    }
  }
  even.freeze();
  odd.freeze();
}

namespace {

/// fields: one, or the even one and the odd one.
template <bool Load>
void submit_arrays(const char* where, const VectorArrays& arrays, std::initializer_list<const Field*> fields) {
  const Field& first = **fields.begin();
  const Lattice& lattice = *first.lattice();
  for (const Field* field : fields) {
    if (arrays.count != field->site_vectors()) throw ShapeError(where, "another number of vectors");
    if (arrays.components != field->components()) throw ShapeError(where, "another kind of vector");
    if (field->lattice() != first.lattice() || (fields.size() == 2 && field->parity() != (field == &first ? 0 : 1)))
      throw ShapeError(where, "two fields that are not the parities of one");
  }
  if (lattice.lanes().lanes > most_lanes) throw ShapeError(where, fmt::format("more than {} lanes", most_lanes));
  lattice.require_part(where, arrays.box, 0);
  const bool on_gpu = arrays.on_gpu != 0;
  if (on_gpu && !Lattice::only_gpu(lattice.decomposition()))
    throw ShapeError(where, "arrays in the memory of a GPU that does not work alone on the lattice");
  for (const int b : lattice.local_blocks()) {
    runtime::AccessList accesses;
    for (const Field* field : fields) accesses.push_back(Load ? runtime::out(field->block(b)) : runtime::in(field->block(b)));
    runtime::submit(array_codelet<Load>(lattice.precision(), on_gpu),
                    ArrayTask{arrays, lattice.block(b).shape(), places_of(first), lattice.block(b).block().origin,
                              lattice.decomposition().lattice(), fields.size() == 2 ? both_parities : first.parity()},
                    accesses, {}, placement_of(lattice.block(b)));
  }
}

}  // namespace

void load(const Field& field, const VectorArrays& arrays) {
  if (field.parity() != both_parities) return submit_arrays<true>("transfer::load", arrays, {&field});
  const FullField halves(field.lattice(), field.components(), field.vectors());
  load({halves.even, halves.odd}, arrays);
  for (const int parity : {0, 1}) convert(field, halves.of(parity));
}
void store(const VectorArrays& arrays, const Field& field) {
  if (field.parity() != both_parities) return submit_arrays<false>("transfer::store", arrays, {&field});
  const FullField halves(field.lattice(), field.components(), field.vectors());
  for (const int parity : {0, 1}) convert(halves.of(parity), field);
  store(arrays, {halves.even, halves.odd});
}
void load(const FieldPair& fields, const VectorArrays& arrays) {
  submit_arrays<true>("transfer::load", arrays, {&fields.even, &fields.odd});
}
void store(const VectorArrays& arrays, const FieldPair& fields) {
  submit_arrays<false>("transfer::store", arrays, {&fields.even, &fields.odd});
}

namespace {

/// Of the sites of one parity, which both fields have.
void convert_parity(const Codelet& codelet, const Field& to, const Field& from, int parity, const runtime::Guard& guard) {
  const Lattice &a = *to.lattice(), &b = *from.lattice();
  const bool to_both = to.parity() == both_parities, from_both = from.parity() == both_parities;
  for (const int i : a.local_blocks()) {
    // Where vectors may be left out, the others stay as they are, and so does an even half that is there.
    const bool keeps = guard.keeps || (guard.state != nullptr && guard.masked) || (to_both && parity == 1);
    runtime::AccessList accesses{keeps ? runtime::inout(to.block(i)) : runtime::out(to.block(i)), runtime::in(from.block(i))};
    if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
    auto task = runtime::blank<ConvertTask>();
    task.to = a.block(i).shape();
    task.from = b.block(i).shape();
    task.parity = parity;
    task.to_odd = to_both ? parity : 0;
    task.from_odd = from_both ? parity : 0;
    task.to_places = places_of(to);
    task.from_places = places_of(from);
    task.has_state = guard.state != nullptr;
    task.obedience.masked = guard.masked;
    task.obedience.when = guard.when;
    runtime::submit(codelet, task, accesses, {0, to.block_bytes(i) / (to_both ? 2 : 1) + from.block_bytes(i) / (from_both ? 2 : 1)},
                    placement_of((from.chunked() ? b : a).block(i), runtime::role_of(guard.when)));  // GPUs alone read chunks
  }
}

}  // namespace

void convert(const Field& to, const Field& from, const runtime::Guard& guard) {
  const Lattice &a = *to.lattice(), &b = *from.lattice();
  const bool to_both = to.parity() == both_parities, from_both = from.parity() == both_parities;
  if ((to.parity() != from.parity() && !to_both && !from_both) || to.components() != from.components() || to.vectors() != from.vectors() ||
      (a.vectors_in_lanes() > 1) != (b.vectors_in_lanes() > 1) || a.slices() != b.slices() ||
      (to.chunked() && from.chunked() && a.vectors_in_lanes() != b.vectors_in_lanes()) ||
      a.decomposition().grid() != b.decomposition().grid() || a.decomposition().lattice() != b.decomposition().lattice())
    throw ShapeError("transfer::convert", "fields of another parity, decomposition, kind, layout or number of vectors");
  const Codelet& codelet = convert_codelet(a.precision(), b.precision(), to.components());
  for (const int parity : {0, 1})
    if ((to_both || to.parity() == parity) && (from_both || from.parity() == parity)) convert_parity(codelet, to, from, parity, guard);
}

}  // namespace quarkstar::transfer
