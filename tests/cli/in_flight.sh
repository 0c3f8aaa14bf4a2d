#!/usr/bin/env bash
# Several solves on the graph together, GCR with Schwarz domains, and throttled workers: the answers of one solve after another.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
# compare ARGUMENT...: histories and correlators are those in expected.txt.
compare() {
  expect 0 '^wrote other.json' "$@" --residual-history --json other.json
  results other.json | cmp expected.txt - || die "the bits depend on how it ran: $*"
}
reference() {
  expect 0 '^wrote one.json' "$@" --residual-history --json one.json
  results one.json > expected.txt
  [ -s expected.txt ] || die "no residual history"
}

# in_flight G FILE: so many groups were on the graph together.
in_flight() { grep -q "\"in-flight\": $1,\?\$" "$2" || die "$2: not $1 groups in flight"; }

solve=(solve --gauge lattice.ildg --kappa 0.12 --tol 1e-9 --threads 1 --no-tune)
reference "${solve[@]}"
compare "${solve[@]}" --nrhs 1 --in-flight 3 --workers 2 --blocks 1,1,2,2 --policy eager
in_flight 3 other.json
compare "${solve[@]}" --nrhs 5 --in-flight 2 --workers 2 --blocks 1,1,1,2
in_flight 2 other.json
compare "${solve[@]}" --nrhs 1 --in-flight 12 --workers 2 --policy dmdas --throttle 1:3 --trace trace.json
compare "${solve[@]}" --nrhs 1 --in-flight 2 --workers 2 --throttle 0:1:0.05:2:7@0.3 --checkpoint saved --checkpoint-every 5 --check-every 1
[ "$(ls saved | wc -l)" = 12 ] || die "not a restart file for each column"

gcr=(solve --gauge lattice.ildg --kappa 0.12 --tol 1e-9 --threads 1 --solver gcr --restart 6 --schwarz-block 2 2 4 4 --schwarz-steps 3 --precision single)
reference "${gcr[@]}" --columns 0-2
compare "${gcr[@]}" --nrhs 1 --columns 0-2 --in-flight 40 --blocks 2,1,1,2 --workers 2 --policy lws
in_flight 3 other.json  # no more than there is to solve
expect 2 'error: --schwarz-block: a block of 2 sites in t from 0 on would cut domains of 4' "${gcr[@]}" --json x.json --blocks 1,1,1,4
expect 2 'error: --schwarz-block: it means nothing for bicgstab' "${solve[@]}" --schwarz-block 4,4,4,4 --json x.json
expect 2 'error: --schwarz-steps: no domains are given' "${solve[@]}" --solver gcr --schwarz-steps 3 --json x.json
expect 2 'error: --inner-solver: it means nothing for bicgstab' "${solve[@]}" --inner-solver cgnr --json x.json
expect 2 'error: --inner-steps: no inner solver is given' "${solve[@]}" --solver gcr --inner-steps 3 --json x.json
expect 2 "error: --inner-solver: there is a preconditioner already" "${gcr[@]}" --inner-solver cgnr --json x.json
expect 2 "error: --restart: '40'" "${solve[@]}" --solver gcr --restart 40 --json x.json
expect 2 'error: --throttle: worker 7' "${solve[@]}" --throttle 7:2 --json x.json
expect 2 'error: --throttle: a start after -1 s' "${solve[@]}" --throttle 0:2@-1 --json x.json
expect 2 "error: --throttle: '' is no number" "${solve[@]}" --throttle 1:2@ --json x.json
expect 2 "error: --throttle: '1' is no throttle" "${solve[@]}" --throttle 1 --json x.json
absent x.json

# Several sources: each gets what it gets alone, and its outputs come while the next is solved for: by groups one after another, by columns
# of which several are in flight, and by groups that do not divide the columns of a source.
sources=(point:0,0,0,0 wall:3 point:1,2,3,4)
for i in 0 1 2; do
  reference "${solve[@]}" --source "${sources[i]}"
  mv expected.txt alone$i.txt
done
for together in '1 12' '7 1' '3 5'; do
  read -r groups nrhs <<< "$together"
  expect 0 '^wrote many/source2/report.html' "${solve[@]}" --source "${sources[0]}+${sources[1]}+${sources[2]}" --nrhs "$nrhs" --in-flight "$groups" --workers 2 \
    --residual-history --out many --propagators hdf5,scidac --json many.json --checkpoint kept
  in_flight "$groups" many.source0.json
  for i in 0 1 2; do
    results many.source$i.json | cmp alone$i.txt - || die "${sources[i]} depends on the sources beside it"
    for file in propagator.h5 propagator.lime correlators.h5 result.json report.html; do [ -s many/source$i/$file ] || die "no $file of source $i"; done
    [ "$(ls kept/source$i | wc -l)" = 12 ] || die "not a restart file for each column of source $i"
  done
  rm -r many kept many.source*.json
done
absent many.json
expect 2 'error: --source: ' "${solve[@]}" --source point:0,0,0,0+point:0,0,0,9 --json x.json
absent x.json x.source0.json

# One column that does not converge ends the run, with the others given up.
expect 4 'error: column [0-9]* .*iteration limit' "${solve[@]}" --nrhs 1 --in-flight 3 --max-iterations 3 --json failed.json
grep -q '"status": "failed"' failed.json || die "no reason in the JSON"

hisq=(solve --gauge lattice.ildg --action hisq --masses 0.3,0.5,0.8 --tol 1e-9 --threads 1)
reference "${hisq[@]}" --naik-epsilon auto
compare "${hisq[@]}" --naik-epsilon auto --in-flight 3 --workers 2 --policy eager
in_flight 3 other.json  # an operator for each mass
reference "${hisq[@]}" --nrhs 2
compare "${hisq[@]}" --nrhs 2 --in-flight 2 --workers 2
in_flight 2 other.json
compare "${hisq[@]}" --nrhs 2 --in-flight 2 --workers 2 --checkpoint colours --checkpoint-every 5 --check-every 1
[ "$(ls colours | wc -l)" = 9 ] || die "not a restart file for each colour and mass"
expect 2 'error: --bound: .*in flight' "${hisq[@]}" --nrhs 2 --in-flight 2 --bound --json x.json
absent x.json

command -v mpirun > /dev/null || { echo "SKIPPED ranks: no mpirun"; exit 0; }
reference "${gcr[@]}" --columns 0-3
timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$QUARKSTAR" "${gcr[@]}" --columns 0-3 --nrhs 1 --in-flight 3 --residual-history \
  --json ranks.json > stdout.txt 2> stderr.txt || { cat stderr.txt; die "two ranks"; }
results ranks.json | cmp expected.txt - || die "the bits depend on the ranks"
in_flight 3 ranks.json
