#!/usr/bin/env bash
# Low-mode averages on several MPI ranks: the bits of one rank.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
# shellcheck source=tests/cli/ranks.bash disable=SC2154
source "$here/ranks.bash"
make_configuration
for quark in "--action naive --masses 0.02,0.1" "--action clover --kappa 0.13 --csw 1.1"; do
  name=${quark%% --masses*}
  # shellcheck disable=SC2206  # words are flags
  common=(--gauge lattice.ildg --threads 1 --no-tune)
  # shellcheck disable=SC2086
  expect 0 '^wrote modes.h5' eigen "${common[@]}" $name --modes 10 --out modes.h5
  # shellcheck disable=SC2206
  solve=(solve "${common[@]}" $quark --deflate modes.h5 --low-mode-average --source point:1,0,2,5)
  expect 0 'pion5?_low-mode-average' "${solve[@]}" --json one.json
  for grid in 1,1,1,2 2,1,1,2; do
    count=$((${grid//,/*}))
    ranks $count "${solve[@]}" --json several.json --ranks $grid || { got=$?; cat stderr.txt; die "ranks $grid: exit code $got"; }
    cmp <(results one.json) <(results several.json) || die "low-mode averages of $name depend on the ranks $grid"
  done
done
