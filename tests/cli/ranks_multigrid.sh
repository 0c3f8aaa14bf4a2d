#!/usr/bin/env bash
# GCR with multigrid on several ranks: the bits of one.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
make_configuration

gcr=(solve --gauge lattice.ildg --kappa 0.14 --threads 1 --no-tune --columns 0-1 --solver gcr --aggregate 2 2 2 2 --null-vectors 8 --setup-steps 10 --setup-cycles 1 --coarse-steps 8 --smoother-steps 2)
for precision in double single; do
  reference "${gcr[@]}" --precision $precision
  compare 2 "${gcr[@]}" --precision $precision --ranks 1,1,1,2
  compare 4 "${gcr[@]}" --precision $precision --ranks 1,1,2,2 --nrhs 1
done

# A second level of which a rank's part has one site along t is whole on every rank.
expect 0 '^plaquette ' gauge generate even.ildg --lattice 8 8 8 8 --beta 6.0 --sweeps 1 --seed 7 --format ildg
three=("${gcr[@]}" --gauge even.ildg --levels 3)
for precision in double single; do
  reference "${three[@]}" --precision $precision
  compare 4 "${three[@]}" --precision $precision --ranks 1,1,1,4
done
compare 4 "${three[@]}" --precision single --ranks 1,1,1,4 --nrhs 1 --policy dmdas

# Levels that are too large for that, and leave larger parts than so many ranks could have. The file has nothing behind its header.
expect 0 '^plaquette ' gauge generate small.nersc --lattice 4 4 4 4 --beta 6.0 --sweeps 1 --seed 7 --format nersc
LC_ALL=C sed '/END_HEADER/q' small.nersc | sed 's/^\(DIMENSION_[123] =\) 4$/\1 32/; s/^\(DIMENSION_4 =\) 4$/\1 8/' > large.nersc
truncate -s +$((32 * 32 * 32 * 8 * 4 * 9 * 2 * 8)) large.nersc
fails 2 'levels: 4 ranks in a grid of 1x1x1x4 are too many .* of 16x8x8x4 sites; give --levels 2, which has other bits, or start fewer ranks' \
  4 "${gcr[@]}" --gauge large.nersc --levels 3 --ranks 1,1,1,4 --json x.json

# A coarsest level without a dense inverse.
expect 0 '^plaquette ' gauge generate wide.ildg --lattice 8 8 4 8 --beta 6.0 --sweeps 2 --seed 7 --format ildg
wide=("${gcr[@]}" --gauge wide.ildg --null-vectors 16 --columns 0 --precision single)
reference "${wide[@]}"
compare 2 "${wide[@]}" --ranks 1,1,1,2
