#include "codelets/arch/implementations.hpp"
#include "codelets/gauge/heatbath/heatbath.hpp"
#include "codelets/gauge/heatbath/heatbath_arguments.hpp"
#include "codelets/gauge/observables.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace quarkstar::heatbath {

template <class Update>
void run_update_on_cuda(runtime::Call& call);

namespace {

template <int N>
struct Doubles {
  typedef double Pack __attribute__((vector_size(N * sizeof(double))));
};

/// Calls update(i, staple) for the sites i, i + 2, ... of a row that begins at `start`: the staples of N sites at once, as long as there
/// are so many.
template <int N, class Update>
void rest_of_row(const double* memory, const gauge::LinkShape& shape, const Coord& start, int i, int mu, Update&& update) {
  using V = typename Doubles<N>::Pack;
  const gauge::LinkStrides strides = shape.strides();
  const gauge::StridedLinks<V> links(memory, strides);
  for (; i + 2 * (N - 1) < shape.extents[0]; i += 2 * N) {
    const gauge::Link<V> staples = staple_sum(links, shape.offset(start) + i, mu);
    for (int lane = 0; lane < N; ++lane)
      update(i + 2 * lane, site::link_of<double>([&](auto row, auto column) {
               return Complex{staples[row][column].re[lane], staples[row][column].im[lane]};
             }));
  }
  if constexpr (N > 1) rest_of_row<N / 2>(memory, shape, start, i, mu, update);
}

template <class Update>
void run_update(runtime::Call& call) {
  const auto& a = call.arguments<UpdateArguments>();
  double* memory = call.buffer<double>(0);
  const gauge::LinkStrides strides = a.shape.strides();
  a.before.run(call, 1);
  call.team().for_range(a.shape.rows(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Coord start = a.shape.row_start(row);
      const auto [first_x, first_site] = a.row(start);
      double* links = memory + a.shape.offset(start) + a.mu * strides.link;
      rest_of_row<4>(memory, a.shape, start, first_x, a.mu, [&, first = first_site](int i, const Matrix& staple) {
        Matrix u = site::read_link(links + i, strides.real);
        Update::apply(a, u, staple, first + i);
        write_link(links + i, u, strides.real);
      });
    }
  });
  a.behind.run(call, 1 + a.faces_before);
}

const runtime::Codelet heatbath_codelet("heatbath.update", runtime::CodeletKind::stencil, QUARKSTAR_BOTH(run_update, HeatbathUpdate));
const runtime::Codelet overrelaxation_codelet("heatbath.overrelaxation", runtime::CodeletKind::stencil,
                                              QUARKSTAR_BOTH(run_update, OverrelaxationUpdate));

// A link update reads 18 links of the staples and its own, and writes its own.
constexpr double bytes_per_link = 20 * 18 * sizeof(double);
constexpr runtime::Cost heatbath_cost{3650, bytes_per_link};
constexpr runtime::Cost overrelaxation_cost{3150, bytes_per_link};

void check(const gauge::GaugeField& links, const HeatbathSettings& settings) {
  if (!std::isfinite(settings.beta) || settings.beta < 0)
    throw Error(ErrorKind::input, Parameter("beta"), fmt::format("{} is not a coupling", settings.beta),
                "give beta = 6/g^2 >= 0, e.g. 6.0");
  if (settings.overrelaxation_per_heatbath < 0)
    throw Error(ErrorKind::input, "overrelaxation_per_heatbath", fmt::format("{} is negative", settings.overrelaxation_per_heatbath),
                "give a count, e.g. 4");
  links.require_border(1, "Heatbath");
  gauge::unitarity_deviation(links).require_small("reunitarize it, or start from a cold or hot configuration");
}

}  // namespace

Heatbath::Heatbath(gauge::GaugeField& links, const HeatbathSettings& settings) : links_(links), settings_(settings) {
  check(links, settings);
  exchange_border(links);
  using Staples = gauge::BorderExchange::Staples;
  for (int mu = 0; mu < 4; ++mu)
    for (const Staples next : {Staples::around_same_direction, Staples::all}) borders_.emplace_back(links, mu, next);
}

void Heatbath::submit(const runtime::Codelet& codelet, runtime::Cost per_link, std::int64_t sweep_index) {
  for (int mu = 0; mu < 4; ++mu)
    for (int parity = 0; parity < 2; ++parity) {
      gauge::BorderExchange& border = borders_[static_cast<std::size_t>(2 * mu + parity)];
      const std::vector<gauge::BorderExchange::OfBlock> behind = border.begin();
      for (std::size_t b = 0; b < links_.blocks().size(); ++b) {
        const runtime::Block& block = links_.blocks()[b];
        auto arguments = runtime::blank<UpdateArguments>();
        arguments.shape = links_.shape(block);
        arguments.origin = block.origin;
        arguments.lattice = links_.lattice();
        arguments.mu = mu;
        arguments.parity = parity;
        arguments.beta = settings_.beta;
        arguments.seed = settings_.seed;
        arguments.sweep = static_cast<std::uint64_t>(sweep_index);
        runtime::AccessList accesses{runtime::inout(links_.handle(block))};
        if (unfinished_ != nullptr) {
          arguments.faces_before = static_cast<int>(before_[b].faces.size());
          arguments.before = before_[b].copies;
          accesses.insert(accesses.end(), before_[b].faces.begin(), before_[b].faces.end());
        }
        arguments.behind = behind[b].copies;
        accesses.insert(accesses.end(), behind[b].faces.begin(), behind[b].faces.end());
        const double count = static_cast<double>(volume(block.extents)) / 2;
        runtime::submit(codelet, arguments, accesses, {per_link.flops * count, per_link.bytes * count}, {block.owner, block.index, false});
      }
      before_ = border.finish();
      unfinished_ = &border;
    }
}

void Heatbath::submit_heatbath(std::int64_t sweep_index) {
  if (sweep_index < 0)
    throw Error(ErrorKind::internal, "Heatbath", fmt::format("sweep index {} is negative", sweep_index), "count sweeps from 0");
  submit(heatbath_codelet, heatbath_cost, sweep_index);
}

void Heatbath::submit_overrelaxation() { submit(overrelaxation_codelet, overrelaxation_cost, 0); }

void Heatbath::sweep(std::int64_t sweep_index) {
  submit_heatbath(sweep_index);
  for (int i = 0; i < settings_.overrelaxation_per_heatbath; ++i) submit_overrelaxation();
  wait();
}

void Heatbath::wait() {
  if (unfinished_ != nullptr) std::exchange(unfinished_, nullptr)->submit(before_, false);
  runtime::Session::current().wait_all();
}

}  // namespace quarkstar::heatbath
