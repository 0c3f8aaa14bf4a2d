#!/usr/bin/env bash
# The laboratory: a small matrix, resumed, with a run that fails; its report in a browser, where the charts zoom.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
small=(--lattice 4,4,4,4 --sweeps 2 --set kappa=0.12 tol=1e-6 threads=1 gpus=0 --array-mb 1 --seed 7 --out lab)
matrix=(--policy static eager --blocks 1,1,1,1 1,1,1,2 --repetitions 2 --warm-up 0 --traces)
expect 0 '^residual histories: 12 runs of 1 problem, all bits equal' lab "${small[@]}" "${matrix[@]}"
grep -q '^4 cells, 2 measured runs and 0 warm-up runs each, one traced; order from --seed 7' stdout.txt || die "no seed"
rows() { grep -c "\"kind\":\"$1\"" lab/runs.jsonl || true; }
[ "$(rows measured)" = 8 ] && [ "$(rows traced)" = 4 ] && [ "$(rows bandwidth)" = 1 ] || die "not 8 measured and 4 traced runs"
grep -q '"joules":null' lab/runs.jsonl && grep -q '"no_joules":"' lab/runs.jsonl || grep -q '"joules":[0-9]' lab/runs.jsonl || die "no word on energy"
cp lab/runs.jsonl first.jsonl

# Again: nothing is left to do. With one repetition and one policy more, only those run; a policy that refuses is a row of its own.
expect 0 '12 of 12 runs are in lab/runs.jsonl already' lab "${small[@]}" "${matrix[@]}"
cmp first.jsonl lab/runs.jsonl || die "runs were repeated"
expect 0 '12 of 16 runs are in lab/runs.jsonl already' lab "${small[@]}" "${matrix[@]}" --repetitions 3
head -c -20 lab/runs.jsonl > torn.jsonl
cp torn.jsonl lab/runs.jsonl
expect 0 '15 of 16 runs are in lab/runs.jsonl already' lab "${small[@]}" "${matrix[@]}" --repetitions 3
expect 0 '^1 of 2 runs failed' lab "${small[@]}" --out failing --vary max-iterations=2 max-iterations=1000 --repetitions 1 --warm-up 0 --no-bandwidth
grep -q '"status":"failed","message":"column 0 .*iteration limit' failing/runs.jsonl || die "no message of the failed run"
expect 4 'error: .*all 1 runs failed' lab "${small[@]}" --out late --repetitions 1 --warm-up 0 --no-bandwidth --time-limit 0.001
grep -q '"status":"time limit"' late/runs.jsonl || die "no time limit"

# Other inputs are other runs: another configuration, another size of the bandwidth's arrays. A missing configuration ends it at once.
cp lab/runs.jsonl kept.jsonl
expect 0 '^4 cells, 1 measured runs and 0 warm-up runs each; order from --seed 7$' lab "${small[@]}" --sweeps 3 --array-mb 2 \
  --policy static eager --blocks 1,1,1,1 1,1,1,2 --repetitions 1 --warm-up 0
[ "$(rows bandwidth)" = 2 ] || die "the bandwidth of other arrays was taken"
QUARKSTAR_OVERLAP=off expect 0 '^1 cells, .* order from --seed 7$' lab "${small[@]}" --policy static --blocks 1,1,1,1 --repetitions 1 --warm-up 0 --no-bandwidth
cp kept.jsonl lab/runs.jsonl
expect 2 'error: nowhere.ildg: cannot be read' lab --gauge nowhere.ildg --set kappa=0.12 --out nowhere-lab
[ ! -e nowhere-lab ] || die "a lab without a configuration left a folder"

# Two sources, one after the other and together: contractions and files while the next one is solved for; nothing of them stays.
expect 0 'residual histories: 4 runs of 1 problem, all bits equal' lab --lattice 4,4,4,4 --sweeps 2 --seed 7 --out sources \
  --set kappa=0.12 tol=1e-6 threads=1 gpus=0 columns=0-11 source=point:0,0,0,0+point:0,0,0,2 --vary in-flight=1 in-flight=3 --repetitions 2 --warm-up 0 --no-bandwidth
[ -z "$(find sources -name '.run*')" ] && [ ! -e sources/out ] || die "outputs of runs are left"

# A history of other bits is an error that names both runs.
sed -E 's/("kind":"traced".*"bits":")./\1x/' lab/runs.jsonl > other.jsonl
cp other.jsonl lab/runs.jsonl
expect 4 'error: .*residual histories differ: run [0-9]+ \(policy=.*\) and run [0-9]+ \(' lab "${small[@]}" "${matrix[@]}" --repetitions 3

expect 2 'error: --policy: .*nonsense' lab --policy static nonsense
expect 2 'error: --set kappa: ' lab --set kappa=-1
expect 2 "error: --vary: 'kappa' is no KEY=VALUE" lab --vary kappa
expect 2 'error: missing.toml: ' lab missing.toml
for plan in "$here"/../../apps/lab/plans/*.toml; do  # every shipped plan is valid: it comes as far as asking for the simulator
  QUARKSTAR_SIM=$folder/nowhere expect 3 'error: .*nowhere: is not there; build it' lab "$plan" --out nowhere-lab
done
QUARKSTAR_SIM=$folder/nowhere expect 3 'error: .*nowhere: is not there; build it' lab --run 'bench solver' --machine here h200 --out nowhere-lab
expect 2 'error: --set tol: bench solver has no tol' lab --run 'bench solver' --set tol=1e-8 --out nowhere-lab
QUARKSTAR_SIM=$folder/nowhere expect 3 'error: .*nowhere: is not there; build it' lab --run 'bench solver' --machine here h200 --set action=clover --set csw=1.1 --out nowhere-lab

! grep -nE 'https?://|<script src|<link|<iframe|src=|url\(|@import|>nan<|>inf<' lab/report.html || die "the report needs other files, or has bad numbers"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "SKIPPED the laboratory's report in a browser: no chromium"
  exit 0
fi
open_page() {  # ARGUMENT...: the page's DOM goes to dom.html
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --enable-logging=stderr --v=0 --window-size=1280,2600 \
    "$@" > dom.html 2> browser.txt || { cat browser.txt; die "the browser fails"; }
  ! grep -E 'CONSOLE|Page load failed' browser.txt || die "the browser complains"
}
open_page --dump-dom "file://$folder/lab/report.html#selftest"
grep -q 'data-selftest="passed"' dom.html || { grep -o 'data-selftest="[^"]*"' dom.html; die "the charts do not zoom"; }
for scheme in 0 1; do  # dark, light
  open_page --blink-settings=preferredColorScheme=$scheme --screenshot="$folder/page$scheme.png" "file://$folder/lab/report.html"
  [ "$(stat -c %s "page$scheme.png")" -gt 40000 ] || die "the page is empty"
done
[ -z "${QUARKSTAR_SCREENSHOTS:-}" ] || cp page0.png page1.png lab/report.html "$QUARKSTAR_SCREENSHOTS"
