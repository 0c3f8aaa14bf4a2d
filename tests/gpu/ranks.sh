#!/usr/bin/env bash
# Solves on two ranks with a GPU each, and on two that share one: the bits of one rank, from GPU to GPU and through the host; and on ranks of
# two hosts, as which $QUARKSTAR_HOST makes them count, whose GPUs reach each other through the threads of their hosts.
# QUARKSTAR: the executable, of a build or of a bundle (scripts/bundle).
folder_of_tests=$(dirname "${BASH_SOURCE[0]}")
testing=$folder_of_tests/testing.bash
[ -e "$testing" ] || testing=$folder_of_tests/../cli/testing.bash
# shellcheck source=tests/cli/testing.bash
source "$testing"
skip() {
  echo "SKIPPED ranks on GPUs: $1"
  exit 77
}
mpirun=(mpirun --allow-run-as-root)
if [ -x "$(dirname "$QUARKSTAR")/bin/mpirun" ]; then mpirun=("$(dirname "$QUARKSTAR")/run" mpirun)
elif ! command -v mpirun > /dev/null; then skip "no mpirun"
fi
"$QUARKSTAR" machine --json > machine.json
gpus=$(grep -c '"kind": "CUDA"' machine.json || true)
[ "$gpus" -gt 0 ] || skip "no GPU"

hosts=aa
# ranks ARGUMENT...: the command on a rank for each letter of $hosts, on the host of that name.
ranks() {
  local i job=()
  for ((i = 0; i < ${#hosts}; ++i)); do
    [ $i = 0 ] || job+=(:)
    job+=(-n 1 env "QUARKSTAR_HOST=${hosts:i:1}" "$QUARKSTAR" "$@")
  done
  timeout 300 "${mpirun[@]}" --oversubscribe --bind-to none "${job[@]}" >stdout.txt 2>stderr.txt
}
# tasks FILE: of an iteration of the last solve, when all kinds of batches have been seen.
tasks() { grep -oE '"tasks_per_iteration": [0-9.e-]+' "$1" | tail -n 1 | grep -oE '[0-9.e-]+$'; }
results() { grep -oE '"-?0x[^"]*"' "$1"; }

# compare PLACE ARGUMENT...: histories of one rank on one GPU are those of two ranks with these flags, whichever way messages go.
compare() {
  local place=$1 way
  shift
  expect 0 '^wrote one.json' "$@" --gpus 1 --residual-history --json one.json
  results one.json > expected.txt
  [ -s expected.txt ] || die "no residual history: $*"
  for way in on off; do
    # shellcheck disable=SC2086  # words are flags
    QUARKSTAR_GPU_IPC=$way ranks "$@" $place --residual-history --json ranks.json || { cat stdout.txt stderr.txt; die "QUARKSTAR_GPU_IPC=$way $place $*"; }
    results ranks.json | cmp expected.txt - || die "the bits depend on the ranks: QUARKSTAR_GPU_IPC=$way $place $*"
    tasks ranks.json > "tasks.$way"
  done
}
# fused: in the last solve of what compare ran last, whole batches of iterations were single tasks from GPU to GPU, but
# not through the host. Some tasks of a solve are outside of batches.
fused() {
  awk -v on="$(cat tasks.on)" -v off="$(cat tasks.off)" 'BEGIN { exit !(on > 0 && on < off * 2 / 3) }' ||
    die "$(cat tasks.on) tasks an iteration from GPU to GPU, $(cat tasks.off) through the host: $1"
}
# verdict PLACE PATTERN: what the self-test says of messages in batches.
verdict() {
  # shellcheck disable=SC2086
  ranks machine --self-test $1 || { cat stdout.txt stderr.txt; die "self-test $1"; }
  grep -qE "^batches +messages $2" stdout.txt || { cat stdout.txt; die "self-test $1: no verdict matches '$2'"; }
}

expect 0 '^plaquette ' gauge generate wide.ildg --lattice 8 8 8 16 --beta 6.0 --sweeps 3 --seed 3 --format ildg
places=("--devices 0 --share-gpus")
QUARKSTAR_GPU_IPC=on verdict "${places[0]}" 'from GPU to GPU'
verdict "${places[0]}" 'through host memory: ranks share a GPU'
if [ "$gpus" -gt 1 ]; then
  places=("--gpus 1" "${places[0]}")
  verdict "${places[0]}" 'from GPU to GPU'
  QUARKSTAR_GPU_IPC=off verdict "${places[0]}" 'through host memory: QUARKSTAR_GPU_IPC is off'
else
  echo "SKIPPED two ranks on two GPUs: one GPU"
fi
multigrid=(--precision single --solver multigrid --null-vectors 8 --setup-steps 10 --setup-cycles 1)
for place in "${places[@]}"; do
  wilson=(solve --gauge wide.ildg --kappa 0.13 --columns 0-1 --tol 1e-10)
  compare "$place" "${wilson[@]}" --precision double
  fused "$place"
  compare "$place" "${wilson[@]}" --precision single --links 12 --solver cgnr --check-every 3
  compare "$place" "${wilson[@]}" --precision half --links 8
  compare "$place" "${wilson[@]}" --precision half --solver gcr --check-every 1
  compare "$place" "${wilson[@]}" --precision single --blocks 1,1,2,2
  compare "$place --cpu-share 25%" "${wilson[@]}" --precision single
  compare "$place" "${wilson[@]}" "${multigrid[@]}"
  fused "$place, multigrid"
  compare "$place" "${wilson[@]}" --action clover --csw 1.5 --precision half
  compare "$place" "${wilson[@]}" --action twisted-mass --mu 0.02 --csw 1.5 --precision single --blocks 1,1,2,2
  # shellcheck disable=SC2054  # commas belong to the flag
  hisq=(solve --gauge wide.ildg --action hisq --mass 0.1 --tol 1e-10 --source z2:3,8)
  compare "$place" "${hisq[@]}" --precision double
  compare "$place" "${hisq[@]}" --precision single --links 13 --check-every 3
  compare "$place" "${hisq[@]}" --precision half --links 9
  compare "$place" "${hisq[@]}" --solver blockcg --precision single
  compare "$place" solve --gauge wide.ildg --action hisq --masses 0.1,0.3 --tol 1e-10 --source z2:3,8 --solver multishift
  compare "$place --cpu-share 25%" "${hisq[@]}" --precision double
done

# Between hosts: batches are replayed all the same, of faces of all kinds; two hosts of two ranks use both ways at once.
hosts=ab
QUARKSTAR_GPU_IPC=on verdict "${places[0]}" 'from GPU to GPU between 0 of 1 pairs of ranks, others by the threads of their hosts$'
for place in "${places[@]}"; do
  [ "$place" != "--devices 0 --share-gpus" ] || export QUARKSTAR_GPU_IPC=on
  compare "$place" "${wilson[@]}" --precision double
  fused "$place, two hosts"
  compare "$place" "${wilson[@]}" --precision half --links 8
  compare "$place" "${wilson[@]}" --precision half --solver gcr --check-every 1
  compare "$place" "${wilson[@]}" --precision single --blocks 1,1,2,2
  compare "$place" "${wilson[@]}" "${multigrid[@]}"
  fused "$place, two hosts, multigrid"
  compare "$place" "${hisq[@]}" --precision double
  compare "$place" "${hisq[@]}" --precision half --links 9
  fused "$place, two hosts, HISQ"
done
hosts=aabb
QUARKSTAR_GPU_IPC=on verdict "--devices 0 --share-gpus" 'from GPU to GPU between 2 of 6 pairs of ranks, others by the threads of their hosts$'
compare "--devices 0 --share-gpus" "${wilson[@]}" --precision single
fused "two hosts of two ranks"
compare "--devices 0 --share-gpus" "${hisq[@]}" --precision half --links 9
hosts=aa
unset QUARKSTAR_GPU_IPC

# Refreshes that are not due are left out of the graphs of all ranks or of none: one rank that cannot decides for all.
for solve in wilson hisq; do
  declare -n flags=$solve
  expect 0 '^wrote one.json' "${flags[@]}" --precision half --gpus 1 --residual-history --json one.json
  results one.json > expected.txt
  [ -s expected.txt ] || die "no residual history: $solve"
  # shellcheck disable=SC2086  # words are flags
  set -- "${flags[@]}" --precision half ${places[0]} --residual-history --json ranks.json
  for wish in on off; do
    QUARKSTAR_GPU_IPC=on timeout 300 "${mpirun[@]}" --oversubscribe --bind-to none \
      -n 1 env QUARKSTAR_GRAPH_CONDITIONS=$wish "$QUARKSTAR" "$@" : \
      -n 1 env QUARKSTAR_GRAPH_CONDITIONS=off "$QUARKSTAR" "$@" >stdout.txt 2>stderr.txt ||
      { cat stdout.txt stderr.txt; die "refreshes run by ranks that agree on it: $solve, first rank $wish"; }
    results ranks.json | cmp expected.txt - || die "the bits depend on refreshes that are not due: $solve, first rank $wish"
  done
done

# A rank without GPUs before one with: the parts follow their speeds, and the second one's settings are tuned.
for solve in wilson hisq; do
  declare -n flags=$solve
  expect 0 '^wrote one.json' "${flags[@]}" --gpus 1 --residual-history --json one.json
  results one.json > expected.txt
  [ -s expected.txt ] || die "no residual history: $solve"
  set -- "${flags[@]}" --share-gpus --residual-history --json ranks.json
  rm -f tune.json
  QUARKSTAR_TUNE=$PWD/tune.json timeout 300 "${mpirun[@]}" --oversubscribe --bind-to none -n 1 "$QUARKSTAR" "$@" --gpus 0 : -n 1 "$QUARKSTAR" "$@" --gpus 1 \
    >stdout.txt 2>stderr.txt || { cat stdout.txt stderr.txt; die "a rank without GPUs and one with: $solve"; }
  results ranks.json | cmp expected.txt - || die "the bits depend on the devices of ranks: $solve"
  grep -q 'measured speeds of the ranks' stderr.txt || { cat stderr.txt; die "the speeds of unlike ranks were not measured: $solve"; }
  grep -q ' tuned ' stderr.txt || { cat stderr.txt; die "the rank with a GPU was not tuned: $solve"; }
done
