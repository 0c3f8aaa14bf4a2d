#!/usr/bin/env bash
# Islands: devices that share groups of right-hand sides in place of the lattice give the bits of one device.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
compare() {
  expect 0 '^wrote other.json' "$@" --residual-history --json other.json
  results other.json | cmp expected.txt - || die "the bits depend on the islands: $*"
}
# islands N GROUPS: so many islands have solved so many groups together.
islands() {
  [ "$(grep -c '"groups": ' other.json)" = "$1" ] || die "not $1 islands"
  [ "$(grep -oE '"groups": [0-9]+' other.json | awk '{ n += $2 } END { print n }')" = "$2" ] || die "not $2 groups: $(grep '"groups"' other.json)"
}

solve=(solve --gauge lattice.ildg --kappa 0.12 --tol 1e-9 --threads 1 --no-tune)
expect 0 '^wrote one.json' "${solve[@]}" --residual-history --json one.json
results one.json > expected.txt
[ -s expected.txt ] || die "no residual history"

compare "${solve[@]}" --workers 2 --share columns
islands 2 2
grep -q '"share": "columns"' other.json && grep -q 'on each of 2 islands' other.json || die "the report does not tell of islands"
compare "${solve[@]}" --workers 3 --share columns --nrhs 1 --in-flight 2 --policy eager
islands 3 12
compare "${solve[@]}" --workers 4 --share 2 --nrhs 3 --precision double
islands 2 4
compare "${solve[@]}" --workers 2 --share columns --nrhs 2 --throttle 1:4 --policy dmda
islands 2 6
# Between two segments a group changes islands where a policy wants it: what a slow one owns is taken by the other.
# That is for the policy to see in what tasks took, so on a busy machine not at the first try.
for ((i = 0; i < 5; ++i)); do
  compare "${solve[@]}" --workers 2 --share columns --nrhs 1 --in-flight 2 --throttle 1:1:1:5 --policy dmda --decisions decisions.json
  ! grep -qE '"codelet":"fused","block":[0-9]+,"owner":1,"soonest":-?[0-9]+,"worker":0,' decisions.json || break
done
[ $i -lt 5 ] || die "no segment has left the slow island"
# Left to choose: two devices that are alike share six groups, and cut the lattice for one.
compare "${solve[@]}" --workers 2 --nrhs 2
islands 2 6
grep -q '"reason": "predicted .* s on 2 islands of 1, .* s with the lattice cut for 2"' other.json || die "no reason: $(grep '"reason"' other.json)"
expect 0 '^wrote alone.json' "${solve[@]}" --workers 2 --columns 0 --json alone.json
grep -q '1x1x1x2 blocks' alone.json || die "one group was not solved on both devices"
grep -q '"reason": "predicted .* s with the lattice cut for 2"' alone.json || die "no reason: $(grep '"reason"' alone.json)"
compare "${solve[@]}" --workers 2 --nrhs 2 --share cut
grep -q '1x1x1x2 blocks' other.json || die "the lattice was not cut"

# Several sources, restart files, masses from one operator; a column that does not converge ends the run.
sources=(point:0,0,0,0 wall:3)
expect 0 '^wrote many/source1/report.html' "${solve[@]}" --source "${sources[0]}+${sources[1]}" --workers 2 --share columns --nrhs 4 --residual-history --out many \
  --json many.json --checkpoint saved
results many.source0.json | cmp expected.txt - || die "a source depends on another island's"
[ "$(ls saved/source1 | wc -l)" = 12 ] || die "not a restart file for each column"
# Each source tells of the groups until it is complete, its own among them.
expect 0 '^wrote parts.source1.json' "${solve[@]}" --source "${sources[0]}+${sources[1]}" --workers 2 --share columns --json parts.json
for file in parts.source{0,1}.json; do grep -q '"groups": 1' "$file" || die "$file tells of no group: $(grep '"groups"' "$file")"; done
expect 4 'error: column [0-9]* .*iteration limit' "${solve[@]}" --workers 2 --share columns --nrhs 1 --max-iterations 3 --json failed.json
hisq=(solve --gauge lattice.ildg --action hisq --masses 0.3,0.5 --tol 1e-9 --threads 1)
expect 0 '^wrote one.json' "${hisq[@]}" --residual-history --json one.json
results one.json > expected.txt
compare "${hisq[@]}" --workers 2 --share columns
islands 2 2

expect 2 'error: --share: there cannot be several islands: each mass has links of its own' "${hisq[@]}" --naik-epsilon auto --workers 2 --share columns --json x.json
expect 2 'error: --share: 3 islands, and 2 devices' "${solve[@]}" --workers 2 --share 3 --json x.json
expect 2 'error: --share: .*adaptive' "${solve[@]}" --workers 2 --share columns --policy adaptive --json x.json
expect 2 "error: --share: 'rows'" "${solve[@]}" --share rows --json x.json
absent x.json
