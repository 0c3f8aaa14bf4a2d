#!/usr/bin/env bash
# Fat and long links on several MPI ranks, made or read by each for its part: the bits of one rank, and one message when something is wrong.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"

configuration() { expect 0 '^plaquette ' gauge generate "$1" --lattice "${@:2:4}" --beta 6.0 --sweeps 10 "${@:6}"; }
# Long, so that parts are no thinner than hops.
configuration long.ildg 4 4 4 32 --seed 4 --format ildg
configuration across.nersc 24 4 4 4 --seed 5 --format nersc
configuration square.milc 4 4 16 16 --seed 6 --format milc
common=(--tol 1e-9 --threads 1 --source z2:1,5)
# making FILE: bytes that links in the making take.
making() { grep -m1 -oE '"making_links": [0-9.e+]+' "$1" | grep -oE '[0-9.e+]+$'; }

for flags in "--action hisq --mass 0.3" "--action asqtad --u0 0.87 --mass 0.3 --boundary x=0.3,t=antiperiodic" "--action naive --mass 0.3"; do
  # shellcheck disable=SC2206  # words are flags
  action=($flags)
  reference solve --gauge long.ildg "${common[@]}" "${action[@]}"
  whole_bytes=$(making one.json)
  compare 4 solve --gauge long.ildg "${common[@]}" "${action[@]}"
  part_bytes=$(making ranks.json)
  awk -v part="$part_bytes" -v whole="$whole_bytes" 'BEGIN { exit !(part > 0 && part < 0.6 * whole) }' ||
    die "a rank of 4 takes $part_bytes bytes to make links, one alone $whole_bytes: $flags"
  compare 2 solve --gauge long.ildg "${common[@]}" "${action[@]}" --blocks 1,1,1,4 --workers 2
done
reference solve --gauge across.nersc "${common[@]}" --action hisq --mass 0.3
compare 3 solve --gauge across.nersc "${common[@]}" --action hisq --mass 0.3 --ranks 3,1,1,1
asqtad=(solve --gauge square.milc "${common[@]}" --action asqtad --u0 0.87 --mass 0.3 --reunitarize)
reference "${asqtad[@]}"
compare 4 "${asqtad[@]}" --ranks 1,1,2,2
# Links for several epsilons of the same reunitarized ones.
masses=(solve --gauge long.ildg "${common[@]}" --action hisq --naik-epsilon auto --masses 0.3,0.6)
reference "${masses[@]}"
compare 4 "${masses[@]}"
compare 2 "${masses[@]}" --in-flight 2

# Links from files: each rank reads what its part needs, and all of them together check it.
for flags in "hisq --naik-epsilon -0.05" "asqtad --u0 0.87"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote links.fat and' gauge smear long.ildg links --action $flags
  # shellcheck disable=SC2086
  reference solve --gauge long.ildg "${common[@]}" --mass 0.3 --action $flags
  files=(solve --action "${flags%% *}" --fat links.fat --long links.long "${common[@]}" --mass 0.3)
  for count in 2 4; do compare $count "${files[@]}"; done
  compare 2 "${files[@]}" --blocks 1,1,1,4 --workers 2
  reference "${files[@]}" --precision half --links 13
  compare 4 "${files[@]}" --precision half --links 13
done
cp links.long broken.long
printf 'damaged!' | dd of=broken.long bs=1 seek=$(($(stat -c %s broken.long) / 2)) conv=notrunc status=none
fails 2 'broken.long.*do not match the stored checksum' 3 "${files[@]}" --long broken.long --json x.json
expect 0 '^wrote single.fat and' gauge smear long.ildg single --action asqtad --u0 0.87 --precision single
reference "${files[@]}" --fat single.fat --long single.long --links 13
compare 2 "${files[@]}" --fat single.fat --long single.long --links 13
configuration other.ildg 4 4 4 32 --seed 9 --format ildg
expect 0 '^wrote other.fat and' gauge smear other.ildg other --action asqtad --u0 0.87
fails 2 'other.long: the long links do not belong to the fat ones' 4 "${files[@]}" --long other.long --json x.json
absent x.json
