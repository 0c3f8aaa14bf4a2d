#!/usr/bin/env bash
# What all ranks compute alike is compared before anything follows from it: a rank that differs ends the job and is named, and a look costs one
# collective call.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
make_probe
make_configuration
solve=(solve --gauge lattice.ildg --kappa 0.12 --columns 0 --threads 1 --tol 1e-10 --check-every 4)
reference "${solve[@]}"

# flipped RANK:N NAMES PATTERN ARGUMENT...: one bit of the N-th sum that this rank receives is flipped; the job ends with that error. Each rank
# has a host of its own, so that sums are messages.
flipped() {
  local flip=$1 names=$2 pattern=$3 got=0
  shift 3
  MPI_PROBE_FLIP=$flip on_hosts "$names" "$@" || got=$?
  one_error 3 "states of ranks: $pattern" $got "a flipped bit in sum $flip"
}
named='rank 1 \(.*\) has other numbers than 2 other ranks after [0-9]+ iterations; memory, a processor or the network has changed them'
for sum in 9 11; do flipped 1:$sum abc "$named" "${solve[@]}" --json x.json; done
flipped 0:10 ab 'rank 0 \(.*\), rank 1 \(.*\) do not have the same numbers after' "${solve[@]}" --json x.json
# Norms outside of iterations at once: the first sum of all, |b|^2, and the last one, the true residual, by which a rank would go on alone.
outside='rank 2 \(.*\) has other numbers than 2 other ranks in a norm outside of iterations;'
flipped 2:1 abc "$outside" "${solve[@]}" --json x.json
on_hosts abc "${solve[@]}" --json whole.json || { cat stderr.txt; die "a solve without flipped bits"; }
flipped "2:$(count sums 2)" abc "$outside" "${solve[@]}" --json x.json
absent x.json
# Numbers that the sums of the iterations do not show, because they change the rank's fields alone and all ranks see the same sums of these:
# coefficients inside a preconditioner, of kept directions, of the matrices of block CG. The sums before are four norms.
flipped 1:7 abc "$named" "${solve[@]}" --solver gcr --restart 2 --inner-solver bicgstab --inner-steps 1 --json x.json
flipped 1:7 abc "$named" "${solve[@]}" --solver gcr --restart 2 --json x.json
block=(solve --gauge lattice.ildg --action naive --mass 0.3 --columns 0,1,2 --nrhs 3 --tol 1e-10 --threads 1 --solver blockcg --check-every 4)
flipped 1:6 abc "$named" "${block[@]}" --json x.json
# What was saved before is still good.
flipped 1:30 abc "$named" "${solve[@]}" --json x.json --checkpoint saved --checkpoint-every 4
ls saved/* > /dev/null || die "the restart files are gone"
on_hosts abc "${solve[@]}" --checkpoint saved --json again.json || { cat stderr.txt; die "no restart after a flipped bit"; }
grep -q '"reason": "converged"' again.json || die "the restart has not converged"

# One call a look, whatever it carries: twice the looks are as many calls more.
limited() {
  on_hosts aa "${solve[@]}" --json x.json --max-iterations "$1" --check-every "$2" || [ $? = 4 ] || { cat stderr.txt; die "a limited solve"; }
  count MPI_Iallreduce 0
}
fours=$(limited 16 4)
eights=$(limited 16 8)
[ $((fours - eights)) = 2 ] || die "$((fours - eights)) collective calls more for 2 looks more"
