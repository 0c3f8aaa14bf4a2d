#!/usr/bin/env bash
# A device that fails in the middle of a campaign: the others do its rows, with the same bytes, and the journal and the report name it. CPU
# workers are the devices here.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
for seed in 1 2; do expect 0 '^wrote' gauge generate lat.$seed --lattice 4 4 4 8 --beta 5.9 --sweeps 2 --seed $seed; done
two_quarks 'threads = 1'
expect 0 '^wrote all/report.html' run all.toml --workers 1
! grep -q 'Devices that have failed' all/report.html || die "a device has failed unasked"
# same OUT DEVICES: the bytes of one worker's run, after so many devices have failed.
same() {
  same_results "$1"
  [ "$(grep -c '"kind":"lost"' "$1/journal.jsonl")" = "$2" ] || { cat "$1/journal.jsonl"; die "not $2 lost devices in the journal of $1"; }
  [ "$(grep -c 'was to fail' "$1/report.html")" = "$2" ] || die "not $2 lost devices in the report of $1"
  [ "$(grep -c 'has failed: codelet .*; the campaign goes on without it' stderr.txt)" = "$2" ] || { cat stderr.txt; die "not $2 warnings"; }
  no_temporary_files
}

# Its first task fails; islands that share columns, and a cut lattice under several policies. Settings that count workers are of those that are left.
expect 0 '^without CPU .*, which has failed: codelet .*throttle: worker 1 was to fail' run all.toml --out islands --workers 2 --share columns --throttle 1:fails
same islands 1
expect 0 '^wrote two/report.html' run all.toml --out two --workers 3 --share 2 --throttle 0:2,2:fails
same two 1
for policy in static dmda eager; do
  expect 0 '^wrote cut' run all.toml --out cut --workers 2 --share cut --policy $policy --throttle 0:fails
  same cut 1
  rm -r cut
done

# In the middle: rows that are done stay. The other workers are slow, so that there is a middle.
for seconds in 0.5 1 2 4; do
  rm -rf middle
  expect 0 '^wrote middle/report.html' run all.toml --out middle --workers 2 --share columns --throttle 0:100,1:fails@$seconds
  [ "$(grep -c '"kind":"lost"' middle/journal.jsonl)" = 1 ] || continue
  same middle 1
  [ "$(sed '/"kind":"lost"/,$d' middle/journal.jsonl | grep -c '"kind":"done"')" = 0 ] || break
done
grep -B1 '"kind":"lost"' middle/journal.jsonl | grep -q '"kind":"done"' || echo "SKIPPED: no device failed in the middle"

# The last one: the campaign ends, and what it has done stays.
expect 3 'error: codelet .*worker 0 was to fail' run all.toml --out none --workers 1 --throttle 0:fails
expect 0 '^wrote none/report.html' run all.toml --out none --workers 1
cmp all/campaign.h5 none/campaign.h5 || die "other averages after a device has failed"
expect 2 'throttle: worker 5 is none of this session' run all.toml --out none5 --workers 2 --throttle 5:fails
