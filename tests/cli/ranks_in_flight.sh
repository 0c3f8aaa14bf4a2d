#!/usr/bin/env bash
# Several columns on the graph together on several MPI ranks: the bits and files of one rank, and an end in time where one rank fails alone.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
# shellcheck source=tests/cli/ranks.bash disable=SC2154
source "$here/ranks.bash"
make_configuration
export SOURCE_DATE_EPOCH=1700000000  # the date in headers of files

solve=(solve --gauge lattice.ildg --kappa 0.12 --tol 1e-9 --threads 1 --no-tune)
reference "${solve[@]}" --columns 0-3
# in_flight G FILE: so many groups were on the graph together.
in_flight() { grep -q "\"in-flight\": $1,\?\$" "$2" || die "$2: not $1 groups in flight"; }
compare 2 "${solve[@]}" --columns 0-3 --nrhs 1 --in-flight 3 --checkpoint saved --checkpoint-every 5 --check-every 1
in_flight 3 ranks.json
[ "$(ls saved | wc -l)" = 4 ] || die "not a restart file for each column"
ranks 3 "${solve[@]}" --columns 0-3 --nrhs 1 --in-flight 2 --checkpoint saved --json again.json || { cat stderr.txt; die "the restart failed"; }
if grep '"iterations"' again.json | grep -qv ': 0,'; then die "columns that are done were solved again"; fi
compare 2 "${solve[@]}" --columns 0-3 --nrhs 2 --in-flight 3 --workers 2
in_flight 2 ranks.json

# Several sources: the outputs of one are written while the columns of the next are in flight, several groups of each source together.
# shellcheck disable=SC2054  # commas belong to the flag
sources=(point:0,0,0,0 wall:3)
ranks 2 "${solve[@]}" --source "${sources[0]}+${sources[1]}" --nrhs 5 --in-flight 3 --workers 2 --residual-history --out many --propagators hdf5,scidac --json many.json ||
  { cat stderr.txt; die "several sources in flight"; }
in_flight 3 many.source0.json
for i in 0 1; do
  reference "${solve[@]}" --source "${sources[i]}" --out alone --propagators scidac
  results many.source$i.json | cmp expected.txt - || die "the bits of ${sources[i]} depend on the ranks and the sources beside it"
  cmp many/source$i/propagator.lime alone/propagator.lime || die "the propagator of ${sources[i]} depends on the ranks"
  for file in propagator.h5 correlators.h5 result.json report.html; do [ -s many/source$i/$file ] || die "no $file of source $i"; done
  rm -r alone
done

# A failure of one rank alone, which the battery makes: the last rank lacks memory for a column while the others solve.
battery=${QUARKSTAR_BUILD_DIR:-$(dirname "$QUARKSTAR")}/battery_tests
[ -x "$battery" ] && [ "${QUARKSTAR##*/}" = quarkstar ] || { echo "not tried: a rank that fails alone (no $battery)"; exit 0; }
for count in 2 3; do
  got=0
  QUARKSTAR=$battery ranks $count '--source-file=*/battery/failing_rank_test.cpp' || got=$?
  [ $got != 124 ] || { cat stderr.txt; die "the job did not end when rank $((count - 1)) failed"; }
  one_error "$got" "rank $((count - 1)) \(.*\): out of memory; .*--in-flight" "$got" "a failure of rank $((count - 1)) alone"
  [ $got != 0 ] || die "the job ended well although rank $((count - 1)) failed"
done
