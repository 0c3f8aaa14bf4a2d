#!/usr/bin/env bash
# libquda.so as MILC meets it: installed by itself, exporting quda names alone, called as MILC calls it (tests/clients/milc_replay.c) on 1, 2
# and 4 ranks: on one against correlators that MILC has computed, on several with the bits of one.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/clients.bash"
needs_library quarkstar-milc/libquda.so mpicc mpirun cmake nm

cmake --install "$build" --prefix "$PWD/installed" --component milc >install.txt || { cat install.txt; die "cmake --install"; }
QUDA_HOME=$PWD/installed/lib/quarkstar-milc  # as MILC's makefile names it
others=$(nm -D --defined-only "$QUDA_HOME/libquda.so" | awk '$3 !~ /^(quda|newQuda|loadGaugeQuda$|eigensolveQuda$|flushPoolQuda$)/' || true)
[ -z "$others" ] || die "libquda.so exports more than quda names: $others"
mpicc -std=c99 -Wall -Wextra -Werror -pedantic -O1 -I "$QUDA_HOME/include" "$source_folder/tests/clients/milc_replay.c" -o milc_replay \
  -L "$QUDA_HOME/lib" -lquda -lm -Wl,-rpath,"$QUDA_HOME/lib"

export QUARKSTAR_MILC="devices=cpu workers=1 threads=1"
# on GRID FILE LATTICE GOLDEN: what it prints is the same for every grid.
on() {
  local grid=$1 file=$2 lattice=$3 golden=$4
  # shellcheck disable=SC2086  # four numbers each
  timeout 600 mpirun --allow-run-as-root --oversubscribe --bind-to none -n $((${grid// /*})) ./milc_replay "$file" $lattice $grid "$golden" \
    >"out.txt" 2>err.txt || { cat out.txt err.txt; die "MILC's calls on $grid ranks"; }
  [ -e "first.txt" ] || cp out.txt first.txt
  [ -s out.txt ] && cmp first.txt out.txt || die "the bits depend on the ranks: $grid"
}
known=$data/milc/lat.sample.l8888
if [ -e "$data/golden-milc.json" ] && [ -e "$known" ] && command -v python3 >/dev/null; then
  python3 - "$data/golden-milc.json" >golden.txt <<'EOF'
import json, sys
for name, entry in json.load(open(sys.argv[1])).items():
    print(name, *(repr(x) for x in entry["re"]))
EOF
  on "1 1 1 1" "$known" "8 8 8 8" golden.txt
  on "2 1 1 1" "$known" "8 8 8 8" -
  on "1 1 2 2" "$known" "8 8 8 8" -
  rm first.txt
  # What MILC's own samples of ks_spectrum_hisq on this configuration say of Coulomb gauge; with another path correlators of walls differ.
  mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 ./milc_replay fix "$known" 8 8 8 8 1 1 1 2 >out.txt 2>err.txt || { cat err.txt; die "Coulomb gauge"; }
  grep -q 'gauge fixing: step 85, F = 0.877263803, changed by 1.98e-06' err.txt || { cat err.txt; die "Coulomb gauge is not reached as in MILC"; }
  on "1 1 1 1" "$data/milc/lat.sample.l4444" "4 4 4 4" golden.txt
else
  echo "SKIPPED MILC's correlators, golden-milc.json ($data is not there); its calls are checked on a configuration of ours"
  expect 0 '^plaquette ' gauge generate lattice.milc --lattice 4 4 8 8 --beta 6.0 --sweeps 10 --seed 7 --format milc
  on "1 1 1 1" lattice.milc "4 4 8 8" -
  on "1 1 1 2" lattice.milc "4 4 8 8" -
  on "1 1 2 2" lattice.milc "4 4 8 8" -
fi

# Ranks that QMP has in another order would get each other's links.
mpicc -std=c99 -O1 -DOTHER_ORDER -I "$QUDA_HOME/include" "$source_folder/tests/clients/milc_replay.c" -o other_order \
  -L "$QUDA_HOME/lib" -lquda -lm -Wl,-rpath,"$QUDA_HOME/lib"
timeout 120 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 4 ./other_order none 8 8 8 8 1 1 2 2 - >out.txt 2>err.txt &&
  die "ranks in another order are taken"
grep -q 'qudaInit: .*QMP gives the part 0,0,1,0 to rank 2, and here it is that of rank 1' err.txt || { cat err.txt; die "no message names the order of ranks"; }

# What is not there says so, by name, and ends the job.
if ./milc_replay absent >out.txt 2>err.txt; then die "an absent function returns"; fi
grep -q 'libquda of Quarkstar: qudaMultigridCreate: .*MULTIGRID' err.txt || { cat err.txt; die "no message names the absent function"; }
QUARKSTAR_MILC="nonsense" ./milc_replay none 8 8 8 8 1 1 1 1 - >out.txt 2>err.txt && die "a setting that is none is taken"
grep -q "qudaInit: .QUARKSTAR_MILC: 'nonsense'" err.txt || { cat err.txt; die "no message names the setting"; }
