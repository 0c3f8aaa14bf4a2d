#!/usr/bin/env bash
# Three-point functions from the command line and in campaigns: the same bits for every cut, number of right-hand sides, way to solve and
# number of ranks; outputs; interrupts; what is refused. Numbers: unit.three_point.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$(dirname "${BASH_SOURCE[0]}")/ranks.bash"
make_configuration
common=(--gauge lattice.ildg --action clover --kappa 0.12 --tol 1e-8 --no-tune --threads 1 --source point:1,0,2,5 --correlators pion,proton
  --three-points pion:4,0,0,1+proton_u:3 --currents vector_t,axial,conserved --current-momenta 0,0,0+0,0,1 --sinks point+gaussian:1,4)

reference solve "${common[@]}" --out one
for name in pion_3pt_dt4_conserved_x_p0,0,1 pion_3pt_dt4_axial_z_p0,0,1_q0,0,1 proton_u_3pt_dt3_vector_t_sink-gaussian:1,4; do
  grep -q "\"$name\": \[" one.json || die "no correlator $name"
  [ ! -e one/correlators.h5 ] || grep -qa "$name" one/correlators.h5 || die "no $name in correlators.h5"
done
[ "$(grep -c '"hadron": "proton_u:3"' one.json)" = 24 ] || die "not 24 sequential solves of the proton"
! sed -n '/"effective_masses"/,$p' one.json | grep -q 3pt || die "effective masses of three-point functions"
# same ARGUMENT...: histories and correlators of one rank are the same.
same() {
  expect 0 '^wrote other.json' solve "${common[@]}" --residual-history --json other.json "$@"
  results other.json | cmp expected.txt - || die "the bits depend on $*"
}
same --workers 2 --blocks 1,1,1,2
same --nrhs 5 --in-flight 2
same --policy dmda --workers 2 --blocks 2,1,2,1
grep -qE '^sequential pion:4,0,0,1, sink gaussian:1,4: 12 solves, [0-9]+ iterations, [0-9.]+ s, ' stdout.txt || die "no word of sequential solves"

# Several sources in one run, each as alone.
expect 0 '^wrote' solve "${common[@]}" --residual-history --json two.json --source wall:2+point:1,0,2,5
results two.source1.json | cmp expected.txt - || die "a source depends on the one beside it"

# Groups across two sources, in flight together: each propagator has its sequential solves once.
expect 0 '^wrote' solve "${common[@]}" --json shared.json --source wall:2+point:1,0,2,5 --nrhs 8 --in-flight 2
for number in 0 1; do
  [ "$(grep -c '"hadron": "proton_u:3"' shared.source$number.json)" = 24 ] || die "not 24 sequential solves of source $number"
done

# Ranks: both kinds of currents, with fewer solves.
fewer=("${common[@]}" --tol 1e-4 --sinks point --three-points pion:4,0,0,1 --currents vector_t,conserved_t --threads 1)
cp one.json whole.json
reference solve "${fewer[@]}"
compare 2 solve "${fewer[@]}" --ranks 2,1,1,1 --nrhs 5
mv whole.json one.json

# A sequential solve that does not converge is told, where one takes more iterations than the propagator's.
iterations() { perl -0777 -ne '@part = split /"sequential_solves"/; $most = 0; for ($part['"$1"'] =~ /"iterations": (\d+)/g) { $most = $_ if $_ > $most } print $most' one.json; }
first=$(iterations 0) second=$(iterations 1)
if [ "$second" -gt "$first" ]; then
  expect 4 'error: sequential source (pion:4,0,0,1|proton_u:3), .*: bicgstab ended after [0-9]+ iterations' solve "${common[@]}" --json slow.json \
    --max-iterations "$first"
  grep -q '"status": "failed"' slow.json || die "the failure is not told"
else
  echo "SKIPPED a sequential solve that fails: all take $second iterations at most, those before $first"
fi

# A campaign, killed and started again: the same bytes.
campaign() {
  cat > "$1.toml" << END
configurations = ["lattice.ildg"]
out = "$1"
sources = ["point:0,0,0,0", "point:0,0,0,6"]
correlators = ["pion", "proton"]
threads = 1
no-tune = true
tol = 1e-8
[quark.light]
action = "wilson"
kappa = 0.13
three-points = ["pion:4", "proton_d:3,1,0,0"]
currents = ["conserved_t", "scalar"]
current-momenta = [[0, 0, 0], [1, 0, 0]]
[quark.staggered]
action = "hisq"
mass = 0.5
correlators = ["pion"]
END
}
campaign whole
expect 0 'three-point functions of pion:4, three-point functions of proton_d:3,1,0,0' run whole.toml --dry-run
expect 0 '^wrote whole/report.html' run whole.toml
grep -qa 'proton_d_3pt_dt3_scalar_p1,0,0_q1,0,0' whole/campaign.h5 || die "no average of a three-point function"
! grep -q '>no data<' whole/report.html || die "the report has empty plots"
campaign killed
for _ in 1 2 3; do
  "$QUARKSTAR" run killed.toml > stdout.txt 2> stderr.txt &
  child=$!
  sleep 0.$((RANDOM % 8 + 2))
  kill -9 $child 2> /dev/null || true
  wait $child 2> /dev/null || true
done
expect 0 '^wrote killed/report.html' run killed.toml
cmp whole/configurations/lattice.ildg.h5 killed/configurations/lattice.ildg.h5 || die "a campaign that was killed has other bytes"
cmp whole/campaign.h5 killed/campaign.h5 || die "averages of a campaign that was killed differ"

expect 2 "error: --three-points: 'kaon' is none of the hadrons; use some of pion, proton_u" solve "${common[@]}" --json x.json --three-points kaon:3
expect 2 'error: --three-points: .*is no sink; use pion:DT' solve "${common[@]}" --json x.json --three-points pion:3,1
expect 2 'error: --three-points: pion:8 does not end within the lattice; use 1 to 7' solve "${common[@]}" --json x.json --three-points pion:8
expect 2 "error: --currents: 'charge' is no current of this action; use some of local" solve "${common[@]}" --json x.json --currents charge
expect 2 'error: --currents: it is of three-point functions' solve --gauge lattice.ildg --kappa 0.1 --currents vector --json x.json
expect 2 'error: --three-points: b5 - c5 is not the same on all slices' solve --gauge lattice.ildg --action moebius --ls 4 --b5 1.5,1.5,1.2,1.5 --three-points pion:3 --json x.json
expect 2 'error: --three-points: sequential propagators of the action twisted-mass are of the opposite mu, for which this multigrid is none' solve --gauge lattice.ildg \
  --action twisted-mass --mu 0.1 --solver multigrid --three-points pion:3 --json x.json
expect 2 'error: --three-points: the action hisq has none' solve --gauge lattice.ildg --action hisq --mass 1 --three-points pion:3 --json x.json
campaign far
sed -i 's/pion:4/pion:9/' far.toml
expect 2 'error: .*far.toml.*: pion:9 does not end within the lattice' run far.toml
absent x.json far
echo "three-point functions"
