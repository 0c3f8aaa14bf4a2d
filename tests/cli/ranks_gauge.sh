#!/usr/bin/env bash
# gauge generate, info and smear on several MPI ranks: the configurations, observables and links of one rank, bit for bit.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"

# same_file ONE OTHER: but for the dates in their headers.
same_file() {
  cmp <(sed 's/<date>[^<]*<.date>//g' "$1") <(sed 's/<date>[^<]*<.date>//g' "$2") || die "$1 and $2 differ"
}
chain=(--lattice 4 8 4 8 --beta 5.8 --sweeps 4 --thermalization 1 --overrelaxation 2 --seed 11 --format ildg --devices cpu)
expect 0 '^plaquette ' gauge generate one.ildg "${chain[@]}"
plaquette=$(grep '^plaquette' stdout.txt)
expect 0 '^wrote cold.ildg' gauge generate cold.ildg "${chain[@]}" --start cold

# on N ARGUMENT...: the chain on N ranks is that of one.
on() {
  rm -f many.ildg
  ranks "$1" gauge generate many.ildg "${chain[@]}" "${@:2}" || { cat stderr.txt; die "mpirun -n $*: gauge generate failed"; }
  same_file one.ildg many.ildg
  grep -qxF "$plaquette" stdout.txt || { cat stdout.txt; die "another plaquette on $* ranks: not $plaquette"; }
  [ "$(grep -c '^wrote ' stdout.txt)" = 1 ] || die "several ranks say what was written"
}
on 2
on 2 --blocks 1,2,1,4 --workers 2 --threads 1
on 4 --ranks 2,1,2,1
on 4 --ranks 1,1,1,4 --blocks 1,1,1,8
on 3 --ranks 1,3,1,1
on 8 --ranks 1,8,1,1
ranks 4 gauge generate many.ildg "${chain[@]}" --start cold || die "a cold start failed"
same_file cold.ildg many.ildg

# A chain of such thin parts that either neighbour is the same rank, and the borders reach over the whole direction.
thin=(--lattice 4 4 2 2 --beta 5.8 --sweeps 2 --seed 3 --format ildg)
expect 0 '^wrote ' gauge generate one_thin.ildg "${thin[@]}"
ranks 4 gauge generate many.ildg "${thin[@]}" --ranks 1,1,2,2 || { cat stderr.txt; die "thin parts failed"; }
same_file one_thin.ildg many.ildg

expect 0 '^plaquette ' gauge info one.ildg
cp stdout.txt info.txt
expect 0 '"average"' gauge info one.ildg --json
cp stdout.txt info.json
ranks 2 gauge info one.ildg || die "gauge info failed on two ranks"
cmp info.txt stdout.txt || die "gauge info on two ranks says something else"
ranks 4 gauge info one.ildg --json --ranks 1,2,1,2 || die "gauge info --json failed"
cmp info.json stdout.txt || die "gauge info --json on four ranks says something else"

expect 0 '^wrote ' gauge generate long.ildg --lattice 4 4 8 16 --beta 6.0 --sweeps 3 --seed 4 --format ildg
# smear FLAGS CUT...: the links on each cut (number of ranks, flags) are those of one rank.
smear() {
  local flags=$1 cut
  # shellcheck disable=SC2086  # words are flags
  expect 0 '^wrote one.fat and' gauge smear long.ildg one $flags
  for cut in "${@:2}"; do
    # shellcheck disable=SC2086
    ranks ${cut%% *} gauge smear long.ildg many $flags ${cut#"${cut%% *}"} || { cat stderr.txt; die "gauge smear failed: $flags $cut"; }
    same_file one.fat many.fat
    same_file one.long many.long
  done
}
smear "--action hisq --naik-epsilon -0.1" 2 "4 --ranks 1,1,2,2" "4 --ranks 1,1,1,4 --workers 2 --threads 1" "2 --ranks 1,1,2,1 --blocks 2,1,2,4"
smear "--action asqtad --u0 0.87 --boundary x=0.3,t=antiperiodic --precision single --reunitarize" 3

fails 2 '--ranks: 1,1,1,3 is a grid of 3 ranks, but 2 ranks were started' 2 gauge generate x.ildg "${chain[@]}" --ranks 1,1,1,3
fails 2 '--blocks: 1 blocks in t on 2 ranks' 2 gauge generate x.ildg "${chain[@]}" --ranks 1,1,1,2 --blocks 1,1,1,1
fails 2 '--ranks: cannot cut t = 16 into 8 parts of 3 sites or more' 8 gauge smear long.ildg x --ranks 1,1,1,8
fails 2 'thinner than the border of 3 sites' 2 gauge smear long.ildg x --ranks 1,1,1,2 --blocks 1,1,1,8
fails 2 '--mass' 2 gauge smear long.ildg x --mass -1
two_seeds() { two "--seed 1" "--seed 2" gauge generate x.ildg --lattice 4 4 4 4 --beta 5.8 --sweeps 2; }
got=0
two_seeds || got=$?
one_error 2 '--seed: .* here, but .* on rank 0' "$got" "two seeds"
absent x.ildg
absent x.fat
