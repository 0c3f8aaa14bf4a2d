#!/usr/bin/env bash
# Every C++ and CUDA file is as clang-format 14 (Debian 12's) lays it out; other versions lay out differently.
set -euo pipefail
cd "${QUARKSTAR_SOURCE_DIR:-$(dirname "$0")/../..}"

version=$(clang-format --version 2> /dev/null | grep -oE '[0-9]+' | head -n 1) || version=none
[ "$version" = 14 ] || { echo "SKIPPED formatting: clang-format 14 is needed, here is $version"; exit 77; }

# files: the sources, each ended by a zero byte; outside of a checkout whatever lies in the folders of the tree.
files() {
  git ls-files -z '*.cpp' '*.hpp' '*.cu' '*.cuh' 2> /dev/null && return
  find apps codelets runtime solvers tests cmake -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) -print0
}
count=$(files | tr -cd '\0' | wc -c)
[ "$count" -gt 0 ] || { echo "FAILED: no sources in $PWD"; exit 1; }
# Many files a call, since starting takes longer than a file.
if ! files | xargs -0 -P "$(nproc)" -n 32 clang-format --dry-run --Werror; then
  echo "FAILED: clang-format -i FILE mends it"
  exit 1
fi
echo "$count files are formatted"
