#!/usr/bin/env bash
# kernel_symbols.sh NM ARCH OBJECT...
# Objects compiled for one CPU architecture must not define a shared (weak) symbol without that architecture in its name:
# the linker keeps one copy of such a function for the whole program, and a CPU without the instructions would meet it.
set -euo pipefail
nm=$1 arch=$2
shift 2
leaks=$("$nm" --demangle --defined-only "$@" | grep -E ' [WVu] ' | grep -v -E "\b$arch\b" | grep -v 'DW.ref' | sort -u || true)
if [ -n "$leaks" ]; then
  echo "compiled with the flags of $arch, but shared with the rest of the program:"
  echo "$leaks"
  echo "Put them in a namespace QUARKSTAR_ARCH_NAME, make them 'static', or force them inline."
  exit 1
fi
