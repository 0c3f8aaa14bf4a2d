#!/usr/bin/env bash
# Persistent requests of messages: made once for each face, as many as there are faces, and given up with them (protocol_tests, which also
# look at what arrives).
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/ranks.bash"
tests=${QUARKSTAR_BUILD_DIR:-$(dirname "$QUARKSTAR")}/protocol_tests
[ -x "$tests" ] && [ "${QUARKSTAR##*/}" = quarkstar ] || { echo "no $tests"; exit 77; }
make_probe
QUARKSTAR=$tests
# case_takes NAME SENDS MOST: so many requests for sending are made in that case, and no more than MOST requests are there at a time.
case_takes() {
  on_hosts ab '--source-file=*/protocol/requests_ranks_test.cpp' "--test-case=$1" || { cat stdout.txt stderr.txt; die "$1"; }
  local rank
  for rank in 0 1; do
    [ "$(count MPI_Send_init $rank)" = "$2" ] || { cat counts.$rank; die "$1: $(count MPI_Send_init $rank) requests for sending, not $2"; }
    [ "$(count persistent $rank)" -le "$3" ] || { cat counts.$rank; die "$1: $(count persistent $rank) requests at a time"; }
  done
}
# 140 halos of 16 faces that leave a rank and 16 that come, each in two buffers.
case_takes 'halos one after another' 4480 256
case_takes 'halos that are there together' 4480 8960
