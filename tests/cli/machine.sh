#!/usr/bin/env bash
# machine: text and JSON, and the workers that the flags ask for.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^workers' machine
expect 0 '"architecture"' machine --json
expect 0 '^huge pages +(granted|refused|unavailable: )' machine
expect 0 '"policy": "eager"' machine --json --policy eager --workers 2 --threads 1
[ "$(grep -c '"kind": "CPU"' stdout.txt)" = 2 ] || die "not two workers"
expect 2 'error: --worker-mode' machine --worker-mode socket
QUARKSTAR_GPU_FLAGS=0 expect 2 "error: .QUARKSTAR_GPU_FLAGS: .0. is neither on nor off; " machine
QUARKSTAR_TUNE=$folder/tune.json expect 0 "^tune cache +$folder/tune.json \\(0 entries\\)" machine
echo '{"format": 1, "entr' >damaged.json
QUARKSTAR_TUNE=damaged.json expect 0 'damaged.json, line 1: the tune cache is damaged' machine
export QUARKSTAR_TUNE=$folder/own/tune.json
entry() { printf '{"format": 1, "entries": {\n "%s": {"choice": [0, 0, 8, 8, %s], "microseconds": %s},\n "gpu; kernel 9; x": {"choice": [], "microseconds": 1, "by": "a later version"}}}\n' "$1" "$2" "$3"; }
entry 'one GPU' 128 20.5 >a.json
entry 'one GPU' 64 10.5 >b.json
expect 0 "^tune cache +$QUARKSTAR_TUNE \\(2 entries: 2 new, 1 replaced by faster ones; 1 were known and no faster\\)" machine --merge-tune a.json b.json
grep -q '"microseconds": 10.5' "$QUARKSTAR_TUNE" || die "the faster entry was lost"
grep -q 'a later version' "$QUARKSTAR_TUNE" || die "what a later version wrote was lost"
cp "$QUARKSTAR_TUNE" before.json
expect 0 '"kept": 2' machine --json --merge-tune a.json
expect 2 'error: damaged.json, line 1: the tune cache is damaged: ' machine --merge-tune b.json damaged.json
expect 2 'error: nowhere.json: there is no such file' machine --merge-tune nowhere.json
sed 's/10.5/"soon"/' b.json >odd.json
expect 2 "error: odd.json, line 2: the tune cache is damaged: entry 'one GPU': " machine --merge-tune odd.json
sed 's/"format": 1/"format": 7/' a.json >later.json
expect 2 'error: later.json: the tune cache has format 7, this version knows 1' machine --merge-tune later.json
cmp -s before.json "$QUARKSTAR_TUNE" || die "a refused merge has changed the file"
absent
expect 0 'StarPU' --version
expect 0 '^energy, cpu +(readable|unavailable: .)' machine
expect 0 '"workers"' machine --json --devices cpu
expect 3 'error: --devices: GPU 99 asked for' machine --devices 99
