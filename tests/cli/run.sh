#!/usr/bin/env bash
# Campaigns: what is planned, results, policies, kill and resume, extension, failures, signals, a full disk, ranks, and errors of the file. That
# rows have the bits of single solves: unit.campaign.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
for seed in 1 2 3; do expect 0 '^wrote' gauge generate lat.$seed --lattice 4 4 4 8 --beta 5.9 --sweeps 2 --seed $seed; done

# campaign OUT [LINE OF QUARK LIGHT] [LINE ABOVE THE QUARKS]: the file OUT.toml.
campaign() {
  cat > "$1.toml" << END
configurations = ["lat.[123]"]
out = "$1"
${3:-}
sources = ["point:0,0,0,0", "point:0,0,0,4"]
sinks = ["point"]
correlators = ["pion", "rho", "proton"]
momenta = [[0, 0, 0], [1, 0, 0]]
threads = 1
no-tune = true
tol = 1e-8
[quark.light]
action = "wilson"
kappa = 0.13
${2:-}
[quark.staggered]
action = "hisq"
mass = 0.5
END
}
# rows OUT NUMBER: so many rows are done by its journal.
rows() { [ "$(grep -c '"kind":"done"' "$1/journal.jsonl")" = "$2" ] || { cat "$1/journal.jsonl"; die "not $2 rows are done in $1"; }; }
# same OUT: its results have the bytes of those in all.
same() {
  local file
  for file in configurations/lat.1.h5 configurations/lat.2.h5 configurations/lat.3.h5 campaign.h5; do
    cmp "all/$file" "$1/$file" || die "$1/$file is not what one run writes"
  done
  no_temporary_files
}

campaign all
expect 0 '3 configurations of 4x4x4x8, 2 quarks, 2 sources: 12 rows, 0 of them done, 12 to do' run all.toml --dry-run
grep -q '^quark staggered: hisq, mass = 0.5, cg to tolerance 1e-08, 6 rows; pion5 rho$' stdout.txt || { cat stdout.txt; die "no plan of a quark"; }
for line in 'memory, estimated: host: ' '^disk: ' '^time: about .* s if solves take .* (light: [0-9]*, staggered: [0-9]*); .* for every 100 iterations'; do
  grep -q -- "$line" stdout.txt || { cat stdout.txt; die "no line '$line'"; }
done
absent all
expect 0 '^wrote all/report.html' run all.toml --workers 1
[ "$(grep -c '^lat.[123]: 4 rows in ' stdout.txt)" = 3 ] || { cat stdout.txt; die "not a line for each configuration"; }
grep -q 'lat.3 staggered: .*; about .* left' stderr.txt || { cat stderr.txt; die "no remaining time"; }
rows all 12
[ ! -e all/propagators ] || die "propagators are written unasked"
expect 0 '12 of them done, 0 to do' run all.toml --dry-run
[ "$(grep -c '<svg ' all/report.html)" = 5 ] || die "not two plots of each quark, and the timeline"
[ "$(grep -c 'class="bar"' all/report.html)" = 4 ] || die "plots without error bars"
! grep -nE 'https?://|<script|<link|src=|>no data<|[^a-z](nan|inf)[^a-z]' all/report.html || die "the report needs other files, or has bad numbers"
open_in_browser all/report.html '<h2>Devices</h2>'

# The same quark alone: JSON's numbers are in the file as they are.
expect 0 '^wrote one.json' solve --gauge lat.2 --kappa 0.13 --tol 1e-8 --threads 1 --no-tune --source point:0,0,0,4 --correlators pion,rho,proton --json one.json
for part in runtime plan links solver; do grep -A5 '"setup": {' one.json | grep -q "\"$part\": [0-9]" || die "no time of the set-up's part $part"; done
perl -0777 -ne '/"correlators": (\{.*?\n  \})/s or die; for ($1 =~ /"(?:pion|rho_[xyz])": \[([^\]]*)\]/g) { print pack("d<*", split /,/), "\n--\n" }' one.json > packed
perl -0777 -e 'local $/; open F, "<", "packed"; open G, "<", "all/configurations/lat.2.h5"; $h = <G>; @all = split /\n--\n/, <F>; @all == 4 or die "not four correlators";
  for (@all) { length($_) == 64 && index($h, $_) >= 0 or die "a correlator is missing" }' || die "a row is not what solve writes"

# Under any policy, on any workers and however they share the work: the bytes of `static` on one.
for policy in dmda eager heteroprio lws static-unfused; do
  expect 0 '^wrote under/campaign.h5' run all.toml --out under --workers 2 --policy $policy
  same under
  rm -r under
done
expect 0 '^wrote shared/campaign.h5' run all.toml --out shared --workers 2 --policy dmda --share columns
same shared

# Killed at twenty moments, each while it runs, and started again: the same bytes. Where it ends before its kill it begins anew.
seed=$RANDOM$RANDOM
echo "seed of the kills: $seed"
RANDOM=$seed
campaign killed
lines_of_rows() { cat "$1/journal.jsonl" 2> /dev/null | grep -c '"kind":"done"' || true; }
# killed OUT ROWS SECONDS: so long behind so many further rows; fails where the campaign had ended.
killed() {
  local child code=0 until=$(($(lines_of_rows "$1") + $2))
  "$QUARKSTAR" run "$1.toml" > stdout.txt 2> stderr.txt &
  child=$!
  while [ "$(lines_of_rows "$1")" -lt $until ] && kill -0 $child 2> /dev/null; do sleep 0.01; done
  sleep "$3"
  kill -9 $child 2> /dev/null || true
  wait $child 2> /dev/null || code=$?
  [ $code = 0 ] || [ $code = 137 ] || { cat stdout.txt stderr.txt; die "exit code $code of a campaign that was to be killed"; }
  [ $code = 137 ]
}
met=0 tries=0
while [ $met -lt 20 ]; do
  [ $((tries += 1)) -le 100 ] || die "of 100 kills only $met met a campaign that ran"
  if killed killed $((RANDOM % 2)) 0.$((RANDOM % 2))$((RANDOM % 10)); then
    met=$((met + 1))
  else
    same killed
    rm -r killed
  fi
done
echo "kills: $met of $tries met a campaign that ran"
printf '{"kind":"do' >> killed/journal.jsonl  # a line that was being written
expect 0 '^wrote killed/campaign.h5' run killed.toml
same killed

# More configurations, then a quark that was missing: only what is missing is computed.
campaign extended
sed -i 's/lat.\[123\]/lat.1/; /quark.staggered/,$d' extended.toml
expect 0 '^lat.1: 2 rows' run extended.toml
campaign extended
expect 0 '12 rows, 2 of them done, 10 to do' run extended.toml
same extended
[ "$(grep -c ': 4 rows in ' stdout.txt)" = 2 ] && grep -q '^lat.1: 2 rows' stdout.txt || { cat stdout.txt; die "something was computed again"; }
# Results that are lost or damaged are missing, also where the start that computes them is killed behind its first row.
for damage in 'rm extended/configurations/lat.2.h5' 'truncate -s 3000 extended/configurations/lat.2.h5'; do
  $damage
  before=$(grep -c '"kind":"done"' extended/journal.jsonl)
  "$QUARKSTAR" run extended.toml > stdout.txt 2> stderr.txt &
  child=$! tries=0
  until [ "$(grep -c '"kind":"done"' extended/journal.jsonl)" -gt "$before" ] || [ $((tries += 1)) -gt 3000 ]; do sleep 0.01; done
  kill -9 $child 2> /dev/null || true
  wait $child 2> /dev/null || true
  grep -q 'extended/configurations/lat.2.h5: ' stderr.txt || { cat stderr.txt; die "not a word about lost rows"; }
  expect 0 '12 rows, [0-9]+ of them done' run extended.toml
  same extended
done
mv extended/journal.jsonl kept.jsonl
expect 2 'error: extended/configurations/lat.1.h5: there are results, and no extended/journal.jsonl says ' run extended.toml
mv kept.jsonl extended/journal.jsonl
campaign extended 'tol = 1e-7'
expect 2 'error: extended.toml:[0-9]+: quark.light.tol: tol is 1e-07 here, and was 1e-08 when rows of quark light were computed .*; give the quark another name' run extended.toml
campaign extended 'max-iterations = 900'  # changes no bit
expect 0 '0 to do' run extended.toml

# Damaged configurations, another lattice, links of another configuration, a quark that does not converge: failures of their own.
cp lat.2 good.2
head -c 20000 good.2 > lat.2
campaign broken
expect 2 'error: broken.toml: 1 of 3 configurations failed; the first: lat.2: lat.2: .*; broken/report.html lists them' run broken.toml
rows broken 8
grep -q '<td>lat.2</td><td>all</td>' broken/report.html || die "the report does not list the failure"
open_in_browser broken/report.html '<h2>Failures</h2>.*<td>lat.2</td><td>all</td><td>all</td>'
expect 2 'error: lat.2: lat.2: .*; without --stop-on-error' run broken.toml --stop-on-error
cp good.2 lat.2
expect 0 '^lat.2: 4 rows' run broken.toml
same broken
! grep -q '<h2>Failures' broken/report.html || die "a failure that is mended is listed"
cp lat.3 lat.2
sed -i 's/"point:0,0,0,4"/"wall:1"/' broken.toml
expect 2 "lat.2: its links are not those of the rows in broken/configurations/lat.2.h5" run broken.toml
expect 0 '^wrote' gauge generate lat.2 --lattice 4 4 4 4 --beta 5.9 --sweeps 1 --seed 2
campaign other
expect 2 'lat.2 failed: lat.2: its lattice is 4x4x4x4, that of the campaign 4x4x4x8' run other.toml
cp good.2 lat.2
campaign slow 'max-iterations = 3'
expect 4 'error: slow.toml: 6 failures, .*; the first: lat.1 light point:0,0,0,0: .*iteration limit' run slow.toml
rows slow 6
campaign slow
expect 0 '12 rows, 6 of them done, 6 to do' run slow.toml
same slow

# SIGTERM: a solve has the time of grace to end, and nothing else is started.
expect 0 '^wrote' gauge generate long --lattice 4 4 8 8 --beta 5.7 --sweeps 2 --seed 7
terminated() {  # GRACE ROWS: of two quarks and two sources so many rows are done then.
  local got=0 tries=0
  cat > end$1.toml << END
configurations = ["long"]
out = "end$1"
grace = $1
sources = ["point:0,0,0,0", "point:0,0,0,4"]
threads = 1
no-tune = true
nrhs = 1
tol = 1e-13
kappa = 0.2
solver = "cgnr"
[quark.a]
[quark.b]
END
  rm -f stderr.txt  # what the last one has said is no sign that this one has begun
  "$QUARKSTAR" run "end$1.toml" > stdout.txt 2> stderr.txt &
  local child=$!
  until grep -qs 'right-hand side 1/48 done: long a: ' stderr.txt || [ $((tries += 1)) -gt 3000 ]; do sleep 0.1; done
  kill -TERM $child || { cat stderr.txt; die "over before the signal"; }
  wait $child || got=$?
  [ "$got" = 130 ] || { cat stdout.txt stderr.txt; die "exit code $got instead of 130"; }
  grep -q "error: interrupted: the rows that are done are in end$1; start it again to go on" stderr.txt || { cat stderr.txt; die "no word about the interrupt"; }
  [ "$(grep -c '"kind":"done"' "end$1/journal.jsonl")" = "$2" ] || { cat stderr.txt; die "not $2 rows with a grace of $1 s"; }
}
terminated 0 0
terminated 600 1

# Propagators where they are asked for: a row without its propagator is missing, and gets the same bytes. Flags override the file.
campaign kept '' 'propagators = true'
sed -i 's/lat.\[123\]/lat.1/; /quark.staggered/,$d' kept.toml
expect 0 '^wrote moved/report.html' run kept.toml --out moved --workers 2
[ "$(ls moved/propagators)" = "$(printf 'lat.1.light.point-0,0,0,%s.h5\n' 0 4)" ] || die "no propagators"
absent kept
propagator=moved/propagators/lat.1.light.point-0,0,0,4.h5
mv $propagator before.h5
expect 0 '2 rows, 1 of them done, 1 to do' run kept.toml --out moved --workers 2
cmp before.h5 $propagator || die "another propagator than before"

# What the writer in the background cannot write: one error that names the file, nothing half-written, and the next start goes on.
limited() {  # KIB OUT FILE ROWS: no file may be longer; so many rows are done then.
  local got=0
  (trap '' XFSZ && ulimit -f "$1" && exec "$QUARKSTAR" run "$2.toml") > stdout.txt 2> stderr.txt || got=$?
  [ $got = 3 ] && [ "$(grep -c '^quarkstar: error: ' stderr.txt)" = 1 ] && grep -qE "error: $2/$3: " stderr.txt ||
    { cat stderr.txt; die "exit code $got where $2/$3 cannot be written"; }
  no_temporary_files
  expect 0 "12 rows, $4 of them done" run "$2.toml"
  same "$2"
}
campaign narrow '' 'propagators = true'
limited 600 narrow propagators/lat.1.light.point-0,0,0,0.h5 0
[ "$(ls narrow/propagators | wc -l)" = 12 ] || die "no propagators"
campaign narrower
limited 60 narrower configurations/lat.1.h5 2

# An HDF5 library that was built for one thread is called by one, and writes the same.
if command -v cc > /dev/null && ! ldd "$QUARKSTAR" | grep -q libasan; then
  cat > one_thread.c << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int H5is_library_threadsafe(_Bool* is) { return *is = 0; }
long H5Fcreate(const char* name, unsigned flags, long creation, long access) {
  if (gettid() != getpid()) abort();
  return ((long (*)(const char*, unsigned, long, long))dlsym(RTLD_NEXT, "H5Fcreate"))(name, flags, creation, access);
}
END
  cc -shared -fPIC one_thread.c -o one_thread.so -ldl
  campaign sequential '' 'propagators = true'
  LD_PRELOAD=$PWD/one_thread.so expect 0 '^wrote' run sequential.toml
  same sequential
  cmp {narrow,sequential}/propagators/lat.3.light.point-0,0,0,4.h5 || die "another propagator by one thread"
else
  echo "SKIPPED HDF5 for one thread: no cc, or AddressSanitizer"
fi

# A full disk, foreseen and not.
mkdir disk
if mount -t tmpfs -o size=600k none disk 2> why.txt; then
  trap 'umount disk; cd /; rm -rf "$folder"' EXIT
  campaign disk/full
  dd if=/dev/zero of=disk/filling bs=1k count=560 status=none
  expect 3 'error: disk/full: the results need .* of the disk, .* are free' run disk/full.toml
  rm disk/filling
  tries=0 got=0
  "$QUARKSTAR" run disk/full.toml > stdout.txt 2> stderr.txt &
  child=$!
  until [ -s disk/full/journal.jsonl ] || [ $((tries += 1)) -gt 3000 ]; do sleep 0.02; done
  dd if=/dev/zero of=disk/filling bs=1k status=none 2> /dev/null || true
  wait $child || got=$?
  [ $got = 3 ] && grep -qE 'error: disk/full.*(No space left|HDF5 could not)' stderr.txt || { cat stderr.txt; die "exit code $got on a full disk"; }
  rm disk/filling
  expect 0 '^wrote disk/full/report.html' run disk/full.toml
  same disk/full
else
  echo "SKIPPED a full disk: $(cat why.txt)"
fi

# Mistakes in the file: one line that names it, the line, the key and what to do.
wrong() {  # PATTERN SED: the file that sed makes of a good one
  campaign wrong
  sed -i -E "$2" wrong.toml
  expect 2 "error: $1" run wrong.toml
  absent wrong
}
wrong 'wrong.toml:13: quark.light.kapa: unknown key; did you mean kappa\? use one of ' 's/^kappa/kapa/'
wrong 'wrong.toml:3: unlike-any-key: unknown key; use one of configurations, out, ' '3s/.*/unlike-any-key = 3/'
wrong 'wrong.toml:11: quark.light: it has no mass; give it `kappa`' '/^kappa/d'
wrong 'wrong.toml:12: quark.action: a quark has a name; write \[quark.NAME\] above its keys' 's/quark.light/quark/'
wrong "wrong.toml:7: momenta: '0.5' is no integer" 's/^momenta.*/momenta = [[0, 0, 0.5]]/'
wrong 'wrong.toml:3: ranks: 2,1,1,1 is a grid of 2 ranks, but 1 rank was started; ' '3s/.*/ranks = "2,1,1,1"/'
wrong "wrong.toml:13: quark.light.kappa: 'true' is no number; use a decimal number" 's/^kappa.*/kappa = true/'
wrong 'wrong.toml:4: sources: this is a list of texts; write it as ' 's/^sources.*/sources = [1, 2]/'
wrong "wrong.toml:4: sources: 'line:1' is no source; use point:" 's/^sources.*/sources = ["line:1"]/'
wrong 'wrong.toml:4: sources: wall:8 lies outside of the 4x4x4x8 lattice' 's/^sources.*/sources = ["wall:8"]/'
wrong "wrong.toml:5: sinks: 'wall' is no sink; use point" 's/^sinks.*/sinks = ["wall"]/'
wrong "wrong.toml:6: correlators: 'pain' is no correlator of any of these quarks" 's/"pion"/"pain"/'
wrong 'wrong.toml:12: quark.light.threads: this is for all quarks; write it above' 's/^action = "wilson"/threads = 1/'
wrong 'wrong.toml:12: quark.light.source: a campaign has no such key; list them in `sources`' 's/^action = "wilson"/source = "wall:1"/'
wrong "wrong.toml:1: configurations: no file is called 'nothing\.\*'; check the path" 's/lat.\[123\]/nothing.*/'
wrong 'wrong.toml: there is no quark; describe one in a table' '/quark.light/,$d'
wrong 'wrong.toml:[0-9]+: quark.light.solver: .cg. is not for the action wilson; use one of' 's/^kappa.*/solver = "cg"/'
wrong 'wrong.toml:13: quark.light.restart: it means nothing for bicgstab; use `solver` gcr, or leave it out' 's/^kappa.*/restart = 8/'
wrong 'wrong.toml:3: gpu-memory: ' '3s/.*/gpu-memory = "x"/'
wrong 'wrong.toml: no configurations are named; give them as' '1d'
wrong 'wrong.toml: nowhere to write the results; name a folder as' '2d'
wrong 'wrong.toml:[0-9]+: ' 's/^kappa.*/kappa = [/'
mkdir twin && cp lat.1 twin
wrong 'wrong.toml:1: configurations: two configurations are called lat.1: ' 's/\["lat.\[123\]"\]/["lat.*", "twin\/lat.1"]/'
campaign wrong '' 'devices = "99"'
expect 3 'error: wrong.toml:3: devices: GPU 99 asked for, [0-9]+ present' run wrong.toml --dry-run
expect 2 'missing.toml: ' run missing.toml
expect 2 'CAMPAIGN.toml is required' run

command -v mpirun > /dev/null || { echo "SKIPPED ranks: no mpirun"; exit 0; }
campaign ranks
head -c 20000 good.2 > lat.2
two() { timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$QUARKSTAR" run ranks.toml > stdout.txt 2> stderr.txt; }
got=0
two || got=$?
[ $got = 2 ] && [ "$(grep -c 'error: ranks.toml: 1 of 3 configurations failed' stderr.txt)" = 1 ] || { cat stdout.txt stderr.txt; die "a failure on two ranks: exit code $got"; }
rows ranks 8
cp good.2 lat.2
two || { cat stdout.txt stderr.txt; die "two ranks"; }
same ranks
