#include "codelets/actions/staggered/prepared_action.hpp"

#include "codelets/actions/staggered/room.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::staggered {
namespace {

/// Goes into the keys of the tune cache: raise it when a change of the kernel can change what is best.
constexpr int kernel_version = 10;

/// Threads of a GPU block at most, of kernels whose threads take so many right-hand sides; 0: any number.
int most_block_threads(Precision precision, int vectors_a_thread) {
  int most = 0;
  for (const int count : {1, 2, 3, 4, 8})
    if (vectors_a_thread == 0 || count == vectors_a_thread)
      most = std::max(most, room_of(precision == Precision::double_, precision == Precision::half, count).threads);
  return most;
}

}  // namespace

/// For tuning::on_links_of_its_own(), which finds it by its argument: not in the namespace above.
static Links& fill(Links& links) {
  tuning::fill(links.fat);
  if (links.far) tuning::fill(*links.far);
  return links;
}

stencil::Subject tuning_subject(Precision precision, int long_reals) {
  return {.name = fmt::format("staggered {}, long links {}", kernel_version, long_reals),
          .precision = precision,
          .boundary = periodic,
          .layout = {.reach = smear::longest_hop(long_reals > 0)},
          .components = colour_components,
          .link_bytes = dslash_link_bytes(precision, long_reals),
          .make = [long_reals](const LatticePointer& lattice,
                               int vectors) { return tuning::on_links_of_its_own<Dslash, Links>(lattice, long_reals, vectors); },
          .usual_tile = [](const runtime::Decomposition&, int) { return tuning::no_tile; },
          .usual_launch = default_launch,
          .most_block_threads = [precision](int vectors) { return most_block_threads(precision, vectors); }};
}

PreparedAction::PreparedAction(const runtime::Decomposition& decomposition, Precision precision, const smear::StaggeredLinks& links,
                               int long_reals, const Speed& speed, double resident, const PreparedAction* wide)
    : quarkstar::PreparedAction(decomposition, tuning_subject(precision, links.has_long ? long_reals : 0), speed, resident),
      even_(lattice(), 0, long_reals),
      odd_(lattice(), 1, long_reals) {
  if (wide != nullptr) copy(even_, odd_, wide->even_, wide->odd_, links);
  else load(even_, odd_, links);
}

void PreparedAction::check_mass(double mass) const {
  if (!(mass > 0) || !std::isfinite(mass))
    throw Error(ErrorKind::input, Parameter("mass"), fmt::format("mass {}", mass),
                "give a positive number: the even-odd system divides by it");
}

PreparedAction::PreparedAction(const PreparedAction& other, const smear::StaggeredLinks& links, int long_reals)
    : quarkstar::PreparedAction(other, tuning_subject(other.lattice()->precision(), long_reals)),
      even_(other.even_, long_reals),
      odd_(other.odd_, long_reals) {
  copy(even_, odd_, other.even_, other.odd_, links);
}

}  // namespace quarkstar::staggered
