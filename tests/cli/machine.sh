#!/usr/bin/env bash
# machine: text and JSON, and the workers that the flags ask for.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^workers' machine
expect 0 '"architecture"' machine --json
expect 0 '"policy": "eager"' machine --json --policy eager --workers 2 --threads 1
[ "$(grep -c '"kind": "CPU"' stdout.txt)" = 2 ] || die "not two workers"
expect 2 'error: --worker-mode' machine --worker-mode socket
QUARKSTAR_TUNE=$folder/tune.json expect 0 "^tune cache +$folder/tune.json \\(0 entries\\)" machine
echo '{"format": 1, "entr' >damaged.json
QUARKSTAR_TUNE=damaged.json expect 0 'damaged.json: the tune cache is damaged' machine
expect 0 'StarPU' --version
expect 0 '^energy, cpu +(readable|unavailable: .)' machine
expect 0 '"workers"' machine --json --devices cpu
expect 3 'error: --devices: GPU 99 asked for' machine --devices 99
