#!/usr/bin/env bash
# Low-mode averages: the same mean over all sources as plain correlators, the same bits on other cuts, averages of a campaign, refusals.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
expect 0 '^plaquette ' gauge generate lat.1 --lattice 4 4 4 4 --beta 6.0 --sweeps 10 --seed 7
common=(--action naive --threads 1 --no-tune)
expect 0 '^wrote modes.lat.1.h5' eigen "${common[@]}" --gauge lat.1 --modes 12 --out modes.lat.1.h5
solve=(solve "${common[@]}" --gauge lat.1 --masses 0.02,0.1 --tol 1e-12 --deflate modes.lat.1.h5 --low-mode-average)

# Every site as a source.
points=
for t in 0 1 2 3; do for z in 0 1 2 3; do for y in 0 1 2 3; do for x in 0 1 2 3; do points+="+point:$x,$y,$z,$t"; done; done; done; done
expect 0 'pion5_low-mode-average' "${solve[@]}" --source "${points#+}" --nrhs 24 --json all.json
if command -v python3 > /dev/null; then
  python3 - << 'END' || die "low-mode averages have another mean"
import glob, json
files = glob.glob("all.source*.json")
assert len(files) == 256, len(files)
correlators = [json.load(open(name))["correlators"] for name in files]
def mean_and_spread(name, t):
    values = [c[name][t] for c in correlators]
    mean = sum(values) / len(values)
    return mean, (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
for mass in "0.02", "0.1":
    for name in "pion5", "pion05", "rho_x", "rho_y", "rho_z", "rho":
        for t in range(4):
            plain, spread = mean_and_spread(f"{name}_m{mass}", t)
            better, less = mean_and_spread(f"{name}_low-mode-average_m{mass}", t)
            assert abs(plain - better) < 1e-9 * mean_and_spread(f"pion5_m{mass}", t)[0], (name, mass, t, plain, better)
            if name == "pion5" and mass == "0.02": assert less < 0.7 * spread, (t, spread, less)
END
fi

# Other cuts; sources in another company; a solver and a precision of its own.
one=("${solve[@]}" --source point:1,0,2,3)
expect 0 '^wrote one.json' "${one[@]}" --json one.json
expect 0 '^wrote cut.json' "${one[@]}" --json cut.json --workers 2 --blocks 1 1 2 2
cmp <(results one.json) <(results cut.json) || die "low-mode averages depend on the cut"
expect 0 '^wrote flight.json' "${one[@]}" --json flight.json --nrhs 3 --in-flight 2
cmp <(results one.json) <(results flight.json) || die "low-mode averages depend on what is in flight"
for also in "--solver multishift" "--precision half" "--fold"; do
  # shellcheck disable=SC2086  # words are flags
  expect 0 'pion5_low-mode-average' "${one[@]}" --json also.json $also
done

# A campaign has averages of both.
expect 0 '^plaquette ' gauge generate lat.2 --lattice 4 4 4 4 --beta 6.0 --sweeps 10 --seed 8
expect 0 '^wrote modes.lat.2.h5' eigen "${common[@]}" --gauge lat.2 --modes 12 --out modes.lat.2.h5
cat > pions.toml << END
configurations = ["lat.[12]"]
out = "pions"
sources = ["point:0,0,0,0", "point:2,0,0,2"]
correlators = ["pion5", "rho"]
threads = 1
no-tune = true
[quark.light]
action = "naive"
mass = 0.02
deflate = "modes.*.h5"
low-mode-average = true
END
expect 0 'pion5 rho, low-mode averages of mesons' run pions.toml --dry-run
expect 0 '^wrote pions/report.html' run pions.toml
for name in pion5_low-mode-average rho_low-mode-average; do grep -q "$name" pions/report.html || die "no $name in the report"; done
grep -q pion05 pions/report.html && die "a correlator that nobody wants"
cp modes.lat.1.h5 modes.lat.2.h5
rm -r pions
expect 4 'modes.lat.2.h5: its eigenvectors are those of another operator or configuration' run pions.toml

# What it is not for.
plain=(solve "${common[@]}" --gauge lat.1 --mass 0.02 --json x.json)
expect 2 'error: --low-mode-average: there are no modes; give --deflate' "${plain[@]}" --low-mode-average
expect 2 'error: --low-mode-average: it is for points, and a source is wall:0; use point sources' "${plain[@]}" --low-mode-average --deflate modes.lat.1.h5 --source point:0,0,0,0+wall:0
expect 2 'error: --low-mode-average: it is for momentum zero' "${plain[@]}" --low-mode-average --deflate modes.lat.1.h5 --momenta 1,0,0
expect 2 'error: --columns: low-mode averages need all 3' "${plain[@]}" --low-mode-average --deflate modes.lat.1.h5 --columns 0
expect 2 'error: --low-mode-average: the action domain-wall has a fifth dimension' solve --gauge lat.1 --action domain-wall --json x.json --low-mode-average --deflate modes.lat.1.h5
expect 2 'error: --low-mode-average: it is for mesons' solve --gauge lat.1 --correlators proton --json x.json --low-mode-average --deflate modes.lat.1.h5
sed -i 's/"point:2,0,0,2"/"z2:0,1"/' pions.toml
expect 2 'pions.toml:[0-9]+: quark.light.low-mode-average: it is for points, and a source is z2:0,1' run pions.toml
absent x.json
