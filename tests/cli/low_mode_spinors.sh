#!/usr/bin/env bash
# Low-mode averages of Wilson's and twisted quarks: the same mean over all sources as plain correlators, the same bits on other cuts and
# ranks, smeared sinks, a campaign.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^plaquette ' gauge generate lat.1 --lattice 4 2 2 4 --beta 6.0 --sweeps 10 --seed 7
points=
for t in 0 1 2 3; do for z in 0 1; do for y in 0 1; do for x in 0 1 2 3; do points+="+point:$x,$y,$z,$t"; done; done; done; done
for action in "--action wilson --kappa 0.165" "--action twisted-mass --kappa 0.165 --mu 0.02 --csw 1.2 --schur symmetric"; do
  # shellcheck disable=SC2206  # words are flags
  common=($action --threads 1 --no-tune)
  rm -f ./*.json
  expect 0 '^wrote modes.lat.1.h5' eigen "${common[@]}" --gauge lat.1 --modes 12 --out modes.lat.1.h5
  solve=(solve "${common[@]}" --gauge lat.1 --tol 1e-12 --deflate modes.lat.1.h5 --low-mode-average --correlators mesons)
  # Every site as a source.
  expect 0 'pion_low-mode-average' "${solve[@]}" --source "${points#+}" --nrhs 24 --json all.json
  if command -v python3 > /dev/null; then
    python3 - << 'PYTHON' || die "low-mode averages have another mean"
import glob, json
correlators = [json.load(open(name))["correlators"] for name in glob.glob("all.source*.json")]
assert len(correlators) == 64, len(correlators)
def mean_and_spread(name, t):
    values = [c[name][t] for c in correlators]
    mean = sum(values) / len(values)
    return mean, (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
averages = [name for name in correlators[0] if name.endswith("_low-mode-average")]
assert len(averages) == 17, averages
for better in averages:
    name = better.removesuffix("_low-mode-average")
    for t in range(4):
        plain, spread = mean_and_spread(name, t)
        mean, less = mean_and_spread(better, t)
        assert abs(plain - mean) < 1e-9 * mean_and_spread("pion", t)[0], (name, t, plain, mean)
        if name == "pion" and t % 2 == 1: assert less < 0.7 * spread, (t, spread, less)
PYTHON
  fi
done

# Other cuts; sources in another company; a precision of its own.
one=("${solve[@]}" --source point:1,0,1,3)
expect 0 '^wrote one.json' "${one[@]}" --json one.json
expect 0 '^wrote cut.json' "${one[@]}" --json cut.json --workers 2 --blocks 1 1 1 2
cmp <(results one.json) <(results cut.json) || die "low-mode averages depend on the cut"
expect 0 '^wrote flight.json' "${one[@]}" --json flight.json --nrhs 5 --in-flight 2
cmp <(results one.json) <(results flight.json) || die "low-mode averages depend on what is in flight"
expect 0 'pion_low-mode-average' "${one[@]}" --json also.json --precision single --fold
# Averages are those of point sinks.
expect 0 'pion_low-mode-average ' "${one[@]}" --json sinks.json --sinks point+gaussian:1,2
grep -q 'pion_sink' sinks.json || die "no smeared sink"
grep -q 'low-mode-average_sink' sinks.json && die "an average of a smeared sink"
expect 2 'error: --low-mode-average: modes are those of one mu, and there are 2; give one --mu' "${one[@]}" --json x.json --mu 0.02,0.03

cat > pions.toml << END
configurations = ["lat.1"]
out = "pions"
sources = ["point:0,0,0,0", "point:2,0,0,2"]
correlators = ["pion", "rho"]
threads = 1
no-tune = true
[quark.light]
action = "twisted-mass"
kappa = 0.165
mu = 0.02
csw = 1.2
schur = "symmetric"
deflate = "modes.*.h5"
low-mode-average = true
END
expect 0 '^wrote pions/report.html' run pions.toml
grep -q pion_low-mode-average pions/report.html || die "no average in the report"
absent x.json
