#!/usr/bin/env bash
# What docs/howto/ tells people to write compiles. Every block is put where its page says (cmake/howto_blocks.sh) and checked with the flags of
# a file of the project that is like it, over the project's own headers; for a new architecture kernels are compiled.
set -euo pipefail
source=${QUARKSTAR_SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
build=${QUARKSTAR_BUILD_DIR:?set QUARKSTAR_BUILD_DIR to the build folder}
[ -f "$build/compile_commands.json" ] || { echo "SKIPPED howto: no compile_commands.json in $build"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

die() { echo "FAILED: $*"; exit 1; }

for page in "$source"/docs/howto/*.md; do
  bash "$source/cmake/howto_blocks.sh" "$source" "$out/tree" "docs/howto/${page##*/}" || die "the blocks of docs/howto/${page##*/}"
done
cd "$out/tree"
mapfile -t files < <(find . -type f -printf '%P\n' | sort)

# Lines "file<tab>command" of the build, files relative to the root. What is compiled together has the command of the file that includes it.
sed -nE 's/^ *"(command|file)": "(.*)",?$/\1\t\2/p' "$build/compile_commands.json" | sed 's/\\\(["\\]\)/\1/g' |
  awk -F '\t' -v root="$source/" '
    function tell(file) { if (index(file, root) == 1) print substr(file, length(root) + 1) "\t" command }
    $1 == "command" { command = $2 }
    $1 == "file" && $2 !~ /\/Unity\// { tell($2) }
    $1 == "file" && $2 ~ /\/Unity\// { while ((getline line < $2) > 0) if (split(line, part, "\"") == 3 && part[1] == "#include ") tell(part[2]) }
  ' > "$out/commands"

# like PATTERN: the commands of the first file whose name matches the extended regular expression (a kernel has one an architecture; only
# patterns with _kernel find it), without input and output, and with the headers of the examples before the project's.
like() {
  awk -F '\t' -v pattern="$1" '($1 ~ /_kernel\.cpp$/) == (pattern ~ /_kernel/) && $1 ~ pattern && (!file || $1 == file) { file = $1; print $2 }' \
    "$out/commands" | sed -E "s# -I# -I$out/tree&#; s# (-x cu )?-[co] .*##"
}
# add FILE ACTION BLOCK: the commands on stdin are to do ACTION with FILE; where that fails, the example BLOCK is to blame.
add() {
  local command known='' place
  place=$(sed -nE 's/^#line ([0-9]+) "(docs\/howto\/.*)"$/\2:\1/p' "$3" | head -n 1)
  while read -r command; do
    known=yes
    printf '%s %s %s || { echo "FAILED: %s: %s does not compile" >&2; false; }\n' "$command" "$2" "$1" "$place" "$3" >> "$out/checks"
  done
  [ "$known" ] || die "$place: nothing in the build is like $1"
}

for file in "${files[@]}"; do
  [ ! -e "$build/howto/$file" ] || continue  # the build compiles it (cmake/howto.cmake)
  folder=${file%%/*}
  [ "$folder" != tests ] || folder=${file%/*}
  [ "$folder" != "$file" ] || folder=runtime/policy  # a file of the reader's own: a policy in a shared library
  case $file in
    codelets/arch/*.hpp) ;;  # below
    *.hpp) grep -rqF "include \"$file\"" . || die "$file: included by none of the examples" ;;
    codelets/contract/families.inc)  # the project's own kernels and tasks, with one family more
      for user in contract_kernel.cpp contraction_codelet.cpp; do
        like "^codelets/contract/$user$" | add "$source/codelets/contract/$user" -fsyntax-only "$file"
      done ;;
    *_kernel.cpp) like "^$folder/.*_kernel.cpp$" | add "$file" -fsyntax-only "$file" ;;
    *.cpp) like "^$folder/.*[.]cpp$" | add "$file" -fsyntax-only "$file" ;;
    *.cu)
      grep -q ' -x cu ' "$out/commands" || continue  # a build without CUDA
      like "^$folder/.*[.]cu$" | add "$file" "-o $out/$(basename "$file").o -x cu -c" "$file" ;;
  esac
done

# A new architecture is in the list, and some kernels are compiled for it: with a list of their own, since the examples above are compiled with
# the build's.
if [ -f cmake/architectures.cmake ] && grep -q 'QUARKSTAR_ARCH_NAME=avx2' "$out/commands"; then
  mkdir "$out/list"
  cp "$build/generated/quarkstar_architectures.hpp" "$out/list"
  while read -r name flags; do
    sed -i -E "s/^( *DO\()scalar( .*)/&\n\1$name\2/" "$out/list/quarkstar_architectures.hpp"
    for kernel in codelets/bench/stream_kernel.cpp codelets/field/blas_spinor_kernel.cpp codelets/actions/staggered/dslash_single_kernel.cpp \
      codelets/actions/wilson/hopping_single_kernel.cpp; do
      like "^$kernel$" | grep 'ARCH_NAME=scalar' | sed -E "s#(ARCH_NAME=|codelets/arch/)scalar#\1$name#g; s# -I# -I$out/list&#" |
        add "$source/$kernel" "$flags -O0 -S -o $out/$(basename "$kernel").s" "codelets/arch/$name.hpp"
    done
  done < <(diff "$source/cmake/architectures.cmake" cmake/architectures.cmake |
    sed -nE 's/^> *quarkstar_add_arch\((\w+) FLAGS (.*) CPU .*\)$/\1 \2/p')
fi

xargs -d '\n' -P "$(nproc)" -n 1 bash -c < "$out/checks" || exit 1
echo "the examples of docs/howto/ compile: $(wc -l < "$out/checks") checks"
