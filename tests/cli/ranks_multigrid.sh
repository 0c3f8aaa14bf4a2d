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

# A coarsest level without a dense inverse.
expect 0 '^plaquette ' gauge generate wide.ildg --lattice 8 8 4 8 --beta 6.0 --sweeps 2 --seed 7 --format ildg
wide=("${gcr[@]}" --gauge wide.ildg --null-vectors 16 --columns 0 --precision single)
reference "${wide[@]}"
compare 2 "${wide[@]}" --ranks 1,1,1,2
