#!/usr/bin/env bash
# Ranks that die or stop: the job ends in time, with the right name in the message, and a restart finishes.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
command -v mpirun > /dev/null || { echo "SKIPPED rank_failures: no mpirun"; exit 77; }
make_configuration
run=(solve --gauge lattice.ildg --kappa 0.124 --tol 1e-14 --threads 1 --json run.json --checkpoint restart --watchdog 20)
launch() { timeout 240 mpirun --allow-run-as-root --oversubscribe --bind-to none "$@"; }

# victim SIGNAL: starts a solve on 2 ranks, waits for its first restart file, and sends the signal to rank 1. Sets code.
victim() {
  rm -rf restart
  launch -n 2 bash -c 'echo $$ > pid$OMPI_COMM_WORLD_RANK; exec "$0" "$@"' "$QUARKSTAR" "${run[@]}" --checkpoint-every 1 --check-every 1 > stdout.txt 2> stderr.txt &
  local job=$!
  for ((i = 0; i < 600; ++i)); do [ -e restart/column00.checkpoint ] && break; sleep 0.1; done
  kill "-$1" "$(cat pid1)"
  code=0
  wait $job || code=$?
}

victim KILL
[ $code != 0 ] || die "the job ended well although a rank was killed"
grep -qE 'rank 1 .*(signal 9|Killed)' stderr.txt || { cat stderr.txt; die "the killed rank is not named"; }
launch -n 2 "$QUARKSTAR" "${run[@]}" > stdout.txt 2> stderr.txt || { cat stderr.txt; die "the restart failed"; }
[ "$(grep -c '"reason": "converged"' run.json)" = 12 ] || die "not 12 columns after the restart"

victim STOP
kill -KILL "$(cat pid1)" 2> /dev/null || true
[ $code != 0 ] || die "the job ended well although a rank was stopped"
grep -qE 'rank 0 .*no task or message has completed.*from rank 1' stderr.txt || { cat stderr.txt; die "the stopped rank is not named"; }

# The self-test names a rank that does not answer.
launch -n 2 bash -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || (sleep 0.5; kill -STOP $$; sleep 20; kill -KILL $$) & exec "$0" "$@"' \
  "$QUARKSTAR" machine --self-test --limit 5 > stdout.txt 2> stderr.txt && echo "the rank answered before it was stopped"
! grep -q 'quarkstar: error' stderr.txt || grep -qE 'no answer from rank 1|no task or message' stderr.txt || { cat stderr.txt; die "the silent rank is not named"; }

launch -n 3 "$QUARKSTAR" machine --self-test > stdout.txt 2> stderr.txt || { cat stderr.txt; die "the self-test failed"; }
grep -q '^roll call *3 ranks answered' stdout.txt || die "no roll call"
grep -q '^known faces *0 wrong values' stdout.txt || die "no known faces"
[ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+$' stdout.txt)" = 3 ] || { cat stdout.txt; die "not three pairs"; }
[ "$(grep -cE '^ +[0-9]+  [^ ]+ +[0-9]+ threads on cores' stdout.txt)" = 3 ] || { cat stdout.txt; die "not three ranks"; }
