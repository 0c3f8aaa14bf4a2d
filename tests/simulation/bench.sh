#!/usr/bin/env bash
# quarkstar-sim: the machines that are shipped, the same times in every run, policies, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/testing.bash"
export HOME=$folder/home TMPDIR=$folder/tmp
mkdir -p "$HOME" "$TMPDIR"
solve=(bench solver --solver bicgstab --precision double --links 12 --repetitions 1)

for machine in phi-5110 phi-7120 xeon-2-cores; do
  expect 0 '16,16,16,16 +bicgstab +double +12' "${solve[@]}" --machine $machine --devices cpu --lattice 16,16,16,16 --iterations 16
done
for machine in k20 k40 k40-power8 v100 h200 h200-x2 h200-x4; do
  expect 0 '32,32,32,32 +bicgstab +double +12' "${solve[@]}" --machine $machine --devices cuda --lattice 32,32,32,32 --iterations 16
done
[ -z "$(find "$HOME" "$TMPDIR" -type f)" ] || die "files are left: $(find "$HOME" "$TMPDIR" -type f)"

# The same numbers every time, whatever the policy.
for policy in static eager prio lws dmda dmdas; do
  expect 0 '"us_per_iteration"' "${solve[@]}" --machine k40-power8 --devices all --cpu-share 25% --lattice 16,16,16,32 --iterations 16 --policy $policy --json
  mv stdout.txt first.txt
  expect 0 '"us_per_iteration"' "${solve[@]}" --machine k40-power8 --devices all --cpu-share 25% --lattice 16,16,16,32 --iterations 16 --policy $policy --json
  cmp first.txt stdout.txt || die "$policy: another time in the second run"
done

# A lattice far beyond this machine's memory costs none.
expect 0 '64,64,64,128 +bicgstab' "${solve[@]}" --machine h200-x4 --devices cuda --lattice 64,64,64,128 --iterations 16

expect 0 'quarkstar [0-9]' --version
expect 0 'bench' --help
expect 2 'error: --machine: no machine' bench solver
expect 2 "error: --machine: there is no file 'nowhere'" bench solver --machine nowhere
expect 2 'a simulation computes times' solve --machine h200
expect 2 'a simulation computes times' bench stream --machine h200
expect 2 'error: --action: staggered fermions are not simulated' bench solver --action hisq --machine h200
