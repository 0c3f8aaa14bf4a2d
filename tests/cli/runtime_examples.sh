#!/usr/bin/env bash
# The programs of examples/runtime/: each compares its result with an independent one, and prints a number whose bits depend on neither policy,
# cut nor ranks. QUARKSTAR_EXAMPLES: where they are, by default in the build.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
examples=${QUARKSTAR_EXAMPLES:-${QUARKSTAR_BUILD_DIR:-$(dirname "$QUARKSTAR")}/examples}
[ -x "$examples/example_heat" ] || { echo "SKIPPED: no examples in $examples"; exit 77; }

# same EXAMPLE ARGUMENT...: it finds its result right, and prints what it has printed before.
same() {
  local example=$1
  shift
  timeout 300 "$examples/example_$example" "$@" > "$example.out" 2>&1 || { cat "$example.out"; die "example_$example $*"; }
  keep "$example" "$*"
}
keep() {
  grep -oE '= .*' "$1.out" | sed -E 's/differs .* by [^,]*,//' > "$1.now"
  [ -s "$1.now" ] || { cat "$1.out"; die "$1 $2: no result"; }
  [ -e "$1.first" ] || cp "$1.now" "$1.first"
  cmp "$1.first" "$1.now" || { cat "$1.first" "$1.now"; die "example_$1 $2: other bits"; }
}
for policy in static halo-first dmda lws eager; do
  same cholesky "$policy"
  same heat "$policy"
  same conjugate_gradient "$policy"
done
for blocks in "1 1" "2 1" "2 3" "4 2"; do
  # shellcheck disable=SC2086  # two words
  same heat static $blocks
done
for strips in 1 2 7; do same conjugate_gradient halo-first "$strips"; done
same cholesky dmdas 6 48

got=0
"$examples/example_cholesky" lucky > out.txt 2>&1 || got=$?
[ "$got" = 2 ] && grep -q "^policy: 'lucky' is unknown; use one of static, " out.txt || die "an unknown policy is not refused: $got"

if command -v mpirun > /dev/null; then
  timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$examples/example_heat" static 2 2 > heat.out 2>&1 ||
    { cat heat.out; die "example_heat on two ranks"; }
  keep heat "on two ranks"
fi
