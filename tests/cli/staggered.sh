#!/usr/bin/env bash
# Staggered solves from the command line: one answer whatever the solver, precision, links and cut; every output; model and benchmark.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^plaquette ' gauge generate lattice.ildg --lattice 8 4 4 8 --beta 6.0 --sweeps 10 --seed 7 --format ildg
masses=(solve --gauge lattice.ildg --action hisq --tol 1e-11)
solve=("${masses[@]}" --mass 0.2)

expect 0 '^wrote out/report.html' "${solve[@]}" --out out --propagators hdf5 --json first.json
for file in out/propagator.h5 out/correlators.h5 out/result.json out/report.html first.json; do
  [ -s "$file" ] || die "$file is missing or empty"
done
absent out/propagator.lime
[ "$(grep -c '"reason": "converged"' first.json)" = 3 ] || die "not 3 converged columns"
for name in pion5 pion05 rho_x rho_y rho_z rho; do
  sed -n '/^  "correlators": {/,/^  }/p' first.json | grep -q "^    \"$name\": \[" || die "no correlators.$name"
done

# The first value of pion5, to nine digits.
pion5() { grep -A1 "\"pion5$2\": \[" "$1" | tail -1 | tr -d ' ,' | cut -c1-11; }
for flags in "--solver blockcg" "--solver multishift" "--precision single --links 13" "--precision half --links 14" "--links 9" \
             "--nrhs 1 --workers 2 --blocks 2,1,1,2" "--precision half --updates correction --solver blockcg"; do
  # shellcheck disable=SC2086  # words are flags
  expect 0 '^wrote other.json' "${solve[@]}" --json other.json $flags
  [ "$(pion5 first.json '')" = "$(pion5 other.json '')" ] || die "pion5 depends on $flags"
done
expect 0 '^wrote masses.json' "${masses[@]}" --masses 0.2,0.5 --solver multishift --json masses.json
[ "$(pion5 first.json '')" = "$(pion5 masses.json _m0.2)" ] || die "pion5 of one mass depends on the others"

for flags in "--action asqtad --u0 0.86 --mass 0.3" "--action naive --mass 0.3" "--action hisq --naik-epsilon auto --masses 0.3,0.6"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote other.json' solve --gauge lattice.ildg --tol 1e-8 --json other.json $flags
done

# Sources: noise belongs to its kind and seed, a wall to its time slice.
declare -A first
for source in corner-wall:2 wall:1 wall:2 z2:1 z2:1,5 random:1 random:1,1; do
  expect 0 '^wrote source.json' "${solve[@]}" --source $source --json source.json
  slice=${source#*:}
  grep -q "\"source_time\": ${slice%,*}," source.json || die "the JSON does not name the time of $source"
  first[$source]=$(pion5 source.json '')
  if [ "${source%%:*}" = corner-wall ]; then
    grep -q '"rho": \[' source.json || die "no rho of corners"
  else
    grep -q '"rho' source.json && die "a rho of $source, which has no phases"
    grep -q '"correlators_not_written": "pion05, rho_x, rho_y, rho_z, rho: ' source.json || die "nobody says what $source lacks"
  fi
done
[ "${first[random:1]}" = "${first[random:1,1]}" ] || die "the seed is not 1 by itself"
[ "${first[z2:1]}" != "${first[z2:1,5]}" ] || die "noise does not depend on its seed"
[ "${first[z2:1]}" != "${first[random:1]}" ] || die "normal noise is that of signs"
[ "${first[wall:1]}" != "${first[wall:2]}" ] || die "a wall does not depend on its time slice"
[ "${first[corner-wall:2]}" != "${first[wall:2]}" ] || die "corners are a whole wall"

# Epsilon from the mass: -27/40 m^2 + 327/1120 m^4 - 15607/268800 m^6 - 73697/3942400 m^8.
for mass in 0.3 0.6; do
  epsilon=$(awk -v q=$mass 'BEGIN {q *= q; x = 327 / 1120 + q * (-15607 / 268800 - q * 73697 / 3942400)
                                   printf "%.17g", q * (-27 / 40 + q * x)}')
  expect 0 '^wrote auto.json' "${solve[@]}" --mass $mass --naik-epsilon auto --json auto.json
  expect 0 '^wrote given.json' "${solve[@]}" --mass $mass --naik-epsilon "$epsilon" --json given.json
  [ "$(pion5 auto.json '')" = "$(pion5 given.json '')" ] || die "epsilon of the mass $mass is not $epsilon"
done

# Links from files: the bits of links made in place, and words for what does not fit.
histories() { grep -oE '"-?0x[^"]*"' "$1" > "$2"; [ -s "$2" ] || die "no residual history in $1"; }
smear() { local prefix=$1; shift; expect 0 "^wrote $prefix.fat and" gauge smear lattice.ildg "$prefix" "$@"; }
smear charm --naik-epsilon -0.1 --boundary z=0.5
smear tadpole --action asqtad --u0 0.86
smear narrow --precision single
both() {  # both FLAGS OF SMEARING IN PLACE -- FLAGS OF FILES -- FLAGS OF BOTH
  local -a sets=("" "" "")
  local set=0 word
  for word in "$@"; do if [ "$word" = -- ]; then set=$((set + 1)); else sets[set]+=" $word"; fi; done
  # shellcheck disable=SC2086
  expect 0 '^wrote place.json' solve --gauge lattice.ildg --mass 0.3 --tol 1e-9 --residual-history --json place.json ${sets[0]} ${sets[2]}
  # shellcheck disable=SC2086
  expect 0 '^wrote files.json' solve --mass 0.3 --tol 1e-9 --residual-history --json files.json ${sets[1]} ${sets[2]}
  histories place.json place.txt
  histories files.json files.txt
  cmp place.txt files.txt || die "links from files give other bits: $*"
}
both --naik-epsilon -0.1 --boundary z=0.5 -- --fat charm.fat --long charm.long -- --action hisq
both --naik-epsilon -0.1 --boundary z=0.5 -- --fat charm.fat --long charm.long -- --action hisq --precision half --links 13 --workers 2
both --u0 0.86 -- --fat tadpole.fat --long tadpole.long -- --action asqtad --links 9
grep -q '"long_file": "tadpole.long"' files.json || die "the JSON does not name the long links"
grep -q '"u0": 0.86' files.json || die "the JSON does not know the links' u0"
files=(solve --action hisq --fat charm.fat --long charm.long --mass 0.3 --json x.json)
expect 2 'error: --gauge: gauge is for links that are made' "${files[@]}" --gauge lattice.ildg
expect 2 'error: --naik-epsilon: naik-epsilon is for links that are made' "${files[@]}" --naik-epsilon auto
expect 2 'error: --boundary: .* is not what the links contain' "${files[@]}" --boundary t=periodic
expect 2 'error: tadpole.long: its Naik epsilon|error: tadpole.long: the links are those of the action asqtad' "${files[@]}" --long tadpole.long
expect 2 'error: --long: fat links are given alone' solve --action hisq --fat charm.fat --json x.json
for reals in 14 13 9; do  # which links in single precision are only near: the residual is that of the links in the file
  expect 0 '^wrote narrow.json' "${files[@]}" --fat narrow.fat --long narrow.long --links $reals --json narrow.json
done
expect 2 'error: lattice.ildg' "${files[@]}" --fat lattice.ildg
absent x.json

# Residual histories that no cut, worker or number of right-hand sides changes.
cuts=("--nrhs 3" "--nrhs 1" "--nrhs 2 --workers 2 --blocks 2,1,1,2 --policy eager")
for cut in "${cuts[@]}"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote history.json' "${solve[@]}" --residual-history --json history.json $cut
  histories history.json "history${cut// /_}.txt"
  cmp "history${cuts[0]// /_}.txt" "history${cut// /_}.txt" || die "the residual history depends on $cut"
done

expect 4 'error: colour 0, mass 0.2: .*iteration limit' "${solve[@]}" --max-iterations 2 --json failed.json
grep -q '"status": "failed"' failed.json || die "no reason in the JSON"
[ "$(grep -c '"reason": "iteration limit reached"' failed.json)" = 3 ] || die "not all that were solved together are in the JSON of a failure"
expect 4 'error: colour 0, mass 0.02: .*iteration limit' "${masses[@]}" --masses 2,0.02 --nrhs 6 --max-iterations 40 --json failed.json
[ "$(grep -c '"reason": "converged"' failed.json)" = 3 ] && [ "$(grep -c '"reason": "iteration limit reached"' failed.json)" = 3 ] ||
  die "the JSON of a failure does not tell those that converged"
expect 2 'error: --cpu-memory: this solve needs .* MiB of memory on host, 1.0 MiB are available; use .*--nrhs' \
  "${solve[@]}" --devices cpu --json refused.json --cpu-memory 1MiB
expect 0 '^  host: .* MiB of 1.00 GiB \(links .* before that .* MiB to make the links\)$' "${solve[@]}" --devices cpu --json fits.json --cpu-memory 1GiB
grep -q '"making_links": [1-9]' fits.json || die "no memory in the JSON"
absent refused.json
expect 2 'error: --u0: -1 is no tadpole factor' gauge smear lattice.ildg refused --action asqtad --u0 -1
absent refused.fat
if grep -q 'configuration read' stderr.txt; then die "the configuration was read for a wrong u0"; fi
expect 2 'error: --blocks: a block has extent 2 in direction t, less than the 3 sites of a hop' "${solve[@]}" --json refused.json --blocks 1,1,1,4
if grep -q 'memory, estimated' stdout.txt; then die "blocks were too thin after the memory was worked out"; fi
expect 2 'error: --u0: asqtad needs a tadpole factor' solve --gauge lattice.ildg --action asqtad --json x.json

expect 0 '^ +5 +1.87 ' model --estimate-only --bandwidth 100 --svg model.svg
grep -q '</svg>' model.svg || die "no chart"
expect 0 '"measured_gflops"' model --nrhs 1 --lattice 8 4 4 8 --array-mb 4 --repetitions 1 --json
expect 0 '"nrhs": 2' bench dslash --action hisq --nrhs 2 --links 13 --lattice 8 4 4 8 --precision half --array-mb 4 --repetitions 1 --json
