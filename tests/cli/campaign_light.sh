#!/usr/bin/env bash
# Campaigns with multigrid and deflation: null vectors go from quark to quark and from configuration to configuration, files of modes belong to one.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
for seed in 1 2 3; do expect 0 '^wrote' gauge generate lat.$seed --lattice 4 4 4 8 --beta 6.0 --sweeps 6 --seed $seed; done
campaign() {  # OUT [LINE OF EVERY QUARK]
  cat > "$1.toml" << END
configurations = ["lat.[123]"]
out = "$1"
sources = ["point:0,0,0,0", "point:0,0,0,4"]
correlators = ["pion"]
threads = 1
no-tune = true
tol = 1e-9
END
  local quark
  for quark in heavy=0.13 light=0.135; do
    cat >> "$1.toml" << END
[quark.${quark%=*}]
action = "wilson"
kappa = ${quark#*=}
solver = "multigrid"
aggregate = [2, 2, 2, 2]
null-vectors = 8
setup-steps = 8
${2:-}
END
  done
}
campaign plain
expect 0 '^wrote plain/report.html' run plain.toml
campaign kept 'multigrid-setup = "setups"'
expect 0 '^wrote kept/report.html' run kept.toml
# Only what another configuration would begin with stays.
[ "$(cd setups && echo *)" = "lat.3.heavy lat.3.light" ] || { ls setups; die "other folders of null vectors"; }
[ "$(find setups/lat.3.light -name 'null-vector*' | wc -l)" = 8 ] || die "not 8 null vectors"
! cmp -s plain/configurations/lat.1.h5 kept/configurations/lat.1.h5 || die "the second quark began with noise"
# A row that is lost is computed again with the set-up that is there.
cp kept/configurations/lat.3.h5 before.h5
rm kept/configurations/lat.3.h5
expect 0 '^wrote kept/report.html' run kept.toml
cmp before.h5 kept/configurations/lat.3.h5 || die "a set-up that is kept gives other bits"
# What other settings have left is where a set-up begins, and it is written over.
sed 's/lat\.\[123\]/lat.3/; s/"kept"/"others"/; s/^setup-steps = 8/setup-steps = 6/' kept.toml > others.toml
(cd setups && cksum lat.3.*/null-vector*) > of_kept
expect 0 'null vectors in setups/lat.3.heavy' run others.toml
(cd setups && cksum lat.3.*/null-vector*) | sort - of_kept | uniq -d | grep -q . && die "null vectors of other settings are not written over"
if command -v python3 > /dev/null && python3 -c 'import h5py' 2> /dev/null; then
  python3 - << 'END' || die "null vectors from elsewhere give other correlators"
import h5py, numpy as np
def values(name):
    found = []
    with h5py.File(name) as f:
        f.visititems(lambda key, x: found.append(np.ravel(x[()])) if isinstance(x, h5py.Dataset) and "pion" in key else None)
    return np.concatenate(found)
a, b = values("plain/configurations/lat.2.h5"), values("kept/configurations/lat.2.h5")
assert a.size > 0 and np.allclose(a, b, rtol=1e-6, atol=0), (a, b)
END
fi

# Modes of each configuration.
for seed in 1 2; do expect 0 '^wrote' eigen --gauge lat.$seed --action naive --modes 8 --out modes.lat.$seed.h5 --threads 1 --no-tune; done
deflated() {  # OUT CONFIGURATIONS FILE
  cat > "$1.toml" << END
configurations = $2
out = "$1"
sources = ["point:0,0,0,0"]
threads = 1
no-tune = true
tol = 1e-9
[quark.light]
action = "naive"
mass = 0.01
deflate = "$3"
END
}
deflated two '["lat.1", "lat.2"]' 'modes.*.h5'
expect 0 'memory, estimated' run two.toml --dry-run
expect 0 '^wrote two/report.html' run two.toml
deflated three '["lat.[123]"]' 'modes.*.h5'
expect 4 'lat.3 light.*modes.lat.3.h5: it is no HDF5 file' run three.toml
[ "$(grep -c '"kind":"done"' three/journal.jsonl)" = 2 ] || die "a file that is missing keeps others from being solved"
cp modes.lat.1.h5 modes.lat.3.h5
expect 4 'modes.lat.3.h5: its eigenvectors are those of another operator or configuration' run three.toml
deflated wrong '["lat.[123]"]' 'modes.lat.1.h5'
expect 2 "wrong.toml:[0-9]+: quark.light.deflate: 'modes.lat.1.h5' is of one configuration, and there are 3" run wrong.toml
absent wrong
