#!/usr/bin/env bash
# Hadrons of two quarks in campaigns: what is planned, kill and resume, hadrons that come later, solves in flight, workers, ranks. That their numbers are
# right: unit.campaign_hadrons.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
for seed in 1 2; do expect 0 '^wrote' gauge generate lat.$seed --lattice 4 4 4 8 --beta 5.9 --sweeps 2 --seed $seed; done

# campaign OUT [LINE ABOVE THE QUARKS]: the file OUT.toml.
campaign() {
  cat > "$1.toml" << END
configurations = ["lat.[12]"]
out = "$1"
${2:-}
sources = ["point:0,0,0,0", "gaussian:1,0,2,5,1,4"]
correlators = ["pion", "rho", "proton"]
threads = 1
no-tune = true
tol = 1e-8
[quark.light]
action = "wilson"
kappa = 0.13
[quark.strange]
action = "clover"
kappa = 0.125
csw = 1.0
[quark.charm]
action = "domain-wall"
mass = 0.4
ls = 4
[hadron.kaon]
quarks = ["light", "strange"]
correlators = ["mesons"]
momenta = [[0, 0, 0], [1, 0, 0]]
sinks = ["point", "gaussian:1,4"]
[hadron.xi]
quarks = ["strange", "light"]
correlators = ["octet", "decuplet"]
[hadron.d]
quarks = ["charm", "light"]
END
}
lines_of_rows() { cat "$1/journal.jsonl" 2> /dev/null | grep -c '"kind":"done"' || true; }
# same OUT: its results have the bytes of those in all.
same() {
  same_results "$1"
  no_temporary_files
}

campaign all
expect 0 '2 configurations of 4x4x4x8, 3 quarks, 3 hadrons, 2 sources: 24 rows, 0 of them done, 24 to do' run all.toml --dry-run
grep -q '^hadron kaon: light and strange, 4 rows; pion rho_x .* a4p$' stdout.txt || { cat stdout.txt; die "no plan of a hadron"; }
grep -q '^hadron d: charm and light, 4 rows; pion rho_x rho_y rho_z proton$' stdout.txt || { cat stdout.txt; die "not the correlators above the quarks"; }
expect 0 '^lat.2: 12 rows in ' run all.toml
[ "$(lines_of_rows all)" = 24 ] || die "not 24 rows"
grep -q '<h2>Hadron kaon, gaussian:1,4 source</h2>' all/report.html || die "no hadron in the report"
open_in_browser all/report.html

# Killed at any moment and started again: the same bytes.
seed=$RANDOM$RANDOM
echo "seed of the kills: $seed"
RANDOM=$seed
campaign killed
killed() {  # ROWS SECONDS: so long behind so many further rows
  local child until=$(($(lines_of_rows killed) + $1))
  "$QUARKSTAR" run killed.toml > stdout.txt 2> stderr.txt &
  child=$!
  while [ "$(lines_of_rows killed)" -lt $until ] && kill -0 $child 2> /dev/null; do sleep 0.01; done
  sleep "$2"
  kill -9 $child 2> /dev/null || true
  wait $child 2> /dev/null || true
}
for ((kill = 0; kill < 6; ++kill)); do killed $((RANDOM % 4)) 0.0$((RANDOM % 10)); done
expect 0 '^wrote killed/campaign.h5' run killed.toml
same killed
[ -z "$(grep '"kind":"done"' killed/journal.jsonl | sed 's/,"seconds.*//' | sort | uniq -d)" ] || die "rows are done twice"

# Hadrons that come later; with several solves in flight, parts of propagators, and workers.
campaign extended 'workers = 2
nrhs = 6
in-flight = 2
propagators = true'
sed -i '/hadron.kaon/,$d' extended.toml
expect 0 '^lat.1: 6 rows' run extended.toml
campaign extended 'workers = 2
nrhs = 6
in-flight = 2
propagators = true'
cp -r extended/propagators before
expect 0 '24 rows, 12 of them done, 12 to do' run extended.toml
grep -q '^  and 4 sources whose rows are done again, for hadrons$' stdout.txt || { cat stdout.txt; die "no word about solves that are done again"; }
[ "$(grep -c '^lat.[12]: 6 rows' stdout.txt)" = 2 ] || { cat stdout.txt; die "rows of quarks are written again"; }
same extended
for file in before/*; do [ ! "$file" -ot "extended/propagators/${file#*/}" ] || die "$file is written again"; done
[ "$(ls extended/propagators | wc -l)" = 12 ] || die "not the propagators of the quarks"

# On islands, each of which contracts the sources that end on it.
campaign islands 'workers = 2
share = "columns"
nrhs = 6'
expect 0 '^  4x4x4x8 in 1x1x1x1 blocks on each of 2 islands$' run islands.toml --dry-run  # of each worker the whole lattice
expect 0 '^wrote islands/campaign.h5' run islands.toml
same islands

command -v mpirun > /dev/null || { echo "SKIPPED ranks: no mpirun"; exit 0; }
two() { timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$QUARKSTAR" run ranks.toml > stdout.txt 2> stderr.txt; }
campaign ranks
sed -i 's/lat.\[12\]/lat.1/; /hadron.xi\]/,$d' ranks.toml
two || { cat stdout.txt stderr.txt; die "two ranks"; }
campaign ranks
sed -i 's/lat.\[12\]/lat.1/' ranks.toml
two || { cat stdout.txt stderr.txt; die "hadrons that come later, on two ranks"; }
cmp all/configurations/lat.1.h5 ranks/configurations/lat.1.h5 || die "two ranks write other bytes than one"
# Parts are whole numbers of one quark's aggregates.
expect 0 '^wrote' gauge generate uneven --lattice 4 4 4 16 --beta 5.9 --sweeps 2 --seed 2
campaign ranks
sed -i -E 's/lat.*12\]"/uneven"/; s/out = .*/out = "uneven-out"\nrank-weights = "5,3"/; s/^kappa = 0.13$/&\nsolver = "multigrid"\naggregate = [2, 2, 2, 4]\nlevels = 2\nnull-vectors = 8/' ranks.toml
! two && grep -q 'error: ranks.toml:[0-9]*: hadron.kaon: its two quarks would be on other parts of the lattice on a rank; choose `ranks`, with' stderr.txt ||
  { cat stdout.txt stderr.txt; die "quarks on other parts"; }
