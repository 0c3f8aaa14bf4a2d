#!/usr/bin/env bash
# Residual histories of whole solves have the bits recorded in bits.txt on x86, on every processor. QUARKSTAR_WRITE_BITS=FILE writes a
# new record. `./bootstrap test-power8` runs this on POWER8.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration

solve() {
  local name=$1
  shift
  expect 0 '^wrote history.json' solve --gauge lattice.ildg --columns 0 --residual-history --json history.json --workers 1 --threads 1 "$@"
  grep -oE '"-?0x[^"]*"' history.json > history.txt || die "no residual history"
  echo "$name: $(wc -l < history.txt) residuals, sha256 $(sha256sum history.txt | cut -c 1-32)" >> bits.txt
}
solve "wilson double 18 bicgstab" --kappa 0.12
solve "wilson double 12 cgnr, cut" --kappa 0.12 --solver cgnr --links 12 --blocks 1,1,1,2
solve "wilson single 8 bicgstab" --kappa 0.12 --precision single --links 8
solve "wilson half 12 cgnr" --kappa 0.12 --precision half --links 12 --solver cgnr
solve "wilson single gcr 12, schwarz" --kappa 0.12 --precision single --links 12 --solver gcr --schwarz-block 2,2,2,4
solve "wilson single gcr 12, bicgstab inside" --kappa 0.12 --precision single --links 12 --solver gcr --inner-solver bicgstab
solve "clover single 12, symmetric, cut" --action clover --kappa 0.12 --csw 1.3 --precision single --links 12 --schur symmetric --blocks 1,1,1,2
solve "twisted clover half 18 cgnr" --action twisted-mass --kappa 0.12 --mu 0.2 --csw 1.1 --precision half --solver cgnr
solve "staggered double 18" --action naive --mass 0.2
solve "staggered half 18" --action naive --mass 0.2 --precision half
solve "hisq double 14" --action hisq --mass 0.2 --links 14
solve "hisq single 13" --action hisq --mass 0.2 --precision single --links 13
solve "hisq double 13, boundary" --action hisq --mass 0.2 --links 13 --boundary x=0.3
# In half precision nothing is rounded between the hops and the matrices of the fifth dimension behind them.
solve "domain wall double" --action domain-wall --ls 6 --mass 0.2
solve "moebius double, symmetric" --action moebius --ls 8 --mass 0.2 --schur symmetric --links 12
solve "moebius single, cut" --action moebius --ls 8 --mass 0.2 --precision single --blocks 1,1,1,2
solve "moebius half" --action moebius --ls 8 --mass 0.2 --precision half --links 12

if [ -n "${QUARKSTAR_WRITE_BITS:-}" ]; then cp bits.txt "$QUARKSTAR_WRITE_BITS"; fi
diff -u "$here/bits.txt" bits.txt || die "other bits than those recorded in tests/cli/bits.txt"
