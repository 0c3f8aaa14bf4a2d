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
nrhs = 3
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

# Rows that are there when a campaign, so slow that there is time for all, goes on: those of two configurations, from the last one back, one
# quark after the other, but for those that it comes to first.
campaign first lat.1
campaign all 'lat.[123]'
expect 0 '^wrote' run first.toml --out all --throttle 0:100
expect 0 '' run all.toml --out all/helper --helper-of all
cp -r all begun
sed -nE 's/.*"done","configuration":"([^"]*)","quark":"([^"]*)","source":"point:([^"]*)".*/\2 \1 \3/p' all/helper/journal.jsonl > order.txt
for order in 'light lat.3 0,0,0,4;light lat.3 0,0,0,0;' 'strange lat.3 0,0,0,4;strange lat.3 0,0,0,0;strange lat.2 0,0,0,4;strange lat.2 0,0,0,0;'; do
  [ "$(grep "^${order%% *}" order.txt | tr '\n' ';')" = "$order" ] || { cat order.txt; die "another order"; }
done
[ ! -e all/helper/campaign.h5 ] || die "a helper has written averages"
# One whose campaign has begun anew before it could ask for its signal: nobody reads what it prints.
mkdir orphan
mkfifo unread
"$QUARKSTAR" run all.toml --out orphan/helper --helper-of orphan > unread 2> stderr.txt &
exec 4< unread 4<&-
code=0
wait $! || code=$?
[ $code = 141 ] || { cat stderr.txt; die "exit code $code of a helper that nobody reads"; }
! grep -q '"done"' orphan/helper/journal.jsonl || die "a helper works for nobody"
expect 0 '^helper: 6 rows' run all.toml
[ "$(taken_over all)" = 6 ] || die "not 6 rows taken over"
same all

# With other settings, or damaged, they are computed.
for what in settings damage line; do
  rm -rf all && cp -r begun all
  case $what in
    settings) sed -i 's/"tol":1e-09/"tol":1e-08/' all/helper/journal.jsonl ;;
    damage) for seed in 2 3; do head -c 3000 begun/helper/configurations/lat.$seed.h5 > all/helper/configurations/lat.$seed.h5; done ;;
    line) echo 'no JSON' >> all/helper/journal.jsonl ;;
  esac
  expect 0 '^wrote all/report.html' run all.toml
  [ "$(taken_over all)" = 0 ] || die "$what: rows were taken over"
  grep -q 'rows of the helper are computed anew' stderr.txt || { cat stderr.txt; die "$what: nothing was said"; }
  [ $what != line ] || { grep -q 'what the helper has left stays there' stderr.txt || die "nothing was said of a damaged journal"; rm -r all/helper; }
  same all
done

# Of links that a configuration has no more, too.
rm -rf all && cp -r begun all
cp lat.3 good.3
cp lat.2 lat.3
expect 0 '^helper: 2 rows' run all.toml
grep -q "lat.3: the helper's rows are of other links" stderr.txt || { cat stderr.txt; die "nothing was said of other links"; }
cp good.3 lat.3

# The process, beside a campaign that is so many times slower; on a busy machine, where it gets little time, slower still. And one that is killed.
for slower in 20 80 300 1000; do
  rm -rf beside
  campaign beside 'lat.[123]'
  expect 0 '^helper: a second process computes rows from the last one back, on 1 cores' run beside.toml --helper 1 --throttle 0:$slower
  [ "$(taken_over beside)" = 0 ] || break
done
[ "$(taken_over beside)" -gt 0 ] || { cat stdout.txt stderr.txt; die "the helper did nothing"; }
same beside
campaign killed 'lat.[123]' 'helper = 1'
"$QUARKSTAR" run killed.toml --throttle 0:200 > killed.txt 2>&1 &
main=$!
until grep -qs '"done"' killed/helper/journal.jsonl || ! kill -0 $main 2> /dev/null; do sleep 0.1; done
kill -9 $main
wait $main 2> /dev/null || true
for _ in $(seq 100); do pgrep -f "helper-of killed" > /dev/null || break; sleep 0.1; done
! pgrep -f "helper-of killed" > /dev/null || die "the helper goes on without its campaign"
expect 0 '^wrote killed/report.html' run killed.toml --helper 0
[ "$(taken_over killed)" -gt 0 ] || die "what the helper had done was computed again"
same killed

# What has propagators since does not take its rows.
rm -rf all && cp -r begun all
sed 's/^out = .*/&\npropagators = true/; s/lat.\[123\]/lat.[23]/' all.toml > with.toml
expect 0 '^wrote all/report.html' run with.toml
[ "$(taken_over all)" = 0 ] || die "rows without their propagators were taken over"

# What cannot have one, and what is no number of cores.
campaign bad 'lat.1' 'propagators = true'
expect 2 'helper: a helper has nothing to do: propagators are written' run bad.toml --helper 1
expect 2 'helper: 1000 cores are asked for' run plain.toml --helper 1000 --out other
expect 2 'helper: .*some' run plain.toml --helper some --out other
campaign bad 'lat.1' 'helper = -1'
expect 2 'bad.toml:8: helper' run bad.toml
no_temporary_files
