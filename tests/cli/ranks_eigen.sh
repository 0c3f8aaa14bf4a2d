#!/usr/bin/env bash
# Eigenvectors and deflated solves on several MPI ranks: the files of one rank, byte for byte.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
# shellcheck source=tests/cli/ranks.bash disable=SC2154
source "$here/ranks.bash"
make_configuration
common=(--gauge lattice.ildg --action naive --threads 1 --no-tune)
expect 0 '^wrote one.h5' eigen "${common[@]}" --modes 8 --out one.h5
expect 0 '^wrote one.lime' eigen "${common[@]}" --modes 8 --out one.lime
solve=(solve "${common[@]}" --mass 0.02 --columns 0 --residual-history)
expect 0 '^wrote one.json' "${solve[@]}" --json one.json --deflate one.h5
history() { sed -n '/"residual_history"/,/]/p' "$1"; }
for grid in 1,1,1,2 2,1,1,2; do
  count=$((${grid//,/*}))
  ranks $count eigen "${common[@]}" --modes 8 --out several.h5 --ranks $grid || { got=$?; cat stderr.txt; die "eigen on ranks $grid: exit code $got"; }
  cmp one.h5 several.h5 || die "the modes depend on the ranks $grid"
  ranks $count "${solve[@]}" --json several.json --deflate several.h5 --ranks $grid || { got=$?; cat stderr.txt; die "a deflated solve on ranks $grid: exit code $got"; }
  cmp <(history one.json) <(history several.json) || die "the deflated solve depends on the ranks $grid"
done
# Of gamma_5 M, on all sites.
gamma5=(eigen --gauge lattice.ildg --kappa 0.13 --operator gamma5 --modes 4 --threads 1 --no-tune)
expect 0 '^wrote one_gamma5.h5' "${gamma5[@]}" --out one_gamma5.h5
ranks 2 "${gamma5[@]}" --out several.h5 --ranks 1,1,1,2 || { got=$?; cat stderr.txt; die "eigen of gamma_5 M on ranks 1,1,1,2: exit code $got"; }
cmp one_gamma5.h5 several.h5 || die "modes of gamma_5 M depend on the ranks 1,1,1,2"
# SciDAC files.
ranks 2 eigen "${common[@]}" --modes 8 --out several.lime --ranks 1,1,1,2 || { got=$?; cat stderr.txt; die "eigen on ranks 1,1,1,2: exit code $got"; }
cmp one.lime several.lime || die "the modes of a SciDAC file depend on the ranks 1,1,1,2"
ranks 2 "${solve[@]}" --json several.json --deflate several.lime --ranks 1,1,1,2 || { got=$?; cat stderr.txt; die "a deflated solve on ranks 1,1,1,2: exit code $got"; }
cmp <(history one.json) <(history several.json) || die "the solve that a SciDAC file deflates depends on the ranks 1,1,1,2"
