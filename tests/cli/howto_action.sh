#!/usr/bin/env bash
# The action of docs/howto/operator.md, a file and a line, in every command. QUARKSTAR is the command with it.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
"$QUARKSTAR" solve --help 2>&1 | grep -e '--moment B' > /dev/null || { echo "SKIPPED howto_action: the command has no action moment"; exit 77; }
make_configuration
moment=(solve --gauge lattice.ildg --action moment --kappa 0.12 --threads 1)

# The solve says that it is one with a magnetic moment, and reaches the residual; b = 0 is Wilson's action, to rounding.
expect 0 '^wrote moment.json' "${moment[@]}" --moment 0.3 --json moment.json
grep -q '"action": "moment"' moment.json && grep -q '"moment": 0.3' moment.json || die "the report does not tell action and moment"
[ "$(grep -c '"reason": "converged"' moment.json)" = 12 ] || die "not 12 columns"
expect 0 '^wrote none.json' "${moment[@]}" --moment 0 --json none.json
expect 0 '^wrote wilson.json' solve --gauge lattice.ildg --kappa 0.12 --threads 1 --json wilson.json
pion() { sed -n '/"correlators": {/,/"effective_masses"/p' "$1" | sed -n '/"pion"/,/]/p' | grep -oE '[0-9.]+e?[-+]?[0-9]*' | head -n 4; }
paste <(pion none.json) <(pion wilson.json) <(pion moment.json) |
  awk '{ d = ($1 - $2) / $2; if (d < 0) d = -d; if (d > 1e-9) bad = 1; e = ($3 - $2) / $2; if (e * e < 1e-8) bad = 1; n++ } END { exit bad || n < 4 }' ||
  die "b = 0 is not Wilson's pion, or b = 0.3 makes no difference: $(pion none.json) $(pion wilson.json) $(pion moment.json)"
# The same bits for any number of right-hand sides and cut.
for flags in "--nrhs 1" "--nrhs 5 --blocks 1,1,1,2 --workers 2"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote other.json' "${moment[@]}" --moment 0.3 --columns 0-4 --residual-history --json other.json $flags
  sed -n '/"residual_history"/,/]/p' other.json > "history ${flags%% -*}$RANDOM.txt"
done
[ "$(md5sum history*.txt | cut -d' ' -f1 | sort -u | wc -l)" = 1 ] || die "residual histories differ"

# Restart files belong to an action and its numbers.
expect 0 '^wrote saved.json' "${moment[@]}" --moment 0.3 --columns 0 --checkpoint saved --json saved.json
expect 2 'belongs to another problem' "${moment[@]}" --moment 0.2 --columns 0 --checkpoint saved --json saved.json
expect 2 'error: --moment: moment means nothing for the action wilson' solve --gauge lattice.ildg --moment 0.2 --json x.json
expect 2 'error: --normalisation: normalisation means nothing for the action moment' "${moment[@]}" --normalisation mass --json x.json

expect 0 'Magnetic moment Dslash' bench dslash --action moment --lattice 4,4,4,4 --precision double --links 18 --repetitions 1 --array-mb 8 --no-tune
expect 0 'bicgstab' bench solver --action moment --lattice 4,4,4,4 --precision double --links 18 --nrhs 2 --iterations 16 --repetitions 1 --array-mb 8 --no-tune
expect 0 '^residual histories: 2 runs of 1 problem, all bits equal' lab --lattice 4,4,4,4 --sweeps 2 --seed 7 --out study --nrhs 1 12 \
  --set action=moment moment=0.2 kappa=0.12 tol=1e-6 threads=1 gpus=0 columns=0-11 --repetitions 1 --warm-up 0 --no-bandwidth
expect 0 'gauge invariance 4x4x4x8 moment .*pass' verify --data none
