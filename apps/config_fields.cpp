// The table behind flags, TOML keys and reports. A new setting is one entry.
#include "apps/config.hpp"
#include "apps/parse.hpp"
#include "runtime/policy/policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace quarkstar::app {
namespace {

using nlohmann::json;
using Text = std::string_view;
using Normalisation = WilsonParameters::Normalisation;

constexpr double largest_kappa = 10;  // far beyond any use; the free critical value is 1/8

double mass_of(double kappa) { return 0.5 / kappa - 4; }

void set_mass(RunConfig& c, Text text) {
  const double mass = parse_real(text);
  if (!(mass > mass_of(largest_kappa)))
    throw BadValue(fmt::format("{} is not above {:g}", text, mass_of(largest_kappa)),
                   fmt::format("kappa = 1 / (2 (mass + 4)) must be between 0 and {:g}", largest_kappa));
  c.wilson.kappa = 0.5 / (mass + 4);
}

std::vector<Field> make_fields() {
  return {
      {"gauge", "FILE", "Gauge configuration: NERSC, SciDAC/ILDG, MILC or openQCD, recognised by its content",
       [](RunConfig& c, Text v) { c.gauge = v; }, [](const RunConfig& c) -> json { return c.gauge; }},
      {"lattice", "X,Y,Z,T", "Extents of a bare LIME file that states none",
       [](RunConfig& c, Text v) { c.lattice = parse_coord(v, 1); },
       [](const RunConfig& c) -> json { return c.lattice ? json(*c.lattice) : json(); }},
      {"reunitarize", "", "Project the links back to SU(3) in double precision after reading",
       [](RunConfig& c, Text v) { c.reunitarize = parse_switch(v); },
       [](const RunConfig& c) -> json { return c.reunitarize; }},
      {"action", "NAME", "Fermion action: wilson", [](RunConfig& c, Text v) { c.action = parse_name(v, {"wilson"}); },
       [](const RunConfig& c) -> json { return c.action; }},
      {"kappa", "K", "Hopping parameter (default 0.13)",
       [](RunConfig& c, Text v) { c.wilson.kappa = parse_positive(v, largest_kappa); },
       [](const RunConfig& c) -> json { return c.wilson.kappa; }},
      {"mass", "M0", "Bare mass instead of kappa: kappa = 1 / (2 (M0 + 4))", set_mass,
       [](const RunConfig& c) -> json { return mass_of(c.wilson.kappa); }},
      {"normalisation", "NAME", "kappa: M = 1 - kappa H (default); mass: M = (M0 + 4) - H/2",
       [](RunConfig& c, Text v) {
         c.wilson.normalisation =
             parse_name(v, {"kappa", "mass"}) == "mass" ? Normalisation::mass : Normalisation::kappa;
       },
       [](const RunConfig& c) -> json { return c.wilson.normalisation == Normalisation::mass ? "mass" : "kappa"; }},
      {"boundary", "D=B,...",
       "Boundary conditions: direction = periodic, antiperiodic or angle/pi (default t=antiperiodic)",
       [](RunConfig& c, Text v) { c.wilson.boundary = parse_boundary(v, c.wilson.boundary); },
       [](const RunConfig& c) -> json { return text_of(c.wilson.boundary); }},
      {"source", "S", "point:x,y,z,t or wall:t, not gauge fixed (default point:0,0,0,0)",
       [](RunConfig& c, Text v) { c.source = parse_source(v); },
       [](const RunConfig& c) -> json { return text_of(c.source); }},
      {"columns", "LIST", "Source columns 3 spin + colour to solve (default 0-11; correlators need them all)",
       [](RunConfig& c, Text v) { c.columns = parse_columns(v); },
       [](const RunConfig& c) -> json { return c.columns; }},
      {"solver", "NAME", "Krylov method (default bicgstab)",
       [](RunConfig& c, Text v) { c.solver.solver = parse_name(v, solver_names()); },
       [](const RunConfig& c) -> json { return c.solver.solver; }},
      {"schur", "NAME", "Even-odd system: asymmetric (default) or symmetric",
       [](RunConfig& c, Text v) {
         c.solver.schur =
             parse_name(v, {"asymmetric", "symmetric"}) == "symmetric" ? Schur::symmetric : Schur::asymmetric;
       },
       [](const RunConfig& c) -> json { return c.solver.schur == Schur::symmetric ? "symmetric" : "asymmetric"; }},
      {"tol", "EPS", "Stop at |b - M x| / |b| <= EPS (default 1e-10)",
       [](RunConfig& c, Text v) { c.solver.tolerance = parse_positive(v, 1); },
       [](const RunConfig& c) -> json { return c.solver.tolerance; }},
      {"max-iterations", "N", "Give up on a column after N iterations (default 10000)",
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
      {"links", "N", "Stored reals of a link: 18 (default) or 12",
       [](RunConfig& c, Text v) {
         c.solver.link_reals = parse_name(v, {"18", "12"}) == "12" ? 12 : 18;
       },
       [](const RunConfig& c) -> json { return c.solver.link_reals; }},
      {"residual-history", "", "Add the residual of every iteration to the JSON, as hexadecimal floats",
       [](RunConfig& c, Text v) { c.residual_history = parse_switch(v); },
       [](const RunConfig& c) -> json { return c.residual_history; }},
      {"blocks", "X,Y,Z,T", "Cut the lattice into that many blocks, a multiple of --ranks (default: each rank's t cut by its workers)",
       [](RunConfig& c, Text v) { c.blocks = parse_coord(v, 1); }, [](const RunConfig& c) -> json { return c.blocks; }},
      {"ranks", "X,Y,Z,T", "Grid of MPI ranks over the lattice (default: the one whose parts have the smallest surface)",
       [](RunConfig& c, Text v) { c.ranks = parse_coord(v, 1); },
       [](const RunConfig& c) -> json { return c.ranks ? json(*c.ranks) : json(); }},
      {"policy", "NAME", "Scheduling policy (default static; `quarkstar machine` lists them)",
       [](RunConfig& c, Text v) {
         if (!runtime::is_policy(v))
           throw BadValue(fmt::format("'{}' is unknown", v),
                          fmt::format("use one of {}, or another of StarPU's", fmt::join(runtime::policy_names(), ", ")));
         c.session.policy = v;
       },
       [](const RunConfig& c) -> json { return c.session.policy; }},
      {"gpus", "N|all", "GPUs to use (default: all; 0: CPUs only)",
       [](RunConfig& c, Text v) { c.session.cuda_workers = v == "all" ? -1 : parse_integer(v, 0); },
       [](const RunConfig& c) -> json {
         return c.session.cuda_workers < 0 ? json("all") : json(c.session.cuda_workers);
       }},
      {"share-gpus", "", "Let several ranks use one GPU",
       [](RunConfig& c, Text v) { c.session.share_gpus = parse_switch(v); },
       [](const RunConfig& c) -> json { return c.session.share_gpus; }},
      {"workers", "N", "CPU workers (default: one a NUMA domain, or one a core)",
       [](RunConfig& c, Text v) { c.session.cpu_workers = parse_integer(v, 1); },
       [](const RunConfig& c) -> json { return c.session.cpu_workers; }},
      {"threads", "M", "Threads of each CPU worker (default: the cores shared evenly)",
       [](RunConfig& c, Text v) { c.session.threads_per_worker = parse_integer(v, 1); },
       [](const RunConfig& c) -> json { return c.session.threads_per_worker; }},
      {"worker-mode", "MODE", "domain: one worker a NUMA domain (default); core: one a core",
       [](RunConfig& c, Text v) {
         c.session.mode = parse_name(v, {"domain", "core"}) == "core" ? runtime::WorkerMode::per_core
                                                                      : runtime::WorkerMode::per_domain;
       },
       [](const RunConfig& c) -> json { return c.session.mode == runtime::WorkerMode::per_core ? "core" : "domain"; }},
      {"checkpoint", "DIR", "Folder for restart files, written on SIGTERM and SIGUSR1 and after each column; read again at the start",
       [](RunConfig& c, Text v) { c.checkpoint = v; }, [](const RunConfig& c) -> json { return c.checkpoint; }},
      {"checkpoint-every", "N", "Write a restart file every N iterations too (with --checkpoint)",
       [](RunConfig& c, Text v) { c.checkpoint_every = parse_integer(v, 0); },
       [](const RunConfig& c) -> json { return c.checkpoint_every; }},
      {"watchdog", "SECONDS", "End the job when no task or message completes for so long (default 600; 0: never)",
       [](RunConfig& c, Text v) { c.session.watchdog_seconds = parse_integer(v, 0); },
       [](const RunConfig& c) -> json { return c.session.watchdog_seconds; }},
      {"out", "DIR", "Folder for the propagator, correlators, result.json and report.html",
       [](RunConfig& c, Text v) { c.out = v; }, [](const RunConfig& c) -> json { return c.out; }},
      {"json", "FILE", "Write the results as JSON to FILE", [](RunConfig& c, Text v) { c.json = v; },
       [](const RunConfig& c) -> json { return c.json; }},
      {"trace", "FILE", "Write every task in Chrome's trace format to FILE", [](RunConfig& c, Text v) { c.trace = v; },
       [](const RunConfig& c) -> json { return c.trace; }},
  };
}

}  // namespace

const std::vector<Field>& run_fields() {
  static const std::vector<Field> fields = make_fields();
  return fields;
}

}  // namespace quarkstar::app
