#include "codelets/actions/staggered/links_input.hpp"

#include "codelets/actions/staggered/links.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/gauge/smear/coefficients.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/gauge/smear/links_signs.hpp"
#include "codelets/lattice/boundary_text.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace quarkstar::staggered {
namespace {

using smear::LinksHeader;

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, where, what, remedy);
}

/// Names of the two files.
struct Files {
  std::string fat, far;
  Files(const ActionKind& kind, const SettingValues& settings)
      : fat(kind.get<std::string>(settings, "fat")), far(kind.get<std::string>(settings, "long")) {}
};

/// What one file says of itself.
void check_header(const LinksHeader& header, const char* field, std::string_view action) {
  if (header.field && header.field != field)
    refuse(header.path, fmt::format("the file holds {} links", *header.field),
           fmt::format("give it as --{}, and the {} links here", *header.field, field));
  if (header.action && *header.action != action)
    refuse(header.path, fmt::format("the links are those of the action {}", *header.action),
           fmt::format("use --action {}", *header.action));
  if (header.phases && header.phases != "MILC")
    refuse(header.path, fmt::format("the links contain the phases '{}'", *header.phases), "give links with MILC's phases");
}

/// The one thing that two files say of a quantity, or one of them, or none.
template <class T>
const std::optional<T>& agreed(const LinksHeader& fat, const LinksHeader& far, std::optional<T> LinksHeader::*quantity, const char* name) {
  const std::optional<T>&a = fat.*quantity, &b = far.*quantity;
  if (a && b && *a != *b)
    refuse(far.path, fmt::format("its {} is not that of {}", name, fat.path), "give fat and long links of one smearing");
  return a ? a : b;
}

/// The weight of the long links by epsilon or u0, which the links' scale must be near; where no header states them, it tells them.
double settled_weight(const ActionKind& kind, SettingValues& settings, const Files& files, double scale, bool stated) {
  constexpr double tolerance = 1e-5;  // files in single precision
  const bool asqtad = kind.knows("u0");
  if (!stated && asqtad) settings["u0"] = std::sqrt(smear::asqtad_naik_weight(1) / scale);
  if (!stated && !asqtad) {
    const double epsilon = scale / smear::hisq_naik_weight(0) - 1;
    if (!(std::abs(epsilon) <= 1))
      refuse(files.far,
             fmt::format("the long links have the weight {:.8g}, which would be HISQ's with an epsilon of {:.3g}", scale, epsilon),
             "use --action asqtad if they are asqtad's");
    settings["naik-epsilon"] = std::abs(epsilon) < tolerance ? 0 : epsilon;
  }
  const double weight = asqtad ? smear::asqtad_naik_weight(kind.get<double>(settings, "u0"))
                               : smear::hisq_naik_weight(kind.get<double>(settings, "naik-epsilon"));
  if (!(std::abs(scale - weight) <= tolerance * std::abs(weight)))
    refuse(files.far, fmt::format("the long links have the weight {:.8g}, the header's numbers make {:.8g}", scale, weight),
           "the file is damaged or was written wrongly: make it anew");
  return weight;
}

void check_signs(const Files& files, const smear::StaggeredLinks& links, const runtime::Decomposition& decomposition,
                 const runtime::Team& team) {
  // Rough links have plaquettes of either sign that average to nearly nothing; a long link stays close to the product of three fat ones.
  constexpr double rough = 0.1;
  const smear::LinksSigns signs = smear::signs_of(links, decomposition.lattice(), decomposition.part(), team);
  if (signs.plaquette > rough)
    refuse(files.fat, fmt::format("the links contain no staggered phases (mean plaquette {:+.3f} of its size)", signs.plaquette),
           "give links with MILC's phases (docs/conventions.md, section 5)");
  const double least = std::max(signs.line, *std::max_element(signs.edge.begin(), signs.edge.end()));
  if (least > -rough)
    refuse(files.far,
           fmt::format("the long links do not belong to the fat ones: mean product {:+.3f}, at the lattice's edges {:+.3f} at worst",
                       signs.line, *std::max_element(signs.edge.begin(), signs.edge.end())),
           "give fat and long links of one configuration with the same phases and boundary");
}

/// Residuals and corrections are taken with links of 18 reals, so the form need only be near.
void check_form(const Files& files, int reals, const smear::StaggeredLinks& links, const runtime::Team& team) {
  if (reals == 18) return;
  constexpr double allowed = 1e-4;
  double error = staggered::form_error(links, reals, team);
  runtime::mpi::Job::current().combine(std::span(&error, 1), runtime::mpi::Combine::maximum);
  if (error <= allowed) return;
  throw Error(
      ErrorKind::input, Parameter("links"),
      fmt::format("the long links of {} come back from {} reals with an error of {:.1e}, above {:g}", files.far, reals, error, allowed),
      "use 18 reals");
}

}  // namespace

Coord accept_links_headers(const ActionKind& kind, ActionRun& run) {
  const Files files(kind, run.settings);
  const LinksHeader fat = smear::read_links_header(files.fat), far = smear::read_links_header(files.far);
  check_header(fat, "fat", kind.name);
  check_header(far, "long", kind.name);
  if (fat.extents != far.extents)
    refuse(far.path, fmt::format("its lattice is {}, that of {} is {}", fmt::join(far.extents, "x"), fat.path, fmt::join(fat.extents, "x")),
           "give fat and long links of one configuration");
  if (const auto& boundary = agreed(fat, far, &LinksHeader::boundary, "boundary")) {
    if (run.boundary_given && *boundary != run.boundary)
      throw Error(ErrorKind::input, Parameter("boundary"),
                  fmt::format("{} is not what the links contain, {}", boundary_text(run.boundary), boundary_text(*boundary)),
                  "leave it out: files state it, or give links made with it");
    run.boundary = *boundary;
  }
  const auto accept = [&](std::string_view key, const std::optional<double>& stated) {
    if (stated && kind.knows(key)) run.settings[std::string(key)] = *stated;
  };
  accept("naik-epsilon", agreed(fat, far, &LinksHeader::naik_epsilon, "Naik epsilon"));
  accept("u0", agreed(fat, far, &LinksHeader::u0, "u0"));
  return fat.extents;
}

smear::StaggeredLinks load_links(const ActionKind& kind, ActionRun& run, const runtime::Decomposition& decomposition,
                                 const runtime::Team& team) {
  const Files files(kind, run.settings);
  LinksHeader fat, far;
  runtime::mpi::Job::current().together([&] {
    fat = smear::read_links_header(files.fat);
    far = smear::read_links_header(files.far);
  });
  smear::StaggeredLinks links = smear::read_links_part(files.fat, files.far, decomposition);
  const bool stated = kind.knows("u0") ? fat.u0 || far.u0 : fat.naik_epsilon || far.naik_epsilon;
  links.long_scale = settled_weight(kind, run.settings, files, links.long_scale, stated);
  links.naik_epsilon = kind.knows("naik-epsilon") ? kind.get<double>(run.settings, "naik-epsilon") : 0;
  check_signs(files, links, decomposition, team);
  check_form(files, run.link_reals, links, team);
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  run.gauge = {files.fat, "SciDAC fat and long links", decomposition.lattice(), unknown, unknown, unknown, unknown, files.far};
  return links;
}

std::string describe_operator(std::string_view action, const smear::StaggeredLinks& links, const runtime::Decomposition& decomposition) {
  // Norm, trace and place sum: the first no gauge changes, the second every change of a link, the third a shift too.
  const Box part = decomposition.part();
  const auto numbers = [&](const HostGauge& field) {
    std::array<runtime::BinnedSum, 3> sums{runtime::BinnedSum::zero(), runtime::BinnedSum::zero(), runtime::BinnedSum::zero()};
    for (std::int64_t i = 0; !field.data.empty() && i < volume(part.extents); ++i) {
      const Coord x = site_of(part, i);
      const std::int64_t index = index_in(field.box(), x, decomposition.lattice());
      double norm2 = 0, trace = 0;
      for (int mu = 0; mu < 4; ++mu) {
        const auto link = field.link(index, mu);
        for (const double real : link) norm2 += real * real;
        trace += link[0] + link[8] + link[16];
      }
      runtime::add(sums[0], norm2);
      runtime::add(sums[1], trace);
      runtime::add(sums[2], gauge::place_summand(field, index, lexicographic(x, decomposition.lattice())));
    }
    if (decomposition.is_distributed()) runtime::mpi::Job::current().combine(sums);
    return fmt::format("{:.13e} {:.13e} {:.13e}", runtime::value_of(sums[0]), runtime::value_of(sums[1]), runtime::value_of(sums[2]));
  };
  const std::string fat = numbers(links.fat), far = numbers(links.long_links);
  return fmt::format("action {} fat links {} long links {}", action, fat, far);
}

}  // namespace quarkstar::staggered
