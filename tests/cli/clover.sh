#!/usr/bin/env bash
# Clover and twisted mass through the command: settings, precisions, right-hand sides, restart files, benchmarks.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
clover=(solve --gauge lattice.ildg --action clover --kappa 0.12 --csw 1.3 --threads 1)
twisted=(solve --gauge lattice.ildg --action twisted-mass --kappa 0.12 --mu 0.2 --threads 1)
# pion FILE: C(t) of the pion.
pion() { sed -n '/"correlators": {/,/"effective_masses"/p' "$1" | sed -n '/"pion"/,/]/p' | grep -oE '[0-9.]+e?[-+]?[0-9]*' | head -n 8; }
# same FILE FILE: pions that agree to rounding of a solve.
same() {
  paste <(pion "$1") <(pion "$2") | awk '{ d = ($1 - $2) / $2; if (d * d > 1e-16) bad = 1; n++ } END { exit bad || n < 8 }' || die "the pions of $1 and $2 differ: $(pion "$1") $(pion "$2")"
}

# Every precision, Schur complement, solver and form of the links gives the same pion; without their terms both are Wilson's action.
expect 0 '^wrote clover.json' "${clover[@]}" --json clover.json
grep -q '"action": "clover"' clover.json && grep -q '"csw": 1.3' clover.json || die "the report does not tell action and csw"
for flags in "--schur symmetric --precision half --links 12" "--solver cgnr --precision single --tol 1e-11"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote other.json' "${clover[@]}" --json other.json $flags
  same other.json clover.json
done
expect 0 '^wrote twisted.json' "${twisted[@]}" --json twisted.json
expect 0 '^wrote other.json' "${twisted[@]}" --schur symmetric --precision half --json other.json
same other.json twisted.json
expect 0 '^wrote wilson.json' solve --gauge lattice.ildg --kappa 0.12 --threads 1 --json wilson.json
expect 0 '^wrote other.json' "${clover[@]}" --csw 0 --json other.json
same other.json wilson.json
expect 0 '^wrote other.json' "${twisted[@]}" --mu 0 --json other.json
same other.json wilson.json
expect 0 '^wrote other.json' "${twisted[@]}" --mu 0 --csw 1.3 --json other.json
same other.json clover.json

# Anisotropic: csw in planes with time is that of the others where none is given; scaled hops need links of 18 reals.
anisotropic=("${clover[@]}" --nu 1.2 --xi0 2.464)
expect 0 '^wrote anisotropic.json' "${anisotropic[@]}" --json anisotropic.json
grep -q '"nu": 1.2' anisotropic.json && grep -q '"xi0": 2.464' anisotropic.json || die "the report does not tell nu and xi0"
expect 0 '^wrote other.json' "${anisotropic[@]}" --csw-time 1.3 --precision half --schur symmetric --json other.json
same other.json anisotropic.json
expect 2 'error: --links: ' "${anisotropic[@]}" --links 12 --json x.json
expect 2 'error: --kappa: ' "${anisotropic[@]}" --kappa 0.35 --json x.json

# Several mu: from one Krylov space the same pions as one by one; both flavours make neutral mesons, of which the charged pion is the bound.
expect 0 '^wrote several.json' "${twisted[@]}" --mu 0.2,-0.2,0.5 --solver multishift --precision single --correlators pion,neutral_pion --json several.json
sed 's/"pion_m0.2"/"pion"/' several.json > one.json
same one.json twisted.json
grep -q '"neutral_pion_m0.2"' several.json && grep -q '"pion_m0.5"' several.json || die "correlators of several mu are missing"
expect 0 '^wrote other.json' "${twisted[@]}" --csw 1.3 --mu 0.2,-0.2 --columns 0 --json other.json
[ "$(grep -c '"log_det_even"' other.json)" = 2 ] || die "not a log det of each operator"
expect 2 'error: --solver: multishift needs one operator for all masses' "${twisted[@]}" --csw 1.3 --mu 0.2,0.3 --solver multishift --json x.json
expect 2 'error: --solver: multishift needs one operator for all masses' "${twisted[@]}" --csw 1.3 --mu 0.2 --solver multishift --json x.json
expect 0 '^wrote parts.json' "${twisted[@]}" --csw 1.3 --mu 0.2,-0.2 --nrhs 6 --in-flight 2 --correlators neutral_pion --json parts.json
expect 0 '^wrote whole.json' "${twisted[@]}" --csw 1.3 --mu 0.2,-0.2 --correlators neutral_pion --json whole.json
cmp <(sed -n '/"correlators": {/,/"effective_masses"/p' parts.json) <(sed -n '/"correlators": {/,/"effective_masses"/p' whole.json) ||
  die "neutral mesons of columns that came in parts have other bits"
expect 2 'error: --correlators: neutral-mesons take propagators of mu and of its opposite' "${twisted[@]}" --correlators neutral_pion --json x.json
expect 2 "error: --solver: " "${clover[@]}" --solver multishift --json x.json

# Restart files belong to an action and its numbers; settings that mean nothing are refused.
expect 0 '^wrote saved.json' "${clover[@]}" --columns 0 --checkpoint saved --json saved.json
expect 2 'belongs to another problem' "${clover[@]}" --csw 1.2 --columns 0 --checkpoint saved --json saved.json
expect 0 '^wrote saved.json' "${twisted[@]}" --columns 0 --checkpoint twisted --json saved.json
expect 0 '^wrote saved.json' "${twisted[@]}" --mu 0.3 --columns 0 --checkpoint twisted --json saved.json
[ "$(find twisted -type f | wc -l)" = 2 ] || die "not a restart file of each mu: $(ls twisted)"
expect 2 'belongs to another problem' "${twisted[@]}" --normalisation mass --columns 0 --checkpoint twisted --json saved.json
expect 2 'belongs to another problem' "${twisted[@]}" --csw 0.5 --columns 0 --checkpoint twisted --json saved.json
expect 2 'csw' "${clover[@]}" --csw nan --json x.json
expect 2 'mu' "${twisted[@]}" --mu nan --json x.json
expect 2 'error: --csw: csw means nothing for the action wilson' solve --gauge lattice.ildg --csw 1 --json x.json
expect 2 'error: --mu: mu means nothing for the action clover' "${clover[@]}" --mu 0.1 --json x.json
expect 2 'error: --schwarz-block: schwarz-block means nothing for the action clover' "${clover[@]}" --solver gcr --schwarz-block 4,4,4,4 --json x.json
expect 2 'error: --links: ' "${clover[@]}" --links 8 --json x.json

expect 0 'Clover Dslash' bench dslash --action clover --lattice 4,4,4,4 --precision half --links 12 --nrhs 1 2 --repetitions 1 --array-mb 8 --no-tune
expect 0 'bicgstab' bench solver --action clover --lattice 4,4,4,4 --kappa 0.12 --precision half --links 12 --iterations 16 --repetitions 1 --array-mb 8 --no-tune
expect 0 'bicgstab' bench solver --action twisted-mass --lattice 4,4,4,4 --precision double --links 18 --nrhs 2 --iterations 16 --repetitions 1 --array-mb 8 --no-tune
