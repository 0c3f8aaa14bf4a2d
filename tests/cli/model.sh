#!/usr/bin/env bash
# model: every figure in text, JSON and SVG; this machine stands among the others.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
given=(--bandwidth 20 --estimate-only)
expect 0 '^K40, triad GB/s: 0.70 of the peak' model machines "${given[@]}"
expect 0 '^here, triad GB/s: --bandwidth' model machines "${given[@]}"
expect 0 '^here, triad GB/s: measured now on ' model machines --array-mb 1 --repetitions 1 --gpus 0
for figure in dslash solver-lattice solver-rhs relative watts wilson v100 peers; do
  [ "$figure" != v100 ] || given=(--estimate-only)  # no machine at hand stands in it
  expect 0 "^wrote $figure.svg" model "$figure" "${given[@]}" --svg "$figure.svg"
  ! grep -wE 'nan|inf' stdout.txt "$figure.svg" || die "$figure has bad numbers"
  expect 0 "\"figure\": \"$figure\"" model "$figure" "${given[@]}" --json
done
cmp peers.svg "$QUARKSTAR_SOURCE_DIR/docs/pictures/speeds.svg" || die "the README's picture of speeds is not that of model peers"
# Rows and numbers of the first table of the document that it names: `| Wilson half, single | 1, 2 | 3, 4 |`, Quarkstar's and QUDA's.
sed '1,/^Dslash at /d' "$QUARKSTAR_SOURCE_DIR/docs/results/2026-11-23-peers.md" | awk -F ' *[|] *' '
  /^[^|]/ {exit}
  /^[|] (Wilson|HISQ) / {
    kind = $2 ~ /^HISQ/ ? "HISQ n = " : "Wilson "
    sub(/^HISQ single, n = |^Wilson /, "", $2); sub(/ right-hand sides$/, "", $2)
    n = split($2, of, ", *"); split($3, ours, ", *"); split($4, theirs, ", *")
    for (i = 1; i <= n; ++i) print kind of[i], ours[i] + 0, theirs[i] + 0}' > peers.txt
[ "$(wc -l < peers.txt)" = 7 ] || { cat peers.txt; die "not seven rows in the document of model peers"; }
expect 0 '"figure": "peers"' model peers --json
awk -F ': |,' '/"Dslash": "/ {gsub(/"/, "", $2); row = $2} /"Quarkstar": / {ours = $2 + 0} /"QUDA": / {print row, ours, $2 + 0}' stdout.txt |
  diff peers.txt - || die "model peers has other numbers than its document"
given=(--bandwidth 20 --estimate-only)
expect 0 '' model v100 --json
cp stdout.txt v100.txt
expect 0 '' model v100 --json --triad V100=100
! cmp -s stdout.txt v100.txt || die "model v100 takes no other triad"
expect 2 'error: --bandwidth: the figure v100 does not use it; leave it out; it uses --triad, --overhead-us' model v100 --bandwidth 20
expect 2 'error: --triad: the figure rhs does not use it' model --triad V100=100
expect 0 '^POWER8 +153.7 +108.1' model dslash "${given[@]}"
expect 0 '^K40 +139.5 +159.4 +279 +318.9' model wilson "${given[@]}"
expect 0 '^K40 +230.5 +160.1 ' model dslash "${given[@]}" --triad K40=200
expect 0 '^here +unavailable +16.01 .* [0-9.]+ +[0-9]+$' model dslash --bandwidth 20 --lattice 4,4,4,8 --repetitions 1 --gpus 0

# Seed 0's two tables: flop a byte by right-hand sides, and for one by how many of its 16 neighbours are in a cache (the
# document rounds 0.87348 up).
cat > expected.txt <<'TABLES'
1 0.80
2 1.25
3 1.53
4 1.73
5 1.87
0 0.800
3 0.843
5 0.873
7 0.907
9 0.942
15 1.069
TABLES
expect 0 '^wrote seed.svg' model --seed hisq "${given[@]}" --gpus 0 --svg seed.svg
awk '$1 ~ /^[0-9]+$/ && NF == 3 {print $1, $2}' stdout.txt | diff expected.txt - || die "other intensities in the text"
awk '$1 ~ /^[0-9]+$/ && ($3 / $2 > 20.2 || $3 / $2 < 19.8) {exit 1}' stdout.txt ||
  die "an estimate is not intensity times bandwidth"
{ grep -q '<svg' seed.svg && grep -q 'intensity x bandwidth' seed.svg; } || die "no chart of the estimate"
expect 0 '"seed": "hisq"' model --seed hisq "${given[@]}" --gpus 0 --json --svg seed.svg
grep -oE '"(nrhs|cached_neighbours|intensity)": [0-9.]+' stdout.txt |
  awk '{value = $2; sub(/,$/, "", value)} $1 != "\"intensity\":" {cached = $1 ~ /cached/; label = value; next}
       {printf cached ? "%d %.3f\n" : "%d %.2f\n", label, value}' | diff expected.txt - ||
  die "other intensities in the JSON"
[ "$(grep -c '"estimate_gflops": [0-9]' stdout.txt)" = 11 ] || die "an estimate by right-hand sides or cache hits is missing in the JSON"
grep -q '0, 3, 5, 7, 9, 15 of 16 neighbours from a cache' seed.svg || die "the chart has no cache hits"
[ "$(grep -c '"measured_gflops": null' stdout.txt)" = 5 ] || die "a Dslash was measured though none was wanted"
expect 0 '^ *4 +1.73 ' model --nrhs 1 4 "${given[@]}" --gpus 0

# The triad measured here, estimate and measured speed side by side, as text, JSON and SVG: on the CPU, and on a GPU
# where there is one.
measured() {  # measured DEVICE FLAG...
  local device=$1
  shift
  local small=(model --seed hisq --nrhs 1 2 --lattice 8 8 8 8 --array-mb 1 --repetitions 1 "$@")
  expect 0 '^wrote measured.svg' "${small[@]}" --svg measured.svg
  head -1 stdout.txt | grep -qF "$device" || die "no figure of $device"
  head -1 stdout.txt | grep -qE '; .*, [0-9]+\.[0-9] GB/s$' || die "no bandwidth in the text"
  [ "$(grep -cE '^ +[12] +[01]\.[0-9]{2}( +[0-9.]+){4}$' stdout.txt)" = 2 ] ||
    die "estimate and measurement are not side by side"
  { grep -q 'intensity x bandwidth' measured.svg && grep -q '>measured' measured.svg; } ||
    die "the chart lacks the estimate or the measurement"
  expect 0 '"bandwidth_gbs": [0-9]' "${small[@]}" --json
  [ "$(grep -cE '"measured_gflops": [0-9.e+-]+$' stdout.txt)" = 2 ] || die "the JSON lacks measurements"
  grep -qF "\"device\": \"$device\"" stdout.txt || die "the JSON does not name $device"
}
expect 0 '"workers"' machine --json
cpu=$(sed -nE 's/^  "cpu": "(.*)",$/\1/p' stdout.txt)
gpu=$(grep -B1 -m1 '"kind": "CUDA"' stdout.txt | sed -nE 's/^ *"name": "(.*)",$/\1/p' || true)
measured "$cpu" --gpus 0
if [ -n "$gpu" ]; then measured "$gpu" --gpus 1; else echo "SKIPPED model on a GPU: no GPU"; fi

expect 2 'error: FIGURE: ' model nonsense
QUARKSTAR_SIM=$folder/nowhere expect 3 'error: .*nowhere: is not there; build it with ./bootstrap simulation' model power8
expect 2 "error: --triad: 'K80=1' is no NAME=GB/s" model wilson "${given[@]}" --triad K80=1
expect 2 'error: --seed: the figure wilson is of another document than hisq' model wilson --seed hisq "${given[@]}"
expect 2 'error: --svg: the table of machines has no chart' model machines "${given[@]}" --svg a.svg
[ -z "${QUARKSTAR_SCREENSHOTS:-}" ] || cp ./*.svg "$QUARKSTAR_SCREENSHOTS"
