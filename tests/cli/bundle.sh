#!/usr/bin/env bash
# scripts/bundle: what it makes runs without anything of this machine's settings, it replaces bundles only, and says what is missing.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
bundle=${QUARKSTAR_SOURCE_DIR:-$here/../..}/scripts/bundle
[ -x "$bundle" ] || { echo "SKIPPED bundle: no scripts/bundle here"; exit 77; }
ldd "$QUARKSTAR" >libraries.txt 2>&1 || { echo "SKIPPED bundle: $QUARKSTAR is no program of this machine"; exit 77; }
for tool in strip realpath; do command -v "$tool" >/dev/null || { echo "SKIPPED bundle: no $tool"; exit 77; }; done

mkdir build
ln -s "$QUARKSTAR" build/quarkstar
"$bundle" build out >stdout.txt 2>stderr.txt || { cat stdout.txt stderr.txt; die "no bundle"; }
grep -qE '^bundle: [0-9.]+[KMG] in out$' stdout.txt || { cat stdout.txt; die "not told how large it is"; }
bare() { env -i PATH=/usr/bin:/bin HOME="$folder" "$@"; }
bare out/quarkstar --version >stdout.txt 2>stderr.txt || { cat stdout.txt stderr.txt; die "the bundle does not run"; }
grep -q 'StarPU' stdout.txt || { cat stdout.txt; die "the bundle's version"; }
# Its own libraries, but for those of the C library and of drivers.
bare LD_LIBRARY_PATH=out/lib ldd out/bin/quarkstar >loaded.txt
! grep -q 'not found' loaded.txt || { cat loaded.txt; die "a library is missing"; }
grep -qE 'libstarpu-1\.4\.so[.0-9]* => out/lib/' loaded.txt || { cat loaded.txt; die "StarPU is not the bundle's"; }

"$bundle" build out >stdout.txt 2>stderr.txt || { cat stderr.txt; die "a bundle is not replaced"; }
mkdir mine
echo precious >mine/file
refused() {
  local pattern=$1
  shift
  ! "$@" >stdout.txt 2>stderr.txt || die "not refused: $*"
  grep -qE -- "$pattern" stderr.txt || { cat stderr.txt; die "no line matches '$pattern'"; }
}
refused '^bundle: error: mine exists and is no bundle' "$bundle" build mine
[ "$(cat mine/file)" = precious ] || die "another folder was touched"
refused "^bundle: error: no program 'quarkstar' in mine" "$bundle" mine out
mkdir fake
printf '%s\n' '#!/bin/sh' 'echo "libabsent.so.3 => not found"' >fake/ldd
chmod +x fake/ldd
refused '^bundle: error: libraries that the programs need are not here: libabsent\.so\.3; ' env PATH="$folder/fake:$PATH" "$bundle" build other
[ ! -e other ] || die "a bundle without its libraries"
[ -z "$(find . -maxdepth 1 -name '.bundle.*')" ] || die "temporary folders are left"
