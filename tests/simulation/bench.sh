#!/usr/bin/env bash
# quarkstar-sim: the machines that are shipped, the same times in every run, policies, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/testing.bash"
export HOME=$folder/home TMPDIR=$folder/tmp
mkdir -p "$HOME" "$TMPDIR"
solve=(bench solver --solver bicgstab --precision double --links 12 --repetitions 1)

for machine in phi-5110 phi-7120 xeon-2-cores; do
  expect 0 '16,16,16,16 +bicgstab +double +12' "${solve[@]}" --machine $machine --devices cpu --lattice 16,16,16,16 --iterations 16
done
for machine in k20 k40 k20-k40 k40-power8 v100 h200 h200-x2 h200-x4 h100-h200; do
  expect 0 '32,32,32,32 +bicgstab +double +12' "${solve[@]}" --machine $machine --devices cuda --lattice 32,32,32,32 --iterations 16
done
[ -z "$(find "$HOME" "$TMPDIR" -type f)" ] || die "files are left: $(find "$HOME" "$TMPDIR" -type f)"

# Staggered fermions, several right-hand sides, on CPUs, one GPU, two that reach each other, and four nodes; 16 vectors cost less each than one.
staggered=(bench solver --action hisq --repetitions 1 --iterations 16 --lattice 16,16,16,32)
expect 0 '16,16,16,32 +cg +double +18 +4' "${staggered[@]}" --machine xeon-2-cores --devices cpu --precision double --links 18 --nrhs 4
for machine in h200 h200-x2 k40-power8-x4; do
  expect 0 '16,16,16,32 +cg +double/single +13 +8' "${staggered[@]}" --machine $machine --devices cuda --precision single --links 13 --nrhs 8
done
expect 0 '16,16,16,32 +cg +double +18 +16' "${staggered[@]}" --machine h200 --devices cuda --precision double --links 18 --nrhs 1 16
awk '$2 == "cg" { us[$5] = $6 } END { exit !(us[16] > 0 && us[16] < us[1]) }' stdout.txt || die "16 right-hand sides are not cheaper than 16 times one"
expect 0 '16,16,16,32 +single +14 +4' bench dslash --action hisq --repetitions 1 --lattice 16,16,16,32 --machine h200 --devices cuda --precision single --links 14 --nrhs 4
expect 0 '16,16,16,32 +single +18 +1' bench dslash --action naive --repetitions 1 --lattice 16,16,16,32 --machine h200 --devices cuda --precision single --links 18 --nrhs 1

# A task graph on unlike GPUs: 40 tasks that wait for nobody, half of them of each owner, at the triads of a K20 and a K40 with little to move. Owners
# who keep theirs end when the slower one does; a policy that places tasks divides them by speed, and ends 8 % or less behind 151.1 + 202.7 GB/s. A graph
# of one chain takes the sum of its tasks, and nobody can do anything about it.
graph() {  # AFTER: data of each task
  awk -v data="$1" 'BEGIN {
    printf "{\"tasks\":["
    for (i = 0; i < 40; ++i) printf "%s{\"codelet\":\"blas.made_up\",\"owner\":%d,\"block\":0,\"flops\":0,\"bytes\":1e8,\"data\":[[%d,\"inout\"]]}", i ? "," : "", i % 2, data == "own" ? i : 0
    printf "],\"data\":["
    for (i = 0; i < 40; ++i) printf "%s{\"bytes\":1000}", i ? "," : ""
    print "]}"
  }'
}
graph own > own.json
graph one > chain.json
replayed() {  # GRAPH POLICY FLAG...: microseconds
  expect 0 '"microseconds"' bench replay "$1" --machine k20-k40 --devices cuda --policy "${@:2}" --json
  awk -F'[:,]' '/"microseconds"/ { print $2 }' stdout.txt
}
kept=$(replayed own.json static)
awk -v us="$kept" 'BEGIN { exit !(us > 20e8 / 151.1e3 && us < 1.03 * 20e8 / 151.1e3) }' || die "static: $kept us"
for policy in eager dmda dmdas halo-first; do
  placed=$(replayed own.json $policy)
  awk -v us="$placed" -v kept="$kept" 'BEGIN { exit !(us < 0.9 * kept && us > 40e8 / 353.8e3 && us < 1.08 * 40e8 / 353.8e3) }' ||
    die "$policy on unlike GPUs: $placed us, static $kept us"
done
for policy in static dmda; do
  chain=$(replayed chain.json $policy)
  awk -v us="$chain" 'BEGIN { exit !(us > 40e8 / 202.7e3) }' || die "$policy: $chain us for a chain"
done
# Groups of one chain each, with owners of their own, of five times as many sites: data are too small to grow, so that the time is that of the copies.
awk -v us="$(replayed chain.json static --groups 4)" 'BEGIN { exit !(us > 80e8 / 151.1e3 && us < 1.05 * 80e8 / 151.1e3) }' || die "four groups"
cmp <(replayed chain.json static --groups 4) <(replayed chain.json static --groups 4 --volume 5) || die "small data grow with the lattice"
expect 0 'CUDA 1.0 .* 20 ' bench replay own.json --machine k20-k40 --devices cuda --policy static
echo '{"tasks":[{}]}' > bad.json
expect 2 'error: bad.json: this is no task graph' bench replay bad.json --machine k20 --devices cuda
expect 3 'error: none.json: cannot be read' bench replay none.json --machine k20 --devices cuda

# What the laboratory asks for: bounds that no policy beats, where the time went, a trace.
for devices in cuda all; do
  share=(); [ $devices = cuda ] || share=(--cpu-share 25%)
  expect 0 '"time_over_bound": [1-9][0-9.]*,$' "${solve[@]}" --machine k40-power8 --devices $devices "${share[@]}" --lattice 16,16,16,32 --iterations 16 --policy eager \
    --json --bound --profile --trace trace.json
  grep -q '"busy": 0\.[0-9]*[1-9]' stdout.txt || die "no worker was busy"
  grep -q '"ph":"X","name":"wilson' trace.json || die "no task in the trace"
  # CPUs that were not asked to join leave the blocks of GPUs alone, also under policies that move tasks, but for copies from and to vectors
  # in host memory.
  of_cpus=$(awk -F'"tid":' '/"thread_name"/ { cpu[$2 + 0] = /"CPU / } /"ph":"X"/ && !/"transfer\.(load|store)/ { sum += cpu[$2 + 0] }
    END { print sum + 0 }' trace.json)
  if [ $devices = cuda ]; then expected=0; else expected='[1-9][0-9]*'; fi
  [[ $of_cpus =~ ^$expected$ ]] || die "--devices $devices: CPUs ran $of_cpus tasks"
done
# Faces travel through host memory while interiors are computed: copied only when the boundary is ready they would make it 1.4.
expect 0 '"time_over_bound": 1\.0[0-9]*,$' bench solver --action hisq --repetitions 1 --machine k40-power8 --devices cuda --lattice 24,24,24,48 --precision double \
  --links 18 --nrhs 4 --iterations 64 --json --bound
expect 0 'lower bound [0-9.]+ us/iter; the best time is [1-9]' "${solve[@]}" --machine xeon-2-cores --devices cpu --lattice 16,16,16,16 --iterations 16 --bound

# same_twice POLICY ARGUMENT...: a solve takes the same simulated time in a second run.
same_twice() {
  local policy=$1 run
  shift
  for run in first second; do
    expect 0 '"us_per_iteration"' "${solve[@]}" "$@" --iterations 16 --policy "$policy" --json
    mv stdout.txt $run.txt
  done
  cmp first.txt second.txt || die "$policy: another time in the second run"
}

for policy in static eager prio lws dmda dmdas; do
  same_twice $policy --machine k40-power8 --devices all --cpu-share 25% --lattice 16,16,16,32
done
# Where what a kernel takes depends on who is at work meanwhile.
for policy in static eager dmda lws; do
  same_twice $policy --machine epyc-2-cores --devices cpu --worker-mode core --blocks 1,1,1,4 --lattice 16,16,16,24
done

dslash=(bench dslash --json --machine h200 --devices cuda --lattice 16,16,16,16 --precision single --links 12 --repetitions 1)
expect 0 '"instructions_per_site": null' "${dslash[@]}"
mv stdout.txt first.txt
expect 0 '"cycles": "unavailable: simulated"' "${dslash[@]}"
cmp first.txt stdout.txt || die "bench dslash: another result in the second run"

# A lattice far beyond this machine's memory costs none.
expect 0 '64,64,64,128 +bicgstab' "${solve[@]}" --machine h200-x4 --devices cuda --lattice 64,64,64,128 --iterations 16

expect 0 'quarkstar [0-9]' --version
expect 0 'bench' --help
expect 2 'error: --machine: no machine' bench solver
expect 2 "error: --machine: there is no file 'nowhere'" bench solver --machine nowhere
expect 2 'a simulation computes times' solve --machine h200
expect 2 'a simulation computes times' bench stream --machine h200
