#!/usr/bin/env bash
# bench: every table comes out, in text and JSON, and wrong flags are refused.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
small=(--array-mb 1 --repetitions 1 --workers 1 --threads 1 --gpus 0)
expect 0 '^triad ' bench stream "${small[@]}"
expect 0 'owners_triad_gbs' bench stream --json "${small[@]}"
expect 0 '4,4,4,8 +single +12' bench dslash --lattice 4,4,4,8 --precision single --links 12 --devices cpu "${small[@]}"
expect 0 '^Wilson Dslash on cpu' bench dslash --lattice 4,4,4,8 --precision half --links 12 --devices all "${small[@]}"
[ "$(grep -c '^Wilson Dslash on ' stdout.txt)" = 1 ] || die "not one table without GPUs"
expect 0 '4,4,4,8 +bicgstab +double/half +12' bench solver --lattice 4,4,4,8 --iterations 16 --links 12 "${small[@]}"
all=(bench solver --json --lattice 4,4,4,8 --devices cpu --solver cgnr bicgstab --links 18 12 8 "${small[@]}")
expect 0 '"devices": "cpu"' "${all[@]}" --iterations 16
[ "$(grep -c '"us_per_iteration":' stdout.txt)" = 18 ] || die "not 2 solvers x 3 precisions x 3 link formats"
# work: of each row on stdout solver, iterations, and how many tasks and kernels the whole solve took.
work() {
  awk -F '[:,]' '/"solver": "/ {gsub(/[" ]/, "", $2); solver = $2}
    /"iterations":/ {iterations = $2} /"tasks_per_iteration":/ {tasks = $2} /"kernels_per_iteration":/ {kernels = $2}
    iterations && tasks && kernels {
      print solver, iterations, tasks * iterations, kernels * iterations; iterations = tasks = kernels = 0}' stdout.txt
}
work > few.txt
[ "$(grep -c '^bicgstab  *16 ' few.txt)" = 9 ] || { cat few.txt; die "BiCGStab: not always 16 iterations"; }
expect 0 '' "${all[@]}" --iterations 272
# What begins and ends a solve is in both. An iteration of BiCGStab has four hopping terms, three vector passes and three scalar steps, one of
# CGNR a step or a pass less; refreshes below double precision add a little. Iterations go in batches, each of them one task.
work | paste -d ' ' few.txt - | awk '
  {more = $6 - $2; tasks = ($7 - $3) / more; kernels = ($8 - $4) / more; least = $1 == "cgnr" ? 9 : 10}
  $1 != $5 || more < 200 || tasks > 0.5 || kernels < least - 0.01 || kernels > least + 1 {print "bad:", $0, tasks, kernels; bad = 1}
  END {exit bad || NR != 18}' > bad.txt || { cat bad.txt; die "an iteration more takes other tasks or kernels: fusion is lost"; }
expect 2 'error: .*--devices' bench dslash --devices tpu
# One process stands for a rank of many.
STARPU_MPI_FAKE_RANK=0 STARPU_MPI_FAKE_SIZE=64 STARPU_DISABLE_KERNELS=1 expect 0 '^rank 0 of 64: ' bench submission --lattice 4,4,4,4 "${small[@]}"
# Every row tells its bytes and flops, its roofline, and what could not be counted.
explained=(bench dslash --lattice 4,4,4,8 --precision single --links 12 --devices cpu --prefetch 0 --stores streaming "${small[@]}")
expect 0 '^ +1320 flop and 576 B per site \(96 written; 1248 of the core\).* % of the cache-aware roofline' "${explained[@]}"
grep -qE '^hardware counters: ' stdout.txt || { cat stdout.txt; die "no word about hardware counters"; }
expect 0 '"stores": "streaming"' "${explained[@]}" --json
for key in flops_per_site bytes_per_site cache_aware triad_gbs read_gbs instructions_per_site llc_misses_per_site memory_bytes_per_site huge_page_fraction prefetch; do
  grep -q "\"$key\":" stdout.txt || { cat stdout.txt; die "the JSON has no $key"; }
done
if grep -qE '"(instructions|cycles|llc_misses|memory_bytes)_per_site": 0(\.0)?,?$' stdout.txt; then cat stdout.txt; die "a counter is 0"; fi
expect 0 '"prefetch": 1' bench dslash --json --action hisq --nrhs 2 --lattice 4,4,4,8 --precision half --links 18 --prefetch 1 "${small[@]}"
expect 2 'error: .*--stores' bench dslash --stores quick
# Layouts with fewer lanes.
for case in 'single 16' 'single 8' 'double 8' 'double 4'; do
  read -r precision lanes <<< "$case"
  expect 0 "\"lanes\": $lanes,\$" bench dslash --json --lattice 4,4,4,8 --precision "$precision" --links 12 --lanes "$lanes" "${small[@]}"
  expect 0 "\"lanes\": " bench dslash --json --action hisq --nrhs 2 --lattice 8,8,8,8 --precision "$precision" --lanes "$lanes" "${small[@]}"
done
expect 2 'error: --lanes: there is no layout of 4 lanes in half precision; use 16 or 8' bench dslash --precision half --lanes 4 "${small[@]}"
for threads in 384 40; do
  expect 2 "error: --block-threads: $threads threads of a GPU block; use a multiple of 32 up to 256" bench dslash --block-threads "$threads" "${small[@]}"
done
expect 0 '4,4,4,8 +half +blas.bicgstab_direction ' bench blas --lattice 4,4,4,8 --precision half --devices cpu "${small[@]}"
! grep -qiw 'nan' stdout.txt || { cat stdout.txt; die "a kernel without arithmetic has no roofline"; }
expect 0 '4,4,4,8 +single +blas.shifted_solution_direction +3 ' bench blas --action hisq --nrhs 1 3 --lattice 4,4,4,8 --precision single "${small[@]}"
grep -qE '4,4,4,8 +single +blas.cg_solution_direction +1 ' stdout.txt || { cat stdout.txt; die "no row for one right-hand side"; }
expect 0 '"operation": "blas.dot"' bench blas --json --lattice 4,4,4,8 --precision single "${small[@]}"
! grep -qE '"(fraction|memory_gbs)": null' stdout.txt || { cat stdout.txt; die "a roofline that is not known"; }
expect 0 '4,4,4,8 +cg +double/single +13 +2 ' bench solver --action hisq --nrhs 1 2 --lattice 4,4,4,8 --iterations 16 --links 13 "${small[@]}"
expect 0 '4,4,4,8 +cg +double/half +18 +3 ' bench solver --action hisq --nrhs 3 --lattice 4,4,4,8 --iterations 16 --precision half \
  --tile 0,0,2,2 --block-threads 64 --vectors-a-thread 1 "${small[@]}"
expect 0 '"vectors_a_thread": 2' bench dslash --json --action asqtad --nrhs 3 --lattice 4,4,4,8 --precision single --tile 0,0,2,2 \
  --vectors-a-thread 2 "${small[@]}"
grep -A 3 '"tile"' stdout.txt | tr -d ' \n' | grep -qF '"tile":[0,0,2' || { cat stdout.txt; die "the JSON does not tell the order of sites"; }
grep -qF '"block_threads": 0' stdout.txt || die "the JSON does not tell the threads of a block"
expect 0 '"vectors_in_lanes": 8' bench dslash --json --action hisq --nrhs 8 --lattice 4,4,4,8 --precision single --vectors-in-lanes 8 --devices cpu "${small[@]}"
expect 0 '"vectors_in_lanes": 8' bench dslash --json --action hisq --nrhs 16 --lattice 4,4,4,8 --precision double --vectors-in-lanes 16 --devices cpu "${small[@]}"
expect 0 '"vectors_in_lanes": 1' bench solver --json --action hisq --nrhs 8 --lattice 4,4,4,8 --iterations 16 --precision half --links 18 --vectors-in-lanes 1 \
  "${small[@]}"
expect 2 'error: --lanes: lanes of sites, where --vectors-in-lanes has' bench dslash --action hisq --nrhs 8 --vectors-in-lanes 8 --lanes 8 --lattice 4,4,4,8 "${small[@]}"
expect 2 'error: --vectors-in-lanes: 8 for 12 right-hand sides, where 1 can be' bench dslash --action hisq --nrhs 12 --vectors-in-lanes 8 --lattice 4,4,4,8 \
  --precision single --devices cpu "${small[@]}"
expect 2 'error: --vectors-in-lanes: 8 for 1 right-hand sides, where 1 can be' bench dslash --vectors-in-lanes 8 "${small[@]}"
expect 2 "error: --solver: 'gmres' is not for the action wilson; use bicgstab, " bench solver --solver gmres
for solver in blockcg multishift; do
  expect 0 "4,4,4,8 +$solver +double/single +13 +3 " bench solver --action hisq --solver $solver --nrhs 3 --lattice 4,4,4,8 --iterations 16 \
    --precision single --links 13 --blocks 1,1,1,2 --trace $solver.json "${small[@]}"
done
for solver in bicgstab gcr; do
  expect 0 "4,4,4,8 +$solver +double/single +12 +3 " bench solver --solver $solver --nrhs 3 --lattice 4,4,4,8 --iterations 16 \
    --precision single --links 12 --blocks 1,1,1,2 --trace $solver.json "${small[@]}"
done
# What kind of work each codelet is, which the shares of time go by.
sed -nE 's/.*"name":"([^"]*)","cat":"([a-z]*)".*/\2 \1/p' blockcg.json multishift.json bicgstab.json gcr.json | sort -u > kinds.txt
for kind in 'stencil staggered.single.13.boundary' 'pack staggered.single.pack' 'vector blas.shifted_solution_direction.colour.single' \
  'vector blas.multiply.3.single' 'vector blas.add_scaled.*' 'scalar multishift_cg.alpha' 'copy transfer.double_to_single.colour' \
  'stencil wilson.single.12.interior' 'stencil wilson.single.12.boundary' 'pack wilson.single.pack' 'vector blas.bicgstab_direction.single' \
  'vector blas.dot_pair.single' 'scalar bicgstab.alpha' 'scalar gcr.project' 'copy transfer.double_to_single'; do
  grep -q "^$kind\$" kinds.txt || { cat kinds.txt; die "no codelet '$kind'"; }
done
if grep '^other' kinds.txt; then die "codelets of no kind"; fi
expect 2 "error: --solver: 'bicgstab' is not for the action hisq; use cg, blockcg, multishift" bench solver --action hisq --solver bicgstab "${small[@]}"
expect 2 "error: --solver: 'blockcg' is not for the action wilson" bench solver --solver blockcg "${small[@]}"
expect 0 '"nrhs": 3' bench dslash --json --nrhs 3 --lattice 4,4,4,8 --precision single --links 12 "${small[@]}"
expect 0 '4,4,4,8 +bicgstab +double +18 +2 ' bench solver --nrhs 2 --lattice 4,4,4,8 --iterations 16 --precision double --links 18 "${small[@]}"
expect 2 'error: --links: 14 reals are not for the action naive; use 18' bench dslash --action naive --links 14 "${small[@]}"
expect 0 '"tasks_per_iteration": [1-9][0-9]' bench solver --json --lattice 4,4,4,8 --iterations 16 --blocks 1,1,2,2 --policy eager --solver bicgstab --precision double --links 18 "${small[@]}"
expect 0 '4,4,4,8 +cg +double +18 +1 ' bench solver --action hisq --nrhs 1 --lattice 4,4,4,8 --iterations 16 --blocks 1,1,1,2 --precision double --links 18 "${small[@]}"
expect 2 'error: --links: 12 reals are not for the action hisq' bench solver --action hisq --links 12 "${small[@]}"
# Settings of the operator are those of a solve.
for slices in 4 8; do
  expect 0 "\"flops_per_site\": $((1320 * slices))" bench dslash --json --action moebius --ls $slices --b5 1.25 --nrhs 1 --lattice 4,4,4,4 --precision double --links 18 "${small[@]}"
done
expect 0 '4,4,4,8 ' bench dslash --action clover --csw 1.5 --mass -0.1 --nrhs 1 --lattice 4,4,4,8 --precision single --links 18 "${small[@]}"
expect 2 'error: --ls: ls means nothing for the action wilson; leave it out' bench dslash --ls 8 "${small[@]}"
expect 2 'error: --ls: ' bench solver --action moebius --ls 5 "${small[@]}"
expect 2 'error: --kappa: kappa means nothing for the action hisq' bench solver --action hisq --kappa 0.12 "${small[@]}"
expect 2 'error: --kappa: 0.25 is out of range; use 1e-06 to 0.2499' bench solver --kappa 0.25 "${small[@]}"
expect 2 'error: --mu: 2 values, where all right-hand sides have one; give one' bench solver --action twisted-mass --mu 0.1,0.2 "${small[@]}"
# Steps of multigrid and of eigenvectors.
multigrid=(bench multigrid --lattice 8,8,8,8 --null-vectors 8 --setup-steps 4 "${small[@]}")
expect 0 '8,8,8,8 +single +18 +cycle +3 +- +whole +- ' "${multigrid[@]}" --precision single --nrhs 1 3
for step in 'set-up +8 +0 +null vectors' 'set-up +8 +0 +coarse operator' 'set-up +8 +- +whole' 'cycle +1 +1 +solver' 'cycle +1 +0 +smoother' 'cycle +1 +1 +all'; do
  grep -qE "$step" stdout.txt || { cat stdout.txt; die "no row '$step'"; }
done
[ "$(grep -cE '^ +[1-9][0-9]+ kernels a cycle, of whose time [0-9]+% is in them$' stdout.txt)" = 2 ] || { cat stdout.txt; die "not a line of kernels for each cycle"; }
expect 0 '"contraction"' "${multigrid[@]}" --json --action clover --levels 2 --aggregate 2,2,2,2 --precision double
for key in level step calls us share flops_per_site gflops bandwidth_fraction kernels in_kernels; do
  grep -q "\"$key\":" stdout.txt || { cat stdout.txt; die "the JSON of multigrid has no $key"; }
done
expect 2 "error: --action: multigrid is for Wilson-type actions, and 'hisq' is none" bench multigrid --action hisq "${small[@]}"
expect 2 'error: --precision: multigrid has no fields in half precision' "${multigrid[@]}" --precision half
expect 2 'error: --null-vectors: 6 null vectors' "${multigrid[@]}" --null-vectors 6
expect 0 '^Block Lanczos of hisq on cpu' bench eigen --action hisq --lattice 4,4,4,8 --modes 8 --nrhs 1 4 "${small[@]}"
[ "$(grep -cE '^ +4,4,4,8 +8 +[14] ' stdout.txt)" = 3 ] || { cat stdout.txt; die "not a row of the solve and two of projections"; }
expect 0 '"copy_fraction"' bench eigen --json --action wilson --lattice 4,4,4,4 --modes 4 --block 2 --restarts 1 "${small[@]}"
for key in operator vectors rest applications us_per_application; do
  grep -q "\"$key\":" stdout.txt || { cat stdout.txt; die "the JSON of eigen has no $key"; }
done
expect 2 'error: --block: 17 vectors' bench eigen --lattice 4,4,4,4 --block 17 "${small[@]}"
