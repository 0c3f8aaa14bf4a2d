#!/usr/bin/env bash
# Known answers: analytic ones always, those of other codes where their data are.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 'SKIPPED: no file nowhere/golden.json' verify --data nowhere
grep -q '^16 passed, 0 failed' stdout.txt || { cat stdout.txt; die "not 16 analytic answers"; }
expect 0 '"verdict": "pass"' verify --data nowhere --json
# Nor is an answer passed over that is for links which nobody knows.
mkdir unknown
echo '{"nobody.wilson.x": {"pion_pt_C_t": [1], "kappa": 0.1, "csw": 0, "antiperiodic_t": true}}' > unknown/golden.json
expect 2 "error: golden data: 'nobody' is no known configuration; name it in " verify --data unknown

if [ ! -f "$data/golden.json" ]; then
  echo "SKIPPED verify against other codes: no reference data"
  exit 0
fi
expect 0 ' 0 failed, 0 skipped' verify --data "$data"

# A wrong known answer is noticed. Only its file and configuration are there.
mkdir -p wrong/milc && cp "$data/golden.json" wrong && cp "$data/milc/lat.sample.l4444" wrong/milc
sed -i 's/0.7693442/0.7693443/' wrong/golden.json
expect 4 'error: verify: 1 of [0-9]+ cases failed' verify --data wrong
