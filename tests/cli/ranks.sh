#!/usr/bin/env bash
# Solves on several MPI ranks: the bits of one rank for every number of them, and one message when something is wrong.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
make_configuration

# unlike FLAGS_OF_RANK_0 FLAGS_OF_RANK_1 ARGUMENT...: the same of two ranks whose devices differ.
unlike() {
  local first=$1 second=$2
  shift 2
  two "$first" "$second" "$@" --residual-history --json ranks.json || { cat stderr.txt; die "ranks with $first and $second failed: $*"; }
  results ranks.json | cmp expected.txt - || die "the bits depend on the ranks: $first and $second, $*"
}
# differ PATTERN FLAGS_OF_RANK_0 FLAGS_OF_RANK_1 ARGUMENT...: one error for ranks whose settings differ.
differ() {
  local pattern=$1 got=0
  shift
  two "$@" || got=$?
  one_error 2 "rank 1 \(.*\): $pattern; give all ranks the same settings and run file" "$got" "ranks with '$1' and '$2'"
}
# cut_is TEXT: how the last run cut the lattice.
cut_is() { grep -qF "$1\"" ranks.json || { grep ' ranks' ranks.json; die "the lattice is not cut as $1"; }; }

# Bits are compared from the first iteration on, and those of eight ranks on few cores are slow: a loose tolerance.
solve=(solve --gauge "$folder/lattice.ildg" --kappa 0.12 --tol 1e-5 --columns 0 --threads 1)
expect 0 '^plaquette ' gauge generate wide.ildg --lattice 8 4 8 8 --beta 6.0 --sweeps 5 --seed 3 --format ildg
massless=(solve --gauge "$folder/wide.ildg" --action hisq --threads 1)
hisq=("${massless[@]}" --tol 1e-5 --mass 0.3)

# What is refused: mpirun sleeps for most of the seconds that each takes, so beside the solves, in a folder of its own.
refused() {
  local got rank
  fails 2 '--rank-weights: 3 weights, but 2 ranks' 2 "${solve[@]}" --json x.json --rank-weights 3,1,1
  fails 2 '--rank-weights: .*a positive number for each rank' 2 "${solve[@]}" --json x.json --rank-weights 3,0
  fails 2 '--blocks: cannot cut t = 2 of a rank.s part into 4 parts' 2 "${solve[@]}" --json x.json --rank-weights 3,1 --blocks 1,1,1,8
  fails 2 '--ranks.*4 ranks are too many' 4 solve --gauge "$folder/lattice.ildg" --action hisq --mass 0.3 --json x.json --threads 1
  fails 2 '--ranks: cannot cut t = 8 into 4 parts of 3' 4 solve --gauge "$folder/lattice.ildg" --action hisq --mass 0.3 --json x.json --threads 1 --ranks 1,1,1,4
  fails 2 '--cpu-memory: this solve needs' 2 "${solve[@]}" --columns 0-11 --json x.json --cpu-memory 1MiB
  fails 2 '--cpu-memory: this solve needs .*--nrhs' 2 "${hisq[@]}" --json x.json --cpu-memory 1MiB
  fails 2 "'-1' |--kappa" 2 solve --gauge "$folder/lattice.ildg" --kappa -1
  fails 2 'missing.ildg' 2 solve --gauge missing.ildg --json x.json
  fails 2 '--ranks.*2 ranks were started' 2 "${solve[@]}" --json x.json --ranks 1,1,1,3
  fails 2 'quarkstar demo: this command runs on one rank' 2 demo

  # Ranks with other settings, as flags or in run files of which each host has its own, are found out before anything is read.
  differ '--kappa: 0.13 here, but 0.12 on rank 0' '' '--kappa 0.13' "${solve[@]}" --json x.json
  differ '--checkpoint: "" here, but "saved" on rank 0' '--checkpoint saved' '' "${solve[@]}" --json x.json
  differ '--ranks: .* here, but .* on rank 0' '' '--ranks 1,1,2,1' "${solve[@]}" --json x.json
  differ 'OUT: y.nersc here, but x.nersc on rank 0' 'x.nersc' 'y.nersc' gauge convert "$folder/lattice.ildg"
  differ '--format: ildg here, but nersc on rank 0' '' '--format ildg' gauge convert "$folder/lattice.ildg" x.nersc
  differ '--self-test: true here, but false on rank 0' '' '--self-test' machine
  absent x.nersc y.nersc
  for rank in 0 1 2; do printf 'gauge = "../lattice.ildg"\nkappa = 0.12\ntol = 1e-%d\n' $((rank < 2 ? 6 : 5)) > run$rank.toml; done
  got=0
  # shellcheck disable=SC2016  # expands on each rank
  launch -n 3 bash -c 'exec "$0" solve "run$OMPI_COMM_WORLD_RANK.toml" --json x.json' "$QUARKSTAR" || got=$?
  one_error 2 'rank 2 \(.*\): --tol: 1e-05 here, but 1e-06 on rank 0; give all ranks' $got "run files that differ"
  absent x.json saved

  # Different errors: each comes out, with its rank's name.
  got=0
  two '--kappa -1' '--tol -1' "${solve[@]}" --json x.json || got=$?
  [ $got = 2 ] || { cat stderr.txt; die "ranks with different errors: exit code $got"; }
  grep -qE '^quarkstar: error: rank 0 \(.*\): .*--kappa' stderr.txt && grep -qE '^quarkstar: error: rank 1 \(.*\): .*--tol' stderr.txt ||
    { cat stderr.txt; die "not the errors of both ranks"; }
  [ "$(grep -c '^quarkstar: error: ' stderr.txt)" = 2 ] || { cat stderr.txt; die "not two errors"; }
}
mkdir refused
(cd refused; refused) &
refused=$!
trap 'kill $refused 2> /dev/null || true; rm -rf "$folder"' EXIT

reference "${solve[@]}"
for count in 1 2 3 8; do compare $count "${solve[@]}"; done
compare 4 "${solve[@]}" --ranks 2,1,2,1
compare 2 "${solve[@]}" --ranks 1,2,1,1 --blocks 1,2,2,2 --workers 2
compare 2 "${solve[@]}" --policy eager --check-every 3

# Unequal parts, along one direction and two, as given and as measured.
compare 2 "${solve[@]}" --rank-weights 3,1
cut_is 'on 1x1x1x2 ranks (t 6+2)'
compare 4 "${solve[@]}" --rank-weights 5,1,1,1
cut_is 'on 1x1x1x4 ranks (t 5+1+1+1)'
compare 4 "${solve[@]}" --rank-weights 1,3,1,3 --ranks 1,1,2,2
cut_is 'on 1x1x2x2 ranks (z 1+3)'
compare 2 "${solve[@]}" --rank-weights 1,3 --blocks 1,1,1,4 --workers 2
cut_is 'in 1x1x1x4 blocks on 1x1x1x2 ranks (t 2+6)'
compare 3 "${solve[@]}" --rank-weights measured
compare 2 "${solve[@]}" --rank-weights equal
cut_is 'on 1x1x1x2 ranks'
# Ranks whose processors like other layouts (on AVX2: 64 and 32 bytes of lanes) agree on one.
launch -n 1 env QUARKSTAR_ARCH=scalar "$QUARKSTAR" "${solve[@]}" --residual-history --json ranks.json : \
  -n 1 "$QUARKSTAR" "${solve[@]}" --residual-history --json ranks.json || { cat stderr.txt; die "ranks of two architectures failed"; }
results ranks.json | cmp expected.txt - || die "the bits depend on the ranks' architectures"
# Ranks with different numbers of workers: each slab has its own number of blocks, a thin one fewer than its rank has workers.
unlike '--workers 3' '--workers 1' "${solve[@]}" --rank-weights 7,1
cut_is 'in 1x1x1x4 blocks on 1x1x1x2 ranks (t 7+1)'
unlike '--workers 1' '--workers 4' "${solve[@]}" --rank-weights 7,1
cut_is 'in 1x1x1x2 blocks on 1x1x1x2 ranks (t 7+1)'
unlike '--workers 2' '--workers 1' "${solve[@]}"
grep -q 'measured speeds of the ranks' stderr.txt || die "the speeds of unlike ranks were not measured"
# shellcheck disable=SC2054  # commas belong to the flag
gcr=(solve --gauge lattice.ildg --kappa 0.12 --columns 0 --threads 1 --solver gcr --schwarz-block 4,4,4,2)
reference "${gcr[@]}"
compare 2 "${gcr[@]}" --rank-weights 3,1
cut_is 'on 1x1x1x2 ranks (t 6+2)'
inner=(solve --gauge lattice.ildg --kappa 0.12 --columns 0-1 --threads 1 --solver gcr --inner-solver gcr --inner-steps 3 --restart 5 --precision single)
reference "${inner[@]}"
compare 3 "${inner[@]}"

single=(solve --gauge lattice.ildg --kappa 0.12 --columns 5 --threads 1 --precision single --links 12 --solver cgnr --source wall:2)
reference "${single[@]}"
compare 3 "${single[@]}"

whole=(solve --gauge lattice.ildg --kappa 0.1 --tol 1e-5 --threads 1 --correlators mesons --momenta 0,0,0+1,0,-1)
reference "${whole[@]}" --out one --propagators hdf5,scidac
compare 2 "${whole[@]}" --out two --propagators hdf5,scidac
for file in propagator.h5 propagator.lime correlators.h5 result.json report.html; do [ -s "two/$file" ] || die "two/$file is missing"; done

# Staggered fermions: every solver, and a lattice that can be cut three sites thick.
reference "${hisq[@]}" --source z2:3,5
for count in 2 8; do compare $count "${hisq[@]}" --source z2:3,5; done
compare 2 "${hisq[@]}" --source z2:3,5 --ranks 1,1,2,1 --blocks 1,1,2,2 --workers 2 --nrhs 1
compare 2 "${hisq[@]}" --source z2:3,5 --rank-weights 7,1
cut_is 'on 1x1x1x2 ranks (t 5+3)'
compare 4 "${hisq[@]}" --source z2:3,5 --rank-weights 5,5,3,3 --ranks 2,1,1,2
cut_is 'on 2x1x1x2 ranks (t 5+3)'
compare 2 "${hisq[@]}" --source z2:3,5 --rank-weights measured
unlike '--workers 2' '--workers 1' "${hisq[@]}" --source z2:3,5
# Groups of eight right-hand sides, which on CPUs with vectors lie in lanes, against one at a time.
eight=("${massless[@]}" --masses 0.3,0.4,0.5,0.6,0.7,0.8,0.9,1 --solver cg --precision single --links 18)
reference "${eight[@]}" --nrhs 1
compare 2 "${eight[@]}" --nrhs 8 --checkpoint eight --checkpoint-every 4 --check-every 1
# A lattice that three and four parts of three sites and more fit into too.
expect 0 '^plaquette ' gauge generate thirds.ildg --lattice 4 6 6 12 --beta 6.0 --sweeps 2 --seed 5 --format ildg
thirds=(solve --gauge thirds.ildg --action hisq --mass 0.3 --tol 1e-4 --threads 1 --columns 0)
reference "${thirds[@]}"
for count in 3 4 8; do compare $count "${thirds[@]}"; done
for flags in "--mass 0.3 --solver blockcg --precision single --links 13 --source wall:5" "--masses 0.3,0.6 --solver multishift" \
             "--mass 0.3 --precision half --links 9 --source random:2,4" "--masses 0.3,0.6 --naik-epsilon auto --source corner-wall:1"; do
  # shellcheck disable=SC2086  # words are flags
  reference "${massless[@]}" $flags
  # shellcheck disable=SC2086
  compare 2 "${massless[@]}" $flags
done
naive=(solve --gauge lattice.ildg --action naive --mass 0.3 --tol 1e-8 --threads 1 --columns 0-2)
reference "${naive[@]}" --out naive1 --propagators hdf5
compare 3 "${naive[@]}" --out naive3 --propagators hdf5
for file in propagator.h5 correlators.h5 result.json report.html; do [ -s "naive3/$file" ] || die "naive3/$file is missing"; done

# Links of 8 reals, and reliable updates in half precision.
compact=(solve --gauge lattice.ildg --kappa 0.12 --columns 0 --threads 1 --precision half --links 8)
reference "${compact[@]}"
compare 4 "${compact[@]}"

# No job runs beside those that follow.
wait $refused || die "what is to be refused"
trap 'rm -rf "$folder"' EXIT

# Processes that no MPI connects are refused, in place of as many solves that write the same files.
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 expect 3 'error: srun: 2 processes .*srun --mpi=pmix' "${solve[@]}" --json alone.json
PMI_SIZE=2 PMI_RANK=0 expect 3 'error: MPI: 2 processes were started .PMI_SIZE.*connects 1;' "${solve[@]}" --json alone.json
[ ! -e alone.json ] || die "a refused solve has written a file"
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 QUARKSTAR_MPI=0 expect 0 '^wrote alone.json' "${solve[@]}" --json alone.json

# What is meant for another number of ranks is refused by one process too.
expect 2 '--ranks: 1,1,1,2 is a grid of 2 ranks, but 1 rank was started; start with .mpirun -n 2' "${solve[@]}" --json x.json --ranks 1,1,1,2
expect 2 '--rank-weights: 2 weights, but 1 rank was started; start with .mpirun -n 2' "${solve[@]}" --json x.json --rank-weights 3,1
expect 2 '--ranks: 1,1,1,2 is a grid of 2 ranks, but 1 rank was started' gauge convert lattice.ildg x.nersc --ranks 1,1,1,2
expect 0 '^wrote one.json' "${solve[@]}" --json one.json --ranks 1,1,1,1 --rank-weights 1
absent x.nersc

# The error of one rank alone is printed before the job ends, and stays where that is ended by hand.
mpirun --allow-run-as-root --oversubscribe --bind-to none -n 1 "$QUARKSTAR" "${solve[@]}" --json x.json : \
  -n 1 "$QUARKSTAR" "${solve[@]}" --json x.json --kappa -1 > stdout.txt 2> stderr.txt &
job=$!
until grep -qs '^quarkstar: error: rank 1 (.*): .*--kappa' stderr.txt; do
  kill -0 $job 2> /dev/null || { cat stderr.txt; die "the job ended without the error of rank 1"; }
  sleep 0.1
done
kill -0 $job 2> /dev/null || die "the error of rank 1 came when the job had ended"
kill -TERM $job
if wait $job; then die "the job ended well although rank 1 failed"; fi
for help in 'gauge info --help' '--help'; do
  # shellcheck disable=SC2086  # words are arguments
  ranks 2 $help || { cat stderr.txt; die "mpirun -n 2 quarkstar $help"; }
  [ "$(grep -c '^Usage: ' stdout.txt)" = 1 ] || { cat stdout.txt; die "not the help of $help, once"; }
done
