#!/usr/bin/env bash
# quarkstar-sim bench submission --ranks: ranks of SimGrid's MPI, each with a StarPU of its own, submit the tasks and
# messages that a rank of a job of that size has.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/testing.bash"
command -v smpirun > /dev/null || { echo "no smpirun: install libsimgrid-dev"; exit 77; }
export HOME=$folder/home TMPDIR=$folder/tmp
mkdir -p "$HOME" "$TMPDIR"
job=(bench submission --machine k40-power8-x4 --repetitions 1)

# field KEY: its number in the JSON of the last run.
field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" stdout.txt; }

# As many as with $STARPU_MPI_FAKE_SIZE (docs/results/2026-11-22-submission.md): two faces of each of four hopping terms
# in every direction that is cut, one on 2 ranks and two on 16, and three sums.
for case in 2:8 16:16; do
  expect 0 "\"ranks\": ${case%:*}" "${job[@]}" --ranks "${case%:*}" --json
  awk -v messages="$(field messages)" -v sums="$(field sums)" -v faces="${case#*:}" \
    'BEGIN { exit !(messages == faces && sums == 3) }' ||
    die "${case%:*} ranks: $(field messages) messages and $(field sums) sums per iteration"
done

# The same simulated time in every run.
first=$(field simulated_us_per_iteration)
expect 0 '"ranks": 16' "${job[@]}" --ranks 16 --json
[ -n "$first" ] && [ "$first" = "$(field simulated_us_per_iteration)" ] || die "another simulated time in the second run"
[ -z "$(find "$HOME" "$TMPDIR" -type f)" ] || die "files are left: $(find "$HOME" "$TMPDIR" -type f)"
expect 0 '^2 ranks: [0-9.]+ us per iteration \(simulated\)' "${job[@]}" --ranks 2 --lattice 4,4,4,8

expect 2 'error: quarkstar-sim bench submission: --ranks is required' "${job[@]}"
expect 2 'error: quarkstar-sim bench submission: --ranks: ' "${job[@]}" --ranks 1
expect 2 "error: --machine: 'h200' has no network" bench submission --machine h200 --ranks 4
mkdir "a folder"
cp "$QUARKSTAR_SOURCE_DIR/apps/studies/machines/k40-power8-x4.toml" "a folder/machine.toml"
expect 2 'a folder/machine.toml: has a space in it' bench submission --machine "a folder/machine.toml" --ranks 2
expect 0 '--ranks ' bench submission --help
