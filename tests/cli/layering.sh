#!/usr/bin/env bash
# The arrows apps -> solvers -> codelets -> runtime and apps/command -> apps/run hold in every #include, StarPU, hwloc and MPI stay in runtime/,
# and an action is named in its own folder only.
set -euo pipefail
cd "${QUARKSTAR_SOURCE_DIR:-$(dirname "$0")/../..}"

bad=0
# forbid RULE PATTERN FILE...: no #include line of these files matches PATTERN.
forbid() {
  local rule=$1 pattern=$2 hits
  shift 2
  [ $# -gt 0 ] || return 0
  hits=$(grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($pattern)" "$@" || true)
  [ -z "$hits" ] || { echo "$rule:"; sed 's/^/  /' <<< "$hits"; bad=1; }
}
# sources FOLDER: its C++ and CUDA files.
sources() { find "$1" -type f \( -name '*.?pp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' \) | sort; }

mapfile -t runtime < <(sources runtime)
mapfile -t codelets < <(sources codelets)
mapfile -t solvers < <(sources solvers)
mapfile -t apps < <(sources apps)
[ ${#runtime[@]} -gt 0 ] || { echo "no sources in $PWD/runtime"; exit 1; }
mapfile -t no_starpu < <(printf '%s\n' "${codelets[@]}" "${solvers[@]}" "${apps[@]}" | grep -v '_codelet\.cpp$')

forbid "runtime/ knows no physics" '(codelets|solvers|apps|tests)/' "${runtime[@]}"
forbid "codelets/ know no solver" '(solvers|apps|tests)/' "${codelets[@]}"
forbid "solvers/ know no application" '(apps|tests)/' "${solvers[@]}"
mapfile -t no_lab < <(printf '%s\n' "${apps[@]}" | grep -vE '^apps/(lab|studies)/|^apps/command/(lab|model)_command\.cpp$')
forbid "the laboratory and the studies are known to their subcommands only" 'apps/(lab|studies)/' "${no_lab[@]}"
mapfile -t run < <(sources apps/run)
forbid "a run knows no command" 'apps/(command|lab|studies|verify)/' "${run[@]}"
forbid "apps/ know no test" 'tests/' "${apps[@]}"
forbid "includes are relative to the root" '\.\./' "${runtime[@]}" "${codelets[@]}" "${solvers[@]}" "${apps[@]}"
forbid "hwloc and MPI are used in runtime/ only" '(hwloc|mpi)(/|\.h)' "${codelets[@]}" "${solvers[@]}" "${apps[@]}"
forbid "StarPU is used in runtime/ and *_codelet.cpp only" 'starpu' "${no_starpu[@]}"
# Results of Wilson's and of staggered actions are compared with those of other codes by name, `gauge smear` makes links of the latter, and
# arguments of the C library have names of settings.
named=$(grep -nHE '"(--)?(kappa|normalisation|masses|naik-epsilon|u0|fat|long)"' "${apps[@]}" |
  grep -vE '^apps/(c/(milc/)?(gauge|operator|solve)|verify/verify(_data|_staggered)?|command/gauge_smear_command|run/write_hdf5)\.cpp:' || true)
[ -z "$named" ] || { echo "settings of an action are named in its own folder only:"; sed 's/^/  /' <<< "$named"; bad=1; }
# What actions and solvers differ by is a property of theirs (codelets/actions/action_kind.hpp, solvers/krylov/krylov.hpp): no other place
# compares names. A name stands outside of its own folder where it is chosen or stated, not asked for:
chosen=(
  apps/bench/bench_submission.cpp        # whose tasks are submitted, for the time that takes
  apps/c/milc/solve.cpp                  # what a call of MILC's asks for
  apps/command/bench_solver_command.cpp  # of which there are QUDA's times
  apps/command/bench_command.cpp         # `bench multigrid`,
  apps/command/bench_multigrid_command.cpp
  apps/command/model_command.cpp         # and of figures
  apps/studies/figures.cpp
  apps/simulation/machine_file.cpp       # names of codelets begin so
  solvers/multigrid/multigrid.cpp        # steps inside a cycle
  solvers/multigrid/set_up.hpp           # the solver for null vectors that are poor
  solvers/settings.hpp                   # the default
)
actions=$(sed -nE 's/^QUARKSTAR_ACTION\((.*)\)/\1/p' codelets/actions/actions.inc | tr _ -)
krylov=$(sed -nE 's/^QUARKSTAR_KRYLOV_SOLVER\((.*)\)/\1/p' solvers/krylov/solvers.inc)
names=$(tr '\n ' '||' <<< "$actions $krylov" | sed 's/|*$//')
[[ $names = wilson*\|cg\|* ]] || { echo "no names of actions and solvers in '$names'"; exit 1; }
mapfile -t elsewhere < <(printf '%s\n' "${runtime[@]}" "${codelets[@]}" "${solvers[@]}" "${apps[@]}" |
  grep -vE '^(codelets/actions/[^/]+|solvers/krylov)/|^apps/c/(.*/)?[^/]*\.h$' | grep -vxF "$(printf '%s\n' "${chosen[@]}")")
mapfile -t python < <(find apps/python -name '*.py' | sort)
named=$(grep -nHE "\"($names)\"" "${elsewhere[@]}" | grep -vE ':[[:space:]]*//|//.*"('"$names"')"' || true
        grep -nHE "[!=]= *[\"']($names)[\"']" "${python[@]}" || true)
[ -z "$named" ] || { echo "names of actions and solvers are compared in no place:"; sed 's/^/  /' <<< "$named"; bad=1; }
for file in "${chosen[@]}"; do grep -qE "\"($names)\"" "$file" || { echo "no name of an action or solver is in $file any more"; bad=1; }; done
exit $bad
