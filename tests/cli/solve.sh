#!/usr/bin/env bash
# A whole solve: TOML and flags, all outputs, and residual histories that no worker count or cut changes.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration

cat > run.toml <<'TOML'
gauge = "lattice.ildg"
kappa = 0.11              # overridden by the flag below
boundary = { t = "antiperiodic" }
source = "point:1,0,2,3"
tol = 1e-9
TOML
expect 0 '^wrote out/report.html' solve run.toml --kappa 0.12 --out out --propagators hdf5,scidac --json run.json --trace trace.json
for file in out/propagator.h5 out/propagator.lime out/correlators.h5 out/result.json out/report.html run.json trace.json; do
  [ -s "$file" ] || die "$file is missing or empty"
done
cmp out/result.json run.json
grep -q '"kappa": 0.12' run.json || die "the flag does not override the file"
grep -q '"source": "point:1,0,2,3"' run.json || die "the file's source is not used"
[ "$(grep -c '"reason": "converged"' run.json)" = 12 ] || die "not 12 converged columns"
for name in pion rho_x rho_y rho_z; do grep -q "\"$name\": \[" run.json || die "no correlator $name"; done
absent

# Correlators by name, group and family; columns that are solved one by one have the same bits as twelve together.
cat > mesons.toml <<'TOML'
gauge = "lattice.ildg"
kappa = 0.12
tol = 1e-6
correlators = ["pion", "rho", "a4p"]
momenta = [[0, 0, 0], [1, 0, -1]]
fold = true
TOML
numbers() { sed -n '/"correlators": {/,$p' "$1" | grep -vE '"(started|.*seconds|busy)'; }
expect 0 '^ *t +pion +rho_x .*a m_pion .log.' solve mesons.toml --json mesons.json
for name in pion rho_y a4p pion_p1,0,-1 a4p_p1,0,-1; do grep -q "^    \"$name\": \[" mesons.json || die "no correlator $name"; done
numbers mesons.json > mesons.txt
for flags in "--nrhs 1" "--nrhs 5 --blocks 1,1,1,2 --workers 2"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote one.json' solve mesons.toml --json one.json $flags
  numbers one.json | cmp mesons.txt - || die "correlators depend on $flags"
done
expect 2 "error: --correlators: 'eta' is no correlator of this action; use some of mesons, octet, " solve mesons.toml --correlators pion,eta --json one.json
expect 2 "error: --momenta: '1,0' has 2 numbers, not 3" solve mesons.toml --momenta 0,0,0+1,0 --json one.json

histories() { grep -oE '"-?0x[^"]*"' "$1"; }
cuts=("--workers 1 --threads 1" "--workers 2 --threads 1" "--workers 1 --blocks 1,2,2,2" "--workers 2 --blocks 2,2,2,2 --policy eager")
for cut in "${cuts[@]}"; do
  # shellcheck disable=SC2086  # words are flags
  expect 0 '^wrote history.json' solve --gauge lattice.ildg --kappa 0.12 --columns 0,7 --residual-history --json history.json $cut
  histories history.json > "history${cut// /_}.txt"
  [ -s "history${cut// /_}.txt" ] || die "no residual history"
  cmp "history${cuts[0]// /_}.txt" "history${cut// /_}.txt" || die "the residual history depends on $cut"
done
! grep -q '"correlators": {' history.json || die "correlators without all columns"
one=(solve --gauge lattice.ildg --kappa 0.12 --columns 3 --out part --blocks 1 1 1 2)
expect 0 '^not written: propagator.lime and correlators.h5, which need all 12 columns' "${one[@]}" --propagators hdf5,scidac
[ -s part/propagator.h5 ] || die "no propagator of one column"
absent part/propagator.lime part/correlators.h5
rm -r part
expect 0 '^not written: correlators.h5, which needs all 12 columns' "${one[@]}"
[ "$(ls part)" = "$(printf 'report.html\nresult.json')" ] || die "propagators that nobody asked for"
expect 2 "error: --propagators: 'lime' is no format of propagators; use hdf5, scidac" "${one[@]}" --propagators lime
expect 2 'error: --propagators: there is no folder for them' solve --gauge lattice.ildg --kappa 0.12 --json none.json --propagators hdf5
expect 2 'error: --propagators: the SciDAC format is for spinors' solve --gauge lattice.ildg --action hisq --mass 0.1 --out none --propagators scidac
absent none none.json

for solver in bicgstab cgnr; do
  for flags in "--schur symmetric" "--precision single --links 12" "--mass 0.2 --normalisation mass" "--source wall:2"; do
    # shellcheck disable=SC2086
    expect 0 '^wrote' solve --gauge lattice.ildg --reunitarize --solver $solver --columns 5 --json one.json $flags
  done
done

# A solve that fails leaves its reason and no correlators.
expect 4 'error: column 0 .*iteration limit' solve --gauge lattice.ildg --kappa 0.12 --max-iterations 2 --out failed --json failed.json --trace failed-trace.json
grep -q '"name":"wilson.' failed-trace.json || die "no trace of a failed solve"
grep -q '"status": "failed"' failed.json || die "no reason in the JSON"
! grep -q '"correlators": {' failed.json || die "correlators of a failed solve"
absent failed
