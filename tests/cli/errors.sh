#!/usr/bin/env bash
# Wrong command lines, files and values: one line that says what to do, and exit code 2; nothing is written.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
good=(solve --gauge lattice.ildg --out out)

expect 2 'use one of solve, gauge, ' 
expect 2 'use one of solve, gauge, ' nonsense
expect 2 'use one of info, convert, generate' gauge
expect 2 '--kapa.*see `quarkstar solve --help`' "${good[@]}" --kapa 0.1
expect 2 'error: --gauge: no gauge configuration' solve --out out
expect 2 'error: --out: nowhere to write' solve --gauge lattice.ildg
expect 2 'error: missing: cannot be opened' solve --gauge missing --out out
expect 2 'error: .*: is a directory' solve --gauge . --out out
expect 2 "error: --kappa: 'x' is no number" "${good[@]}" --kappa x
expect 2 'error: --kappa: -1 is not positive' "${good[@]}" --kappa -1
expect 2 'error: --mass: mass and kappa' "${good[@]}" --kappa 0.1 --mass 0
expect 2 'error: --action:' "${good[@]}" --action staggered
expect 2 'error: --boundary:' "${good[@]}" --boundary t=open
expect 2 'error: --source: .*outside' "${good[@]}" --source point:0,0,0,8
expect 2 'error: --source:' "${good[@]}" --source line:3
expect 2 'error: --solver: .*use one of .*bicgstab' "${good[@]}" --solver gauss
expect 2 'error: --precision:' "${good[@]}" --precision half
expect 2 'error: --links:' "${good[@]}" --links 8
expect 2 'error: --tol:' "${good[@]}" --tol 0
expect 2 'error: --columns:' "${good[@]}" --columns 0-12
expect 2 'error: --blocks:' "${good[@]}" --blocks 3,1,1,1
expect 2 'error: --policy: .*static' "${good[@]}" --policy random-walk
expect 2 'error: /dev/null/x' "${good[@]}" --json /dev/null/x
expect 2 'error: --out:' solve --gauge lattice.ildg --out lattice.ildg
expect 2 'error: --lattice: 4x4x4x5 has an odd extent' gauge generate new --lattice 4 4 4 5 --beta 6 --sweeps 1
expect 2 'error: --precision: MILC' gauge convert lattice.ildg new --format milc --precision double
expect 2 'error: no/such/folder' gauge convert lattice.ildg no/such/folder
expect 2 'error: missing.toml: ' solve missing.toml

printf 'gauge = "lattice.ildg"\n\ntolerance = 1e-8\n' > wrong.toml
expect 2 'error: wrong.toml:3: tolerance: unknown key; use one of gauge, ' solve wrong.toml --out out
printf 'kappa = [\n' > wrong.toml
expect 2 'error: wrong.toml:[0-9]+: ' solve wrong.toml --out out

head -c 3000 lattice.ildg > short.ildg
expect 2 'error: short.ildg' gauge info short.ildg
expect 2 'error: short.ildg' solve --gauge short.ildg --out out
absent out new
