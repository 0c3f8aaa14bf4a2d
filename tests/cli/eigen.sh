#!/usr/bin/env bash
# quarkstar eigen: a file of modes, the same after kills and on other cuts and ranks; deflated solves; files that do not belong are refused.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
common=(--gauge lattice.ildg --action naive --threads 1 --no-tune)
eigen=(eigen "${common[@]}" --modes 12 --block 2 --basis 20 --degree 10)
solve=(solve "${common[@]}" --mass 0.005 --columns 0 --tol 1e-10)
iterations() { grep -o '"iterations": [0-9]*' "$1" | head -n 1 | grep -o '[0-9]*'; }

expect 0 '^conjugate gradient for mass 0.005 to 1e-10: [0-9]+ iterations in .* without these modes, [0-9]+ in ' "${eigen[@]}" --mass 0.005 --out modes.h5 --json modes.json
in_break_even() { sed -n '/"break_even"/,/^  }/p' modes.json | sed -n "/\"$1\"/,/}/p" | grep '"iterations"' | grep -o '[0-9]*'; }
[ "$(in_break_even with)" -lt "$(in_break_even without)" ] || die "twelve modes save no iterations"
absent modes.h5.restart
[ "$(grep -c e- <(sed -n '/"residuals"/,/]/p' modes.json))" -ge 12 ] || die "no residuals in the JSON"

# killed FILE FLAG...: begins a solve for FILE, and kills it when its restart file is there, or lets it end before.
killed() {
  local file=$1
  shift
  "$QUARKSTAR" "$@" --out "$file" > /dev/null 2>&1 &
  local victim=$!
  while [ ! -e "$file.restart" ] && kill -0 $victim 2> /dev/null; do sleep 0.02; done
  kill -KILL $victim 2> /dev/null || true
  wait $victim 2> /dev/null || true
}

# The same file from another cut, and after kills.
expect 0 '^wrote cut.h5' "${eigen[@]}" --out cut.h5 --json cut.json --blocks 1 1 1 2 --workers 2 --devices cpu
cmp modes.h5 cut.h5 || die "another cut gives another file"
expect 0 '^wrote host.h5' "${eigen[@]}" --out host.h5 --json host.json --basis-memory host
cmp modes.h5 host.h5 || die "--basis-memory host gives another file"
grep -q '"basis_memory": "host"' host.json && grep -q '"basis_memory": "host"' cut.json || die "the JSON does not say that the basis of CPUs was in host memory"
# A solve that takes a second on an idle machine, so that kills come before its end.
expect 0 '^wrote' gauge generate large.ildg --lattice 8 8 8 8 --beta 6.0 --sweeps 4 --seed 7 --format ildg
long=(eigen --gauge large.ildg --action naive --threads 1 --no-tune --modes 12 --block 2 --basis 28 --degree 20)
expect 0 '^wrote whole.h5' "${long[@]}" --out whole.h5
kills=0
seed=${SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
for number in 1 2 3 4 5 6 7 8 9 10; do
  "$QUARKSTAR" "${long[@]}" --out killed.h5 > /dev/null 2>&1 &
  victim=$!
  while [ ! -e killed.h5.restart ] && kill -0 $victim 2> /dev/null; do sleep 0.02; done
  sleep "0.$(printf %03d $((RANDOM % 200)))"
  kill -KILL $victim 2> /dev/null && kills=$((kills + 1))
  wait $victim 2> /dev/null || true
done
[ $kills -gt 0 ] || die "it was over before each of $number kills"
expect 0 '^wrote killed.h5' "${long[@]}" --out killed.h5
cmp whole.h5 killed.h5 || die "a solve that was killed $kills times gives another file"
absent killed.h5.restart
# What a job that was killed while it wrote has left goes with the next one.
touch .killed.h5.restart.123-0.tmp
expect 0 '^wrote killed.h5' "${eigen[@]}" --out killed.h5
absent none

# A basis in single precision: eigenvalues as they are in double, the same file after a kill and on another cut. The restart file of one is
# none for the other.
narrow=(eigen "${common[@]}" --modes 12 --block 2 --basis 24 --degree 40 --basis-precision single)
expect 0 '^wrote narrow.h5' "${narrow[@]}" --out narrow.h5 --json narrow.json
digits() { sed -n '/"eigenvalues"/,/]/p' "$1" | grep -o '0\.[0-9]\{9\}'; }
cmp <(digits modes.json) <(digits narrow.json) || die "a basis in single precision: other eigenvalues"
killed again.h5 "${narrow[@]}"
[ ! -e again.h5.restart ] || expect 2 'again.h5.restart: .*another operator.*; remove it to begin anew' eigen "${common[@]}" --modes 12 --block 2 --basis 24 --degree 40 --out again.h5
expect 0 '^wrote again.h5' "${narrow[@]}" --out again.h5 --blocks 1 1 1 2 --workers 2
cmp narrow.h5 again.h5 || die "a basis in single precision: another cut or a kill gives another file"
expect 2 '--basis-memory: disk not in' eigen "${common[@]}" --modes 8 --basis-memory disk --out x.h5
expect 2 '--basis-precision: half not in' eigen "${common[@]}" --modes 8 --basis-precision half --out x.h5

# Deflation.
expect 0 '^wrote plain.json' "${solve[@]}" --json plain.json
expect 0 '^wrote deflated.json' "${solve[@]}" --json deflated.json --deflate modes.h5
[ "$(iterations deflated.json)" -lt "$(iterations plain.json)" ] || die "deflation saves no iterations"
grep -q '"reason": "converged"' deflated.json || die "the deflated solve did not converge"
for precision in single half; do
  expect 0 '^wrote low.json' "${solve[@]}" --json low.json --deflate modes.h5 --precision $precision
done

# Vectors in less than double precision: a smaller file of the same eigenvalues, the same after a kill and on another cut, also where the
# solve began with another --store; it deflates nearly as well.
bytes() { stat -c %s "$1"; }
of_key() { sed -n "/\"$2\"/,/]/p" "$1"; }
deflated=$(iterations deflated.json)
for store in single half; do
  expect 0 "^wrote $store.h5" "${eigen[@]}" --store $store --out $store.h5 --json $store.json
  cmp <(of_key modes.json eigenvalues) <(of_key $store.json eigenvalues) || die "$store: other eigenvalues"
  grep -q "\"store\": \"$store\"" $store.json || die "the JSON does not say how vectors are stored"
  [ "$(bytes modes.h5)" -gt $(($(bytes $store.h5) * 17 / 10)) ] || die "$store: the file is hardly smaller"
  killed again.h5 "${eigen[@]}"
  expect 0 '^wrote again.h5' "${eigen[@]}" --store $store --out again.h5 --blocks 1 1 1 2 --workers 2
  cmp $store.h5 again.h5 || die "$store: another cut or a kill gives another file"
  expect 0 '^wrote low.json' "${solve[@]}" --json low.json --deflate $store.h5
  [ $((10 * $(iterations low.json))) -le $((12 * deflated)) ] || die "$store: $(iterations low.json) iterations, $deflated with modes in double"
  cp $store.h5 flipped.h5
  printf '\x5a\x5b' | dd of=flipped.h5 bs=1 seek=$(($(bytes $store.h5) - 9)) conv=notrunc status=none
  expect 2 'flipped.h5: vector 11 does not match its checksums' "${solve[@]}" --json x.json --deflate flipped.h5
done
# SciDAC files, by their name: the same modes, the same bytes on another cut and after a kill, and solves that they deflate alike.
for store in double single; do
  expect 0 "^wrote $store.lime" "${eigen[@]}" --store $store --out $store.lime --json scidac.json
  cmp <(of_key modes.json eigenvalues) <(of_key scidac.json eigenvalues) || die "$store.lime: other eigenvalues"
  killed again.lime "${eigen[@]}" --store $store
  expect 0 '^wrote again.lime' "${eigen[@]}" --store $store --out again.lime --blocks 1 1 1 2 --workers 2
  cmp $store.lime again.lime || die "$store.lime: another cut or a kill gives another file"
  [ -e $store.h5 ] || cp modes.h5 $store.h5
  expect 0 '^wrote low.json' "${solve[@]}" --json low.json --deflate $store.h5
  expect 0 '^wrote scidac.json' "${solve[@]}" --json scidac.json --deflate $store.lime
  cmp <(results low.json) <(results scidac.json) || die "$store.lime: another solve than with the HDF5 file"
done
expect 2 'half.lime: SciDAC files have no vectors in half precision; store them in single' "${eigen[@]}" --store half --out half.lime
absent half.lime
size=$(bytes double.lime)
# Cut short: within a record, and behind one.
record=$(grep -abo 'scidac-private-record-xml' double.lime | tail -n 1 | cut -d: -f1)
for length in $((size - 9)) $((size / 2)) $((record - 16)); do
  head -c $length double.lime > short.lime
  expect 2 'error: short.lime: ' "${solve[@]}" --json x.json --deflate short.lime
done
expect 2 'short.lime: it has 11 of 12 vectors' "${solve[@]}" --json x.json --deflate short.lime
flip() {  # flip PLACE: of double.lime
  cp double.lime flipped.lime
  printf '\x5a' | dd of=flipped.lime bs=1 seek="$1" conv=notrunc status=none
  cmp -s double.lime flipped.lime && printf '\x5b' | dd of=flipped.lime bs=1 seek="$1" conv=notrunc status=none
  return 0
}
flip $((size / 2))
expect 2 'error: flipped.lime: .*checksum' "${solve[@]}" --json x.json --deflate flipped.lime
for word in '<eigenvalue>' '<residual>'; do
  flip $(($(grep -abo "$word" double.lime | tail -n 1 | cut -d: -f1) + ${#word} + 3))
  expect 2 'error: flipped.lime' "${solve[@]}" --json x.json --deflate flipped.lime
done
for word in '<problem>' '<parity>' '<suma>' '<components>'; do
  flip $(($(grep -abo "$word" double.lime | head -n 1 | cut -d: -f1) + ${#word}))
  expect 2 'error: flipped.lime' "${solve[@]}" --json x.json --deflate flipped.lime
done
expect 0 '^plaquette ' gauge generate foreign.ildg --lattice 4 4 4 8 --beta 6.0 --sweeps 10 --seed 9 --format ildg
expect 2 'double.lime: its eigenvectors are those of another operator or configuration' "${solve[@]}" --json x.json --deflate double.lime --gauge foreign.ildg
expect 2 'error: foreign.ildg: this is no file of eigenvectors' "${solve[@]}" --json x.json --deflate foreign.ildg
expect 2 '--store: quarter not in' eigen "${common[@]}" --modes 8 --store quarter --out x.h5

# Files that do not belong.
expect 0 '^plaquette ' gauge generate other.ildg --lattice 4 4 4 8 --beta 6.0 --sweeps 10 --seed 8 --format ildg
expect 2 'modes.h5: its eigenvectors are those of another operator or configuration' "${solve[@]}" --json x.json --deflate modes.h5 --gauge other.ildg
expect 2 'modes.h5: its eigenvectors are those of another operator or configuration' solve --gauge lattice.ildg --action asqtad --u0 1 --mass 0.05 --threads 1 --json x.json --deflate modes.h5
leave_restart_file left.h5 "${long[@]}"
expect 2 'left.h5.restart: it holds a solve that has not ended' solve --gauge large.ildg --action naive --mass 0.05 --columns 0 --threads 1 --json x.json --deflate left.h5.restart
cp lattice.ildg kept.ildg
expect 2 'lattice.ildg: this run has that file for something else' "${eigen[@]}" --out lattice.ildg
expect 2 'st.fat: this run has that file for something else' eigen --action hisq --fat st.fat --long st.long --threads 1 --modes 12 --block 2 --basis 20 --degree 10 --out st.fat
expect 2 'both.h5: this run has that file for something else' "${eigen[@]}" --out both.h5 --json both.h5
cmp lattice.ildg kept.ildg || die "a configuration was written to"
expect 2 'nowhere.h5: it is no HDF5 file, or a damaged one' "${solve[@]}" --json x.json --deflate nowhere.h5
size=$(stat -c %s modes.h5)
head -c $((size - 100)) modes.h5 > short.h5
expect 2 'short.h5: ' "${solve[@]}" --json x.json --deflate short.h5
for place in $((size / 2)) $((size - 9)); do
  cp modes.h5 flipped.h5
  printf '\x5a' | dd of=flipped.h5 bs=1 seek="$place" conv=notrunc status=none
  cmp -s modes.h5 flipped.h5 && printf '\x5b' | dd of=flipped.h5 bs=1 seek="$place" conv=notrunc status=none
  expect 2 'flipped.h5: vector [0-9]* does not match its checksums' "${solve[@]}" --json x.json --deflate flipped.h5
done
absent x.json

expect 2 'error: --precision: blockcg in half precision loses known modes' "${solve[@]}" --json x.json --deflate modes.h5 --solver blockcg --precision half

# Settings that make no sense.
expect 2 'error: --modes: 700 modes take a basis' eigen "${common[@]}" --modes 700 --out x.h5
expect 2 'error: --block: 17 vectors; give 1 to 16' eigen "${common[@]}" --modes 4 --block 17 --out x.h5
expect 2 'error: --window-low: ' eigen "${common[@]}" --modes 40 --window-low 1e-6 --out x.h5
absent x.h5
