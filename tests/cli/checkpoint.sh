#!/usr/bin/env bash
# Restart files: a solve that is stopped, killed or moved to other ranks goes on to the same answer, and damaged files are refused.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
solve=(solve --gauge lattice.ildg --kappa 0.12 --columns 0 --tol 1e-11 --threads 1)
iterations() { grep -o '"iterations": [0-9]*' "$1" | head -n 1 | grep -o '[0-9]*'; }

# Whole, and again from its own file: nothing left to do.
expect 0 '^wrote' "${solve[@]}" --json whole.json --checkpoint whole --checkpoint-every 4 --check-every 1
expect 0 '^wrote' "${solve[@]}" --json again.json --checkpoint whole
[ "$(iterations again.json)" = 0 ] || die "a finished column was solved again: $(iterations again.json) iterations"
absent

# Interrupted by the iteration limit after the last restart file: the next run goes on from there.
expect 4 'iteration limit' "${solve[@]}" --json early.json --checkpoint part --checkpoint-every 4 --check-every 1 --max-iterations 10
[ -s part/column00.checkpoint ] || die "no restart file"
expect 0 '^wrote' "${solve[@]}" --json rest.json --checkpoint part
[ "$(iterations rest.json)" -gt 0 ] || die "the restarted solve did nothing"
[ "$(iterations rest.json)" -lt "$(iterations whole.json)" ] || die "the restarted solve began anew"
grep -q '"reason": "converged"' rest.json || die "the restarted solve did not converge"

# The iteration limit alone leaves a file.
expect 4 'iteration limit reached; start it again to go on from the restart files in limit, raise' "${solve[@]}" --json early.json --checkpoint limit --max-iterations 10
expect 0 '^wrote' "${solve[@]}" --json rest.json --checkpoint limit
[ "$(iterations rest.json)" -lt "$(iterations whole.json)" ] || die "the solve began anew after the iteration limit"

# Killed at any moment: what was there stays whole, and the next run removes half-written files.
long=(solve --gauge lattice.ildg --kappa 0.12 --threads 1 --json long.json --checkpoint killed --checkpoint-every 1 --check-every 1 --tol 1e-13)
for delay in 0.05 0.3; do  # after the first file
  "$QUARKSTAR" "${long[@]}" > /dev/null 2>&1 &
  victim=$!
  while [ ! -e killed/column00.checkpoint ] && kill -0 $victim 2> /dev/null; do sleep 0.05; done
  sleep $delay
  kill -KILL $victim 2> /dev/null || true
  wait $victim 2> /dev/null || true
done
mkdir -p killed
echo half > killed/.column00.checkpoint.4711-0.tmp
expect 0 '^wrote long.json' "${long[@]}"
[ -z "$(find killed -name '.*')" ] || die "temporary files of killed runs are left"
[ "$(grep -c '"reason": "converged"' long.json)" = 12 ] || die "not 12 columns after two kills"

# SIGTERM writes a file and says where.
expect 0 '^plaquette ' gauge generate large.ildg --lattice 8 8 8 8 --beta 5.7 --sweeps 2 --seed 7 --format ildg
# A kappa far beyond the critical one: each column takes a thousand iterations.
endless=(solve --gauge large.ildg --kappa 0.2 --tol 1e-13 --solver cgnr --threads 1 --json endless.json --checkpoint-every 20)
"$QUARKSTAR" "${endless[@]}" --checkpoint stopped > stdout.txt 2> stderr.txt &
victim=$!
while [ ! -e stopped/column00.checkpoint ] && kill -0 $victim 2> /dev/null; do sleep 0.05; done
code=0
kill -TERM $victim || { cat stderr.txt; die "the solve was over before SIGTERM"; }
wait $victim || code=$?
[ $code = 130 ] || { cat stderr.txt; die "exit code $code after SIGTERM"; }
grep -q 'restart files are in stopped' stderr.txt || { cat stderr.txt; die "no word of the restart files"; }

# Damage.
expect 2 'part/column00.checkpoint: the restart file belongs to another problem' "${solve[@]}" --json x.json --checkpoint part --kappa 0.13
expect 2 'part/column00.checkpoint: the restart file belongs to another problem' "${solve[@]}" --json x.json --checkpoint part --reunitarize
cp part/column00.checkpoint good
truncate -s -100 part/column00.checkpoint
expect 2 'part/column00.checkpoint: the restart file has [0-9]* bytes instead of' "${solve[@]}" --json x.json --checkpoint part
truncate -s 100 part/column00.checkpoint
expect 2 'part/column00.checkpoint: the restart file ends within its header' "${solve[@]}" --json x.json --checkpoint part
cp good part/column00.checkpoint
printf 'x' | dd of=part/column00.checkpoint bs=1 seek=5000 conv=notrunc status=none
expect 2 'the data do not match the restart file' "${solve[@]}" --json x.json --checkpoint part
cp good part/column00.checkpoint
digit=$(($(grep -abo '"iterations":' good | head -n 1 | cut -d: -f1) + 13))
printf '%d' $(($(dd if=good bs=1 skip=$digit count=1 status=none) % 9 + 1)) | dd of=part/column00.checkpoint bs=1 seek=$digit conv=notrunc status=none
expect 2 'the header does not match the restart file' "${solve[@]}" --json x.json --checkpoint part
for header in '{"format": 1}' 'no JSON' ''; do
  printf '%-8192s' "$header" > part/column00.checkpoint
  expect 2 'part/column00.checkpoint: this is not a restart file' "${solve[@]}" --json x.json --checkpoint part
done
# What cannot be read is not called damaged. Root reads everything, unless it gives that up.
cp good part/column00.checkpoint
chmod 000 part/column00.checkpoint
plain=$QUARKSTAR
without_root=(setpriv --bounding-set -dac_override,-dac_read_search --inh-caps -dac_override,-dac_read_search)
unprivileged() { "${without_root[@]}" "$plain" "$@"; }
reader=$QUARKSTAR
if cat part/column00.checkpoint > /dev/null 2>&1; then
  reader=
  if ! "${without_root[@]}" cat part/column00.checkpoint > /dev/null 2> why.txt &&
    grep -q '^cat: ' why.txt; then reader=unprivileged; fi
fi
if [ -n "$reader" ]; then
  QUARKSTAR=$reader expect 3 'part/column00.checkpoint: reading failed: .*every rank must be able to read it' "${solve[@]}" --json x.json --checkpoint part
  if grep -q 'remove it' stderr.txt; then die "a file that cannot be read is to be removed"; fi
else
  echo "SKIPPED a restart file that cannot be read: root cannot give up reading it here"
fi
chmod 600 part/column00.checkpoint
expect 2 '--checkpoint' "${solve[@]}" --json x.json --checkpoint lattice.ildg/nowhere
expect 2 '--checkpoint-every' "${solve[@]}" --json x.json --checkpoint-every 4

# A full disk and a read-only one, on one rank and on two: one error, and the files that were there stay.
launchers=("$QUARKSTAR")
if command -v mpirun > /dev/null; then
  one_rank=$QUARKSTAR
  two_ranks() { timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$one_rank" "$@"; }
  launchers+=(two_ranks)
fi
mkdir disk
if mount -t tmpfs -o size=160k none disk 2> why.txt; then
  trap 'umount disk; cd /; rm -rf "$folder"' EXIT
  expect 4 'iteration limit' "${solve[@]}" --json early.json --checkpoint disk --max-iterations 3
  more=("${solve[@]}" --json x.json --checkpoint disk --tol 1e-13 --checkpoint-every 1 --check-every 1)
  mkdir disk/out
  for launcher in "${launchers[@]}"; do
    stay() {
      cmp good disk/column00.checkpoint || die "$1 disk damaged the restart file ($launcher)"
      [ "$(cat disk/out/propagator.h5)" = old ] || die "$1 disk damaged the propagator ($launcher)"
      [ "$(ls disk/out)" = propagator.h5 ] || die "files of a failed run are left on $1 disk ($launcher)"
      absent x.json
    }
    cp good disk/column00.checkpoint
    echo old > disk/out/propagator.h5
    dd if=/dev/zero of=disk/filling bs=1k count=40 status=none
    QUARKSTAR=$launcher expect 3 'disk/column00.checkpoint: .*No space left' "${more[@]}"
    stay "a full"
    rm disk/filling
    QUARKSTAR=$launcher expect 3 'disk/out/propagator.h5: .*No space left' "${solve[@]}" --out disk/out --propagators hdf5
    stay "a full"
    mount -o remount,ro disk
    QUARKSTAR=$launcher expect 3 '--checkpoint: disk: .*Read-only' "${more[@]}"
    QUARKSTAR=$launcher expect 3 'disk/out.*Read-only' "${solve[@]}" --out disk/out
    stay "a read-only"
    mount -o remount,rw disk
  done
  # A failed solve whose JSON does not fit either: what failed first is what is said.
  dd if=/dev/zero of=disk/filling bs=1k status=none 2> /dev/null || true
  expect 4 'iteration limit' "${solve[@]}" --json disk/failed.json --max-iterations 3
  grep -q 'disk/failed.json: .*No space left' stderr.txt || { cat stderr.txt; die "no word of the JSON that could not be written"; }
  absent disk/failed.json
else
  echo "SKIPPED full and read-only disks: no mounts here ($(head -1 why.txt))"
fi

# Staggered: a file for each right-hand side; interrupted, other batches, another solver, other masses, damage.
staggered=(solve --gauge lattice.ildg --action hisq --masses 0.1,0.2 --tol 1e-11 --threads 1)
reasons() { grep -c '"reason": "converged"' "$1"; }
for flags in "" "--precision half --links 13 --nrhs 4" "--solver multishift"; do
  rm -rf hisq hisq-early
  # shellcheck disable=SC2086
  expect 0 '^wrote' "${staggered[@]}" --json hisq.json --checkpoint hisq --checkpoint-every 4 --check-every 1 $flags
  [ "$(find hisq -name 'column0[0-2]-mass0.[12].checkpoint' | wc -l)" = 6 ] || die "not 6 restart files with $flags"
  # shellcheck disable=SC2086
  expect 0 '^wrote' "${staggered[@]}" --json again.json --checkpoint hisq $flags
  if grep '"iterations"' again.json | grep -qv ': 0,'; then die "finished right-hand sides were solved again with $flags"; fi
done
expect 0 '^wrote' "${staggered[@]}" --json again.json --checkpoint hisq --solver cg --nrhs 5
if grep '"iterations"' again.json | grep -qv ': 0,'; then die "another solver began anew"; fi
expect 4 'iteration limit' "${staggered[@]}" --json early.json --checkpoint hisq-early --checkpoint-every 4 --check-every 1 --max-iterations 20 --nrhs 6
cp -r hisq-early hisq-ranks
expect 0 '^wrote' "${staggered[@]}" --json rest.json --checkpoint hisq-early --residual-history
[ "$(reasons rest.json)" = 6 ] || die "not 6 answers after a restart"
[ "$(iterations rest.json)" -lt "$(iterations hisq.json)" ] || die "the restarted staggered solve began anew"
expect 2 'hisq/column00-mass0.1.checkpoint: the restart file belongs to another problem' "${staggered[@]}" --naik-epsilon 0.1 --json x.json --checkpoint hisq
expect 2 'hisq/column00-mass0.1.checkpoint: the restart file belongs to another problem' "${staggered[@]}" --source wall:0 --json x.json --checkpoint hisq
cp hisq/column01-mass0.2.checkpoint good-colour
printf 'x' | dd of=hisq/column01-mass0.2.checkpoint bs=1 seek=5000 conv=notrunc status=none
expect 2 'hisq/column01-mass0.2.checkpoint: the data do not match' "${staggered[@]}" --json x.json --checkpoint hisq
truncate -s 5000 hisq/column01-mass0.2.checkpoint
expect 2 'hisq/column01-mass0.2.checkpoint: the restart file has 5000 bytes instead of' "${staggered[@]}" --json x.json --checkpoint hisq
expect 0 '^wrote hisq-links.fat' gauge smear lattice.ildg hisq-links
expect 0 '^wrote' solve --action hisq --fat hisq-links.fat --long hisq-links.long --masses 0.1,0.2 --tol 1e-11 --threads 1 --json files.json --checkpoint hisq-early
if grep '"iterations"' files.json | grep -qv ': 0,'; then die "links from files are another problem"; fi

# Other numbers of ranks.
command -v mpirun > /dev/null || { echo "SKIPPED ranks: no mpirun"; exit 0; }
cp good part/column00.checkpoint
ranks() { timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$@" > stdout.txt 2> stderr.txt || { cat stderr.txt; die "mpirun -n $*"; }; }
ranks 2 "$QUARKSTAR" "${solve[@]}" --json two.json --checkpoint part
[ "$(iterations two.json)" = 0 ] || die "two ranks solved a finished column again"
rm -r part
expect 4 'iteration limit' "${solve[@]}" --json early.json --checkpoint part --checkpoint-every 4 --check-every 1 --max-iterations 10
cp -r part part2
expect 0 '^wrote' "${solve[@]}" --json rest1.json --residual-history --checkpoint part
ranks 3 "$QUARKSTAR" "${solve[@]}" --json rest3.json --residual-history --checkpoint part2
for run in rest1 rest3; do grep -oE '"-?0x[^"]*"' $run.json > $run.txt; done
cmp rest1.txt rest3.txt || die "the history after a restart depends on the ranks"
cmp part/column00.checkpoint part2/column00.checkpoint || die "restart files depend on the ranks"
ranks 2 "$QUARKSTAR" "${staggered[@]}" --json restranks.json --residual-history --checkpoint hisq-ranks
for run in rest restranks; do grep -oE '"-?0x[^"]*"' $run.json > $run.txt; done
[ -s rest.txt ] || die "no residual history"
cmp rest.txt restranks.txt || die "the history of a staggered solve after a restart depends on the ranks"

# SIGUSR2 to mpirun, which hands it on: the ranks save, and take the time that they need.
mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$QUARKSTAR" "${endless[@]}" --checkpoint handed > stdout.txt 2> stderr.txt &
victim=$!
while [ ! -e handed/column00.checkpoint ] && kill -0 $victim 2> /dev/null; do sleep 0.05; done
code=0
kill -USR2 $victim || true
wait $victim || code=$?
[ $code = 130 ] || { cat stderr.txt; die "exit code $code after SIGUSR2"; }
grep -q 'restart files are in handed' stderr.txt || { cat stderr.txt; die "no word of the restart files after SIGUSR2"; }
