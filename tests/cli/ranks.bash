# What the tests on several MPI ranks share. Sourced after testing.bash.
command -v mpirun > /dev/null || { echo "SKIPPED ranks: no mpirun"; exit 77; }

# ranks N ARGUMENT...: the command on N ranks that share this machine's cores.
ranks() {
  local count=$1
  shift
  timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$count" "$QUARKSTAR" "$@" >stdout.txt 2>stderr.txt
}
# fails CODE PATTERN N ARGUMENT...: that exit code, and one line of error that matches.
fails() {
  local code=$1 pattern=$2 got=0
  shift 2
  ranks "$@" || got=$?
  [ "$got" = "$code" ] || { cat stdout.txt stderr.txt; die "$*: exit code $got instead of $code"; }
  [ "$(grep -c '^quarkstar: error: ' stderr.txt)" = 1 ] || { cat stderr.txt; die "$*: not one line of error"; }
  grep -qE -- "^quarkstar: error: .*$pattern" stderr.txt || { cat stderr.txt; die "$*: no error matches '$pattern'"; }
}
# Residual histories, and correlators where all columns were solved.
results() { grep -oE '"-?0x[^"]*"' "$1"; sed -n '/"correlators"/,$p' "$1" | sed -nE '/^ *-?[0-9]/p'; }

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
