#!/usr/bin/env bash
# Files that several MPI ranks write and read: the bytes of one rank, whatever the cut and the size of the pieces.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
# shellcheck source=tests/cli/ranks.bash disable=SC2154
source "$here/ranks.bash"
make_configuration
solve=(solve --gauge lattice.ildg --kappa 0.12 --columns 0 --threads 1)

# Configurations: cut in several directions, in pieces that do not divide the parts, from every format and into every one. The date in the
# headers is given. Every cut for one format without pieces and one with them; the others are cut once with a thin last part and once in two
# directions.
export SOURCE_DATE_EPOCH=1700000000
# convert NAME ARGUMENT...: writes NAME.1 on one rank, and the same on several.
convert() {
  local name=$1 grid
  shift
  QUARKSTAR_IO_SLAB='' expect 0 "^wrote $name.1: " gauge convert "$@" "$name.1"
  for grid in $grids; do
    local place=()
    [ "$grid" = "${grid%,*}" ] || place=(--ranks "$grid")
    ranks $((${grid//,/*})) gauge convert "$@" "$name.ranks" "${place[@]}" || { cat stderr.txt; die "gauge convert $* on ranks $grid"; }
    [ "$(grep -c '^wrote ' stdout.txt)" = 1 ] || die "not one line from ranks $grid: $*"
    cmp "$name.1" "$name.ranks" || die "the file depends on the ranks: gauge convert $* on $grid"
    rm "$name.ranks"
  done
  absent
}
grids='2 4 1,1,1,3 2,1,2,1 2,2,1,2'
convert to-nersc lattice.ildg --format nersc
QUARKSTAR_IO_SLAB=10000 convert to-ildg to-nersc.1 --format ildg  # 4 rows of 4 sites of 576 bytes
grids='1,1,1,3 2,1,2,1'
convert to-single lattice.ildg --format nersc --precision single --reunitarize
QUARKSTAR_IO_SLAB=1000 convert to-milc to-single.1 --format milc   # 3 sites of 288 bytes
# A file as DDalphaAMG has it, made of NERSC's: extents T,Z,Y,X, plaquette, then the links of each site backwards, little-endian.
plaquette=$("$QUARKSTAR" gauge info to-nersc.1 --json | sed -nE 's/.*"average": ([0-9.e-]+).*/\1/p')
perl -0777 -ne 's/^.*?END_HEADER\n//s; print pack("l<4d<", 8, 4, 4, 4, 3 * '"$plaquette"'),
  map { my @d = unpack("d>72", $_); pack("d<72", map { @d[18 * $_ .. 18 * $_ + 17] } 3, 2, 1, 0) } unpack("(a576)*", $_)' to-nersc.1 > ddalphaamg
convert from-ddalphaamg ddalphaamg --format nersc
cmp from-ddalphaamg.1 to-nersc.1 || die "other links from DDalphaAMG's order"
expect 0 "^format +DDalphaAMG" gauge info ddalphaamg
convert from-milc to-milc.1 --format ildg --precision single

# Restart files and propagators, in pieces too.
reference "${solve[@]}"
for slab in 3000 100000; do
  QUARKSTAR_IO_SLAB=$slab compare 4 "${solve[@]/lattice.ildg/to-ildg.1}" --ranks 2,1,2,1 --checkpoint "slabs$slab" --out "slabs$slab-out"
  QUARKSTAR_IO_SLAB=$slab ranks 3 "${solve[@]}" --checkpoint "slabs$slab" --json again.json || { cat stderr.txt; die "a restart with slabs of $slab bytes"; }
  grep -q '"iterations": 0,' again.json || die "the restart file was not read in slabs of $slab bytes"
done
cmp slabs3000/column00.checkpoint slabs100000/column00.checkpoint || die "the restart file depends on the slabs"

cp to-nersc.1 damaged.nersc
printf '\x01' | dd of=damaged.nersc bs=1 seek=20000 conv=notrunc status=none
fails 2 'damaged.nersc.*checksum' 2 gauge convert damaged.nersc never.ildg --format ildg
fails 2 'IN and OUT are the same file' 2 gauge convert lattice.ildg lattice.ildg --format ildg
fails 2 '--ranks.*2 ranks were started' 2 gauge convert lattice.ildg never.ildg --ranks 1,1,1,4
fails 2 'never/x: .*existing directory' 2 gauge convert lattice.ildg never/x
absent never.ildg
