#!/usr/bin/env bash
# Policies: every one gives the bits of `static`; the one that docs/howto/policy.md writes is compiled to a shared library and runs in this
# very executable; libraries that do not fit are refused.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source_folder=${QUARKSTAR_SOURCE_DIR:-$(realpath "$here/../..")}
make_configuration
solve=(solve --gauge lattice.ildg --devices cpu --kappa 0.12 --columns 0-1 --residual-history --workers 2 --threads 1)

# residuals FILE: the histories of a solve as lines, from its JSON.
residuals() { grep -oE '"-?0x[0-9a-f.]+p[-+0-9]+"' "$1"; }
# same_bits NAME ARGUMENT...: a solve so converges with the residuals of `static`.
same_bits() {
  local name=$1
  shift
  expect 0 '' "${solve[@]}" --json "$name.json" "$@"
  residuals "$name.json" > "$name.txt"
  [ -s "$name.txt" ] || die "$name: no residuals"
  cmp static.txt "$name.txt" || die "$name: other residuals than static"
}
expect 0 '' "${solve[@]}" --json static.json --blocks 1,1,1,2
residuals static.json > static.txt

policies=$("$QUARKSTAR" machine --json | sed -n '/"policies"/,/\]/p' | grep -oE '"[a-z-]+"' | tr -d '"' | grep -vx policies)
for known in static adaptive halo-first energy eager prio lws dmda dmdar dmdas heteroprio; do
  grep -qx "$known" <<< "$policies" || die "quarkstar machine does not list the policy $known"
done
for policy in $policies; do same_bits "$policy" --policy "$policy" --blocks 1,1,2,2; done
# Blocks of unequal sizes keep the bits; where one worker is slow `adaptive` cuts anew.
same_bits unequal --policy adaptive --blocks 1,1,1,3 --columns 0-1 --nrhs 1
# cut_anew FACTOR ARGUMENT...: a solve in two blocks does so under `adaptive` where a worker is that much slower, with the residuals of `static`.
cut_anew() {
  local factor=$1
  shift
  expect 0 '' "${solve[@]}" --json even.json "$@" --blocks 1,1,1,2
  expect 0 '' "${solve[@]}" --json anew.json "$@" --blocks 1,1,1,2 --policy adaptive --throttle "1:$factor"
  ! grep -q '"resplits"' even.json || die "static cut anew: $*"
  grep -q '"resplits"' anew.json || die "adaptive did not cut anew beside a slow worker: $*"
  residuals even.json > even.txt
  [ -s even.txt ] || die "even: no residuals: $*"
  residuals anew.json | cmp even.txt - || die "other residuals after another cut: $*"
}
cut_anew 20 --columns 0-11 --nrhs 1
cut_anew 20 --columns 0-11 --nrhs 4
# Domains stay whole: speeds 6 to 1 alone would cut 13 and 3.
expect 0 '^plaquette ' gauge generate long.ildg --lattice 4 4 4 16 --beta 6.0 --sweeps 2 --seed 8 --format ildg
cut_anew 6 --gauge long.ildg --columns 0-11 --nrhs 1 --solver gcr --schwarz-block 4,4,4,4
same_bits watts --policy energy --watts cpu=20:90,cuda=50:300,host=40 --blocks 1,1,1,2

# What the JSON tells of workers and bounds.
expect 0 '' "${solve[@]}" --json bound.json --bound --blocks 1,1,1,2
for key in us_per_task transfer overhead idle links time_over_bound critical_path_seconds assignment_seconds bandwidth_seconds owners_seconds workers_gbs; do
  grep -q "\"$key\"" bound.json || die "bound.json has no $key"
done
grep -q '"owners_seconds": [0-9]' bound.json || die "static has no bound of its owners"
expect 0 '' "${solve[@]}" --json free.json --bound --blocks 1,1,1,2 --policy eager
grep -q '"owners_seconds": null' free.json || die "a policy that moves tasks has a bound of owners"
if "$QUARKSTAR" machine --json | grep '"kind": "CUDA"' > /dev/null; then
  # Only loads and stores run on CPUs, and have no bytes.
  expect 0 '' "${solve[@]}" --json bound.json --bound --devices cuda --gpus 1
  grep -qE '"time_over_bound": [0-9]' bound.json || die "no bound of a solve on a GPU"
else
  echo "SKIPPED bound of a solve on a GPU: no GPU"
fi

expect 2 "error: --policy: 'random-walk' is unknown" "${solve[@]}" --json x.json --policy random-walk
expect 2 "error: --policy: StarPU's policy graph_test is not taken: .*; use one of static, " "${solve[@]}" --json x.json --policy graph_test
expect 2 'error: --throttle: worker 0 is throttled twice' "${solve[@]}" --json x.json --throttle 0:2,0:3
expect 2 'error: --policy: ./missing.so: no such file' "${solve[@]}" --json x.json --policy ./missing.so
echo 'no library' > text.so
expect 2 'error: --policy: text.so: cannot be loaded' "${solve[@]}" --json x.json --policy text.so
expect 2 "error: --watts: 'gpu=1:2' names no device" "${solve[@]}" --json x.json --watts gpu=1:2
expect 2 'error: --watts: .* less when it is busy' "${solve[@]}" --json x.json --watts cpu=20:10
absent x.json

# ---- the library
commands=${QUARKSTAR_BUILD_DIR:-}/compile_commands.json
compiler=${CXX:-c++}
if [ ! -f "$commands" ] || ! command -v "$compiler" > /dev/null; then
  echo "SKIPPED policy library: no compiler or no compile_commands.json"
  exit 0
fi
# Compiled as the page says, over the headers here; where StarPU and what it needs are, the build knows.
includes=$(grep -E '"command".*/quarkstar_runtime\.dir/' "$commands" | grep -oE -- '(-I ?|-isystem )[^ "]+' | sort -u | tr '\n' ' ') ||
  die "$commands names no headers of the runtime"
bash "$source_folder/cmake/howto_blocks.sh" "$source_folder" . docs/howto/policy.md
lines=$(grep -vc '^#line' soonest.cpp)
[ "$lines" -lt 60 ] || die "the example of docs/howto/policy.md has $lines lines"
# build NAME SOURCE FLAG...
build() {
  local name=$1 code=$2
  shift 2
  # shellcheck disable=SC2086
  "$compiler" -std=c++20 -O1 -shared -fPIC -I "$source_folder" $includes "$@" "$code" -o "lib$name.so" || die "$code does not compile"
}
build soonest soonest.cpp
same_bits library --policy ./libsoonest.so --blocks 1,1,2,2
grep -q '"policy": "./libsoonest.so"' library.json || die "library.json does not name the policy"

# One of another version of the interface, one that is no policy, one without what a policy needs.
sed 's/QUARKSTAR_POLICY(soonest)//' soonest.cpp > plain.cpp
build plain plain.cpp
expect 2 'error: --policy: ./libplain.so: is no scheduling policy: no symbol quarkstar_policy_header' "${solve[@]}" --json x.json --policy ./libplain.so
mkdir -p other/runtime/policy
sed 's/uint32_t abi = 1;/uint32_t abi = 99;/' "$source_folder/runtime/policy/plugin.hpp" > other/runtime/policy/plugin.hpp
build old soonest.cpp -iquote other
expect 2 'error: --policy: ./libold.so: it has version 99 of the interface for policies, this is version 1' \
  "${solve[@]}" --json x.json --policy ./libold.so
sed 's/return policy;/policy.push_task = nullptr; return policy;/' soonest.cpp > empty.cpp
build empty empty.cpp
expect 2 'error: --policy: ./libempty.so: its policy has no name, init_sched or push_task' "${solve[@]}" --json x.json --policy ./libempty.so
absent x.json
