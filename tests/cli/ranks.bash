# What the tests on several MPI ranks share. Sourced after testing.bash.
command -v mpirun > /dev/null || { echo "SKIPPED ranks: no mpirun"; exit 77; }

launch() {
  local got=0
  timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none "$@" >stdout.txt 2>stderr.txt || got=$?
  [ $got != 124 ] || echo "no end within 300 s" | tee -a stderr.txt
  return $got
}
# ranks N ARGUMENT...: the command on N ranks that share this machine's cores.
ranks() {
  local count=$1
  shift
  launch -n "$count" "$QUARKSTAR" "$@"
}
# two FLAGS_OF_RANK_0 FLAGS_OF_RANK_1 ARGUMENT...: the command on two ranks, each with flags of its own behind the arguments.
two() {
  local first=$1 second=$2
  shift 2
  # shellcheck disable=SC2086  # words are flags
  launch -n 1 "$QUARKSTAR" "$@" $first : -n 1 "$QUARKSTAR" "$@" $second
}
# one_error CODE PATTERN GOT WHAT: the last job has ended with that code, not GOT, and one line of error that matches.
one_error() {
  local code=$1 pattern=$2 got=$3 what=$4
  [ "$got" = "$code" ] || { cat stdout.txt stderr.txt; die "$what: exit code $got instead of $code"; }
  [ "$(grep -c '^quarkstar: error: ' stderr.txt)" = 1 ] || { cat stderr.txt; die "$what: not one line of error"; }
  grep -qE -- "^quarkstar: error: .*$pattern" stderr.txt || { cat stderr.txt; die "$what: no error matches '$pattern'"; }
}
# fails CODE PATTERN N ARGUMENT...: that exit code, and one line of error that matches.
fails() {
  local code=$1 pattern=$2 got=0
  shift 2
  ranks "$@" || got=$?
  one_error "$code" "$pattern" "$got" "$*"
}
# compare N ARGUMENT...: histories and correlators on N ranks are those in expected.txt.
compare() {
  ranks "$@" --residual-history --json ranks.json || { cat stderr.txt; die "mpirun -n $* failed"; }
  grep -q " on [0-9x]* ranks" ranks.json || [ "$1" = 1 ] || die "$*: not run on several ranks"
  results ranks.json | cmp expected.txt - || die "the bits depend on the ranks: $*"
}
# reference ARGUMENT...: makes expected.txt on one rank without mpirun.
reference() {
  expect 0 '^wrote one.json' "$@" --residual-history --json one.json
  results one.json > expected.txt
  [ -s expected.txt ] || die "no residual history"
}
# make_probe: builds what counts calls of MPI and flips bits (tests/fake/mpi_probe.cpp).
make_probe() {
  # shellcheck disable=SC2046  # flags are words
  c++ -std=c++20 -Wall -Wextra -Werror -O1 -shared -fPIC -DOMPI_SKIP_MPICXX=1 $(mpicc --showme:compile) \
    "${QUARKSTAR_SOURCE_DIR:-$here/../..}/tests/fake/mpi_probe.cpp" -o libmpi_probe.so $(mpicc --showme:link)
}
# on_hosts NAMES ARGUMENT...: the command with the probe, a rank for each letter of NAMES, on the host of that name. The counts of rank R are
# in counts.R. Only the ranks have the probe, not mpirun.
on_hosts() {
  local names=$1 i job=()
  shift
  for ((i = 0; i < ${#names}; ++i)); do
    [ $i = 0 ] || job+=(:)
    job+=(-n 1 env "QUARKSTAR_HOST=${names:i:1}" "LD_PRELOAD=$PWD/libmpi_probe.so" "MPI_PROBE_COUNTS=$PWD/counts" "$QUARKSTAR" "$@")
  done
  rm -f counts.*
  launch "${job[@]}"
}
# count CALL RANK: calls in the last job.
count() { awk -v call="$1" '$1 == call { n = $2 } END { print n + 0 }' "counts.$2"; }
