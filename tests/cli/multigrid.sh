#!/usr/bin/env bash
# GCR with multigrid: converges, with the same bits for every cut and policy, and errors that name the flag.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration

solve=(solve --gauge lattice.ildg --kappa 0.14 --threads 1 --no-tune --columns 0-2)
gcr=("${solve[@]}" --solver gcr --aggregate 2 2 2 2 --null-vectors 8 --setup-steps 10 --setup-cycles 1 --coarse-steps 8 --smoother-steps 2)
for precision in double single; do
  expect 0 '^wrote one.json' "${gcr[@]}" --precision "$precision" --residual-history --json one.json
  grep -q '"multigrid_contraction"' one.json || die "no contraction in the JSON"
  results one.json > expected.txt
  [ -s expected.txt ] || die "no residual history"
  for cut in "--blocks 1,1,1,2 --workers 2" "--blocks 1,1,2,2 --workers 2 --policy dmdas --nrhs 2" "--nrhs 1 --in-flight 3 --workers 2"; do
    # shellcheck disable=SC2086
    expect 0 '^wrote other.json' "${gcr[@]}" $cut --precision "$precision" --residual-history --json other.json
    results other.json | cmp expected.txt - || die "the bits depend on how it ran: $cut"
  done
done
for action in "clover --csw 1.2" "twisted-mass --mu 0.1"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote other.json' "${gcr[@]}" --action $action --json other.json
done
expect 0 '^wrote other.json' "${gcr[@]}" --precision single --coarse-precision half --json other.json

# The one word, with everything chosen.
expect 0 '^multigrid: set-up [0-9.]+ s, [0-9.]+ Mflop per site, [0-9]+ cycles on 24 null vectors; ' "${solve[@]}" --solver multigrid --precision single --out word --json word.json
# What all solves took of each level, in the tables and in the report.
iterations=$(sed -n '/"solves"/,$p' word.json | sed -nE 's/.*"iterations": ([0-9]+).*/\1/p' | awk '{ n += $1 } END { print n }')
grep -qE "^ +0 +4x4x4x8 +24 +$iterations iterations" stdout.txt || { cat stdout.txt; die "no row of the finest level"; }
grep -qE "^ +1 +2x2x2x2 +- +$iterations products with the inverse +[0-9.]+\$" stdout.txt || { cat stdout.txt; die "no row of the coarsest level"; }
grep -q '<h2>Multigrid</h2>' word/report.html || die "the report has no levels of multigrid"
[ "$(grep -c '"cycle_seconds"' word.json)" = 2 ] || die "the JSON has not two levels"
for number in levels setup_cycles left_by_8_iterations setup_flops_per_site cycle_flops_per_site_level_0 cycle_flops_per_site_level_1 fell_back; do
  grep -q "\"multigrid_$number\"" word.json || die "no multigrid_$number in the JSON"
done
# A set-up that is kept: the same numbers from it, and a file of another problem is refused.
expect 0 '^wrote one.json' "${gcr[@]}" --residual-history --json one.json
results one.json > expected.txt
for time in first second; do
  expect 0 '^wrote other.json' "${gcr[@]}" --multigrid-setup kept --residual-history --json other.json
  results other.json | cmp expected.txt - || die "the bits of the $time run with a set-up that is kept"
done
[ "$(ls kept | wc -l)" = 8 ] || die "not 8 null vectors in the folder"
# Of another mass it is where the set-up begins, with fewer flops, and it stays what it is; of other aggregates it is refused.
sums() { (cd kept && cksum null-vector*); }
sums > of_first
setup_flops() { sed -nE 's/.*"multigrid_setup_flops_per_site": ([0-9]+).*/\1/p' "$1"; }
expect 0 '^wrote anew.json' "${gcr[@]}" --kappa 0.141 --json anew.json
for time in first second; do
  expect 0 'which began with those in kept of another mass \(kappa 0.14, not kappa 0.141\)' "${gcr[@]}" --kappa 0.141 --multigrid-setup kept --residual-history --json "$time.json"
  grep -q '"multigrid_began_with": "in kept of another mass' "$time.json" || die "the JSON does not say where the set-up began"
done
[ "$(setup_flops first.json)" -lt "$(setup_flops anew.json)" ] || die "a set-up from another mass saves nothing"
[ "$(results first.json)" = "$(results second.json)" ] || die "a set-up from another mass has other bits the second time"
sums | cmp of_first - || die "another mass has written over the null vectors"
expect 2 'error: kept: .* another problem: they have filtered steps 10 2 2 inverse, and here it is filtered steps 12 2 2 inverse; remove the folder, or give another multigrid-setup' "${gcr[@]}" --setup-steps 12 --multigrid-setup kept --json other.json
expect 2 'error: kept: .* another problem: ' "${gcr[@]}" --action clover --csw 1.2 --multigrid-setup kept --json other.json
cp -r kept torn
truncate -s 5000 torn/null-vector03.checkpoint
expect 2 'torn/null-vector03.* bytes instead of .*; remove the folder, or give another multigrid-setup' "${gcr[@]}" --multigrid-setup torn --json other.json
twisted=("${gcr[@]}" --action twisted-mass --multigrid-setup twisted)
expect 0 '^wrote other.json' "${twisted[@]}" --mu 0.1 --json other.json
expect 0 '^wrote other.json' "${twisted[@]}" --mu 0.1 --json other.json
! grep -q 'multigrid_began_with' other.json || die "the operator's own set-up is taken for another's"
expect 0 'in twisted of another mass \(kappa 0.14 mu 0.1, not kappa 0.14 mu 0.2\)' "${twisted[@]}" --mu 0.2 --json other.json

# A multigrid that stalls: another solver ends the solve, and the command says so; or it fails.
poor=(--solver multigrid --aggregate 2,2,2,2 --null-vectors 4 --setup-steps 1 --setup-cycles 0 --smoother-steps 1 --coarse-steps 1 --restart 1 --kappa 0.16)
expect 0 'multigrid came to .*bicgstab goes on' "${solve[@]}" "${poor[@]}" --json poor.json
expect 0 "multigrid's set-up is poor: .*setup-steps" "${solve[@]}" "${poor[@]}" --json poor.json
expect 4 'stagnation' "${solve[@]}" "${poor[@]}" --no-fallback --json poor.json

# Settings that cannot be are refused before a file is opened, those that need its lattice behind its header.
missing=(solve --gauge missing.ildg --kappa 0.14 --columns 0 --json x.json --solver multigrid)
expect 2 'error: missing.ildg: ' "${missing[@]}"
expect 2 'error: --null-vectors: 6 null vectors' "${missing[@]}" --null-vectors 6
expect 2 'error: --levels: 5 levels' "${missing[@]}" --levels 5
expect 2 'error: --setup-cycles: ' "${missing[@]}" --setup-cycles -1
expect 2 'error: --smoother-steps: 13 of them' "${missing[@]}" --smoother-steps 13
expect 2 'error: missing.ildg: ' "${missing[@]}" --aggregate 3,2,2,2
expect 2 'error: --aggregate: .* is no even number of aggregates of 3 sites' "${missing[@]}" --aggregate 3,2,2,2 --lattice 8,8,8,8
expect 2 'error: --levels: level 1 cannot be coarsened' "${missing[@]}" --levels 3 --lattice 8,8,8,8
cp lattice.ildg damaged.ildg
printf 'damaged' | dd of=damaged.ildg bs=1 seek=100000 conv=notrunc 2> dd.txt
expect 2 'error: damaged.ildg: ' "${missing[@]}" --gauge damaged.ildg --aggregate 2,2,2,2
expect 2 'error: --aggregate: .* is no even number of aggregates of 3 sites' "${missing[@]}" --gauge damaged.ildg --aggregate 3,2,2,2
expect 2 'error: --aggregate: it means nothing for bicgstab' "${solve[@]}" --aggregate 2,2,2,2 --json x.json
expect 2 'error: --aggregate: .* is no even number of aggregates of 3 sites' "${solve[@]}" --solver gcr --aggregate 3,2,2,2 --json x.json
expect 2 'error: --aggregate: a block of 2 sites in t from 0 on is no whole number of 4' "${solve[@]}" --solver gcr --aggregate 2,2,2,4 --blocks 1,1,1,4 --json x.json
expect 2 'error: --aggregate: there is a preconditioner already' "${gcr[@]}" --inner-solver cgnr --json x.json
expect 2 'error: --null-vectors: 6 null vectors' "${gcr[@]}" --null-vectors 6 --json x.json
expect 2 'error: --null-vectors: it is of multigrid' "${solve[@]}" --solver gcr --null-vectors 8 --json x.json
expect 2 'error: --levels: level 1 cannot be coarsened' "${gcr[@]}" --levels 3 --json x.json
expect 2 'error: --no-fallback: it is of multigrid' "${solve[@]}" --no-fallback --json x.json
expect 2 'error: --coarse-precision: matrices in half precision are for vectors in single' "${gcr[@]}" --precision double --coarse-precision half --json x.json
expect 2 'error: --precision: multigrid has no fields in half precision' "${gcr[@]}" --precision half --json x.json
expect 2 'error: --schur: multigrid is for the asymmetric' "${gcr[@]}" --schur symmetric --json x.json
expect 2 'error: --aggregate: aggregate means nothing for the action hisq' solve --gauge lattice.ildg --action hisq --mass 0.1 --solver cg --aggregate 2,2,2,2 --json x.json
