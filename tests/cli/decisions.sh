#!/usr/bin/env bash
# The task graph of a solve and the decisions of its policy as files: whole, in every policy, without a change of a bit. What is in them:
# unit.decisions.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$(dirname "${BASH_SOURCE[0]}")/ranks.bash"
make_configuration
solve=(solve --gauge lattice.ildg --kappa 0.11 --columns 0-1 --tol 1e-6 --no-tune --threads 1 --workers 2 --blocks 1,1,1,2)
reference "${solve[@]}"

for policy in static dmda; do
  expect 0 '^wrote' "${solve[@]}" --policy $policy --residual-history --json one.json --graph graph.json --decisions decisions.json
  results one.json | cmp expected.txt - || die "the files change bits under $policy"
  tasks=$(grep -c '"codelet":' graph.json)
  [ "$tasks" -gt 100 ] || die "$tasks tasks in the graph"
  # Every task of the solve is in both: the log also has those that load the links before.
  for file in graph decisions; do grep -oE '"codelet":"[^"]*"' $file.json | grep -v 'transfer.links' | sort > $file.txt; done
  cmp graph.txt decisions.txt || die "the graph and the log have other tasks under $policy"
  grep -q 'wilson.double.pack' graph.txt && grep -q 'source' graph.txt || die "no packs, or no sources, in the graph"
  grep -q "^{\"policy\":\"$policy\",\"workers\":\[.*\],\"left_out\":0" decisions.json || die "the decisions are not those of $policy"
  ! grep -q '"worker":-1,' decisions.json || die "tasks that nobody ran"
  grep -q '"choices":\[{"worker":0,.*{"worker":1,' decisions.json || die "no choice between two workers"
done
expect 0 '^wrote' "${solve[@]}" --json one.json --graph graph.dot
head -n 1 graph.dot | grep -q '^digraph tasks {' && [ "$(grep -c 'label=' graph.dot)" = "$tasks" ] || die "the DOT file is another graph"
compare 2 "${solve[@]}" --graph graph.json --decisions decisions.json
for file in graph decisions; do [ -s $file.rank1.json ] || die "rank 1 writes no $file"; done
expect 2 'error: --graph: it is of one solve' "${solve[@]}" --nrhs 1 --in-flight 2 --json x.json --graph x.dot
expect 2 'error: nowhere.x.dot: ' "${solve[@]}" --json x.json --graph nowhere/x.dot
absent x.dot
echo "graphs and decisions"
