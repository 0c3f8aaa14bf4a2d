#!/usr/bin/env bash
# Several sources of one staggered solve: each gets the bits that it gets alone, whatever it is solved together with; block CG over sources; restart
# files and outputs of each; lists that are refused.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
# shellcheck disable=SC2054  # commas belong to the flag
sources=(point:0,0,0,0 point:1,2,3,4 wall:2)
list="${sources[0]}+${sources[1]}+${sources[2]}"
solve=(solve --gauge lattice.ildg --action hisq --tol 1e-10 --threads 1 --no-tune --residual-history)
most() { grep -oh "\"$1\": [0-9]*" "${@:2}" | grep -o '[0-9]*$' | sort -n | tail -1; }

# alone FLAG...: results and restart files of each source, solved for by itself.
alone() {
  local i
  rm -rf alone*
  for i in 0 1 2; do
    expect 0 "^wrote alone$i.json" "${solve[@]}" "$@" --source "${sources[i]}" --json alone$i.json --checkpoint alone$i
    results alone$i.json > alone$i.txt
    [ -s alone$i.txt ] || die "no residual history of ${sources[i]}"
  done
}
# same FLAGS: what was written as many.* has the bits of alone*.
same() {
  local i file
  for i in 0 1 2; do
    results many.source$i.json | cmp alone$i.txt - || die "${sources[i]} depends on what it is solved together with: $*"
    for file in "alone$i"/*; do cmp "$file" "many/${file/alone/source}" || die "the solution of ${sources[i]} depends on that: $*"; done
  done
  absent many.json
}
together() {
  rm -rf many many.source*
  expect 0 '^wrote many.source2.json' "${solve[@]}" "$@" --source "$list" --json many.json --checkpoint many
  same "$*"
}

alone --masses 0.2,0.5 --nrhs 3
together --masses 0.2,0.5 --nrhs 9
[ $((2 * $(most kernels many.source*.json))) -lt "$(most kernels alone*.json)" ] || die "nine right-hand sides took the kernels of three at a time"
[ "$(grep -c '"source": "wall:2"' many.source2.json)" = 7 ] || die "not six solves and a setting that name their source"
grep -q '^source wall:2$' stdout.txt || die "the tables do not name their source"
for other in "${sources[@]}"; do grep -q "^    \"$other\",\{0,1\}$" many.source0.json || die "the JSON does not name the other sources"; done
together --masses 0.2,0.5 --nrhs 8 --workers 2 --blocks 1,1,1,2
together --masses 0.2,0.5 --nrhs 5 --workers 2 --in-flight 3 --policy eager

alone --masses 0.2,0.5 --solver multishift
together --masses 0.2,0.5 --solver multishift
alone --masses 0.2,0.5 --naik-epsilon auto
together --masses 0.2,0.5 --naik-epsilon auto --nrhs 9 --in-flight 2 --workers 2
alone --mass 0.2 --precision half --links 13
together --mass 0.2 --precision half --links 13 --nrhs 9

# Block CG: one Krylov space of all sources; a source that is there twice adds nothing to it.
pion5() { grep -A1 '"pion5": \[' "$1" | tail -1 | tr -d ' ,' | cut -c1-11; }
alone --mass 0.05 --tol 1e-12
for block in "$list" "${sources[0]}+${sources[1]}+${sources[0]}"; do
  rm -f many.source*
  expect 0 '^wrote many.source2.json' "${solve[@]}" --mass 0.05 --tol 1e-12 --solver blockcg --nrhs 9 --source "$block" --json many.json
  [ "$(cat many.source?.json | grep -c '"reason": "converged"')" = 9 ] || die "not nine answers of block CG"
  [ "$(most iterations many.source?.json)" -lt "$(most iterations alone?.json)" ] || die "block CG took as many iterations as CG: $block"
  for i in 0 1; do [ "$(pion5 many.source$i.json)" = "$(pion5 alone$i.json)" ] || die "block CG gives another answer for ${sources[i]}"; done
done
[ "$(pion5 many.source2.json)" = "$(pion5 alone0.json)" ] || die "block CG gives another answer for the source that is there twice"

# Restart files: of an interrupted run, of a run for one source, of another source.
part=("${solve[@]}" --mass 0.05 --tol 1e-12 --nrhs 8 --source "$list" --json part.json)
expect 4 'error: source point:0,0,0,0, colour 0, mass 0.05: .*iteration limit' "${part[@]}" --checkpoint part --checkpoint-every 4 --check-every 1 --max-iterations 12
for i in 0 1 2; do grep -q '"status": "failed"' part.source$i.json || die "no reason in the JSON of source $i"; done
absent part.json
expect 0 '^wrote part.source2.json' "${part[@]}" --checkpoint part
for i in 0 1; do [ "$(most iterations part.source$i.json)" -lt "$(most iterations alone$i.json)" ] || die "source $i began anew"; done
mkdir moved
cp -r alone1 moved/source1
expect 0 '^wrote part.source2.json' "${part[@]}" --checkpoint moved
[ "$(most iterations part.source1.json)" = 0 ] || die "the restart files of one source are not those of a list"
expect 2 'moved/source0/column00-mass0.05.checkpoint: the restart file belongs to another problem' \
  "${solve[@]}" --mass 0.05 --source "${sources[1]}+${sources[0]}" --json x.json --checkpoint moved

# Outputs, and the list as a file has it.
cat > run.toml <<'TOML'
gauge = "lattice.ildg"
action = "naive"
nrhs = 8
source = ["point:0,0,0,0", "corner-wall:3"]
out = "written"
propagators = "hdf5"
TOML
expect 0 '^wrote written/source1/report.html' solve run.toml
for i in 0 1; do
  for file in propagator.h5 correlators.h5 result.json report.html; do [ -s written/source$i/$file ] || die "no $file of source $i"; done
done
grep -q 'source corner-wall:3' written/source1/report.html || die "the page does not name its source"

echo 'source = ["point:0,0,0,0", "line:1"]' > bad.toml
expect 2 "error: bad.toml:1: source: 'line:1' is no source; use point:" "${solve[@]}" bad.toml --json x.json
expect 2 "error: --source: 'line:1' is no source; use point:" "${solve[@]}" --source point:0,0,0,0+line:1 --json x.json
expect 2 "error: --source: '' is no source; use point:" "${solve[@]}" --source point:0,0,0,0+ --json x.json
expect 2 'error: --source: point:0,0,0,9 lies outside of the 4x4x4x8 lattice; use coordinates below' "${solve[@]}" --source wall:0+point:0,0,0,9 --json x.json
expect 2 "error: --nrhs: '33' is no integer in range" "${solve[@]}" --source "$list" --nrhs 33 --json x.json
absent x.json x.source0.json

command -v mpirun > /dev/null || { echo "SKIPPED ranks: no mpirun"; exit 0; }
alone --mass 0.2
rm -rf many many.source*
timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$QUARKSTAR" "${solve[@]}" --mass 0.2 --nrhs 8 --source "$list" \
  --json many.json --checkpoint many > stdout.txt 2> stderr.txt || { cat stderr.txt; die "two ranks"; }
same "two ranks"
