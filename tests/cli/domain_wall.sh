#!/usr/bin/env bash
# Domain wall and Moebius through the command: settings, precisions, right-hand sides, residual masses, benchmarks.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
wall=(solve --gauge lattice.ildg --action domain-wall --mass 0.3 --ls 4 --m5 1.8 --threads 1)
moebius=(solve --gauge lattice.ildg --action moebius --mass 0.3 --ls 4 --m5 1.8 --threads 1)
# values FILE NAME: C(t) of a correlator.
values() { sed -n '/"correlators": {/,/"effective_masses"/p' "$1" | sed -n "/\"$2\": \[/,/\]/p" | tail -n +2 | grep -oE '[0-9.]+e?[-+]?[0-9]*' | head -n 8; }
# same FILE FILE: correlators that agree to rounding of a solve.
same() {
  local name
  for name in pion pion_midpoint pion_residual_mass rho_x; do
    paste <(values "$1" $name) <(values "$2" $name) | awk '{ d = ($1 - $2) / $2; if (d * d > 1e-14) bad = 1; n++ } END { exit bad || n < 8 }' ||
      die "$name of $1 and $2 differ: $(values "$1" $name) $(values "$2" $name)"
  done
}

# Every precision, Schur complement, number of right-hand sides and form of the links gives the same; Moebius with b5 = 1, c5 = 0 is Shamir's.
expect 0 '^wrote wall.json' "${wall[@]}" --json wall.json
grep -q '"action": "domain-wall"' wall.json && grep -q '"ls": 4' wall.json && grep -q '"m5": 1.8' wall.json || die "the report does not tell action, ls and m5"
grep -q '"solver": "cgnr"' wall.json || die "the solver is not cgnr where none is given"
grep -q '"residual_mass": ' wall.json || die "no residual mass"
for flags in "--schur symmetric --precision half --links 12 --nrhs 3" "--precision single --links 8 --tol 1e-11 --blocks 1,1,1,2"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote other.json' "${wall[@]}" --json other.json $flags
  same other.json wall.json
done
expect 0 '^wrote other.json' "${moebius[@]}" --b5 1 --c5 0,0,0,0 --json other.json
same other.json wall.json
expect 0 '^wrote moebius.json' "${moebius[@]}" --json moebius.json
expect 0 '^wrote other.json' "${moebius[@]}" --b5 1.5,1.5,1.5,1.5 --c5 0.5 --precision half --schur symmetric --json other.json
same other.json moebius.json
expect 0 '^wrote other.json' "${moebius[@]}" --nu 1.2 --xi0 2.464 --m5 1.2 --precision single --json other.json

# Columns that come in parts, other sources.
expect 0 '^wrote other.json' "${moebius[@]}" --nrhs 5 --in-flight 2 --source point:0,0,0,3 --json other.json
expect 0 '^wrote whole.json' "${moebius[@]}" --source point:0,0,0,3 --json whole.json
cmp <(values other.json pion_midpoint) <(values whole.json pion_midpoint) || die "midpoints of columns that came in parts have other bits"
# Restart files have all slices: what is done is not done again, what was stopped, killed or moved to other ranks goes on to the same answer.
iterations() { grep -o '"iterations": [0-9]*' "$1" | awk '{ n += $2 } END { print n }'; }
for precision in double half; do
  files=("${moebius[@]}" --precision $precision --nrhs 5 --check-every 1 --checkpoint-every 4)
  expect 0 '^wrote whole.json' "${files[@]}" --json whole.json --checkpoint whole-$precision
  expect 0 '^wrote again.json' "${files[@]}" --json again.json --checkpoint whole-$precision
  [ "$(iterations again.json)" = 0 ] || die "finished columns were solved again: $(iterations again.json) iterations"
  same again.json whole.json
  expect 4 'iteration limit reached' "${files[@]}" --json x.json --checkpoint part-$precision --max-iterations 15
  expect 0 '^wrote rest.json' "${files[@]}" --json rest.json --checkpoint part-$precision
  [ "$(iterations rest.json)" -lt "$(iterations whole.json)" ] || die "the solve began anew: $(iterations rest.json) iterations"
  same rest.json whole.json
done
expect 2 'column00-mass0.3.checkpoint: the restart file belongs to another problem' "${files[@]}" --json x.json --checkpoint whole-half --c5 0.4
expect 2 'column00-mass0.3.checkpoint: the restart file has [0-9]* bytes instead of' "${files[@]}" --json x.json --checkpoint whole-half --ls 6
killed=("${moebius[@]}" --mass 0.02 --nrhs 4 --check-every 1 --checkpoint-every 1 --checkpoint killed)
"$QUARKSTAR" "${killed[@]}" --json killed.json > /dev/null 2>&1 &
victim=$!
while [ ! -e killed/column04-mass0.02.checkpoint ] && kill -0 $victim 2> /dev/null; do sleep 0.02; done
kill -KILL $victim 2> /dev/null || true
wait $victim 2> /dev/null || true
resumed=("$QUARKSTAR")
if command -v mpirun > /dev/null; then resumed=(timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$QUARKSTAR"); fi
"${resumed[@]}" "${killed[@]}" --check-every 16 --checkpoint-every 100 --json rest.json > stdout.txt 2>&1 || { cat stdout.txt; die "a killed solve did not go on"; }
expect 0 '^wrote whole.json' "${moebius[@]}" --mass 0.02 --nrhs 4 --json whole.json
[ "$(iterations rest.json)" -lt "$(iterations whole.json)" ] || die "the killed solve began anew: $(iterations rest.json) iterations"
same rest.json whole.json
# With the state of the solver no bit and no iteration changes.
state=("${moebius[@]}" --precision half --nrhs 5 --check-every 1 --residual-history)
expect 0 '^wrote whole.json' "${state[@]}" --json whole.json
"$QUARKSTAR" "${state[@]}" --checkpoint-every 3 --krylov-state --checkpoint state --json killed.json > /dev/null 2>&1 &
victim=$!
while [ ! -e state/state-column05-mass0.3.checkpoint ] && kill -0 $victim 2> /dev/null; do sleep 0.02; done
kill -KILL $victim 2> /dev/null || true
wait $victim 2> /dev/null || true
expect 0 '^wrote rest.json' "${state[@]}" --checkpoint-every 3 --krylov-state --checkpoint state --json rest.json
for name in pion pion_midpoint pion_residual_mass; do
  cmp <(values rest.json $name) <(values whole.json $name) || die "$name of a solve that went on from a state has other bits"
done
cmp <(grep -oE '"0x[^"]*"' rest.json) <(grep -oE '"0x[^"]*"' whole.json) || die "the residual histories of a solve that went on from a state differ"
# A matrix of one site that is diagonal, so that the product with its inverse has neighbours alone; what has no inverse; what does not hop.
expect 0 '^wrote other.json' "${moebius[@]}" --m5 1.5 --b5 1.4 --c5 0.4 --json other.json
expect 2 'error: .*mass.*has no inverse' "${moebius[@]}" --m5 1.5 --b5 -0.4 --c5 0.4 --json x.json
expect 2 'error: --b5: b5 and c5 are 0' "${moebius[@]}" --b5 0 --c5 0 --json x.json

expect 2 'error: --ls: 5 slices.* the midpoint lies between two slices' "${wall[@]}" --ls 5 --json x.json
expect 2 'error: --ls: ' "${wall[@]}" --ls 34 --json x.json
expect 2 'error: --m5: ' "${wall[@]}" --m5 2.5 --json x.json
expect 2 'error: --b5: 3 numbers for 4 slices' "${moebius[@]}" --b5 1,1,1 --json x.json
expect 2 'error: --b5: b5 means nothing for the action domain-wall' "${wall[@]}" --b5 1 --json x.json
expect 2 'error: --kappa: kappa means nothing for the action domain-wall' "${wall[@]}" --kappa 0.1 --json x.json

# Modes: the same file on a cut and after kills, and solves that begin with it; what is refused.
light=(--gauge lattice.ildg --action moebius --mass 0.02 --ls 4 --threads 1 --no-tune)
eigen=(eigen "${light[@]}" --modes 12 --basis 32 --degree 10)
expect 0 '^conjugate gradient for mass 0.02 to 1e-10: [0-9]+ iterations in .* without these modes, [0-9]+ in ' "${eigen[@]}" --out modes.h5
expect 0 '^wrote cut.h5' "${eigen[@]}" --out cut.h5 --blocks 1,1,1,2 --workers 2 --devices cpu
cmp modes.h5 cut.h5 || die "another cut gives another file of modes"
"${resumed[@]}" "${eigen[@]}" --out ranks.h5 > stdout.txt 2>&1 || { cat stdout.txt; die "modes on two ranks"; }
cmp modes.h5 ranks.h5 || die "ranks give another file of modes"
leave_restart_file killed.h5 "${eigen[@]}"
expect 0 '^wrote killed.h5' "${eigen[@]}" --out killed.h5
cmp modes.h5 killed.h5 || die "a solve for modes that was killed gives another file"
expect 0 '^wrote single.h5' "${eigen[@]}" --end highest --store single --out single.h5
solve=(solve "${light[@]}" --columns 0,1)
expect 0 '^wrote plain.json' "${solve[@]}" --json plain.json
expect 0 '^wrote deflated.json' "${solve[@]}" --json deflated.json --deflate modes.h5
"${resumed[@]}" "${solve[@]}" --json ranks.json --deflate modes.h5 > stdout.txt 2>&1 || { cat stdout.txt; die "a solve with modes on two ranks"; }
[ "$(iterations ranks.json)" = "$(iterations deflated.json)" ] || die "a solve with modes on two ranks takes $(iterations ranks.json) iterations, on one $(iterations deflated.json)"
[ $((4 * $(iterations deflated.json))) -lt $((3 * $(iterations plain.json))) ] || die "modes save few iterations: $(iterations deflated.json) of $(iterations plain.json)"
expect 2 'modes.h5: its eigenvectors are those of another .* ls 4 .* ls 6 ' "${solve[@]}" --ls 6 --json x.json --deflate modes.h5
expect 2 'single.h5: its eigenvectors are those of another .*from its upper end' "${solve[@]}" --json x.json --deflate single.h5
expect 0 'applications to blocks of 2,' eigen "${light[@]}" --ls 12 --modes 2 --tol 1e-4 --out twelve.h5
expect 2 'error: --block: 4 vectors of 12 slices; give 1 to 2' eigen "${light[@]}" --ls 12 --block 4 --modes 2 --out x.h5
expect 2 'error: --block: 0 vectors; give 1 to 16' eigen --gauge lattice.ildg --action naive --block 0 --modes 2 --out x.h5
expect 2 'error: --ls: ' eigen "${light[@]}" --ls 34 --modes 2 --out x.h5
expect 2 'error: --operator: gamma5, and moebius has a fifth dimension' eigen "${light[@]}" --operator gamma5 --modes 2 --out x.h5
expect 2 'error: x.lime: SciDAC files have no vectors of five dimensions' eigen "${light[@]}" --modes 2 --out x.lime
expect 2 'error: --cpu-memory: this solve needs .*fewer --modes' eigen "${light[@]}" --cpu-memory 20MiB --modes 100 --out x.h5
expect 2 'error: --action: domain-wall has a fifth dimension' bench eigen --action domain-wall --lattice 4,4,4,4
absent x.h5 x.h5.restart x.lime

expect 0 'Domain wall Dslash' bench dslash --action domain-wall --lattice 4,4,4,4 --precision half --links 12 --nrhs 1 2 --repetitions 1 --array-mb 8 --no-tune
expect 0 'cgnr' bench solver --action moebius --lattice 4,4,4,4 --precision half --links 12 --iterations 16 --repetitions 1 --array-mb 8 --no-tune
