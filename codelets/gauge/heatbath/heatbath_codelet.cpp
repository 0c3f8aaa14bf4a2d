#include "codelets/gauge/heatbath/heatbath.hpp"
#include "codelets/gauge/heatbath/link_update.hpp"
#include "codelets/gauge/heatbath/staple.hpp"
#include "codelets/gauge/heatbath/tokens.hpp"
#include "codelets/gauge/observables.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::heatbath {
namespace {

struct UpdateArguments {
  double* links;
  Coord lattice, origin, extents;
  int mu, parity;
  double beta;
  std::uint64_t seed;
  std::uint64_t sweep;
};

/// Calls update(link, staple, site index) for every link of the task.
template <class Update>
void for_each_link(const runtime::Call& call, Update&& update) {
  const auto& a = call.arguments<UpdateArguments>();
  call.team().for_range(volume(a.extents) / 2, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t k = begin; k < end; ++k) {
      const Site site = site_at(site_of_parity(k, a.parity, a.origin, a.extents), a.lattice);
      double* link = a.links + (site.index * 4 + a.mu) * 18;
      Matrix u = site::read_link(link);
      update(u, staple_sum(a.links, site, a.mu), site.index);
      write_link(link, u);
    }
  });
}

void run_heatbath(runtime::Call& call) {
  const auto& a = call.arguments<UpdateArguments>();
  for_each_link(call, [&a](Matrix& u, const Matrix& staple, std::int64_t site) {
    heatbath_link(u, staple, a.beta, [&a, site](int subgroup) {
      const std::uint64_t index = (a.sweep * 4 + static_cast<std::uint64_t>(a.mu)) * 3 + static_cast<std::uint64_t>(subgroup);
      return RandomStream(a.seed, RandomPurpose::heatbath, site, index);
    });
  });
}

void run_overrelaxation(runtime::Call& call) {
  for_each_link(call, [](Matrix& u, const Matrix& staple, std::int64_t) { overrelax_link(u, staple); });
}

struct NoArguments {};

/// Gives the tokens their first value, which StarPU demands before anything may read them.
void run_open(runtime::Call&) {}

const runtime::Codelet heatbath_codelet("gauge_heatbath", run_heatbath);
const runtime::Codelet overrelaxation_codelet("gauge_overrelaxation", run_overrelaxation);
const runtime::Codelet open_codelet("gauge_tokens", run_open);

// A link update reads 18 links of the staples and its own, and writes its own.
constexpr double bytes_per_link = 20 * 18 * sizeof(double);
constexpr runtime::Cost heatbath_cost{3650, bytes_per_link};
constexpr runtime::Cost overrelaxation_cost{3150, bytes_per_link};

constexpr double largest_deviation = 1e-4;  // single-precision files and rounding stay far below

void check(const runtime::Decomposition& decomposition, const HostGauge& gauge, const HeatbathSettings& settings) {
  if (!std::isfinite(settings.beta) || settings.beta < 0)
    throw Error(ErrorKind::input, "--beta", fmt::format("{} is not a coupling", settings.beta), "give beta = 6/g^2 >= 0, e.g. 6.0");
  if (settings.overrelaxation_per_heatbath < 0)
    throw Error(ErrorKind::input, "overrelaxation_per_heatbath", fmt::format("{} is negative", settings.overrelaxation_per_heatbath),
                "give a count, e.g. 4");
  if (gauge.extents != decomposition.lattice())
    throw ShapeError("Heatbath",
                     fmt::format("the configuration is {}, the decomposition {}", fmt::join(gauge.extents, "x"), decomposition.describe()));
  const auto& workers = runtime::Session::current().workers();
  const auto cpu =
      std::find_if(workers.begin(), workers.end(), [](const runtime::Worker& w) { return w.kind == runtime::Worker::Kind::cpu; });
  if (cpu == workers.end()) throw Error(ErrorKind::environment, "Heatbath", "the session has no CPU worker", "give it at least one");
  const gauge::UnitarityDeviation deviation = gauge::unitarity_deviation(gauge, cpu->team);
  if (std::max(deviation.unitarity, deviation.determinant) > largest_deviation)
    throw Error(ErrorKind::input, "gauge configuration",
                fmt::format("links are not SU(3) (|U U^+ - 1| = {:.1e}, |det U - 1| = {:.1e})", deviation.unitarity, deviation.determinant),
                "reunitarize it, or start from a cold or hot configuration");
}

}  // namespace

Heatbath::Heatbath(const runtime::Decomposition& decomposition, HostGauge& gauge, const HeatbathSettings& settings)
    : decomposition_(decomposition), gauge_(gauge), settings_(settings) {
  check(decomposition, gauge, settings);
  const auto count = static_cast<std::size_t>(decomposition_.count()) * 8;
  tokens_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) tokens_.emplace_back(64);
  const auto token = [this](int index) -> const runtime::Handle& { return tokens_[static_cast<std::size_t>(index)]; };
  for (const runtime::Block& block : decomposition_.blocks()) {
    runtime::AccessList all;
    for (int parity = 0; parity < 2; ++parity)
      for (int mu = 0; mu < 4; ++mu) {
        const int own = token_index(block.index, parity, mu);
        all.push_back(runtime::out(token(own)));
        runtime::AccessList& list = accesses_.emplace_back();
        list.push_back(runtime::inout(token(own)));
        for (const int other : tokens_read(decomposition_, block.index, parity, mu)) list.push_back(runtime::in(token(other)));
      }
    runtime::submit(open_codelet, NoArguments{}, all, {}, {block.owner, block.index, false});
  }
}

void Heatbath::submit(const runtime::Codelet& codelet, runtime::Cost per_link, std::int64_t sweep_index) {
  for (int mu = 0; mu < 4; ++mu)
    for (int parity = 0; parity < 2; ++parity)
      for (const runtime::Block& block : decomposition_.blocks()) {
        const UpdateArguments arguments{gauge_.data.data(),
                                        gauge_.extents,
                                        block.origin,
                                        block.extents,
                                        mu,
                                        parity,
                                        settings_.beta,
                                        settings_.seed,
                                        static_cast<std::uint64_t>(sweep_index)};
        const double links = static_cast<double>(volume(block.extents)) / 2;
        runtime::submit(codelet, arguments, accesses_[static_cast<std::size_t>(token_index(block.index, parity, mu))],
                        {per_link.flops * links, per_link.bytes * links}, {block.owner, block.index, false});
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
  for (const runtime::Handle& token : tokens_) runtime::HostView<const char> view(token);
}

}  // namespace quarkstar::heatbath
