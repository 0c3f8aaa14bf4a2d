#!/usr/bin/env bash
# Wrong command lines, files and values: one line that says what to do, and exit code 2; nothing is written.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
good=(solve --gauge lattice.ildg --out out)

expect 2 'use one of solve, run, eigen, gauge, ' 
expect 2 "error: quarkstar: 'nonsense' is no subcommand; use one of solve, run, eigen, gauge, .*see .quarkstar --help" nonsense
expect 2 "error: .*--gauge.*see .quarkstar run --help" run lattice.toml --gauge lattice.ildg
expect 2 "'slove' is no subcommand; did you mean 'solve'. use one of solve, run, eigen, gauge, " slove --gauge lattice.ildg
expect 2 "error: quarkstar bench: 'dslah' is no subcommand; did you mean 'dslash'. use one of stream, " bench dslah
expect 2 "error: quarkstar gauge: 'foo' is no subcommand; use one of info, " gauge foo lattice.ildg
expect 0 'Usage: ' gauge --help
expect 2 'use one of info, convert, generate' gauge
QUARKSTAR_ARCH=abacus expect 0 '^quarkstar ' --version
QUARKSTAR_ARCH=abacus expect 2 "error: QUARKSTAR_ARCH: unknown architecture 'abacus'" "${good[@]}" --kappa 0.1
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
expect 2 'error: --precision:' "${good[@]}" --precision quarter
expect 2 'error: --links:' "${good[@]}" --links 7
expect 2 'error: --tol: 0 is not positive' "${good[@]}" --tol 0
expect 2 'error: --tol: 1 is not below 1' solve --gauge missing --out out --tol 1   # before the file is read
expect 2 'error: --kappa: 11 is not below 10' solve --gauge missing --out out --kappa 0.1 --kappa 11   # the last one counts
expect 2 'error: --columns:' "${good[@]}" --columns 0-12
expect 2 'error: --blocks:' "${good[@]}" --blocks 3,1,1,1
expect 2 'error: --policy: .*static' "${good[@]}" --policy random-walk
expect 2 'error: /dev/null/x' "${good[@]}" --json /dev/null/x
expect 2 'error: --out:' solve --gauge lattice.ildg --out lattice.ildg
expect 2 "error: --lattice: '4,4,4' has 3 numbers, not 4" gauge info lattice.ildg --lattice 4 4 4
expect 2 "error: --lattice: '4,4,4' has 3 numbers, not 4" bench dslash --lattice 4,4,4
expect 2 "error: --lattice: '-4' is no integer in range" gauge generate new --lattice 4 4 -4 4 --beta 6 --sweeps 1
expect 2 "error: --blocks: '1,1' has 2 numbers, not 4" "${good[@]}" --blocks 1 1
expect 2 'error: --beta: -6 is below 0;' gauge generate new --lattice 4,4,4,4 --beta -6 --sweeps 1
expect 2 'error: --sweeps: 0 is below 1;' gauge generate new --lattice 4,4,4,4 --beta 6 --sweeps 0
expect 2 'error: --lattice: 4x4x4x5 has an odd extent' gauge generate new --lattice 4 4 4 5 --beta 6 --sweeps 1
expect 2 'error: --precision: MILC' gauge convert lattice.ildg new --format milc --precision double
expect 2 'error: no/such/folder' gauge convert lattice.ildg no/such/folder
expect 2 'error: missing.toml: ' solve missing.toml

printf 'gauge = "lattice.ildg"\n\ntolerance = 1e-8\n' > wrong.toml
expect 2 'error: wrong.toml:3: tolerance: unknown key; .*use one of gauge, ' solve wrong.toml --out out
printf 'kappa = [\n' > wrong.toml
expect 2 'error: wrong.toml:[0-9]+: ' solve wrong.toml --out out

head -c 3000 lattice.ildg > short.ildg
expect 2 'error: short.ildg' gauge info short.ildg
expect 2 'error: short.ildg' solve --gauge short.ildg --out out
absent out new

# Where nobody may write the machine is at fault, whichever output it is: exit code 3.
if [ -d /sys/kernel ]; then
  expect 3 'error: --out: /sys/kernel/new: ' solve --gauge lattice.ildg --out /sys/kernel/new
  expect 3 'error: /sys/kernel/' solve --gauge lattice.ildg --out /sys/kernel
  expect 3 'error: /sys/kernel/new: ' solve --gauge lattice.ildg --json /sys/kernel/new
  expect 3 'error: /sys/kernel/new: ' gauge convert lattice.ildg /sys/kernel/new
fi

# A lattice that memory does not hold is refused before the work starts, with numbers; so are devices that are not there.
expect 2 'error: --cpu-memory: this solve needs .* MiB of memory on host, 1.0 MiB are available; use ' \
  solve --gauge lattice.ildg --columns 0 --json x.json --devices cpu --cpu-memory 1MiB
expect 2 'error: --cpu-memory: .* no size' solve --gauge lattice.ildg --json x.json --cpu-memory much
expect 2 'error: --cpu-share: .* no share' solve --gauge lattice.ildg --json x.json --cpu-share half
expect 2 'error: --devices: .* unknown' solve --gauge lattice.ildg --json x.json --devices tpu
absent x.json
