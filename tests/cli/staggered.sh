#!/usr/bin/env bash
# Staggered solves from the command line: one answer whatever the solver, precision, links and cut; every output; model and benchmark.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^plaquette ' gauge generate lattice.ildg --lattice 8 4 4 8 --beta 6.0 --sweeps 10 --seed 7 --format ildg
solve=(solve --gauge lattice.ildg --action hisq --mass 0.2 --tol 1e-11)

expect 0 '^wrote out/report.html' "${solve[@]}" --out out --json first.json
for file in out/propagator.h5 out/correlators.h5 out/result.json out/report.html first.json; do
  [ -s "$file" ] || die "$file is missing or empty"
done
absent out/propagator.lime
[ "$(grep -c '"reason": "converged"' first.json)" = 3 ] || die "not 3 converged columns"
for name in pion5 pion05 rho_x rho; do grep -q "\"$name\": \[" first.json || die "no correlator $name"; done

# The first value of pion5, to nine digits.
pion5() { grep -A1 "\"pion5$2\": \[" "$1" | tail -1 | tr -d ' ,' | cut -c1-11; }
for flags in "--solver blockcg" "--solver multishift" "--precision single --links 13" "--precision half --links 14" "--links 9" \
             "--nrhs 1 --workers 2 --blocks 2,1,1,2" "--precision half --updates correction --solver blockcg"; do
  # shellcheck disable=SC2086  # words are flags
  expect 0 '^wrote other.json' "${solve[@]}" --json other.json $flags
  [ "$(pion5 first.json '')" = "$(pion5 other.json '')" ] || die "pion5 depends on $flags"
done
expect 0 '^wrote masses.json' "${solve[@]}" --masses 0.2,0.5 --solver multishift --json masses.json
[ "$(pion5 first.json '')" = "$(pion5 masses.json _m0.2)" ] || die "pion5 of one mass depends on the others"

for flags in "--action asqtad --u0 0.86" "--action naive" "--action hisq --naik-epsilon auto --masses 0.3,0.6" "--action hisq --source corner-wall:2" \
             "--action hisq --source z2:1,5" "--action hisq --source random:1"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote other.json' solve --gauge lattice.ildg --mass 0.3 --tol 1e-8 --json other.json $flags
done

# Residual histories that no cut, worker or number of right-hand sides changes.
histories() { grep -oE '"-?0x[^"]*"' "$1"; }
cuts=("--nrhs 3" "--nrhs 1" "--nrhs 2 --workers 2 --blocks 2,1,1,2 --policy eager")
for cut in "${cuts[@]}"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote history.json' "${solve[@]}" --residual-history --json history.json $cut
  histories history.json > "history${cut// /_}.txt"
  [ -s "history${cut// /_}.txt" ] || die "no residual history"
  cmp "history${cuts[0]// /_}.txt" "history${cut// /_}.txt" || die "the residual history depends on $cut"
done

expect 4 'error: colour 0, mass 0.2: .*iteration limit' "${solve[@]}" --max-iterations 2 --json failed.json
grep -q '"status": "failed"' failed.json || die "no reason in the JSON"
expect 2 'error: --cpu-memory: this solve needs .* MiB of memory on host, 1.0 MiB are available; use .*--nrhs' \
  "${solve[@]}" --devices cpu --json refused.json --cpu-memory 1MiB
expect 0 '^  host: .* MiB of 1.00 GiB \(links .* before that .* MiB to make the links\)$' "${solve[@]}" --devices cpu --json fits.json --cpu-memory 1GiB
grep -q '"making_links": [1-9]' fits.json || die "no memory in the JSON"
absent refused.json
expect 2 'error: --u0: asqtad needs a tadpole factor' solve --gauge lattice.ildg --action asqtad --json x.json

expect 0 '^ +5 +1.87 ' model --estimate-only --bandwidth 100 --svg model.svg
grep -q '</svg>' model.svg || die "no chart"
expect 0 '"measured_gflops"' model --nrhs 1 --lattice 8 4 4 8 --array-mb 4 --repetitions 1 --json
expect 0 '"nrhs": 2' bench dslash --action hisq --nrhs 2 --links 13 --lattice 8 4 4 8 --precision half --array-mb 4 --repetitions 1 --json
