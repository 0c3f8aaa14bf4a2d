#include "codelets/actions/staggered/colour_transfer.hpp"

#include "codelets/actions/staggered/convert_cuda.hpp"
#include "codelets/actions/staggered/convert_site.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/lattice/lanes_in_a_row.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::staggered {
namespace {

using runtime::Call;
using runtime::Codelet;

struct VectorTask {
  const BlockGeometry* block;
  HostColour* host;  ///< the first of `vectors`
  Coord lattice;
  int parity;
  VectorPlaces places;
};

template <class F, bool Load>
void run_vectors(Call& call) {
  const auto& task = call.arguments<VectorTask>();
  F* field = call.buffer<F>(0);
  const BlockGeometry& block = *task.block;
  const int lanes = task.places.lanes, width = task.places.width();
  call.team().for_range(block.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int lane = 0; lane < lanes; ++lane) {
        Coord site = block.local_site({task.parity, outer, lane});
        for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
        const std::int64_t index = index_in(task.host->box(), site, task.lattice);
        for (int v = 0; v < task.places.vectors; ++v) {
          F* p = field + task.places.offset<F>(outer, v, lane);
          std::complex<double>* host = &task.host[v].at(index, 0);
          using V = site::Lane<Real<F>>;
          if constexpr (Load) {
            site::Complex<V> z[3];
            for (int c = 0; c < 3; ++c) z[c] = {{static_cast<Real<F>>(host[c].real())}, {static_cast<Real<F>>(host[c].imag())}};
            site::write_site<F>(p, width, z);
          } else {
            const site::SiteReader<F, V> reader(p, width);
            for (int c = 0; c < 3; ++c) {
              const site::Complex<V> z = reader.component(c);
              host[c] = {static_cast<double>(z.re.v), static_cast<double>(z.im.v)};
            }
          }
        }
      }
  });
}

struct ConvertTask {
  BlockShape to,
      from;  ///< not pointers to them: equal bytes of arguments must mean equal work, because graphs are kept by them
  VectorPlaces to_places, from_places;
  int parity;
  bool has_state;
  Obedience obedience;
};

const VectorStatus* status_of(Call& call, const ConvertTask& task) { return task.has_state ? call.buffer<const VectorStatus>(2) : nullptr; }

template <class To, class From>
void run_convert(Call& call) {
  const auto& task = call.arguments<ConvertTask>();
  const VectorStatus* status = status_of(call, task);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(status);
  To* to = call.buffer<To>(0);
  const From* from = call.buffer<const From>(1);
  const VectorPlaces &to_places = task.to_places, &from_places = task.from_places;
  const int to_width = to_places.width(), from_width = from_places.width(), in_a_row = lanes_in_a_row(task.to, task.from),
            vectors_in_a_row = std::min(to_places.vectors_in_lanes, from_places.vectors_in_lanes);
  call.team().for_range(task.to.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int first = 0; first < task.to.lanes; first += in_a_row) {
        const SitePosition source = task.from.locate(task.to.local_site({task.parity, outer, first}));
        for (int v = 0; v < to_places.vectors; v += vectors_in_a_row) {
          To* p = to + to_places.offset<To>(outer, v, first);
          const From* q = from + from_places.offset<From>(source.outer, v, source.lane);
          for (int w = 0; w < vectors_in_a_row; ++w) {
            if (left_out != nullptr && left_out[v + w] != 0) continue;
            for (int i = w; i < w + in_a_row; ++i) convert_vector<To, From>(p + i, to_width, q + i, from_width);
          }
        }
      }
  });
}

#ifdef QUARKSTAR_CUDA
template <class To, class From>
void run_convert_on_cuda(Call& call) {
  const auto& task = call.arguments<ConvertTask>();
  cuda::launch_convert_vectors(call.buffer<To>(0), call.buffer<const From>(1), task.to, task.from, task.parity, task.to_places.vectors,
                               status_of(call, task), task.obedience, static_cast<runtime::CudaStream>(call.stream()));
}
#endif

template <bool Load>
const Codelet& vectors_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    static const Codelet codelet(fmt::format("staggered.{}.{}", Load ? "load" : "store", name_of(precision)), runtime::CodeletKind::copy,
                                 run_vectors<typename decltype(format)::type, Load>);
    return codelet;
  });
}

const Codelet& convert_codelet(Precision to, Precision from) {
  return with_format(to, [&](auto to_format) -> const Codelet& {
    return with_format(from, [&](auto from_format) -> const Codelet& {
      using To = typename decltype(to_format)::type;
      using From = typename decltype(from_format)::type;
      static const Codelet codelet(fmt::format("staggered.{}_to_{}", name_of(from), name_of(to)), runtime::CodeletKind::copy,
                                   QUARKSTAR_BOTH(run_convert, To, From));
      return codelet;
    });
  });
}

VectorPlaces places_of(const ColourField& field) {
  return {field.vectors(), field.lattice()->lanes().lanes, field.lattice()->vectors_in_lanes()};
}

runtime::Placement placement_of(const BlockGeometry& block) { return {.owner = block.block().owner, .block = block.block().index}; }

void require_shape(const char* where, const ColourField& field, std::span<const HostColour> host) {
  if (host.size() != static_cast<std::size_t>(field.vectors())) throw ShapeError(where, "another number of vectors");
  for (const HostColour& vector : host) field.lattice()->require_part(where, vector.box(), 0);
}

}  // namespace

void load_vectors(const ColourField& field, std::span<const HostColour> host) {
  require_shape("load_vectors", field, host);
  const Lattice& lattice = *field.lattice();
  for (const int b : lattice.local_blocks())
    runtime::submit(vectors_codelet<true>(lattice.precision()),
                    VectorTask{&lattice.block(b), const_cast<HostColour*>(host.data()), lattice.decomposition().lattice(), field.parity(),
                               places_of(field)},
                    {runtime::out(field.block(b))}, {}, placement_of(lattice.block(b)));
}

void store_vectors(std::span<HostColour> host, const ColourField& field) {
  require_shape("store_vectors", field, host);
  const Lattice& lattice = *field.lattice();
  for (const int b : lattice.local_blocks())
    runtime::submit(vectors_codelet<false>(lattice.precision()),
                    VectorTask{&lattice.block(b), host.data(), lattice.decomposition().lattice(), field.parity(), places_of(field)},
                    {runtime::in(field.block(b))}, {}, placement_of(lattice.block(b)));
}

void convert(const ColourField& to, const ColourField& from, const Control& control) {
  const Lattice &a = *to.lattice(), &b = *from.lattice();
  if (to.parity() != from.parity() || to.vectors() != from.vectors() || (a.vectors_in_lanes() > 1) != (b.vectors_in_lanes() > 1) ||
      a.decomposition().grid() != b.decomposition().grid() || a.decomposition().lattice() != b.decomposition().lattice())
    throw ShapeError("staggered::convert", "fields of another parity, decomposition, kind of layout or number of vectors");
  const Codelet& codelet = convert_codelet(a.precision(), b.precision());
  for (const int i : a.local_blocks()) {
    runtime::AccessList accesses{control.state != nullptr ? runtime::inout(to.block(i)) : runtime::out(to.block(i)),
                                 runtime::in(from.block(i))};
    if (control.state != nullptr) accesses.push_back(runtime::in(*control.state));
    const double bytes = static_cast<double>(to.block_vectors(i)) *
                         static_cast<double>(site_bytes(a.precision(), ColourField::reals) + site_bytes(b.precision(), ColourField::reals));
    runtime::Placement placement = placement_of(a.block(i));
    placement.role = runtime::role_of(control.obedience.when);
    auto task = runtime::blank<ConvertTask>();
    task.to = a.block(i).shape();
    task.from = b.block(i).shape();
    task.parity = to.parity();
    task.to_places = places_of(to);
    task.from_places = places_of(from);
    task.has_state = control.state != nullptr;
    task.obedience.masked = control.obedience.masked;
    task.obedience.when = control.obedience.when;
    runtime::submit(codelet, task, accesses, {0, bytes}, placement);
  }
}

}  // namespace quarkstar::staggered
