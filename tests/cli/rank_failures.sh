#!/usr/bin/env bash
# Ranks that die or stop: the job ends in time, with the right name in the message, and a restart finishes.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
command -v mpirun > /dev/null || { echo "SKIPPED rank_failures: no mpirun"; exit 77; }
make_configuration
expect 0 '^plaquette ' gauge generate large.ildg --lattice 8 8 8 8 --beta 5.7 --sweeps 2 --seed 7 --format ildg
# A kappa far beyond the critical one: each column takes a thousand iterations, and nothing is written but what a flag asks for. Columns are
# solved one by one, so that there is a time between the first and the last.
long=(solve --gauge "$folder/large.ildg" --kappa 0.2 --tol 1e-13 --solver cgnr --nrhs 1 --threads 1 --json run.json)
launch() { timeout 240 mpirun --allow-run-as-root --oversubscribe --bind-to none "$@"; }
count=$(($(nproc) < 4 ? 3 : 4))  # ranks of which one is struck: at least two others must not be named

# victim SIGNAL MARKER RANKS FLAG...: starts the long solve on so many ranks, waits until its stderr says MARKER, and sends the signal to
# rank $struck. Sets code; to `early` where a watchdog has ended the job before.
struck=1
victim() {
  local signal=$1 marker=$2 ranks=$3
  shift 3
  : > stderr.txt
  launch -n "$ranks" bash -c 'echo $$ > pid$OMPI_COMM_WORLD_RANK; exec "$0" "$@"' "$QUARKSTAR" "${long[@]}" "$@" > stdout.txt 2> stderr.txt &
  local job=$!
  until grep -q "$marker" stderr.txt; do
    kill -0 $job 2> /dev/null || {
      grep -qE 'no answer from rank|no task or message has completed' stderr.txt || { cat stdout.txt stderr.txt; die "the job ended before rank $struck was struck"; }
      code=early
      return
    }
    sleep 0.1
  done
  kill "-$signal" "$(cat pid$struck)" || { cat stdout.txt stderr.txt; die "rank $struck was gone before its signal"; }
  code=0
  wait $job || code=$?
}
# twice SCENARIO...: once more where another rank was too slow to answer or to go on, as ranks that share a core may be.
twice() {
  "$@"
  if [ $code = early ] || grep -oE 'no answer from rank [0-3]' stderr.txt | grep -qv "$struck\$"; then "$@"; fi
}

# names_struck WHEN: the job has failed in time, and that rank alone is named.
names_struck() {
  [ $code != early ] || die "the job ended before rank $struck was silent $1"
  [ $code != 0 ] || die "the job ended well although rank $struck was silent $1"
  [ $code != 124 ] || { cat stderr.txt; die "the job did not end when rank $struck was silent $1"; }
  grep -qE "error: .*no answer from rank $struck" stderr.txt || { cat stderr.txt; die "rank $struck is not named when it is silent $1"; }
  ! grep -oE 'no answer from rank [0-3]' stderr.txt | grep -qv "$struck\$" || { cat stderr.txt; die "another rank is named when rank $struck is silent $1"; }
}

victim KILL 'column 1/12 done' 2 --checkpoint restart --tol 1e-3
[ $code != early ] || die "the job ended before a rank was killed"
[ $code != 0 ] || die "the job ended well although a rank was killed"
grep -qE 'rank 1 .*(signal 9|Killed)' stderr.txt || { cat stderr.txt; die "the killed rank is not named"; }
launch -n 2 "$QUARKSTAR" "${long[@]}" --columns 0,1 --checkpoint restart --tol 1e-3 > stdout.txt 2> stderr.txt || { cat stderr.txt; die "the restart failed"; }
[ "$(grep -c '"reason": "converged"' run.json)" = 2 ] || die "not 2 columns after the restart"
[ "$(grep -c '"iterations": 0,' run.json)" = 1 ] || die "the column that was done before is solved again"

launch -n 3 "$QUARKSTAR" machine --self-test > stdout.txt 2> stderr.txt || { cat stderr.txt; die "the self-test failed"; }
grep -q '^roll call *3 ranks answered' stdout.txt || die "no roll call"
grep -q '^known faces *0 wrong values' stdout.txt || die "no known faces"
[ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$' stdout.txt)" = 3 ] || { cat stdout.txt; die "not three pairs"; }
[ "$(grep -cE '^ +[0-9]+  [^ ]+ +[0-9]+ threads on cores' stdout.txt)" = 3 ] || { cat stdout.txt; die "not three ranks"; }

# What follows sleeps for most of its half a minute, so three or four together, each in a folder of its own, and of these one that solves for
# long: ranks have to go on in time. On two cores with ten busy threads for each, a job of healthy ranks has stood still for 15 s.
watchdog=15
scenarios=()
aside() {
  mkdir "$1"
  (cd "$1"; "$@") &
  scenarios[${#scenarios[@]}]=$!
}
join() {
  local job failures=0
  for job in "${scenarios[@]}"; do wait "$job" || failures=$((failures + 1)); done
  [ $failures = 0 ] || die "$failures scenarios"
  scenarios=()
}

stop_in_solve() {
  victim STOP 'column 1/12: iteration' "$count" --watchdog $watchdog
  [ $code = early ] || kill -KILL "$(cat pid$struck)" 2> /dev/null || true
}
in_a_solve() {
  twice stop_in_solve
  names_struck "in a solve"
  grep -q "no task or message has completed.*no answer from rank $struck (" stderr.txt || { cat stderr.txt; die "no word of what is waited for"; }
}
aside in_a_solve
# A rank that lives but does not come along, before there is a session: it waits for its run file.
hold() {
  code=0
  launch -n "$count" bash -c 'file=free.toml; [ $OMPI_COMM_WORLD_RANK != '"$struck"' ] || file=held.toml; exec "$0" solve $file "$@"' \
    "$QUARKSTAR" --gauge "$folder/lattice.ildg" --json held.json --watchdog $watchdog > stdout.txt 2> stderr.txt || code=$?
}
not_along() {
  mkfifo held.toml
  printf 'kappa = 0.124\n' > free.toml
  twice hold
  [ $code != 0 ] && [ $code != 124 ] || { cat stderr.txt; die "the job did not end although a rank was missing: exit code $code"; }
  grep -qE "all ranks answer; rank $struck .* works on its own" stderr.txt || { cat stderr.txt; die "the rank that is missing is not named"; }
}
aside not_along

# The root, whom the others ask, is the one.
root() {
  struck=0
  "${1#root_}"
}
root_in_a_solve() { root "${FUNCNAME[0]}"; }
root_not_along() { root "${FUNCNAME[0]}"; }
aside root_not_along
join
aside root_in_a_solve

# stopped SYSCALL PATH ARGUMENT...: the command on ranks of which rank 1 stops as it makes that call of the system (on that file; "": any).
# Sets code; to `early` where the job ended before.
stopped() {
  local call=$1 path=$2
  shift 2
  code=0
  : > strace.txt
  launch -n "$count" bash -c '
    echo $$ > pid$OMPI_COMM_WORLD_RANK
    call=$1 path=$2
    shift 2
    [ $OMPI_COMM_WORLD_RANK != 1 ] || exec strace -f -qq -o strace.txt ${path:+-P "$path"} -e trace="$call" -e inject="$call:signal=SIGSTOP" "$@"
    exec "$@"' bash "$call" "$path" "$QUARKSTAR" "$@" > stdout.txt 2> stderr.txt || code=$?
  kill -KILL -- "-$(cat pid1)" 2> /dev/null || true
  grep -q -- '--- SIGSTOP' strace.txt || { cat stdout.txt stderr.txt; echo "rank 1 has not called $call $path"; code=early; }
}
solve=(solve --gauge "$folder/lattice.ildg" --columns 0 --threads 1 --watchdog $watchdog)
while_ranks_meet() {
  twice stopped openat /proc/sys/kernel/random/boot_id machine --self-test --limit 20
  names_struck "while ranks meet"
}
before_its_session() {
  twice stopped openat "$folder/lattice.ildg" "${solve[@]}" --kappa 0.124 --json stopped.json
  names_struck "before its session"
}
# While files are written: inside a call of MPI-IO nobody can ask who is missing.
in_its_output() {
  twice stopped fsync "" "${solve[@]}" --kappa 0.1 --tol 1e-5 --out stopped --propagators hdf5
  [ $code != early ] || die "the job ended before rank 1 stopped in its output"
  [ $code != 0 ] || die "the job ended well although rank 1 stopped in its output"
  [ $code != 124 ] || { cat stderr.txt; die "the job did not end when rank 1 stopped in its output"; }
  grep -q 'no task or message has completed' stderr.txt || { cat stderr.txt; die "no word of the output that hangs"; }
}
known=$folder/lattice.ildg
if strace -f -qq -o strace.txt -P "$known" -e trace=openat -e inject=openat:signal=SIGCONT cat "$known" > /dev/null 2> why.txt; then
  aside while_ranks_meet
  aside before_its_session
  aside in_its_output
else
  echo "not tried: ranks that stop at a given place ($(head -n 1 why.txt))"
fi
join
