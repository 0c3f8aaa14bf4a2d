#!/usr/bin/env bash
# Domain wall and Moebius: the same bits for any number of right-hand sides, blocks and ranks, midpoints and residual masses included.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
make_configuration

# Of all columns of a source come correlators; the other solves check histories. No solve goes further than it must to meet a reliable update.
for action in "--action domain-wall --precision single --links 12" \
              "--action domain-wall --m5 1.2 --nu 1.2 --xi0 2.464 --columns 0-2" \
              "--action moebius --b5 1.5,1.4,1.3,1.2 --c5 0.5,0.4,0.3,0.2 --schur symmetric --precision half --links 12 --columns 0-2"; do
  # shellcheck disable=SC2206
  solve=(solve --gauge lattice.ildg --mass 0.4 --ls 4 --threads 1 --tol 1e-5 $action)
  reference "${solve[@]}" --nrhs 1
  compare 1 "${solve[@]}" --nrhs 3 --blocks 1,1,1,2 --workers 2
  compare 2 "${solve[@]}" --ranks 1,1,1,2 --rank-weights 3,1
  compare 4 "${solve[@]}" --ranks 2,1,2,1
  [[ $action = *--columns* ]] || grep -q '"pion_residual_mass": \[' ranks.json || die "$action: no residual mass on ranks"
done
