#!/usr/bin/env bash
# Sums over ranks in two steps: in the memory of each host, then between the first ranks of all hosts. The bits of one rank every way, and
# the calls of MPI that each way takes. $QUARKSTAR_HOST makes hosts of one machine.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
make_probe
make_configuration

# same_bits NAMES ARGUMENT...
same_bits() {
  on_hosts "$@" --residual-history --json ranks.json || { cat stderr.txt; die "ranks on hosts $*"; }
  results ranks.json | cmp expected.txt - || die "the bits depend on the hosts: $*"
}
solve=(solve --gauge lattice.ildg --kappa 0.1 --columns 0-1 --tol 1e-6 --threads 1)
reference "${solve[@]}"
for names in ab abab; do same_bits $names "${solve[@]}"; done
same_bits aab "${solve[@]}" --policy eager --check-every 3 --in-flight 2 --nrhs 1
# Many sums in one step: of sixteen right-hand sides.
eight=(solve --gauge lattice.ildg --action naive --masses 0.3,0.4,0.5,0.6,0.7,0.8,0.9,1 --columns 0,1,2 --nrhs 16 --tol 1e-6 --threads 1 --solver cg)
reference "${eight[@]}"
same_bits aab "${eight[@]}"
# More in one step than there are places for in shared memory, beside steps with few: 256 products of block CG. Every rank takes part in these.
block=(solve --gauge lattice.ildg --action naive --mass 0.3 --nrhs 16 --tol 1e-6 --threads 1 --solver blockcg --residual-history
  --source point:0,0,0,0+point:1,1,0,2+point:2,0,1,4+point:0,2,3,6+point:3,3,1,1+wall:3)
expect 0 '^wrote' "${block[@]}" --json one.json
for names in aaa aab; do
  on_hosts $names "${block[@]}" --json ranks.json || { cat stderr.txt; die "block CG on hosts $names"; }
  for source in 0 1 2 3 4 5; do
    results one.source$source.json > expected.txt
    [ -s expected.txt ] || die "no residual history of source $source"
    results ranks.source$source.json | cmp expected.txt - || die "the bits of block CG depend on the hosts $names"
  done
  [ "$(count sums 1)" -gt 0 ] || die "no sum of more numbers than there are places for"
done
# Hosts whose ranks cannot share memory: named once.
reference "${solve[@]}"
export MPI_PROBE_NO_MEMORY=1
same_bits aab "${solve[@]}"
alone='rank 0 (.*) shares no memory with other ranks of its host'
[ "$(grep -c "$alone" stderr.txt)" = 1 ] || { cat stderr.txt; die "not one word of the memory that ranks do not share"; }
grep -q "\"decomposition\": .*; sums over ranks in one step, for $alone\"" ranks.json || die "the report does not say that ranks share no memory"
[ "$(count sums 0)" -gt 0 ] && [ "$(count sums 0)" = "$(count sums 1)" ] && [ "$(count sums 0)" = "$(count sums 2)" ] ||
  die "without shared memory not every rank takes part in each sum"
unset MPI_PROBE_NO_MEMORY

# iterations NAMES SOLVER...: calls of MPI by rank for 32 iterations more, in the file `calls`: "RANK CALL NUMBER".
iterations() {
  local names=$1 i most
  shift
  for most in 32 64; do
    on_hosts "$names" "$@" --json x.json --max-iterations $most --check-every 16 || [ $? = 4 ] || { cat stderr.txt; die "$*"; }
    for ((i = 0; i < ${#names}; ++i)); do sed "s/^/$i /" counts.$i; done > "calls.$most"
  done
  awk 'NR == FNR { before[$1 " " $2] = $NF; next } { print $1, $2, $NF - before[$1 " " $2] }' calls.32 calls.64 > calls
}
# takes RANK CALL NUMBER
takes() {
  local got
  got=$(awk -v rank="$1" -v call="$2" '$1 == rank && $2 == call { n = $3 } END { print n + 0 }' calls)
  [ "$got" = "$3" ] || { cat calls; die "$got calls of $2 in 32 iterations on rank $1, not $3"; }
}
bicgstab=(solve --gauge lattice.ildg --kappa 0.2 --columns 0 --tol 1e-30 --precision double --threads 1 --ranks 1,1,1,3)
iterations aab "${bicgstab[@]}"
takes 0 sums 96  # 3 of BiCGStab in each iteration, for all its sums
takes 1 sums 0
takes 2 sums 96
iterations aaa "${bicgstab[@]}"
for rank in 0 1 2; do takes $rank sums 0; done
cg=(solve --gauge lattice.ildg --action naive --mass 0.001 --columns 0,1,2 --nrhs 3 --tol 1e-30 --solver cg --precision double --threads 1 --ranks 1,1,1,2)
iterations ab "${cg[@]}"
for rank in 0 1; do takes $rank sums 64; done  # 2 of CG, for all right-hand sides
# A Dslash over a lattice cut in t sends two faces and receives two, and an iteration of CG has two Dslash: for all right-hand sides together,
# by requests that are made once.
for rank in 0 1; do
  takes $rank MPI_Start 256
  for call in MPI_Isend MPI_Irecv MPI_Send_init MPI_Recv_init; do takes $rank $call 0; done
done

# What ranks tell each other at the start does not grow with texts that they have in common: numbers of a few bytes, and each text once.
on_hosts aaa machine || { cat stderr.txt; die "machine on three ranks"; }
[ "$(count gathered 0)" -lt 1500 ] || { cat counts.0; die "each rank sends $(count gathered 0) bytes to all at the start"; }
