#!/usr/bin/env bash
# Four ranks, each on a host of its own as far as restart files go, under scripts/relaunch: ranks that are killed or stopped at random moments,
# a host that is lost with its disk, bits that flip in kept files, full disks. What comes out has the bits of a job that nothing has happened to.
# QUARKSTAR_FAULTS: how many ranks are killed, and how many bits flip (3); a fifth of them are stopped. QUARKSTAR_SEED: of the moments.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
relaunch="${QUARKSTAR_SOURCE_DIR:-$here/../..}/scripts/relaunch"
faults=${QUARKSTAR_FAULTS:-3}
RANDOM=${QUARKSTAR_SEED:=$((RANDOM + 1))}
echo "seed $QUARKSTAR_SEED"
expect 0 '^plaquette ' gauge generate large.ildg --lattice 8 8 8 8 --beta 5.7 --sweeps 2 --seed 7 --format ildg
solve=(solve --gauge "$folder/large.ildg" --kappa 0.165 --precision single --tol 1e-13 --columns 0,1 --nrhs 1 --threads 1 --residual-history)
files=(--checkpoint "$folder/kept" --redundant --krylov-state --checkpoint-every 4 --check-every 4 --watchdog 15)
expect 0 '^wrote one.json' "${solve[@]}" --json one.json
results one.json > expected.txt
[ -s expected.txt ] || die "no residual history"
cat > on_host <<'END'
#!/usr/bin/env bash
# on_host NAMES COMMAND...: the command on the host of that letter.
names=$1
shift
echo $$ > pid$OMPI_COMM_WORLD_RANK
export QUARKSTAR_HOST=${names:OMPI_COMM_WORLD_RANK:1}
exec "$@"
END
# job RELAUNCH-FLAG... -- NAMES FLAG...: the solve under the launcher, a rank for each letter of NAMES. Sets code.
job() {
  local flags=() names
  while [ "$1" != -- ]; do flags+=("$1"); shift; done
  names=$2
  shift 2
  code=0
  timeout 900 "$relaunch" "${flags[@]}" -- --allow-run-as-root --oversubscribe --bind-to none -n ${#names} bash on_host "$names" \
    "$QUARKSTAR" "${solve[@]}" "${files[@]}" --json run.json "$@" > stdout.txt 2> stderr.txt || code=$?
}
as_undisturbed() {
  [ $code = 0 ] || { cat stdout.txt stderr.txt; die "exit code $code: $1"; }
  results run.json | cmp expected.txt - || { cat stderr.txt; die "other bits: $1"; }
}
solution() { for rank in 0 1 2 3; do tail -c +4097 "$folder"/kept/?/column01.checkpoint.*."$rank"-of-4; done | md5sum; }
began=$(date +%s%N)
job --times 0 -- abcd
as_undisturbed "no fault"
took=$((($(date +%s%N) - began) / 1000000))
undisturbed=$(solution)
echo "undisturbed: $took ms"

# strike SIGNAL: on a random rank at a random moment of a job that begins now; another where that was over. STOP in the solve alone: who is
# stopped while MPI starts or ends is missed after ten minutes only.
strike() {
  local moment=$((RANDOM * took / 32768)) rank=$((RANDOM % 4))
  echo "$1 for rank $rank after $moment ms"
  rm -rf kept pid? run.json
  (
    sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
    until [ -s pid$rank ]; do sleep 0.01; done
    [ "$1" = KILL ] || until ls kept/?/state-* > /dev/null 2>&1; do sleep 0.01; done
    struck=$(cat pid$rank)
    kill "-$1" "$struck" 2> /dev/null
    [ "$1" = KILL ] || until grep -q '^relaunch: ' stderr.txt; do
      if [ -e run.json ]; then kill -CONT "$struck" 2> /dev/null; break; fi  # all is written: the job was ending
      sleep 0.1
    done
  ) &
  local striker=$!
  job -- abcd
  kill $striker 2> /dev/null || true
  wait $striker || true
  as_undisturbed "$1 for rank $rank after $moment ms"
  [ "$(solution)" = "$undisturbed" ] || die "another solution: $1 for rank $rank after $moment ms"
  grep '^relaunch: ' stderr.txt && return
  took=$((took * 2 / 3))  # the job was over before: the machine was busier when it was timed
  strike "$1"
}
for ((i = 0; i < faults; ++i)); do strike KILL; done
for ((i = 0; i < (faults + 4) / 5; ++i)); do strike STOP; done

# A job of which rank 2 is killed, with nothing started again, behind the first state.
cut_short() {
  rm -rf kept pid?
  (
    until ls kept/?/state-column01.* > /dev/null 2>&1; do sleep 0.05; done
    kill -KILL "$(cat pid2)"
  ) &
  job --times 0 -- abcd
  wait $! || true
  [ $code = 137 ] || { cat stderr.txt; die "exit code $code of a job that was killed"; }
  grep -q '^relaunch: error: exit code 137 after 1 starts' stderr.txt || { cat stderr.txt; die "no word of the end"; }
}
cut_short
cp -r kept good
restore() { rm -rf kept && cp -r good kept; }
# The disk of any one host is lost: another takes its place, or the others go on.
for host in a b c d; do
  restore
  rm -r "kept/$host"
  job -- "$(tr $host e <<< abcd)"
  as_undisturbed "a spare for host $host"
done
restore
rm -r kept/c
job -- abd
as_undisturbed "three hosts of four"
restore
rm -r kept/b kept/c
job --times 1 -- ad
[ $code = 2 ] || { cat stderr.txt; die "exit code $code where two hosts are lost"; }
grep -q 'of no set of part files all parts are on the hosts of this job' stderr.txt || { cat stderr.txt; die "no word of what is lost"; }

# A bit of any kept file.
for ((i = 0; i < faults; ++i)); do
  restore
  mapfile -t all < <(ls kept/?/state-column0[01].*-of-4)
  file=${all[RANDOM % ${#all[@]}]}
  at=$(((RANDOM * 32768 + RANDOM) % $(stat -c %s "$file")))
  byte=$(od -An -tu1 -j $at -N 1 "$file")
  # shellcheck disable=SC2059
  printf "\\x$(printf %x $((byte ^ 1 << RANDOM % 8)))" | dd of="$file" bs=1 seek=$at conv=notrunc status=none
  job -- abcd
  as_undisturbed "a bit of byte $at of $file"
  grep -q "$file: .*; the copy of it is taken" stderr.txt || { cat stderr.txt; die "no word of the damage to byte $at of $file"; }
done

# A disk that is full: its file is named, what was there stays, and with room the job goes on.
restore
if mount -t tmpfs -o size=$(($(du -sk good/b | cut -f1) + 64))k none kept/b 2> why.txt; then
  trap 'cd /; umount "$folder/kept/b"; rm -rf "$folder"' EXIT
  cp good/b/* kept/b/
  dd if=/dev/zero of=kept/b/filling bs=1k status=none 2> /dev/null || true
  job --times 1 -- abcd
  [ $code = 3 ] || { cat stderr.txt; die "exit code $code with a full disk"; }
  grep -qE 'error: .*kept/b/.*No space left' stderr.txt || { cat stderr.txt; die "the full disk is not named"; }
  no_temporary_files
  rm kept/b/filling
  mount -o remount,size=100m kept/b
  job -- abcd
  as_undisturbed "with room again"
  umount kept/b
  trap 'rm -rf "$folder"' EXIT
else
  echo "SKIPPED a full disk: no mounts here ($(head -1 why.txt))"
fi

# What no start helps.
job -- abcd --kappa x
[ $code = 2 ] && grep -q 'another start would not help' stderr.txt || { cat stderr.txt; die "a wrong flag: exit code $code"; }
expect 2 'krylov-state: .*modes gathered' "${solve[@]}" --json x.json --checkpoint x --krylov-state --recycle 8 --solver cgnr
expect 2 'redundant: there are no restart files' "${solve[@]}" --json x.json --redundant

# Every solver on another number of ranks: killed behind some state, it goes on to the same history.
moved() {
  rm -rf kept shared
  expect 0 '^wrote one.json' "$@" --residual-history --json one.json
  results one.json > moved.txt
  [ -s moved.txt ] || die "no residual history: $*"
  "$QUARKSTAR" "$@" --residual-history --json early.json --checkpoint shared --krylov-state --checkpoint-every 4 --check-every 4 > /dev/null 2>&1 &
  local victim=$!
  until ls shared/state-* > /dev/null 2>&1 || ! kill -0 $victim 2> /dev/null; do sleep 0.01; done
  kill -KILL $victim 2> /dev/null || true
  wait $victim 2> /dev/null || true
  ranks 2 "$@" --residual-history --json ranks.json --checkpoint shared --krylov-state || { cat stderr.txt; die "2 ranks: $*"; }
  results ranks.json | cmp moved.txt - || die "other bits on 2 ranks: $*"
}
wilson=(solve --gauge large.ildg --kappa 0.165 --tol 1e-12 --columns 0,1 --threads 1)
staggered=(solve --gauge large.ildg --action hisq --masses 0.05,0.1 --tol 1e-11 --columns 0,1 --threads 1)
for flags in "--precision half" "--solver cgnr --precision single --updates correction" "--solver gcr --precision half --inner-solver bicgstab" \
  "--solver gcr --schwarz-block 4,4,4,4" "--solver multigrid --precision single --aggregate 4,4,4,4 --levels 2"; do
  # shellcheck disable=SC2086
  moved "${wilson[@]}" $flags
done
for flags in "--precision half" "--solver multishift --precision single" "--solver blockcg --precision single"; do
  # shellcheck disable=SC2086
  moved "${staggered[@]}" $flags
done

# The state of what has ended says nothing without the solutions.
ls shared/state-* > /dev/null || die "no state of what has ended"
rm shared/column*
expect 0 '^wrote again.json' "${staggered[@]}" --solver blockcg --precision single --residual-history --json again.json --checkpoint shared --krylov-state
results again.json | cmp moved.txt - || die "other bits where solutions are no more"
