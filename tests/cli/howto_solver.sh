#!/usr/bin/env bash
# The solver of docs/howto/solver.md, a file and a line, in every command. QUARKSTAR is the command with it.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
"$QUARKSTAR" solve --help 2>&1 | grep -qE 'Krylov solver: .*\bmr\b' || { echo "SKIPPED howto_solver: the command has no solver mr"; exit 77; }
make_configuration
solve=(solve --gauge lattice.ildg --kappa 0.12 --threads 1 --columns 0-1 --residual-history)

# It reaches the residual, with the same bits for any number of right-hand sides, cut and batch.
for flags in "" "--nrhs 1" "--blocks 1,1,1,2 --workers 2 --check-every 5"; do
  # shellcheck disable=SC2086
  expect 0 '^wrote mr.json' "${solve[@]}" --solver mr --precision single --json mr.json $flags
  [ "$(grep -c '"reason": "converged"' mr.json)" = 2 ] || die "not 2 columns $flags"
  sed -n '/"residual_history"/,/]/p' mr.json > "history ${flags//[^a-z0-9]/}.txt"
done
grep -q '"solver": "mr"' mr.json || die "the report does not tell the solver"
[ "$(md5sum history*.txt | cut -d' ' -f1 | sort -u | wc -l)" = 1 ] || die "residual histories differ"

# A few steps of it are a preconditioner.
iterations() { sed -nE 's/.*"iterations": ([0-9]+).*/\1/p' "$1" | head -n 1; }
expect 0 '^wrote gcr.json' "${solve[@]}" --solver gcr --json gcr.json
expect 0 '^wrote inner.json' "${solve[@]}" --solver gcr --inner-solver mr --inner-steps 6 --json inner.json
[ "$(iterations inner.json)" -lt "$(iterations gcr.json)" ] || die "as many iterations with steps of mr inside: $(iterations inner.json)"

# It is not for staggered actions, and keeps no directions.
expect 2 "error: --solver: 'mr' is not for the action hisq; use cg, blockcg, multishift" solve --gauge lattice.ildg --action hisq --mass 0.2 --solver mr --json x.json
expect 2 'error: --restart: it means nothing for mr' "${solve[@]}" --solver mr --restart 3 --json x.json

expect 0 '4,4,4,4 +mr +double/single ' bench solver --solver mr --lattice 4,4,4,4 --precision single --links 12 --nrhs 2 --iterations 16 --repetitions 1 --array-mb 8 --no-tune
expect 0 '^residual histories: 2 runs of 1 problem, all bits equal' lab --lattice 4,4,4,4 --sweeps 2 --seed 7 --out study --nrhs 1 12 \
  --set solver=mr kappa=0.12 tol=1e-6 threads=1 gpus=0 columns=0-11 --repetitions 1 --warm-up 0 --no-bandwidth
