#!/usr/bin/env bash
# Smeared sources and sinks from the command line and in campaigns: the same bits for every cut, number of right-hand sides, way to solve and
# number of ranks; names; what is refused. Numbers: battery.quark_smear, unit.golden_hadrons.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$(dirname "${BASH_SOURCE[0]}")/ranks.bash"
make_configuration
sources=gaussian:1,0,2,3,1.5,6,0.6,2
sinks=point+gaussian:1.5,6,0.6,2+wuppertal:0.1,4
common=(--gauge lattice.ildg --kappa 0.12 --tol 1e-9 --no-tune --source "$sources" --sinks "$sinks" --correlators pion,rho,proton --momenta 0,0,0+1,0,0)

reference solve "${common[@]}" --threads 1
for name in pion pion_p1,0,0 pion_sink-gaussian:1.5,6,0.6,2 proton_p1,0,0_sink-wuppertal:0.1,4; do
  grep -q "\"$name\": \[" one.json || die "no correlator $name"
done
grep -q '"source": "gaussian:1,0,2,3,1.5,6,0.6,2"' one.json || die "the source is not told"
# same ARGUMENT...: histories and correlators of one rank are the same.
same() {
  expect 0 '^wrote other.json' solve "${common[@]}" --residual-history --json other.json "$@"
  results other.json | cmp expected.txt - || die "the bits depend on $*"
}
same --workers 2 --threads 1 --blocks 1,1,1,2
same --threads 2 --blocks 2,1,2,1
same --threads 1 --nrhs 5
same --threads 1 --nrhs 4 --in-flight 2
same --threads 1 --policy dmda --workers 2
compare 2 solve "${common[@]}" --threads 1
compare 2 solve "${common[@]}" --threads 1 --ranks 2,1,1,1 --nrhs 5

# Several sources of several kinds in one run, each as alone.
expect 0 '^wrote' solve "${common[@]}" --threads 1 --residual-history --json two.json --source "wall:2,1,0,0+$sources"
results two.source1.json | cmp expected.txt - || die "a source depends on the one beside it"

# A campaign: rows are those of solves, kinds are averaged apart.
cat > smeared.toml << END
configurations = ["lattice.ildg"]
out = "smeared"
sources = ["$sources", "gaussian:1,0,2,7,1.5,6,0.6,2", "point:0,0,0,0", "wall:0", "wall:0,0,1,0"]
sinks = ["point", "gaussian:1.5,6,0.6,2"]
correlators = ["pion"]
threads = 1
no-tune = true
tol = 1e-9
[quark.light]
action = "wilson"
kappa = 0.12
END
expect 0 '5 rows, 0 of them done, 5 to do' run smeared.toml --dry-run
expect 0 '^wrote smeared/report.html' run smeared.toml
for kind in 'gaussian:1.5,6,0.6,2' point wall wall:0,1,0; do grep -qa -- "$kind" smeared/campaign.h5 || die "no average of $kind"; done
grep -q 'pion_sink-gaussian:1.5,6,0.6,2' smeared/report.html || die "the report lacks a smeared sink"
open_in_browser smeared/report.html

expect 2 'sinks: .*use more than 6 steps' solve "${common[@]}" --json x.json --sinks gaussian:2,6
expect 2 "sinks: 'wall' is no sink" solve "${common[@]}" --json x.json --sinks wall
expect 2 'sinks: point is given twice' solve "${common[@]}" --json x.json --sinks point+point
expect 2 'source: .*is no smeared point; use gaussian:x,y,z,t,SIGMA,STEPS' solve "${common[@]}" --json x.json --source gaussian:2,10
expect 2 'sinks: .*mix the tastes of the action hisq' solve --gauge lattice.ildg --action hisq --mass 0.5 --sinks gaussian:2,10 --json x.json
expect 2 'source: .*mix the tastes of the action naive' solve --gauge lattice.ildg --action naive --mass 0.5 --source gaussian:0,0,0,0,2,10 --json x.json
expect 2 'source: .*lies outside' solve "${common[@]}" --json x.json --source gaussian:0,0,0,8,2,10
absent x.json
echo "smeared sources and sinks"
