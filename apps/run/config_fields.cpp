// The table behind flags, TOML keys and reports. A new setting is one entry.
#include "apps/run/config.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/parse.hpp"
#include "codelets/lattice/boundary_text.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/policy/policy_library.hpp"
#include "solvers/eigen/recycled_space.hpp"
#include "solvers/krylov/gcr_steps.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace quarkstar::app {
namespace {

using nlohmann::json;
using Text = std::string_view;

json json_of(const SettingValue& value) {
  return std::visit(
      [](const auto& v) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) return json();
        else return v;
      },
      value);
}

std::vector<double> parse_reals(Text text, const ActionSetting& setting) {
  std::vector<double> values;
  for (const std::string& part : split(text, ',')) values.push_back(parse_between(part, setting.above, setting.below));
  return values;
}

SettingValue parse_value(Text text, const ActionSetting& setting) {
  const auto is_name = [&] { return std::find(setting.names.begin(), setting.names.end(), text) != setting.names.end(); };
  switch (setting.type) {
    case ActionSetting::Type::toggle:
      return parse_switch(text);
    case ActionSetting::Type::integer:
      parse_between(text, setting.above, setting.below);
      return parse_integer(text, std::numeric_limits<int>::min());
    case ActionSetting::Type::real:
      if (is_name()) return std::string(text);
      return parse_between(text, setting.above, setting.below);
    case ActionSetting::Type::reals:
      return parse_reals(text, setting);
    case ActionSetting::Type::name:
      return parse_name(text, {setting.names.begin(), setting.names.end()});
    case ActionSetting::Type::file:
      break;
  }
  return std::string(text);
}

/// What the table holds of a setting of an action.
Setting setting_of(const ActionSetting& declared) {
  return {declared.key, declared.metavar, declared.help,
          [&declared](RunConfig& c, Text v) { set_value(c.settings, declared, parse_value(v, declared)); },
          [&declared](const RunConfig& c) -> json {
            return c.action->setting(declared.key) != nullptr ? json_of(c.action->value(c.settings, declared.key)) : json();
          }};
}

RankWeights parse_rank_weights(Text text) {
  using Kind = RankWeights::Kind;
  if (text == "auto") return {Kind::automatic};
  if (text == "equal") return {Kind::equal};
  if (text == "measured") return {Kind::measured};
  RankWeights weights{Kind::given};
  for (const std::string& part : split(text, ',')) {
    try {
      weights.given.push_back(parse_positive(part));
    } catch (const BadValue& bad) {
      throw BadValue(bad.what(), "use auto, equal, measured, or a positive number for each rank, e.g. 3,1");
    }
  }
  return weights;
}

std::string text_of_weights(const RankWeights& weights) {
  switch (weights.kind) {
    case RankWeights::Kind::automatic:
      return "auto";
    case RankWeights::Kind::equal:
      return "equal";
    case RankWeights::Kind::measured:
      return "measured";
    case RankWeights::Kind::given:
      break;
  }
  return fmt::format("{}", fmt::join(weights.given, ","));
}

std::optional<int> parse_islands(Text text) {
  if (text == "auto") return {};
  if (text == "cut") return 1;
  if (text == "columns") return 0;
  try {
    return parse_integer(text, 1, 64);
  } catch (const BadValue& bad) {
    throw BadValue(bad.what(), "use auto, cut, columns, or a number of islands");
  }
}

std::string text_of_islands(const std::optional<int>& islands) {
  if (!islands) return "auto";
  return *islands == 0 ? "columns" : *islands == 1 ? "cut" : fmt::format("{}", *islands);
}

/// "wilson (default), hisq, ..."
std::string list_of(const std::vector<std::string>& names) {
  const std::vector<std::string> others(names.begin() + 1, names.end());
  return fmt::format("{} (default), {}", names.front(), fmt::join(others, ", "));
}
Text action_help() {
  static const std::string text = "Fermion action: " + list_of(action_names());
  return text;
}
Text solver_help() {
  static const std::string text = fmt::format("Krylov solver: {}, multigrid, twisted mass without csw multishift too; staggered: {}",
                                              list_of(solver_names(false)), list_of(solver_names(true)));
  return text;
}
Text three_points_help() {
  std::vector<std::string_view> names;
  for (const contract::Hadron& hadron : contract::hadrons()) names.push_back(hadron.name);
  static const std::string text =
      fmt::format("Three-point functions: hadron, time slices from source to sink, momentum of the sink, pion:8 or proton_u:8,1,0,0; of {}",
                  fmt::join(names, ", "));
  return text;
}
Text inner_solver_help() {
  static const std::string text =
      fmt::format("gcr: solver of which a few steps are the preconditioner: {} (default: none)", fmt::join(solver_names(false), ", "));
  return text;
}

MultigridSettings& multigrid_of(RunConfig& config) {
  if (!config.solver.multigrid) config.solver.multigrid.emplace();
  return *config.solver.multigrid;
}
Setting multigrid_number(const char* key, const char* help, int MultigridSettings::*member) {
  return {key, "N", help, [member](RunConfig& c, Text v) { multigrid_of(c).*member = parse_integer(v, 0, 1000); },
          [member](const RunConfig& c) -> json {
            const bool open = !c.solver.multigrid || (member == &MultigridSettings::levels && c.solver.multigrid->levels == 0);
            return open ? json() : json((*c.solver.multigrid).*member);
          }};
}

std::vector<Setting> make_settings() {
  return {
      {"gauge", "FILE", "Gauge configuration: NERSC, SciDAC/ILDG, MILC, openQCD or DDalphaAMG, recognised by its content",
       [](RunConfig& c, Text v) { c.gauge = v; }, [](const RunConfig& c) -> json { return c.gauge; }},
      {"lattice", "X,Y,Z,T", "Extents of a bare LIME file that states none", [](RunConfig& c, Text v) { c.lattice = parse_coord(v, 1); },
       [](const RunConfig& c) -> json { return c.lattice ? json(*c.lattice) : json(); }},
      {"reunitarize", "", "Project the links back to SU(3) in double precision after reading",
       [](RunConfig& c, Text v) { c.reunitarize = parse_switch(v); }, [](const RunConfig& c) -> json { return c.reunitarize; }},
      {"action", "NAME", action_help(), [](RunConfig& c, Text v) { c.action = &kind_named(parse_name(v, action_names())); },
       [](const RunConfig& c) -> json { return c.action->name; }},
      {"nrhs", "N", "Right-hand sides solved together, 1 to 32: columns, sources, masses (default 12, blockcg 3)",
       [](RunConfig& c, Text v) { c.nrhs = parse_integer(v, 1, most_vectors); }, [](const RunConfig& c) -> json { return c.nrhs; }},
      {"boundary", "D=B,...", "Boundary conditions: direction = periodic, antiperiodic or angle/pi (default t=antiperiodic)",
       [](RunConfig& c, Text v) { c.boundary = parse_boundary(v, c.boundary); },
       [](const RunConfig& c) -> json { return boundary_text(c.boundary); }},
      {"source", "S[+S...]",
       "point:x,y,z,t, wall:t[,nx,ny,nz] (with momentum), corner-wall:t, z2:t[,seed], random:t[,seed], none gauge fixed; smeared points "
       "gaussian:x,y,z,t,sigma,steps or wuppertal:x,y,z,t,alpha,steps, each with ,alpha,steps for APE-smeared links "
       "(default point:0,0,0,0)",
       [](RunConfig& c, Text v) {
         std::vector<Source> sources;
         for (const std::string& one : split(v, '+')) sources.push_back(parse_source(one));
         c.source = sources.front();
         c.further_sources.assign(sources.begin() + 1, sources.end());
       },
       [](const RunConfig& c) -> json {
         std::string text = text_of(c.source);
         for (const Source& source : c.further_sources) text += "+" + text_of(source);
         return text;
       },
       "+"},
      {"sinks", "S[+S...]",
       "Sinks of correlators: point, gaussian:sigma,steps or wuppertal:alpha,steps, with ,alpha,steps for APE-smeared links (default "
       "point)",
       [](RunConfig& c, Text v) {
         std::vector<Sink> sinks;
         for (const std::string& one : split(v, '+')) {
           if (const Sink sink = parse_sink(one); std::find(sinks.begin(), sinks.end(), sink) == sinks.end()) sinks.push_back(sink);
           else throw BadValue(fmt::format("{} is given twice", one), "give each sink once");
         }
         c.sinks = sinks;
       },
       [](const RunConfig& c) -> json {
         json texts = json::array();
         for (const Sink& sink : c.sinks) texts.push_back(text_of(sink));
         return texts;
       },
       "+"},
      {"columns", "LIST", "Source columns 3 spin + colour to solve (default 0-11; staggered 0-2; correlators need them all)",
       [](RunConfig& c, Text v) { c.columns = parse_columns(v); }, [](const RunConfig& c) -> json { return c.columns; }},
      {"correlators", "NAME,...", "Correlators, groups of them (rho) or all of a family (mesons) (default pion and rho; staggered: all)",
       [](RunConfig& c, Text v) { c.correlators.names = split(v, ','); },
       [](const RunConfig& c) -> json { return c.correlators.names.empty() ? json() : json(c.correlators.names); }},
      {"momenta", "X,Y,Z[+...]", "Momenta of correlators in units of 2 pi / L, 0,0,0+1,0,0 (default 0,0,0)",
       [](RunConfig& c, Text v) { c.correlators.momenta = parse_momenta(v); },
       [](const RunConfig& c) -> json { return c.correlators.momenta; }, "+"},
      {"fold", "", "Average correlators forward and backward in time", [](RunConfig& c, Text v) { c.correlators.fold = parse_switch(v); },
       [](const RunConfig& c) -> json { return c.correlators.fold; }},
      {"three-points", "H:DT[,X,Y,Z][+...]", three_points_help(),
       [](RunConfig& c, Text v) { c.three_points.hadrons = parse_hadron_sinks(v); },
       [](const RunConfig& c) -> json {
         json texts = json::array();
         for (const contract::HadronSink& sink : c.three_points.hadrons) texts.push_back(text_of(sink));
         return texts.empty() ? json() : texts;
       },
       "+"},
      {"currents", "NAME,...",
       "Currents of three-point functions: scalar, pseudoscalar, vector_x, axial_x, tensor_xy ..., conserved_x ..., groups of them "
       "(vector) "
       "or all of a family (local) (default vector_t, conserved_t)",
       [](RunConfig& c, Text v) { c.three_points.currents = split(v, ','); },
       [](const RunConfig& c) -> json { return c.three_points.currents.empty() ? json() : json(c.three_points.currents); }},
      {"current-momenta", "X,Y,Z[+...]", "Momenta of currents in units of 2 pi / L, 0,0,0+0,0,1 (default 0,0,0)",
       [](RunConfig& c, Text v) { c.three_points.momenta = parse_momenta(v); },
       [](const RunConfig& c) -> json { return c.three_points.hadrons.empty() ? json() : json(c.three_points.momenta); }, "+"},
      {"solver", "NAME", solver_help(), [](RunConfig& c, Text v) { c.solver.solver = parse_name(v, all_solver_names()); },
       [](const RunConfig& c) -> json { return c.solver.solver; }},
      {"restart", "K", "gcr: directions kept before it starts anew, 1 to 32 (default 8)",
       [](RunConfig& c, Text v) { c.solver.restart = parse_integer(v, 1, gcr_steps::most_directions); },
       [](const RunConfig& c) -> json { return find_krylov_solver(c.solver.solver)->keeps_directions ? json(c.solver.restart) : json(); }},
      {"schwarz-block", "X,Y,Z,T", "gcr: extents of the domains of an additive Schwarz preconditioner (default: none)",
       [](RunConfig& c, Text v) {
         if (!c.solver.schwarz) c.solver.schwarz.emplace();
         c.solver.schwarz->domain = parse_coord(v, 2);
       },
       [](const RunConfig& c) -> json { return c.solver.schwarz ? json(c.solver.schwarz->domain) : json(); }},
      {"schwarz-steps", "N", "Steps of minimal residual on each domain of --schwarz-block (default 4)",
       [](RunConfig& c, Text v) {
         if (!c.solver.schwarz) c.solver.schwarz.emplace();
         c.solver.schwarz->steps = parse_integer(v, 1, 1000);
       },
       [](const RunConfig& c) -> json { return c.solver.schwarz ? json(c.solver.schwarz->steps) : json(); }},
      {"inner-solver", "NAME", inner_solver_help(),
       [](RunConfig& c, Text v) {
         if (!c.solver.inner) c.solver.inner.emplace();
         c.solver.inner->name = parse_name(v, all_solver_names());
       },
       [](const RunConfig& c) -> json { return c.solver.inner ? json(c.solver.inner->name) : json(); }},
      {"inner-steps", "N", "Steps of --inner-solver in each iteration (default 4)",
       [](RunConfig& c, Text v) {
         if (!c.solver.inner) c.solver.inner.emplace();
         c.solver.inner->steps = parse_integer(v, 1, 1000);
       },
       [](const RunConfig& c) -> json { return c.solver.inner ? json(c.solver.inner->steps) : json(); }},
      {"aggregate", "X,Y,Z,T", "multigrid: fine sites of a site of the second level (default: by the lattice)",
       [](RunConfig& c, Text v) { multigrid_of(c).aggregate = parse_coord(v, 2); },
       [](const RunConfig& c) -> json {
         return c.solver.multigrid && c.solver.multigrid->aggregate[0] > 0 ? json(c.solver.multigrid->aggregate) : json();
       }},
      multigrid_number("levels", "multigrid: levels, 2 to 4 (default: by the lattice)", &MultigridSettings::levels),
      multigrid_number("null-vectors", "multigrid: null vectors of an aggregate, a multiple of 4 up to 32, or of 8 up to 64 (default 24)",
                       &MultigridSettings::null_vectors),
      multigrid_number("smoother-steps", "multigrid: degree of the smoother on the finest level, half of it below (default 8)",
                       &MultigridSettings::smoother_steps),
      multigrid_number("cycle-steps", "multigrid: cycles of each level between for one of the level above (default 2)",
                       &MultigridSettings::cycle_steps),
      multigrid_number("coarse-steps", "multigrid: steps of gcr on a large coarsest level (default 16)", &MultigridSettings::coarse_steps),
      {"coarse-precision", "NAME",
       "multigrid: matrices of coarse levels in `half`, 16 bits, or the `same` precision as vectors (default same)",
       [](RunConfig& c, Text v) {
         multigrid_of(c).half_matrices = parse_name(v, {"half", "same"}) == "half";
       },
       [](const RunConfig& c) -> json { return c.solver.multigrid ? json(c.solver.multigrid->half_matrices ? "half" : "same") : json(); }},
      multigrid_number("setup-steps", "multigrid: steps, of two products each, that make the null vectors (default 24)",
                       &MultigridSettings::setup_steps),
      multigrid_number("setup-cycles", "multigrid: cycles that improve the null vectors (default 2)", &MultigridSettings::setup_cycles),
      {"no-fallback", "", "multigrid: fail where it stalls or cannot be set up, instead of going on with bicgstab",
       [](RunConfig& c, Text v) { multigrid_of(c).fallback = !parse_switch(v); },
       [](const RunConfig& c) -> json { return c.solver.multigrid ? json(!c.solver.multigrid->fallback) : json(); }},
      {"multigrid-setup", "DIR",
       "multigrid: folder of null vectors, read where it has those of this operator, of another mass too, else written",
       [](RunConfig& c, Text v) { c.multigrid_setup = v; },
       [](const RunConfig& c) -> json { return c.multigrid_setup.empty() ? json() : json(c.multigrid_setup); }},
      {"deflate", "FILE", "Eigenvectors of this configuration and operator, of `quarkstar eigen`: solves begin with what they know",
       set_deflation_file, [](const RunConfig& c) -> json { return deflation_file(c).empty() ? json() : json(deflation_file(c)); }},
      {"low-mode-average", "", "With --deflate: mesons at momentum zero also with the modes' part averaged over all sites as sources",
       [](RunConfig& c, Text v) { c.low_mode_average = parse_switch(v); },
       [](const RunConfig& c) -> json { return c.low_mode_average ? json(true) : json(); }},
      {"recycle", "N",
       "Low modes that solves gather as they run, with which those after them begin: 8 to 128, e.g. 48 (default 0, none); not for blockcg, "
       "multishift and multigrid",
       [](RunConfig& c, Text v) { c.solver.recycle = parse_integer(v, 0, RecycledSpace::most_modes); },
       [](const RunConfig& c) -> json { return c.solver.recycle > 0 ? json(c.solver.recycle) : json(); }},
      {"schur", "NAME", "Even-odd system: asymmetric (default) or symmetric",
       [](RunConfig& c, Text v) {
         c.solver.schur = parse_name(v, {"asymmetric", "symmetric"}) == "symmetric" ? Schur::symmetric : Schur::asymmetric;
       },
       [](const RunConfig& c) -> json { return c.solver.schur == Schur::symmetric ? "symmetric" : "asymmetric"; }},
      {"tol", "EPS", "Stop at |b - M x| / |b| <= EPS (default 1e-10)",
       [](RunConfig& c, Text v) { c.solver.tolerance = parse_positive(v, 1); },
       [](const RunConfig& c) -> json { return c.solver.tolerance; }},
      {"max-iterations", "N", "Give up on a right-hand side after N iterations (default 10000)",
       [](RunConfig& c, Text v) { c.solver.max_iterations = parse_integer(v, 1); },
       [](const RunConfig& c) -> json { return c.solver.max_iterations; }},
      {"check-every", "K", "Iterations submitted between two looks at the stop flag (default 16)",
       [](RunConfig& c, Text v) { c.solver.check_every = parse_integer(v, 1, 1024); },
       [](const RunConfig& c) -> json { return c.solver.check_every; }},
      {"precision", "NAME", "Precision of the Krylov solver's fields: double (default), single or half; the result is always double",
       [](RunConfig& c, Text v) { c.solver.precision = parse_precision(v); },
       [](const RunConfig& c) -> json { return name_of(c.solver.precision); }},
      {"updates", "NAME", "Below double precision: reliable (updates, default) or correction (restarts)",
       [](RunConfig& c, Text v) {
         c.solver.updates = parse_name(v, {"reliable", "correction"}) == "correction" ? Updates::correction : Updates::reliable;
       },
       [](const RunConfig& c) -> json { return c.solver.updates == Updates::correction ? "correction" : "reliable"; }},
      {"refresh-drop", "F",
       "Reliable updates: one when |r| is below F times its largest value since the last (default 0.1 in half, 0.001 in single)",
       [](RunConfig& c, Text v) { c.solver.refresh_drop = parse_positive(v, 1); },
       [](const RunConfig& c) -> json { return c.solver.refresh_drop > 0 ? json(c.solver.refresh_drop) : json(); }},
      {"links", "N", "Stored reals of a link: 18 (default), 12 or 8; of a staggered long link: 18, 14, 13 or 9",
       [](RunConfig& c, Text v) {
         c.solver.link_reals = parse_integer(parse_name(v, {"18", "14", "13", "12", "9", "8"}), 8);
       },
       [](const RunConfig& c) -> json { return c.solver.link_reals; }},
      {"no-tune", "", "Speed settings by fixed rules: read and write no tune cache, measure nothing",
       [](RunConfig& c, Text v) { c.solver.tune = !parse_switch(v); }, [](const RunConfig& c) -> json { return !c.solver.tune; }},
      {"in-flight", "G", "Groups of --nrhs right-hand sides that are on the graph together (default 1)",
       [](RunConfig& c, Text v) { c.solver.in_flight = parse_integer(v, 1, 64); },
       [](const RunConfig& c) -> json { return c.solver.in_flight; }},
      {"residual-history", "", "Add the residual of every iteration to the JSON, as hexadecimal floats",
       [](RunConfig& c, Text v) { c.residual_history = parse_switch(v); }, [](const RunConfig& c) -> json { return c.residual_history; }},
      {"bound", "", "Record the task graph and add the time over its lower bounds to the JSON",
       [](RunConfig& c, Text v) { c.bound = parse_switch(v); }, [](const RunConfig& c) -> json { return c.bound; }},
      {"blocks", "X,Y,Z,T", "Cut the lattice into that many blocks, a multiple of --ranks (default: each rank's t cut by its workers)",
       [](RunConfig& c, Text v) { c.blocks = parse_coord(v, 1); }, [](const RunConfig& c) -> json { return c.blocks; }},
      {"share", "auto|cut|columns|N",
       "Devices cut the lattice (cut), share the groups of right-hand sides (columns), or both, as N islands (auto, default: what is "
       "predicted to be fastest)",
       [](RunConfig& c, Text v) { c.islands = parse_islands(v); }, [](const RunConfig& c) -> json { return text_of_islands(c.islands); }},
      {"ranks", "X,Y,Z,T", "Grid of MPI ranks over the lattice (default: the one whose parts have the smallest surface)",
       [](RunConfig& c, Text v) { c.ranks = parse_coord(v, 1); },
       [](const RunConfig& c) -> json { return c.ranks ? json(*c.ranks) : json(); }},
      {"rank-weights", "auto|equal|measured|W,...",
       "Sizes of the MPI ranks' parts: by measured speeds where their devices differ (auto, default), equal, always measured, or as these "
       "numbers",
       [](RunConfig& c, Text v) { c.rank_weights = parse_rank_weights(v); },
       [](const RunConfig& c) -> json { return text_of_weights(c.rank_weights); }},
      {"policy", "NAME|FILE",
       "Scheduling policy (default static; `quarkstar machine` lists them), or the shared library of one, ./libmine.so",
       [](RunConfig& c, Text v) {
         if (runtime::is_policy_library(v)) runtime::load_policy(std::string(v));
         else if (!runtime::is_policy(v))
           throw BadValue(runtime::why_no_policy(v),
                          fmt::format("use one of {}, or the path of a shared library", fmt::join(runtime::policy_names(), ", ")));
         c.session.policy = v;
       },
       [](const RunConfig& c) -> json { return c.session.policy; }},
      {"watts", "cpu=I:B,...",
       "What devices draw idle and busy, for --policy energy: cpu=60:250,cuda=75:500,host=100 (all CPU workers; one GPU; the rest)",
       [](RunConfig& c, Text v) { c.session.power = runtime::parse_power(v, "--watts"); },
       [](const RunConfig& c) -> json {
         const runtime::MachinePower& p = c.session.power;
         if (p.origin != "given") return json();
         return fmt::format("cpu={}:{},cuda={}:{},host={}", p.cpu.idle, p.cpu.busy, p.cuda.idle, p.cuda.busy, p.host);
       }},
      {"devices", "NAMES", "What owns blocks: cpu, cuda, all (CPUs beside GPUs where that is faster), or numbers of GPUs, 0,2",
       [](RunConfig& c, Text v) {
         c.session.devices = v;
         c.session.gpu_numbers.clear();
         c.session.cuda_workers = v == "cpu" ? 0 : -1;
         if (v == "cpu" || v == "cuda" || v == "all") return;
         try {
           c.session.gpu_numbers = parse_numbers(v);
         } catch (const BadValue&) {
           throw BadValue(fmt::format("'{}' is unknown", v), "use cpu, cuda, all, or numbers of GPUs, such as 0 or 0,2");
         }
       },
       [](const RunConfig& c) -> json { return c.session.devices.empty() ? json() : json(c.session.devices); }},
      {"cpu-share", "auto|0|X%", "Part of the lattice that CPUs own beside GPUs (default: auto with --devices all, else 0)",
       [](RunConfig& c, Text v) {
         if (v == "auto") {
           c.session.cpu_share.reset();
           c.session.measure_cpu_share = true;
           if (c.session.devices.empty()) c.session.devices = "all";
         } else {
           c.session.cpu_share = parse_share(v);
         }
       },
       [](const RunConfig& c) -> json {
         if (c.session.cpu_share) return *c.session.cpu_share > 0 ? fmt::format("{:g}%", 100 * *c.session.cpu_share) : "0";
         return runtime::cpu_share_is_open(c.session) ? json("auto") : json();
       }},
      {"gpu-memory", "SIZE",
       "Memory that a rank's fields may take on each GPU, 4GiB (default: 90 % of it or what is free, shared by its ranks)",
       [](RunConfig& c, Text v) { c.session.gpu_memory = parse_bytes(v); },
       [](const RunConfig& c) -> json { return c.session.gpu_memory > 0 ? json(c.session.gpu_memory) : json(); }},
      {"cpu-memory", "SIZE", "Host memory that a rank of the solve may take, 64GiB (default: its part of what is available)",
       [](RunConfig& c, Text v) { c.cpu_memory = parse_bytes(v); },
       [](const RunConfig& c) -> json { return c.cpu_memory > 0 ? json(c.cpu_memory) : json(); }},
      {"gpus", "N|all", "GPUs of each rank (default: all, divided among a host's ranks; 0: CPUs only)",
       [](RunConfig& c, Text v) {
         c.session.cuda_workers = v == "all" ? -1 : parse_integer(v, 0);
         c.session.gpu_numbers.clear();
         if (c.session.devices != "all" && c.session.devices != "cuda") c.session.devices.clear();
       },
       [](const RunConfig& c) -> json { return c.session.cuda_workers < 0 ? json("all") : json(c.session.cuda_workers); }},
      {"share-gpus", "", "Let several ranks use one GPU", [](RunConfig& c, Text v) { c.session.share_gpus = parse_switch(v); },
       [](const RunConfig& c) -> json { return c.session.share_gpus; }},
      {"workers", "N", "CPU workers (default: one per NUMA domain, or one per core)",
       [](RunConfig& c, Text v) { c.session.cpu_workers = parse_integer(v, 1); },
       [](const RunConfig& c) -> json { return c.session.cpu_workers; }},
      {"threads", "M", "Threads of each CPU worker (default: the cores shared evenly)",
       [](RunConfig& c, Text v) { c.session.threads_per_worker = parse_integer(v, 1); },
       [](const RunConfig& c) -> json { return c.session.threads_per_worker; }},
      {"worker-mode", "MODE", "domain: one worker per NUMA domain (default); core: one per core",
       [](RunConfig& c, Text v) {
         c.session.mode = parse_name(v, {"domain", "core"}) == "core" ? runtime::WorkerMode::per_core : runtime::WorkerMode::per_domain;
       },
       [](const RunConfig& c) -> json { return c.session.mode == runtime::WorkerMode::per_core ? "core" : "domain"; }},
      {"throttle", "W:F,...",
       "For experiments: CPU worker W looks F times slower; W:F:P:MS[:SEED]: and a part P of its tasks takes MS milliseconds more; "
       "W:fails: "
       "its tasks fail; @S behind it: from S seconds of the session on",
       [](RunConfig& c, Text v) { c.session.throttles = parse_throttles(v); },
       [](const RunConfig& c) -> json { return c.session.throttles.empty() ? json() : json(text_of(c.session.throttles)); }},
      {"checkpoint", "DIR",
       "Folder for restart files, written on SIGUSR1, SIGUSR2, SIGTERM and after each group of right-hand sides; read again at the start",
       [](RunConfig& c, Text v) { c.checkpoint = v; }, [](const RunConfig& c) -> json { return c.checkpoint; }},
      {"checkpoint-every", "N", "Write a restart file every N iterations too (with --checkpoint)",
       [](RunConfig& c, Text v) { c.checkpoint_every = parse_integer(v, 0); },
       [](const RunConfig& c) -> json { return c.checkpoint_every; }},
      {"krylov-state", "", "Restart files hold the state of the solver too, so that a restart costs no iteration and changes no bit",
       [](RunConfig& c, Text v) { c.krylov_state = parse_switch(v); }, [](const RunConfig& c) -> json { return c.krylov_state; }},
      {"redundant", "", "--checkpoint is a folder of each host's own: a copy of each rank's part is kept on the next host",
       [](RunConfig& c, Text v) { c.redundant = parse_switch(v); }, [](const RunConfig& c) -> json { return c.redundant; }},
      {"watchdog", "SECONDS", "End the job when no task or message completes for so long (default 600; 0: never)",
       [](RunConfig& c, Text v) { c.session.watchdog_seconds = parse_integer(v, 0); },
       [](const RunConfig& c) -> json { return c.session.watchdog_seconds; }},
      {"out", "DIR", "Folder for correlators, result.json and report.html, and for propagators", [](RunConfig& c, Text v) { c.out = v; },
       [](const RunConfig& c) -> json { return c.out; }},
      {"propagators", "hdf5|scidac|hdf5,scidac",
       "Write propagators to --out: propagator.h5, and of spinors propagator.lime (default: none)",
       [](RunConfig& c, Text v) { c.propagator_files = parse_propagator_files(v); },
       [](const RunConfig& c) -> json { return fmt::format("{}", fmt::join(c.propagator_files, ",")); }},
      {"json", "FILE", "Write the results as JSON to FILE", [](RunConfig& c, Text v) { c.json = v; },
       [](const RunConfig& c) -> json { return c.json; }},
      {"trace", "FILE", "Write every task in Chrome's trace format to FILE", [](RunConfig& c, Text v) { c.trace = v; },
       [](const RunConfig& c) -> json { return c.trace; }},
      {"graph", "FILE", "Write the task graph of the first group of right-hand sides to FILE: DOT where its name ends in .dot, else JSON",
       [](RunConfig& c, Text v) { c.graph = v; }, [](const RunConfig& c) -> json { return c.graph.empty() ? json() : json(c.graph); }},
      {"decisions", "FILE",
       "Write to FILE, as JSON, what was expected of each task on each worker when it was ready, where it ran and what it took",
       [](RunConfig& c, Text v) { c.decisions = v; },
       [](const RunConfig& c) -> json { return c.decisions.empty() ? json() : json(c.decisions); }},
  };
}

}  // namespace

std::vector<std::string> solver_names_of(const ActionKind& kind) {
  std::vector<std::string> names = solver_names(kind.is_hermitian);
  for (const NamedKrylovSolver& solver : krylov_solvers()) {
    const std::string name(solver.name);
    const bool fits = (solver.shifted && kind.masses_shift) || (solver.multigrid && kind.knows("aggregate"));
    if (fits && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> all_solver_names() {
  std::vector<std::string> names = solver_names(false);
  for (const std::string& name : solver_names(true)) names.push_back(name);
  for (const NamedKrylovSolver& solver : krylov_solvers())
    if (solver.multigrid) names.emplace_back(solver.name);
  return names;
}

const std::vector<Setting>& run_settings() {
  static const std::vector<Setting> fields = [] {
    std::vector<Setting> all = make_settings();
    auto place = std::find_if(all.begin(), all.end(), [](const Setting& field) { return field.key == "action"; }) - all.begin();
    for (const ActionKind* kind : action_kinds())
      for (const ActionSetting& declared : kind->settings) {
        const auto known = [&declared](const Setting& field) { return field.key == declared.key; };
        if (std::any_of(all.begin(), all.end(), known)) continue;  // another action has it too
        all.insert(all.begin() + ++place, setting_of(declared));
      }
    return all;
  }();
  return fields;
}

}  // namespace quarkstar::app
