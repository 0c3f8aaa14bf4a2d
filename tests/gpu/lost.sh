#!/usr/bin/env bash
# A GPU that fails in the middle of a campaign, where a kernel of it traps, as which every later call of the process for it fails: what is left
# does its rows with the same bytes, and the journal and the report name it. The device itself is none the worse.
# QUARKSTAR: the executable, of a build or of a bundle (scripts/bundle).
folder_of_tests=$(dirname "${BASH_SOURCE[0]}")
testing=$folder_of_tests/testing.bash
[ -e "$testing" ] || testing=$folder_of_tests/../cli/testing.bash
# shellcheck source=tests/cli/testing.bash
source "$testing"
"$QUARKSTAR" machine --json > machine.json
gpus=$(grep -c '"kind": "CUDA"' machine.json || true)
[ "$gpus" -gt 0 ] || { echo "SKIPPED a GPU that fails: no GPU"; exit 77; }

for seed in 1 2; do expect 0 '^wrote' gauge generate lat.$seed --lattice 8 8 8 8 --beta 5.9 --sweeps 2 --seed $seed; done
two_quarks 'precision = "half"'
expect 0 '^wrote all/report.html' run all.toml --devices cuda
# lost OUT N: so many GPUs have failed, and it has the bytes of the run without failures.
lost() {
  same_results "$1"
  [ "$(grep -c '"kind":"lost","device":"CUDA ' "$1/journal.jsonl")" = "$2" ] || { cat "$1/journal.jsonl"; die "not $2 lost GPUs in the journal of $1"; }
  [ "$(grep -c 'has failed: CUDA: .*; the campaign goes on without it' stderr.txt)" = "$2" ] || { cat stderr.txt; die "not $2 warnings"; }
  grep -q 'Devices that have failed' "$1/report.html" || die "no word of it in the report of $1"
  no_temporary_files
}

# The only GPU, at its first task and in the middle: the CPUs go on.
for seconds in 0 0.3 0.6 1.2 2.4; do
  rm -rf middle
  expect 0 '^wrote middle/report.html' run all.toml --out middle --devices all --gpus 1 --throttle 0:fails@$seconds
  grep -q '"kind":"lost"' middle/journal.jsonl || break
  lost middle 1
  echo "the GPU failed $seconds s after the start, behind $(sed '/"kind":"lost"/,$d' middle/journal.jsonl | grep -c '"kind":"done"' || true) rows"
done
[ "$seconds" != 0 ] || die "no GPU has failed"
expect 0 '^wrote helped/report.html' run all.toml --out helped --gpus 1 --helper 1 --throttle 0:fails
lost helped 1

# GPUs alone were asked for: the campaign ends, and goes on when it is started again.
expect 3 'error: CUDA: ' run all.toml --out none --devices cuda --gpus 1 --throttle 0:fails@0.3
expect 0 '^wrote none/report.html' run all.toml --out none --devices cuda
cmp all/campaign.h5 none/campaign.h5 || die "other averages after a GPU has failed"
expect 2 'CPU workers come after the GPUs, which can be made to fail' run all.toml --out slow --devices cuda --throttle 0:2

# Of two, either: the other goes on, whatever its number, alone on the lattice or with columns of its own.
[ "$gpus" -gt 1 ] || { echo "SKIPPED one of two GPUs: one GPU"; exit 0; }
for share in cut columns; do
  for worker in 0 1; do
    rm -rf two
    expect 0 '^wrote two/report.html' run all.toml --out two --devices cuda --gpus 2 --share $share --throttle $worker:fails@0.3
    lost two 1
  done
done
