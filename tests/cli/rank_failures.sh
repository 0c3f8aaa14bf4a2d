#!/usr/bin/env bash
# Ranks that die or stop: the job ends in time, with the right name in the message, and a restart finishes.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
command -v mpirun > /dev/null || { echo "SKIPPED rank_failures: no mpirun"; exit 77; }
make_configuration
run=(solve --gauge lattice.ildg --kappa 0.124 --tol 1e-14 --threads 1 --json run.json --checkpoint restart --check-every 1 --watchdog 30)
launch() { timeout 240 mpirun --allow-run-as-root --oversubscribe --bind-to none "$@"; }

# victim SIGNAL RANKS FLAG...: starts a solve on so many ranks, waits for its first restart file, and sends the signal to rank 1. Sets code.
victim() {
  local signal=$1 ranks=$2
  shift 2
  rm -rf restart
  launch -n "$ranks" bash -c 'echo $$ > pid$OMPI_COMM_WORLD_RANK; exec "$0" "$@"' "$QUARKSTAR" "${run[@]}" "$@" > stdout.txt 2> stderr.txt &
  local job=$!
  for ((i = 0; i < 600; ++i)); do [ -e restart/column00.checkpoint ] && break; sleep 0.1; done
  kill "-$signal" "$(cat pid1)"
  code=0
  wait $job || code=$?
}

# names_rank_1 WHEN: the job has failed in time, and rank 1 alone is named.
names_rank_1() {
  [ $code != 0 ] || die "the job ended well although rank 1 was silent $1"
  [ $code != 124 ] || { cat stderr.txt; die "the job did not end when rank 1 was silent $1"; }
  grep -qE 'error: .*no answer from rank 1' stderr.txt || { cat stderr.txt; die "rank 1 is not named when it is silent $1"; }
  ! grep -qE 'no answer from rank [023]' stderr.txt || { cat stderr.txt; die "another rank is named when rank 1 is silent $1"; }
}

victim KILL 2 --checkpoint-every 1
[ $code != 0 ] || die "the job ended well although a rank was killed"
grep -qE 'rank 1 .*(signal 9|Killed)' stderr.txt || { cat stderr.txt; die "the killed rank is not named"; }
launch -n 2 "$QUARKSTAR" "${run[@]}" > stdout.txt 2> stderr.txt || { cat stderr.txt; die "the restart failed"; }
[ "$(grep -c '"reason": "converged"' run.json)" = 12 ] || die "not 12 columns after the restart"

victim STOP 4  # files are written between columns only, so this falls into the iterations
kill -KILL "$(cat pid1)" 2> /dev/null || true
names_rank_1 "in a solve"
grep -q 'no task or message has completed.*no answer from rank 1 (' stderr.txt || { cat stderr.txt; die "no word of what is waited for"; }

# A rank that lives but does not come along, before there is a session: it waits for its run file.
mkfifo held.toml
printf 'kappa = 0.124\n' > free.toml
code=0
launch -n 4 bash -c 'file=free.toml; [ $OMPI_COMM_WORLD_RANK != 1 ] || file=held.toml; exec "$0" solve $file "$@"' \
  "$QUARKSTAR" --gauge lattice.ildg --json held.json --watchdog 15 > stdout.txt 2> stderr.txt || code=$?
[ $code != 0 ] && [ $code != 124 ] || { cat stderr.txt; die "the job did not end although a rank was missing: exit code $code"; }
grep -qE 'all ranks answer; rank 1 .* works on its own' stderr.txt || { cat stderr.txt; die "the rank that is missing is not named"; }

# stopped SYSCALL PATH ARGUMENT...: the command on 4 ranks, of which rank 1 stops as it makes that call of the system (on that file; "": any).
# Sets code.
stopped() {
  local call=$1 path=$2
  shift 2
  code=0
  launch -n 4 bash -c '
    echo $$ > pid$OMPI_COMM_WORLD_RANK
    call=$1 path=$2
    shift 2
    [ $OMPI_COMM_WORLD_RANK != 1 ] || exec strace -f -qq -o strace.txt ${path:+-P "$path"} -e trace="$call" -e inject="$call:signal=SIGSTOP" "$@"
    exec "$@"' bash "$call" "$path" "$QUARKSTAR" "$@" > stdout.txt 2> stderr.txt || code=$?
  kill -KILL -- "-$(cat pid1)" 2> /dev/null || true
}
if strace -f -qq -o strace.txt -P "$PWD/free.toml" -e trace=openat -e inject=openat:signal=SIGCONT cat "$PWD/free.toml" > /dev/null 2> why.txt; then
  stopped openat /proc/sys/kernel/random/boot_id machine --self-test --limit 10
  names_rank_1 "while ranks meet"
  printf '{}\n' > tune.json
  export QUARKSTAR_TUNE=$PWD/tune.json
  stopped openat "$QUARKSTAR_TUNE" machine --self-test --limit 10
  names_rank_1 "after its session has begun"
  stopped openat "$PWD/lattice.ildg" solve --gauge "$PWD/lattice.ildg" --kappa 0.124 --columns 0 --threads 1 --json stopped.json --watchdog 30
  names_rank_1 "before its session"
  # While files are written: inside a call of MPI-IO nobody can ask who is missing.
  stopped fsync "" solve --gauge lattice.ildg --kappa 0.1 --columns 0 --tol 1e-5 --threads 1 --out stopped --watchdog 20
  if [ $code = 0 ]; then
    echo "rank 1 flushes no file here"
  else
    [ $code != 124 ] || { cat stderr.txt; die "the job did not end when rank 1 stopped in its output"; }
    grep -q 'no task or message has completed' stderr.txt || { cat stderr.txt; die "no word of the output that hangs"; }
  fi
else
  echo "not tried: ranks that stop at a given place ($(head -n 1 why.txt))"
fi

# Stopped at any moment of the start: by the roll call or by the watchdog, the right rank is named.
code=0
launch -n 4 bash -c '[ $OMPI_COMM_WORLD_RANK != 1 ] || (sleep 1; kill -STOP $$; sleep 60; kill -KILL $$) & exec "$0" "$@"' \
  "$QUARKSTAR" machine --self-test --limit 10 > stdout.txt 2> stderr.txt || code=$?
if grep -q 'quarkstar: error' stderr.txt; then names_rank_1 "at the start"; else echo "the rank had answered, or was not yet there: exit code $code"; fi

launch -n 3 "$QUARKSTAR" machine --self-test > stdout.txt 2> stderr.txt || { cat stderr.txt; die "the self-test failed"; }
grep -q '^roll call *3 ranks answered' stdout.txt || die "no roll call"
grep -q '^known faces *0 wrong values' stdout.txt || die "no known faces"
[ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+$' stdout.txt)" = 3 ] || { cat stdout.txt; die "not three pairs"; }
[ "$(grep -cE '^ +[0-9]+  [^ ]+ +[0-9]+ threads on cores' stdout.txt)" = 3 ] || { cat stdout.txt; die "not three ranks"; }
