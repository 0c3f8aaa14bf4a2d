#!/usr/bin/env bash
# Solves that begin with modes of those before them: fewer iterations, the bits of one rank on several, refusals by name.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
# shellcheck source=tests/cli/ranks.bash disable=SC2154
source "$here/ranks.bash"
make_configuration
solve=(solve --gauge lattice.ildg --action naive --mass 0.02 --recycle 16 --nrhs 1 --source random:1 --threads 1 --no-tune --residual-history)
expect 0 '^wrote one.json' "${solve[@]}" --json one.json
iterations=$(grep -o '"iterations": [0-9]*' one.json | grep -o '[0-9]*')
first=$(head -1 <<<"$iterations") last=$(tail -1 <<<"$iterations")
[ "$(wc -l <<<"$iterations")" -eq 3 ] && [ "$last" -lt "$first" ] || die "three columns took $(tr '\n' ' ' <<<"$iterations")iterations"
history() { sed -n '/"residual_history"/,/]/p' "$1"; }
expect 0 '^wrote cut.json' "${solve[@]}" --json cut.json --workers 2 --blocks 1 1 1 2 --policy eager --check-every 3
cmp <(history one.json) <(history cut.json) || die "recycled solves depend on the cut"
for grid in 1,1,1,2 2,1,1,1; do
  ranks 2 "${solve[@]}" --json several.json --ranks $grid || { cat stderr.txt; die "recycled solves on ranks $grid"; }
  cmp <(history one.json) <(history several.json) || die "recycled solves depend on the ranks $grid"
done
common=(solve --gauge lattice.ildg --threads 1 --no-tune --json x.json --recycle 16)
expect 0 '^wrote x.json' "${common[@]}" --kappa 0.12 --columns 0
grep -q '"solver": "bicgstab"' x.json || die "recycling chooses another solver than the usual one"
expect 0 '^wrote x.json' "${common[@]}" --kappa 0.12 --columns 0 --solver gcr --schwarz-block 2,2,2,2
expect 2 'error: --recycle: multigrid gathers no modes' "${common[@]}" --kappa 0.12 --solver multigrid
expect 2 'error: --recycle: multigrid leaves no low modes to gather' "${common[@]}" --kappa 0.12 --solver gcr --aggregate 2,2,2,2
expect 2 'error: --recycle: blockcg gathers no modes' "${common[@]}" --action naive --mass 0.1 --solver blockcg
expect 2 'error: --recycle.* several are in flight together' "${common[@]}" --kappa 0.12 --in-flight 2 --nrhs 1
expect 2 'error: --recycle.*the policy adaptive' "${common[@]}" --kappa 0.12 --policy adaptive
expect 2 'error: --recycle.*eigenvectors of --deflate' "${common[@]}" --kappa 0.12 --deflate x.h5
expect 2 'error: --recycle.*129.*from 0 to 128' "${common[@]:0:${#common[@]}-1}" 129 --kappa 0.12
expect 2 'error: --recycle.*means nothing for the action domain-wall' "${common[@]}" --action domain-wall --mass 0.1
