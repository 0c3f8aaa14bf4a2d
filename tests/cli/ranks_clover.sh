#!/usr/bin/env bash
# Clover and twisted mass: the same bits for any number of right-hand sides, blocks and ranks.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
make_configuration

for action in "--action clover --csw 1.3 --schur symmetric --precision half" "--action twisted-mass --mu 0.2 --csw 1.1" \
              "--action twisted-mass --mu 0.2,-0.3 --solver multishift --precision half" "--action clover --csw 1.3 --csw-time 0.9 --nu 1.2 --xi0 2.464"; do
  # shellcheck disable=SC2206
  solve=(solve --gauge lattice.ildg --kappa 0.12 --threads 1 --columns 0-2 $action)
  reference "${solve[@]}" --nrhs 1
  compare 1 "${solve[@]}" --nrhs 3 --blocks 1,1,1,2 --workers 2
  compare 2 "${solve[@]}" --ranks 1,1,1,2 --rank-weights 3,1
  compare 4 "${solve[@]}" --ranks 2,1,2,1
done
