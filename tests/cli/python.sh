#!/usr/bin/env bash
# The Python package: its own tests, and the examples, whose numbers are those of the command.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/clients.bash"
needs_library libquarkstar.so.0 cc
library=$(dirname "$QUARKSTAR")/libquarkstar.so.0
find_python
[ -n "$python" ] || { echo "no python3 with numpy"; exit 77; }
export PYTHONPATH=$source_folder/apps/python QUARKSTAR_LIBRARY=$library QUARKSTAR_DATA=$data PYTHONDONTWRITEBYTECODE=1

# One arena of glibc's, because memory is compared (client_memory.sh).
for file in python_test python_hadrons_test; do
  MALLOC_ARENA_MAX=1 "$python" "$source_folder/tests/clients/$file.py" >python.txt 2>&1 || { cat python.txt; die "the package's tests"; }
  grep -E 'skipped' python.txt || true
done

# A library of another version is named.
cc -shared -o other.so -x c - <<<'const char *qs_version(void) { return "0"; }'
QUARKSTAR_LIBRARY=$PWD/other.so "$python" -c 'import quarkstar' >other.txt 2>&1 && die "a library of another version is taken"
grep -q "ImportError: .*other.so is of another version than this package: it has no qs_" other.txt || { cat other.txt; die "a library of another version"; }
# Installed by pip, without a word of where things are, from a copy, since it writes into the tree.
if "$python" -c 'import setuptools, wheel, pip' 2>/dev/null; then
  mkdir -p tree/apps && cp "$source_folder"/{setup.py,pyproject.toml} tree && cp -r "$source_folder/apps/python" tree/apps
  "$python" -m pip install --quiet --no-index --no-deps --no-build-isolation --target site ./tree >pip.txt 2>&1 || { cat pip.txt; die "pip install ."; }
  (cd site && env -u QUARKSTAR_LIBRARY PYTHONPATH="$PWD" "$python" -c '
import os, quarkstar as qs
assert os.path.dirname(qs.__file__) == os.getcwd() + "/quarkstar" and qs.version().startswith("quarkstar "), qs.__file__') || die "the package that pip installs"
else
  echo "skipped: pip install . (no pip, setuptools or wheel)"
fi

"$python" "$source_folder/examples/python/pion_mass.py" --demo --plot pion.png >pion.txt || die "pion_mass.py"
make_configuration  # the first of the two
expect 0 '^wrote ' gauge generate second.ildg --lattice 4 4 4 8 --beta 6.0 --sweeps 10 --seed 8 --format ildg
"$python" "$source_folder/examples/python/pion_mass.py" lattice.ildg second.ildg >same.txt
diff <(grep '^ *[0-9]* [0-9.e+-]* ' pion.txt | grep -v iterations) <(grep '^ *[0-9]* [0-9.e+-]* ' same.txt | grep -v iterations) || die "pion_mass.py: files give other numbers"
for gauge in lattice second; do
  expect 0 '^wrote ' solve --gauge $gauge.ildg --kappa 0.12 --tol 1e-10 --json $gauge.json
done
"$python" - <<'EOF' || die "pion_mass.py: the command has other numbers"
import json
pions = []
for name in ("lattice", "second"):
    correlators = json.load(open(name + ".json"))["correlators"]
    values = correlators["pion"] if isinstance(correlators, dict) else next(c for c in correlators if c["name"] == "pion")
    pions.append(values["values"] if isinstance(values, dict) else values)
mean = [0.5 * (a + b) for a, b in zip(*pions)]
mean = [0.5 * (mean[t] + mean[-t]) for t in range(len(mean))]
printed = [float(line.split()[1]) for line in open("pion.txt") if line.split()[0].isdigit() and "iterations" not in line]
assert len(printed) == 8 and all(abs(a / b - 1) < 1e-11 for a, b in zip(mean, printed)), (mean, printed)
EOF
# The example gives the pion that is known from elsewhere: two times one configuration, whose mean it is.
if [ -e "$data/golden-2.json" ]; then
  known=$data/other/jl.confs_Heatbath_L04040404_beta5.7_quenched_su3.ildg
  "$python" "$source_folder/examples/python/pion_mass.py" "$known" "$known" --kappa 0.125 >known.txt || die "pion_mass.py"
  "$python" - "$data/golden-2.json" <<'EOF' || die "pion_mass.py: golden-2.json has other numbers"
import json, sys
pion = json.load(open(sys.argv[1]))["had.jl4444.k0.125.ap"]["mesons16_point_p000"][15]
printed = [float(line.split()[1]) for line in open("known.txt") if line.split()[0].isdigit() and "iterations" not in line]
assert len(printed) == 4 and all(abs(0.5 * (pion[t] + pion[-t]) / printed[t] - 1) < 1e-9 for t in range(4)), (pion, printed)
EOF
else
  echo "skipped: pion_mass.py and golden-2.json ($data is not there)"
fi
# Every action: the residual history of a column has the command's bits.
"$python" - "$QUARKSTAR" <<'EOF' || die "the command has other bits"
import json, subprocess, sys, quarkstar as qs
U = qs.read_gauge("lattice.ildg")
for action in qs.actions():
    settings = {"asqtad": {"u0": 0.9}}.get(action, {})  # the others have defaults
    command = [sys.argv[1], "solve", "--gauge", "lattice.ildg", "--columns", "0", "--residual-history", "--json", "history.json", "--action", action]
    for key, value in settings.items():
        command += [f"--{key}", str(value)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = [float.fromhex(x) for x in json.load(open("history.json"))["solves"][0]["residual_history"]]
    with qs.Operator(U, action, settings) as D:
        D.propagator(point=(0, 0, 0, 0))
        mine = list(D.history(0))
    assert len(told) > 5 and mine == told, (action, len(mine), len(told), mine[:2], told[:2])
EOF
# Three-point functions: the bits of the command.
expect 0 '^wrote three.json' solve --gauge lattice.ildg --kappa 0.12 --tol 1e-8 --threads 1 --source point:1,0,2,3 --three-points pion:4,0,0,1+proton_u:3 \
  --currents vector_t,axial,conserved --current-momenta 0,0,0+0,0,1 --sinks point+gaussian:1,4 --json three.json
"$python" - <<'EOF' || die "three-point functions: the command has other bits"
import json, quarkstar as qs
U = qs.read_gauge("lattice.ildg")
with qs.wilson(U, kappa=0.12, tol=1e-8) as D:
    mine = qs.three_points(D, D.propagator(point=(1, 0, 2, 3)), ["pion:4,0,0,1", "proton_u:3"], ["vector_t", "axial", "conserved"],
                           momenta=[(0, 0, 0), (0, 0, 1)], sinks=["point", "gaussian:1,4"])
told = {name: [complex(*value) for value in values] for name, values in json.load(open("three.json"))["correlators"].items() if "_3pt_" in name}
assert len(told) == 72 and {name: list(values) for name, values in mine.items()} == told, sorted(set(mine) ^ set(told))
EOF
# Smeared sources, of which no array is made: the bits of the command.
expect 0 '^wrote smeared.json' solve --gauge lattice.ildg --kappa 0.12 --tol 1e-8 --threads 1 --source gaussian:1,0,2,3,1.2,4,0.5,2 --correlators mesons \
  --json smeared.json
"$python" - <<'EOF' || die "a smeared source: the command has other bits"
import json, quarkstar as qs
U = qs.read_gauge("lattice.ildg")
with qs.wilson(U, kappa=0.12, tol=1e-8) as D:
    mine = qs.mesons(D.propagator(source="gaussian:1,0,2,3,1.2,4,0.5,2"))
told = json.load(open("smeared.json"))["correlators"]
assert len(told) == 17 and {name: list(values) for name, values in mine.items()} == told, sorted(set(mine) ^ set(told))
EOF
# Eigenvectors: the file of the command, byte for byte, and a deflated solve with its residuals.
expect 0 '^wrote modes.h5' eigen --gauge lattice.ildg --action naive --modes 8 --threads 1 --out modes.h5
expect 0 '^wrote deflated.json' solve --gauge lattice.ildg --action naive --mass 0.005 --columns 0 --threads 1 --deflate modes.h5 --residual-history --json deflated.json
"$python" - <<'EOF' || die "eigenvectors: the command has other bits"
import re, numpy as np, quarkstar as qs
U = qs.read_gauge("lattice.ildg")
with qs.naive(U, mass=0.005) as D:
    qs.eigenvectors(D, modes=8).write("same.h5")
    D.deflate(qs.read_eigenvectors(D, "modes.h5"))
    b = np.zeros(qs.vector_shape("lexicographic", (4, 4, 4, 8), 3), complex)
    b[0, 0, 0, 0, 0] = 1
    D.solve(b)
    told = [float.fromhex(x) for x in re.findall(r'"(0x[^"]*)"', open("deflated.json").read())]
    assert told and told == list(D.history()), (told[:3], D.history()[:3])
EOF
cmp modes.h5 same.h5 || die "eigenvectors: the file of Python is not that of the command"
# Low-mode averages of two sources together: the bits of the command.
expect 0 '^wrote wilson.h5' eigen --gauge lattice.ildg --kappa 0.12 --modes 8 --threads 1 --out wilson.h5
expect 0 'pion_low-mode-average' solve --gauge lattice.ildg --kappa 0.12 --tol 1e-8 --threads 1 --deflate wilson.h5 --low-mode-average \
  --source point:1,0,2,3+point:0,1,0,7 --correlators mesons --json low.json
"$python" - <<'EOF' || die "low-mode averages: the command has other bits"
import json, quarkstar as qs
U = qs.read_gauge("lattice.ildg")
with qs.wilson(U, kappa=0.12, tol=1e-8) as D:
    D.deflate(qs.read_eigenvectors(D, "wilson.h5"))
    mine = qs.low_mode_averages(D, [D.propagator(point=point) for point in ((1, 0, 2, 3), (0, 1, 0, 7))], "mesons")
for number, of_source in enumerate(mine):
    told = json.load(open(f"low.source{number}.json"))["correlators"]
    assert len(told) == 34 and {name: list(values) for name, values in of_source.items()} == told, (number, sorted(set(of_source) ^ set(told)))
EOF
"$python" "$source_folder/examples/python/solver_comparison.py" lattice.ildg >solvers.txt || die "solver_comparison.py"
[ "$(awk 'NR > 1 && $6 <= 1e-9 && $7 < 1e-8' solvers.txt | wc -l)" = 9 ] || { cat solvers.txt; die "solver_comparison.py: not nine solutions of one problem"; }
"$python" "$source_folder/examples/python/many_sources.py" >sources.txt || die "many_sources.py"
[ "$(grep -c iterations sources.txt)" = 4 ] && [ "$(grep -vc '^#' sources.txt)" = 8 ] || { cat sources.txt; die "many_sources.py prints something else"; }
if "$python" -c 'import mpi4py' 2>/dev/null && command -v mpirun >/dev/null; then
  on_two() { timeout 120 mpirun --oversubscribe --bind-to none -n 2 "$python" "$@"; }
  on_two "$source_folder/examples/python/many_sources.py" >two.txt || die "many_sources.py on two ranks"
  diff sources.txt two.txt || die "many_sources.py: two ranks have other numbers"
  on_two "$source_folder/tests/clients/python_parts.py" || die "python_parts.py: arrays that are no part of the lattice"
else
  echo "skipped: many_sources.py on two ranks (no mpi4py)"
fi
