#!/usr/bin/env bash
# record.sh BUILD COMPILER
# Writes what the kernel tests compare with, after a change of kernels that is meant: bits.txt, instructions.txt, spills.txt (numbers only;
# its comments stay). BUILD: folder with kernel_tests and count_instructions, on x86 with AVX-512 and valgrind. COMPILER: e.g. 'GNU 12'.
set -euo pipefail
build=$1 compiler=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
QUARKSTAR_ARCH=avx512 QUARKSTAR_WRITE_BITS="$here/bits.txt" "$build/kernel_tests" --source-file='*bits_test.cpp'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for arch in scalar avx2 avx512; do bash "$here/instructions.sh" "$build/count_instructions" "$arch" "$compiler" write > "$work/$arch"; done
{
  grep '^#' "$here/instructions.txt" | sed "s/^# compiler .*/# compiler $compiler/"
  for arch in scalar avx2 avx512; do sed '/^$/,$d' "$work/$arch"; done
  grep -v -e '^#' -e "^$(uname -m) " "$here/instructions.txt" || true
} > "$work/instructions.txt"
{
  grep '^#' "$here/spills.txt"
  sed '1,/^$/d' "$work/avx512"
} > "$work/spills.txt"
mv "$work/instructions.txt" "$work/spills.txt" "$here"
