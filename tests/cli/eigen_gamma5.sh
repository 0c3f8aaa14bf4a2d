#!/usr/bin/env bash
# quarkstar eigen --operator gamma5 and --end highest: files that other cuts and ten kills leave the same; what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
common=(--gauge lattice.ildg --kappa 0.13 --threads 1 --no-tune)
eigen=(eigen "${common[@]}" --operator gamma5 --modes 6 --block 2 --basis 16)
of_key() { sed -n "/\"$2\"/,/]/p" "$1"; }
numbers() { of_key "$1" eigenvalues | grep -oE -- '-?[0-9]\.[0-9]+'; }

begin=$(date +%s%N)
expect 0 '^wrote modes.h5' "${eigen[@]}" --out modes.h5 --json modes.json
milliseconds=$((($(date +%s%N) - begin) / 1000000))
absent modes.h5.restart
grep -q '"operator_name": "gamma5"' modes.json && grep -q '"end": "lowest"' modes.json || die "the JSON does not say whose modes they are"
numbers modes.json | grep -q -- - && numbers modes.json | grep -qv -- - || die "not both signs among the eigenvalues"
numbers modes.json | tr -d - | sort -g -c || die "eigenvalues are not in the order of their size"

# Ten kills at any moment of a solve, each of which goes on where the one before it was.
seed=${SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
kills=0
for ((attempt = 0; kills < 10; ++attempt)); do
  [ $attempt -lt 30 ] || die "only $kills kills in $attempt solves"
  "$QUARKSTAR" "${eigen[@]}" --out killed.h5 > /dev/null 2>&1 &
  victim=$!
  moment=$((RANDOM % milliseconds))
  sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
  if kill -KILL $victim 2> /dev/null; then kills=$((kills + 1)); fi
  wait $victim 2> /dev/null || true
  if [ -e killed.h5 ]; then
    cmp modes.h5 killed.h5 || die "after $kills kills it is another file"
    rm killed.h5
  fi
done
# And one that leaves a restart file for certain.
leave_restart_file killed.h5 "${eigen[@]}"
expect 0 '^wrote killed.h5' "${eigen[@]}" --out killed.h5
cmp modes.h5 killed.h5 || die "a solve that was killed gives another file"
absent killed.h5.restart

# Another cut, SciDAC and less than double precision.
expect 0 '^wrote cut.h5' "${eigen[@]}" --out cut.h5 --blocks 1 1 1 2 --workers 2 --devices cpu
cmp modes.h5 cut.h5 || die "another cut gives another file"
expect 0 '^wrote modes.lime' "${eigen[@]}" --out modes.lime --json lime.json
cmp <(of_key modes.json eigenvalues) <(of_key lime.json eigenvalues) || die "a SciDAC file: other eigenvalues"
expect 0 '^wrote half.h5' "${eigen[@]}" --store half --out half.h5 --json half.json
cmp <(of_key modes.json eigenvalues) <(of_key half.json eigenvalues) || die "in half precision: other eigenvalues"
[ "$(stat -c %s modes.h5)" -gt $(($(stat -c %s half.h5) * 3)) ] || die "in half precision the file is hardly smaller"

# The upper end: of gamma_5 M and of an even-odd operator.
expect 0 '^wrote high.h5' "${eigen[@]}" --end highest --out high.h5 --json high.json
numbers high.json | tr -d - | sort -g -r -c || die "the highest eigenvalues are not in the order of their size"
staggered=(--gauge lattice.ildg --action naive --threads 1 --no-tune)
expect 0 '^wrote naive.h5' eigen "${staggered[@]}" --end highest --modes 6 --out naive.h5 --json naive.json
grep -q '"end": "highest"' naive.json || die "the JSON does not say which end"

# Neither deflates a solve.
for file in modes.h5 modes.lime high.h5; do
  expect 2 "$file: its eigenvectors are those of another operator or configuration .*gamma_5 M" solve "${common[@]}" --columns 0 --json x.json --deflate $file
done
expect 2 'naive.h5: its eigenvectors are those of another operator or configuration .*from its upper end' solve "${staggered[@]}" --mass 0.05 --columns 0 --json x.json --deflate naive.h5
expect 2 'error: --operator: gamma5, and the vectors of naive have no spin' eigen "${staggered[@]}" --operator gamma5 --modes 6 --out x.h5
expect 2 'error: --operator: gamma5, and gamma_5 M of twisted-mass with mu 0.1 is not hermitian; give even-odd, or mu 0' eigen "${common[@]}" --action twisted-mass --mu 0.1 --operator gamma5 --modes 6 --out x.h5
expect 2 '--operator: gamma6 not in' eigen "${common[@]}" --operator gamma6 --modes 6 --out x.h5
expect 2 '--end: middle not in' eigen "${common[@]}" --end middle --modes 6 --out x.h5
absent x.h5 x.json
