// Fat and long links from files: what is read is what was made, and what does not fit is refused.
#include "codelets/actions/staggered/links.hpp"
#include "codelets/actions/staggered/links_input.hpp"
#include "codelets/gauge/smear/coefficients.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/gauge/smear/links_signs.hpp"
#include "codelets/io/link_field_file.hpp"
#include "tests/unit/format_testing.hpp"
#include "tests/unit/smear_testing.hpp"

#include <fmt/format.h>

namespace app_links_test {

using namespace quarkstar;
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

  ActionRun run() const { return {.settings = {{"fat", fat}, {"long", far}}}; }
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

double real(const ActionRun& run, std::string_view key) { return std::get<double>(run.settings.find(key)->second); }

StaggeredLinks load(ActionRun& run, std::string_view action = "hisq") {
  const ActionKind& kind = kind_named(action);
  kind.accept_files(run);
  return staggered::load_links(kind, run, smear_testing::whole(lattice), team());
}

std::string refusal_of(ActionRun run, std::string_view action = "hisq") {
  try {
    load(run, action);
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
  ActionRun run = files.run();
  run.link_reals = 13;
  CHECK(hisq_kind().accept_files(run) == lattice);
  CHECK(run.boundary == antiperiodic_in_x);
  CHECK(real(run, "naik-epsilon") == -0.07);
  const StaggeredLinks read = staggered::load_links(hisq_kind(), run, smear_testing::whole(lattice), team());
  CHECK(read.fat.data == made.fat.data);
  CHECK(read.long_links.data == made.long_links.data);
  CHECK(read.long_scale == made.long_scale);
  CHECK(read.naik_epsilon == made.naik_epsilon);
  CHECK(run.gauge.path == files.fat);
  CHECK(run.gauge.long_path == files.far);
  CHECK(run.gauge.extents == lattice);
}

TEST_CASE("links from files that say nothing: the weight of the long links tells epsilon and u0") {
  const Files files;
  for (const int real_bytes : {8, 4}) {
    files.write_bare_pair(hisq(0.2), real_bytes);
    ActionRun run = files.run();
    load(run);
    CHECK(real(run, "naik-epsilon") == doctest::Approx(0.2).epsilon(real_bytes == 8 ? 1e-12 : 1e-5));
    files.write_bare_pair(hisq(0), real_bytes);
    run = files.run();
    CHECK(load(run).long_scale == -1 / 24.);
    CHECK(real(run, "naik-epsilon") == 0);
  }
  StaggeredLinks asqtad;
  {
    const runtime::Session session(smear_testing::options(1));
    asqtad = smear::asqtad_links(smear_testing::whole(lattice), reference::near_unit_gauge(lattice, seed, 0.4), antiperiodic_in_time, 0.86);
  }
  files.write_bare_pair(asqtad);
  ActionRun run = files.run();
  load(run, "asqtad");
  CHECK(real(run, "u0") == doctest::Approx(0.86).epsilon(1e-12));
}

TEST_CASE("asqtad links that would be HISQ's with a senseless epsilon are refused") {
  const Files files;
  const runtime::Session session(smear_testing::options(1));
  files.write_bare_pair(
      smear::asqtad_links(smear_testing::whole(lattice), reference::near_unit_gauge(lattice, seed, 0.4), antiperiodic_in_time, 0.5));
  CHECK(contains(refusal_of(files.run()), "with an epsilon of 3; use --action asqtad"));
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
  CHECK(refusal_of(files.run()).empty());
  ActionRun run = files.run();
  std::swap(run.settings["fat"], run.settings["long"]);
  CHECK(contains(refusal_of(run), "the file holds long links; give it as --long"));
  CHECK(contains(refusal_of(files.run(), "asqtad"), "those of the action hisq; use --action hisq"));
  run = files.run();
  run.boundary_given = true;
  run.boundary = periodic;
  CHECK(contains(refusal_of(run), "boundary: x=periodic,y=periodic,z=periodic,t=periodic is not what the links contain"));
  run.boundary = antiperiodic_in_time;
  CHECK(refusal_of(run).empty());

  const std::string elsewhere = files.directory.file("elsewhere");
  smear::write_links(elsewhere, hisq(-0.1), {.action = "hisq"});
  run = files.run();
  run.settings["long"] = smear::long_path(elsewhere);
  CHECK(contains(refusal_of(run), "its Naik epsilon is not that of"));
  run.settings["long"] = files.directory.file("absent");
  CHECK(contains(refusal_of(run), "absent"));

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
    CHECK_MESSAGE(contains(refusal_of(files.run()), reason), refusal_of(files.run()));
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
  CHECK(contains(refusal_of(files.run()), "the links contain no staggered phases"));
  changed.fat = made.fat;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.run()), "the long links do not belong to the fat ones"));
  // Long links with another boundary, which only the edge shows.
  changed.long_links = hisq(0, periodic).long_links;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.run()), "the long links do not belong to the fat ones"));
  changed.long_links = made.long_links;
  for (double& real : changed.long_links.data) real = -real;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.run()), "the long links do not belong to the fat ones"));
}

TEST_CASE("long links that do not come near the form that --links asks for are refused") {
  const Files files;
  const StaggeredLinks made = hisq(0);
  const auto refused = [&](int reals) {
    ActionRun run = files.run();
    run.link_reals = reals;
    const std::string why = refusal_of(run);
    if (!why.empty()) CHECK(contains(why, fmt::format("links: the long links of {} come back from {} reals", files.far, reals)));
    return !why.empty();
  };
  files.write_bare_pair(made);
  for (const int reals : {18, 14, 13, 9}) CHECK_FALSE(refused(reals));
  files.write_bare_pair(made, 4);  // U(3) to seven digits
  for (const int reals : {18, 14, 13, 9}) CHECK_FALSE(refused(reals));
  // The one link that 9 reals cannot hold: the second row of its SU(3) part has nothing behind its first entry.
  StaggeredLinks changed = made;
  {
    const auto link = changed.long_links.link(17, 2);
    std::fill(link.begin(), link.end(), 0.0);
    link[2] = link[6] = made.long_scale;
    link[16] = -made.long_scale;
  }
  files.write_bare_pair(changed);
  for (const int reals : {18, 14, 13}) CHECK_FALSE(refused(reals));
  CHECK(refused(9));
  // No number times U(3): a link of another size, one that is no longer unitary.
  changed = made;
  for (double& real : changed.long_links.link(17, 2)) real *= 1.1;
  files.write_bare_pair(changed);
  CHECK(contains(refusal_of(files.run()), "times a unitary matrix"));
  CHECK(staggered::form_error(changed, 14, team()) > 0.01);
  CHECK(staggered::form_error(made, 14, team()) < 1e-13);
  CHECK(staggered::form_error(made, 18, team()) == 0);
  CHECK_THROWS_AS(staggered::form_error(made, 12, team()), Error);
}

}  // namespace app_links_test
