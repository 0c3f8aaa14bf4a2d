// Fat and long links from files: what is read is what was made, and what does not fit is refused.
#include "apps/run/links_input.hpp"
#include "codelets/actions/staggered/links.hpp"
#include "codelets/gauge/smear/coefficients.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/gauge/smear/links_signs.hpp"
#include "codelets/io/link_field_file.hpp"
#include "tests/unit/format_testing.hpp"
#include "tests/unit/smear_testing.hpp"

#include <fmt/format.h>

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::TemporaryDirectory;
using smear::StaggeredLinks;

namespace {

constexpr std::uint64_t seed = 1729;
constexpr Coord lattice{4, 4, 4, 8};
constexpr BoundaryAngles antiperiodic_in_x{1, 0, 0, 0};

const runtime::Team& team() {
  static const runtime::Team two({0, 1});
  return two;
}

StaggeredLinks hisq(double epsilon, const BoundaryAngles& boundary = antiperiodic_in_time, std::uint64_t of = seed) {
  const runtime::Session session(smear_testing::options(1));
  return smear::hisq_links(smear_testing::whole(lattice), reference::near_unit_gauge(lattice, of, 0.4), boundary, epsilon);
}

/// As MILC writes them: no word about how they were made.
void write_bare(const std::string& path, const HostGauge& links, int real_bytes = 8, const std::string& text = "") {
  runtime::mpi::SharedOutput file(runtime::mpi::Job::current(), path);
  format::write_link_field(file, links, {links.extents, links.box()}, real_bytes, {text, "links"});
  file.commit();
}

struct Files {
  TemporaryDirectory directory;
  std::string fat = directory.file("fat"), far = directory.file("long");

  RunConfig config(const std::string& action = "hisq") const {
    RunConfig config;
    config.action = action;
    config.staggered.fat = fat;
    config.staggered.long_links = far;
    return config;
  }
  void write_bare_pair(const StaggeredLinks& links, int real_bytes = 8) const {
    write_bare(fat, links.fat, real_bytes);
    write_bare(far, links.long_links, real_bytes);
  }
  void write_pair(const StaggeredLinks& links, const smear::LinksFileOptions& options) const {
    smear::write_links(directory.file("made"), links, options);
    std::filesystem::rename(smear::fat_path(directory.file("made")), fat);
    std::filesystem::rename(smear::long_path(directory.file("made")), far);
  }
};

StaggeredLinks load(RunConfig& config) {
  GaugeSummary summary;
  accept_links_headers(config);
  return load_links(config, smear_testing::whole(lattice), team(), summary);
}

std::string refusal_of(RunConfig config) {
  try {
    load(config);
  } catch (const Error& error) {
    CHECK(error.exit_code() == 2);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("links from files are those that were written, to the bit") {
  const Files files;
  const StaggeredLinks made = hisq(-0.07, antiperiodic_in_x);
  files.write_pair(made, {.action = "hisq", .boundary = antiperiodic_in_x});
  RunConfig config = files.config();
  config.solver.link_reals = 13;
  GaugeSummary summary;
  CHECK(accept_links_headers(config) == lattice);
  CHECK(config.wilson.boundary == antiperiodic_in_x);
  CHECK(*config.staggered.naik_epsilon == -0.07);
  const StaggeredLinks read = load_links(config, smear_testing::whole(lattice), team(), summary);
  CHECK(read.fat.data == made.fat.data);
  CHECK(read.long_links.data == made.long_links.data);
  CHECK(read.long_scale == made.long_scale);
  CHECK(read.naik_epsilon == made.naik_epsilon);
  CHECK(summary.path == files.fat);
  CHECK(summary.long_path == files.far);
  CHECK(summary.extents == lattice);
}

TEST_CASE("links from files that say nothing: the weight of the long links tells epsilon and u0") {
  const Files files;
  for (const int real_bytes : {8, 4}) {
    files.write_bare_pair(hisq(0.2), real_bytes);
    RunConfig config = files.config();
    load(config);
    CHECK(*config.staggered.naik_epsilon == doctest::Approx(0.2).epsilon(real_bytes == 8 ? 1e-12 : 1e-5));
    files.write_bare_pair(hisq(0), real_bytes);
    config = files.config();
    CHECK(load(config).long_scale == -1 / 24.);
    CHECK(*config.staggered.naik_epsilon == 0);
  }
  StaggeredLinks asqtad;
  {
    const runtime::Session session(smear_testing::options(1));
    asqtad = smear::asqtad_links(smear_testing::whole(lattice), reference::near_unit_gauge(lattice, seed, 0.4), antiperiodic_in_time, 0.86);
  }
  files.write_bare_pair(asqtad);
  RunConfig config = files.config("asqtad");
  load(config);
  CHECK(*config.staggered.u0 == doctest::Approx(0.86).epsilon(1e-12));
}

TEST_CASE("asqtad links that would be HISQ's with a senseless epsilon are refused") {
  const Files files;
  const runtime::Session session(smear_testing::options(1));
  files.write_bare_pair(
      smear::asqtad_links(smear_testing::whole(lattice), reference::near_unit_gauge(lattice, seed, 0.4), antiperiodic_in_time, 0.5));
  CHECK(contains(refusal_of(files.config()), "with an epsilon of 3; use --action asqtad"));
}

TEST_CASE("signs tell phases and boundary, also of rough links") {
  for (const double roughness : {0.3, 2.0}) {
    INFO("roughness " << roughness);
    StaggeredLinks links;
    {
      const runtime::Session session(smear_testing::options(1));
      links =
          smear::hisq_links(smear_testing::whole(lattice), reference::near_unit_gauge(lattice, seed, roughness), antiperiodic_in_time, 0);
    }
    const smear::LinksSigns signs = smear::signs_of(links, team());
    MESSAGE("plaquette " << signs.plaquette << " line " << signs.line);
    CHECK(signs.plaquette < 0.1);
    CHECK(signs.line < -0.2);
    for (const double edge : signs.edge) CHECK(edge < -0.2);
    if (roughness < 1) CHECK(signs.plaquette < -0.3);
  }
}

TEST_CASE("links from files that contradict each other or the settings are refused") {
  const Files files;
  const StaggeredLinks made = hisq(0);
  files.write_pair(made, {.action = "hisq"});
  CHECK(refusal_of(files.config()).empty());
  RunConfig config = files.config();
  std::swap(config.staggered.fat, config.staggered.long_links);
  CHECK(contains(refusal_of(config), "the file holds long links; give it as --long"));
  CHECK(contains(refusal_of(files.config("asqtad")), "those of the action hisq; use --action hisq"));
  config = files.config();
  apply_settings(config, {{"boundary", "t=periodic", "--boundary"}});
  CHECK(contains(refusal_of(config), "--boundary: x=periodic,y=periodic,z=periodic,t=periodic is not what the links contain"));
  config = files.config();
  apply_settings(config, {{"boundary", "t=antiperiodic", "--boundary"}});
  CHECK(refusal_of(config).empty());
  config = files.config();
  config.source.position = {0, 0, 0, 8};
  CHECK_FALSE(refusal_of(config).empty());

  const std::string elsewhere = files.directory.file("elsewhere");
  smear::write_links(elsewhere, hisq(-0.1), {.action = "hisq"});
  config = files.config();
  config.staggered.long_links = smear::long_path(elsewhere);
  CHECK(contains(refusal_of(config), "its Naik epsilon is not that of"));
  config.staggered.long_links = files.directory.file("absent");
  CHECK(contains(refusal_of(config), "absent"));

  const auto header = [](const char* element) {
    return fmt::format("<?xml version=\"1.0\"?><staggeredLinks>{}</staggeredLinks>", element);
  };
  for (const auto& [element, reason] : {std::pair{"<phases>Chroma</phases>", "the links contain the phases 'Chroma'"},
                                        {"<boundaryAngles>0 0 1</boundaryAngles>", "boundaryAngles"},
                                        {"<boundaryAngles>0 0 0 1 1</boundaryAngles>", "boundaryAngles"},
                                        {"<naikEpsilon>small</naikEpsilon>", "naikEpsilon"},
                                        {"<naikEpsilon>0.5</naikEpsilon>", "the header's numbers make"}}) {
    write_bare(files.far, made.long_links, 8, header(element));
    write_bare(files.fat, made.fat, 8);
    CHECK_MESSAGE(contains(refusal_of(files.config()), reason), refusal_of(files.config()));
  }
}

TEST_CASE("links from files without phases, or with other ones than their partners, are refused") {
  const Files files;
  const StaggeredLinks made = hisq(0);
  StaggeredLinks changed = made;
  for (HostGauge* field : {&changed.fat, &changed.long_links})
    for (std::int64_t site = 0; site < volume(lattice); ++site)
      for (int mu = 0; mu < 4; ++mu)
        if (reference::staggered_phase(coordinates(site, lattice), mu) < 0)
          for (double& real : field->link(site, mu)) real = -real;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.config()), "the links contain no staggered phases"));
  changed.fat = made.fat;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.config()), "the long links do not belong to the fat ones"));
  // Long links with another boundary, which only the edge shows.
  changed.long_links = hisq(0, periodic).long_links;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.config()), "the long links do not belong to the fat ones"));
  changed.long_links = made.long_links;
  for (double& real : changed.long_links.data) real = -real;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.config()), "the long links do not belong to the fat ones"));
}

TEST_CASE("long links that do not come near the form that --links asks for are refused") {
  const Files files;
  const StaggeredLinks made = hisq(0);
  const auto refused = [&](int reals, Precision precision) {
    RunConfig config = files.config();
    config.solver.link_reals = reals;
    config.solver.precision = precision;
    const std::string why = refusal_of(config);
    if (!why.empty()) CHECK(contains(why, fmt::format("--links: the long links of {} come back from {} reals", files.far, reals)));
    return !why.empty();
  };
  files.write_bare_pair(made);
  for (const int reals : {18, 14, 13, 9}) CHECK_FALSE(refused(reals, Precision::double_));
  files.write_bare_pair(made, 4);  // U(3) to seven digits
  for (const int reals : {18, 14, 13, 9}) CHECK_FALSE(refused(reals, Precision::double_));
  // The one link that 9 reals cannot hold: the second row of its SU(3) part has nothing behind its first entry.
  StaggeredLinks changed = made;
  {
    const auto link = changed.long_links.link(17, 2);
    std::fill(link.begin(), link.end(), 0.0);
    link[2] = link[6] = made.long_scale;
    link[16] = -made.long_scale;
  }
  files.write_bare_pair(changed);
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    for (const int reals : {18, 14, 13}) CHECK_FALSE(refused(reals, precision));
    CHECK(refused(9, precision));
  }
  // No number times U(3): a link of another size, one that is no longer unitary.
  changed = made;
  for (double& real : changed.long_links.link(17, 2)) real *= 1.1;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.config()), "times a unitary matrix"));
  CHECK(staggered::form_error(changed, 14, team()) > 0.01);
  CHECK(staggered::form_error(made, 14, team()) < 1e-13);
  CHECK(staggered::form_error(made, 18, team()) == 0);
  CHECK_THROWS_AS(staggered::form_error(made, 12, team()), Error);
}
