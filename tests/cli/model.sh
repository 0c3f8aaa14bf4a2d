#!/usr/bin/env bash
# model: every figure in text, JSON and SVG; this machine stands among the others.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
given=(--bandwidth 20 --estimate-only)
expect 0 '^K40, triad GB/s: 0.70 of the peak' model machines "${given[@]}"
expect 0 '^here, triad GB/s: --bandwidth' model machines "${given[@]}"
expect 0 '^here, triad GB/s: measured now on ' model machines --array-mb 1 --repetitions 1 --gpus 0
for figure in dslash solver-lattice solver-rhs relative watts wilson v100; do
  expect 0 "^wrote $figure.svg" model "$figure" "${given[@]}" --svg "$figure.svg"
  ! grep -wE 'nan|inf' stdout.txt "$figure.svg" || die "$figure has bad numbers"
  expect 0 "\"figure\": \"$figure\"" model "$figure" "${given[@]}" --json
done
expect 0 '^POWER8 +153.7 +108.1' model dslash "${given[@]}"
expect 0 '^K40 +139.5 +159.4 +279 +318.9' model wilson "${given[@]}"
expect 0 '^K40 +230.5 +160.1 ' model dslash "${given[@]}" --triad K40=200
expect 0 '^here +unavailable +16.01 .* [0-9.]+ +[0-9]+$' model dslash --bandwidth 20 --lattice 4,4,4,8 --repetitions 1 --gpus 0
expect 0 '^ *4 +1.73 ' model --nrhs 1 4 "${given[@]}" --gpus 0
expect 2 'error: FIGURE: ' model nonsense
QUARKSTAR_SIM=$folder/nowhere expect 3 'error: .*nowhere: is not there; build it with ./bootstrap simulation' model power8
expect 2 "error: --triad: 'K80=1' is no NAME=GB/s" model wilson "${given[@]}" --triad K80=1
expect 2 'error: --seed: the figure wilson is of another document than hisq' model wilson --seed hisq "${given[@]}"
expect 2 'error: --svg: the table of machines has no chart' model machines "${given[@]}" --svg a.svg
[ -z "${QUARKSTAR_SCREENSHOTS:-}" ] || cp ./*.svg "$QUARKSTAR_SCREENSHOTS"
