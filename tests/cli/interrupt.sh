#!/usr/bin/env bash
# Ctrl-C in the middle of a solve and of a Markov chain: exit code 130, one line, no files.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^wrote' gauge generate lattice.ildg --lattice 8 8 8 8 --beta 5.7 --sweeps 2 --seed 7 --format ildg

# interrupt ARGUMENT...: starts the command, waits for its first sign of work, sends SIGINT.
# Without job control (set -m) a shell starts background jobs with SIGINT ignored.
interrupt() {
  local got=0 tries=0
  set -m
  "$QUARKSTAR" "$@" >stdout.txt 2>stderr.txt &
  local child=$!
  set +m
  until grep -q "$marker" stderr.txt || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done
  kill -INT "$child"
  wait "$child" || got=$?
  [ "$got" = 130 ] || { cat stdout.txt stderr.txt; die "quarkstar $*: exit code $got instead of 130"; }
  grep -q 'error: interrupted' stderr.txt || { cat stderr.txt; die "no word about the interrupt"; }
}

marker='column 1/12 done'
# Twelve columns to a tolerance near the limit of double precision take long after the first is done.
interrupt solve --gauge lattice.ildg --kappa 0.14 --tol 1e-14 --solver cgnr --out out --json run.json --trace trace.json
absent out run.json trace.json

marker='sweep 1/'
interrupt gauge generate new.ildg --lattice 8 8 8 8 --beta 6 --sweeps 1000000 --seed 1 --format ildg
absent new.ildg
