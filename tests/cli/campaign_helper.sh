#!/usr/bin/env bash
# A second process computes rows of a campaign from the other end: its rows are taken over, and the results have the bytes of a run without it.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
for seed in 1 2 3; do expect 0 '^wrote' gauge generate lat.$seed --lattice 4 4 4 8 --beta 6.0 --sweeps 6 --seed $seed; done
campaign() {  # FILE CONFIGURATIONS [LINES BEFORE THE QUARKS]
  cat > "$1.toml" << END
configurations = ["$2"]
out = "$1"
sources = ["point:0,0,0,0", "point:0,0,0,4"]
correlators = ["pion"]
threads = 1
no-tune = true
tol = 1e-9
${3:-}
[quark.light]
action = "wilson"
kappa = 0.14
[quark.strange]
action = "naive"
mass = 0.1
END
}
same() {  # OUT: the results of the run without a helper
  cmp plain/campaign.h5 "$1/campaign.h5" || die "$1: other averages"
  for seed in 1 2 3; do cmp plain/configurations/lat.$seed.h5 "$1/configurations/lat.$seed.h5" || die "$1: other results of lat.$seed"; done
  [ ! -e "$1/helper" ] || die "$1: the helper's folder is left"
}
taken_over() { grep -c '"by":"helper"' "$1/journal.jsonl" || true; }

campaign plain 'lat.[123]'
expect 0 '^wrote plain/report.html' run plain.toml

# Rows that are there when a campaign begins: those of two configurations, from the last one back.
campaign some 'lat.[23]'
campaign all 'lat.[123]'
mkdir all
expect 0 '' run some.toml --out all/helper --helper-of all
[ "$(sed -nE 's/.*"done","configuration":"([^"]*)","quark":"([^"]*)","source":"([^"]*)".*/\1 \2 \3/p' all/helper/journal.jsonl | head -n 3 | tr '\n' ' ')" = \
  "lat.3 strange point:0,0,0,4 lat.3 strange point:0,0,0,0 lat.3 light point:0,0,0,4 " ] || { cat all/helper/journal.jsonl; die "another order"; }
[ ! -e all/helper/campaign.h5 ] || die "a helper has written averages"
cp -r all/helper kept
expect 0 '^helper: 8 rows' run all.toml
[ "$(taken_over all)" = 8 ] || die "not 8 rows taken over"
same all

# With other settings, or damaged, they are computed.
for what in settings damage; do
  rm -rf all && mkdir all && cp -r kept all/helper
  case $what in
    settings) sed -i 's/"tol":1e-09/"tol":1e-08/' all/helper/journal.jsonl ;;
    damage) for seed in 2 3; do head -c 3000 kept/configurations/lat.$seed.h5 > all/helper/configurations/lat.$seed.h5; done ;;
  esac
  expect 0 '^wrote all/report.html' run all.toml
  [ "$(taken_over all)" = 0 ] || die "$what: rows were taken over"
  grep -q 'rows of the helper are computed anew' stderr.txt || { cat stderr.txt; die "$what: nothing was said"; }
  same all
done

# The process, beside a campaign that is twenty times slower; and one that is killed.
campaign beside 'lat.[123]'
expect 0 '^helper: a second process computes rows from the last one back, on 1 cores' run beside.toml --helper 1 --throttle 0:20
[ "$(taken_over beside)" -gt 0 ] || { cat stdout.txt stderr.txt; die "the helper did nothing"; }
same beside
campaign killed 'lat.[123]' 'helper = 1'
"$QUARKSTAR" run killed.toml --throttle 0:20 > killed.txt 2>&1 &
main=$!
for _ in $(seq 300); do [ ! -s killed/helper/journal.jsonl ] || ! grep -q '"done"' killed/helper/journal.jsonl || break; sleep 0.1; done
kill -9 $main
wait $main 2> /dev/null || true
for _ in $(seq 50); do pgrep -f "helper-of killed" > /dev/null || break; sleep 0.1; done
! pgrep -f "helper-of killed" > /dev/null || die "the helper goes on without its campaign"
expect 0 '^wrote killed/report.html' run killed.toml --helper 0
[ "$(taken_over killed)" -gt 0 ] || die "what the helper had done was computed again"
same killed

# What cannot have one, and what is no number of cores.
campaign bad 'lat.1' 'propagators = true'
expect 2 'helper: propagators are written' run bad.toml --helper 1
expect 2 '1000 cores' run plain.toml --helper 1000 --out other
expect 2 'helper: .*some' run plain.toml --helper some --out other
campaign bad 'lat.1' 'helper = -1'
expect 2 'bad.toml:8: helper' run bad.toml
no_temporary_files
