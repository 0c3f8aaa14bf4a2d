#!/usr/bin/env bash
# quarkstar-sim bench solver --ranks and bench scaling: ranks with a GPU each on the nodes of a machine, of which one process stands for all.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/testing.bash"
export HOME=$folder/home TMPDIR=$folder/tmp
mkdir -p "$HOME" "$TMPDIR"
case=(--solver bicgstab --precision single --links 12 --iterations 32)
solve=(bench solver "${case[@]}" --repetitions 1 --json)
nodes=$QUARKSTAR_SOURCE_DIR/apps/simulation/machines/h200-nodes.toml

# field KEY: its number in the JSON of the last run.
field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" stdout.txt; }
# us ARGUMENT...: of an iteration.
us() {
  expect 0 '"us_per_iteration"' "${solve[@]}" "$@"
  field us_per_iteration
}
holds() { awk "BEGIN { exit !($1) }" || die "$1: $2"; }
# with FROM TO: the machine file with another number, as other.toml.
with() {
  sed "s/^$1\$/$2/" "$nodes" > other.toml
  ! cmp -s "$nodes" other.toml || die "no line '$1' in $nodes"
}

# One rank is what there was before, and has no others.
alone=$(us --machine h200-nodes --ranks 1 --lattice 16,16,16,32)
! grep -q '"ranks"' stdout.txt || die "one rank has others"
before=$(us --machine h200-nodes --devices cuda --gpus 1 --lattice 16,16,16,32)
[ "$alone" = "$before" ] || die "one rank: $alone us, without ranks $before"
# Two on one node are two GPUs of one process, whose batch is scheduled in another way: each takes its own scalar steps, and waits for room.
ranks=$(us --machine h200-nodes --ranks 2 --lattice 32,32,32,64)
process=$(us --machine h200-x2 --devices cuda --lattice 32,32,32,64)
holds "$ranks > 0.93 * $process && $ranks < 1.07 * $process" "two ranks and two GPUs of one process"

# Four nodes. The parts are the whole, and the same in every run.
job=(--ranks 16 --lattice 32,32,32,64)
usual=$(us --machine h200-nodes "${job[@]}")
grep -q '"nodes": 4' stdout.txt || die "16 ranks are not on four nodes"
sum=$(for part in kernels faces_inside faces_between sums submission; do field $part; done | awk '{ sum += $1 } END { print sum }')
holds "$sum > 0.9999 * $usual && $sum < 1.0001 * $usual" "parts and whole"
for part in kernels faces_inside faces_between sums submission; do holds "$(field $part) > 0" "$part"; done
[ "$usual" = "$(us --machine h200-nodes "${job[@]}")" ] || die "another time in the second run"
# More latency, or half the bandwidth, is never faster; what cannot be hidden is slower.
with 'us = 2' 'us = 20'
holds "$(us --machine other.toml "${job[@]}") > $usual" "latency of the network"
for change in 'flag_us = 1.5:flag_us = 9' 'message_us = 1:message_us = 5' 'gbs = 49:gbs = 24.5' 'gbs = 393:gbs = 196.5' \
  'host_gbs = 55:host_gbs = 27.5' 'links = 4:links = 2'; do
  with "${change%:*}" "${change#*:}"
  holds "$(us --machine other.toml "${job[@]}") >= $usual" "$change"
done
# A sum takes a round more for twice as many nodes, whatever the cut: three sums an iteration, three microseconds a round.
declare -A sums
for n in 8 16 32 64; do
  us --machine h200-nodes --ranks $n --lattice 32,32,32,64 > us.txt
  sums[$n]=$(field sums)
done
for n in 16 32 64; do
  more=$(awk "BEGIN { print ${sums[$n]} - ${sums[$((n / 2))]} }")
  holds "$more > 8 && $more < 11" "$n ranks: sums take $more us more than on half as many"
done

# The table: the first row is what others are compared with.
expect 0 ' 8 +2 +1x1x1x8 +16x16x16x8 .* \| .*(kernels|faces in the node|faces between nodes|sums|submission)$' bench scaling --machine h200-nodes \
  --ranks 1 8 --lattice 16,16,16,64 "${case[@]}"
expect 0 '"efficiency": 1\.0,$' bench scaling --machine h200-nodes --ranks 4 8 --per-gpu 16,16,16,16 "${case[@]}" --json
[ "$(grep -c '"limited_by": "' stdout.txt)" = 1 ] && grep -q '"limited_by": null' stdout.txt || die "not one row has a limit"
expect 0 '--per-gpu' bench scaling --help
[ -z "$(find "$HOME" "$TMPDIR" -type f)" ] || die "files are left: $(find "$HOME" "$TMPDIR" -type f)"

# What is refused.
expect 2 'error: --ranks: .0. is no number of ranks' "${solve[@]}" --machine h200-nodes --ranks 0
expect 2 'ranks: 6 ranks leave a node of 4 GPUs partly empty; give a multiple of 4' "${solve[@]}" --machine h200-nodes --ranks 6 --lattice 24,24,24,48
expect 2 "error: --ranks: the machine file 'h200-x4' has no \[proxy\]" "${solve[@]}" --machine h200-x4 --ranks 8
expect 2 "error: --ranks: 'xeon-2-cores' has no GPUs" "${solve[@]}" --machine xeon-2-cores --ranks 2
expect 2 'ranks: the policy dmda places kernels one by one' "${solve[@]}" --machine h200-nodes "${job[@]}" --policy dmda
expect 2 'ranks: .* has 0 GPUs' "${solve[@]}" --machine h200-nodes "${job[@]}" --devices cpu
expect 2 'blocks: a simulated rank has one block' "${solve[@]}" --machine h200-nodes "${job[@]}" --blocks 1,1,1,4
expect 2 'error: --ranks: numbers of GPUs are not ascending' bench scaling --machine h200-nodes --ranks 8 4
expect 2 '2 cases; give one --precision' bench scaling --machine h200-nodes --ranks 4 "${case[@]}" --nrhs 1 2 --lattice 16,16,16,32
with 'memory_gib = 139' 'memory_gib = 0.02'
expect 3 "error: nodes of 4 H200: nothing goes on in the simulation, as where a GPU's memory is too small" "${solve[@]}" --machine other.toml --ranks 1 \
  --lattice 16,16,16,32
# bad PATTERN EXPRESSION: the machine file after this sed.
bad() {
  sed "$2" "$nodes" > bad.toml
  expect 2 "error: bad.toml:.*$1" "${solve[@]}" --machine bad.toml "${job[@]}"
}
bad 'proxy.flag_us: is missing' '/^flag_us/d'
bad 'proxy.links: is out of range; give a whole number, at least 1' 's/^links = .*/links = 0/'
bad 'proxy.message_us: = -1 is out of range' 's/^message_us = .*/message_us = -1/'
bad 'proxy.mesage_us: unknown key' 's/^message_us/mesage_us/; $amessage_us = 1'
bad 'network: the table is missing' '/^\[network\]/,/^us/d'
bad 'proxy: without \[peers\]' '/^\[peers\]/,/^shared_batch/d'
bad 'network.gbs: = 0 is out of range' 's/^gbs = 49/gbs = 0/'
