#!/usr/bin/env bash
# Ctrl-C in the middle of a solve and of a Markov chain: exit code 130, one line, no files. Signals while outputs are written, those
# that launchers hand on, and what the Slurm script does with exit codes.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^wrote' gauge generate lattice.ildg --lattice 8 8 8 8 --beta 5.7 --sweeps 2 --seed 7 --format ildg

# interrupt ARGUMENT...: starts the command, waits for its first sign of work, sends the signal.
# Without job control (set -m) a shell starts background jobs with SIGINT ignored.
signal=INT
interrupt() {
  local got=0 tries=0
  true > stderr.txt  # the command before this one may have told of the same work
  set -m
  "$QUARKSTAR" "$@" >stdout.txt 2>stderr.txt &
  local child=$!
  set +m
  until grep -qE "$marker" stderr.txt || [ $((tries += 1)) -gt 3000 ]; do sleep 0.1; done
  kill "-$signal" "$child" || { cat stdout.txt stderr.txt; die "quarkstar $*: over before the signal"; }
  wait "$child" || got=$?
  [ "$got" = 130 ] || { cat stdout.txt stderr.txt; die "quarkstar $*: exit code $got instead of 130"; }
  grep -q 'error: interrupted' stderr.txt || { cat stderr.txt; die "no word about the interrupt"; }
}

marker='column 1/12 done'
# A kappa far beyond the critical one: each column takes a thousand iterations.
interrupt solve --gauge lattice.ildg --kappa 0.2 --tol 1e-13 --solver cgnr --nrhs 1 --out out --json run.json --trace trace.json
absent out run.json trace.json

# In the first group, while it gathers modes: it ends there, and not where it is solved.
marker='column 1/12: iteration'
interrupt solve --gauge lattice.ildg --kappa 0.2 --tol 1e-13 --solver cgnr --recycle 48 --json run.json --checkpoint gathered
absent run.json
! grep -q '|r|/|b| .*e-1[0-9]' stderr.txt || { cat stderr.txt; die "a solve that gathers went on to its end"; }

# While multigrid is set up, for longer than anyone waits.
marker='set-up, [0-9]+ of 1000 cycles'
interrupt solve --gauge lattice.ildg --kappa 0.14 --solver multigrid --setup-cycles 1000 --json run.json
absent run.json
grep -q '^quarkstar: interrupted; ends when' stderr.txt || { cat stderr.txt; die "a signal that is not answered at once"; }

marker='sweep 1/'
interrupt gauge generate new.ildg --lattice 8 8 8 8 --beta 6 --sweeps 1000000 --seed 1 --format ildg
absent new.ildg

# The signal that mpirun hands on; there are restart files of what was done.
marker='column 1/12 done' signal=USR2
interrupt solve --gauge lattice.ildg --kappa 0.2 --tol 1e-13 --solver cgnr --nrhs 1 --json run.json --checkpoint restart
absent run.json
grep -q 'restart files are in restart' stderr.txt || die "no word of the restart files"
[ -s restart/column00.checkpoint ] || die "no restart file"

# Groups of columns: the first is kept, and the signal comes in one of the other two.
marker='column 4/12 done' signal=INT
interrupt solve --gauge lattice.ildg --kappa 0.2 --tol 1e-13 --solver cgnr --nrhs 4 --json run.json --checkpoint groups
absent run.json
for column in 00 01 02 03; do [ -s groups/column$column.checkpoint ] || die "no restart file of column $column, whose group was done"; done

# While the first of three sources is contracted and written: that is completed, and no other is.
# Columns that take long, on a lattice of half the size, as twelve of them are waited for.
expect 0 '^wrote' gauge generate small.ildg --lattice 4 8 8 8 --beta 5.7 --sweeps 2 --seed 7 --format ildg
marker='column 12/36 done' signal=TERM
interrupt solve --gauge small.ildg --kappa 0.2 --tol 1e-13 --solver cgnr --nrhs 1 --source point:0,0,0,0+wall:3+point:1,2,3,4 --out many --checkpoint kept
[ -s many/source0/report.html ] || die "the outputs of the source that was done are missing"
absent many/source2

# batch ENDS [SIGNAL]: the Slurm script with a launcher that ends by itself or, where a signal is given to the script, when it is asked to,
# with that exit code. Sets code.
mkdir fakes
cat > fakes/mpirun << 'END'
#!/usr/bin/env bash
trap 'exit "$ENDS"' USR2
touch started
if [ -z "$SIGNAL" ]; then exit "$ENDS"; fi
for ((i = 0; i < 600; ++i)); do sleep 0.1; done
exit 99
END
printf '#!/usr/bin/env bash\necho "$@" > queued\n' > fakes/scontrol
chmod +x fakes/*
batch() {
  rm -f started queued
  PATH=$PWD/fakes:$PATH ENDS=$1 SIGNAL=${2-} SLURM_CPUS_PER_TASK=2 SLURM_SUBMIT_DIR=$PWD SLURM_JOB_ID=17 bash "$here/../../docs/howto/quarkstar.sbatch" &
  local job=$!
  for ((i = 0; i < 600; ++i)); do [ -e started ] && break; sleep 0.1; done
  [ -e started ] || die "the Slurm script has not started its launcher within a minute"
  if [ $# = 2 ]; then kill "-$2" $job; fi
  code=0
  wait $job || code=$?
}
for ends in 130 138 140; do
  batch $ends USR1
  [ "$code $(cat queued)" = '0 requeue 17' ] || die "an interrupted solve ($ends) is not queued again"
done
for ends in 0 2 4; do
  batch $ends USR1
  [ "$code" = $ends ] && [ ! -e queued ] || die "a solve that ended with $ends at the end of its time: exit code $code, or queued again"
done
for ends in 0 3 130 140; do
  batch $ends
  [ "$code" = $ends ] && [ ! -e queued ] || die "a solve that ended with $ends by itself: exit code $code, or queued again"
done

# A signal while MPI starts: rank 0 is there and waits for rank 1.
command -v mpirun > /dev/null || { echo "SKIPPED signals while MPI starts: no mpirun"; exit 0; }
rm -f go pid0
# shellcheck disable=SC2016  # expands on each rank
timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 bash -c '
  echo $$ > pid$OMPI_COMM_WORLD_RANK
  [ $OMPI_COMM_WORLD_RANK = 0 ] || until [ -e go ]; do sleep 0.1; done
  exec "$0" "$@"' "$QUARKSTAR" solve --gauge lattice.ildg --kappa 0.2 --tol 1e-13 --solver cgnr --threads 1 --json early.json > stdout.txt 2> stderr.txt &
job=$!
# catches_usr2 PID: whether that process has a handler for SIGUSR2, the signal 12.
catches_usr2() { (((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null || echo 0) >> 11) & 1)); }
for ((i = 0; i < 600; ++i)); do
  if [ -s pid0 ] && catches_usr2 "$(cat pid0)"; then break; fi
  kill -0 $job 2> /dev/null || break
  sleep 0.1
done
catches_usr2 "$(cat pid0)" || { cat stderr.txt; die "signals are not caught while MPI starts"; }
kill -USR2 "$(cat pid0)"
touch go
got=0
wait $job || got=$?
[ $got = 130 ] && grep -q 'error: interrupted' stderr.txt || { cat stderr.txt; die "exit code $got after SIGUSR2 while MPI started"; }
absent early.json
