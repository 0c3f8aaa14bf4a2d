#!/usr/bin/env bash
# Memory of a program that calls the C library: starts in which one allocation fails leave nothing behind, a thousand solves keep it as it is,
# valgrind finds no wrong access and no lost memory, AddressSanitizer neither.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/clients.bash"
needs_library libquarkstar.so cc c++
# client NAME FLAG...
client() {
  local name=$1
  shift
  cc -std=c99 -Wall -Wextra -Werror -g -O1 "$@" -I "$source_folder/apps/c" "$source_folder/tests/clients/$name.c" -o "$name" -L "$build" -lquarkstar -lm \
    -Wl,-rpath,"$build" -Wl,-rpath-link,"$build"
}

client loop
# One arena of glibc's: which of several a thread takes is chance, and their pages (some 400 kB) are not what a solve keeps.
MALLOC_ARENA_MAX=1 ./loop 1000 >out.txt 2>err.txt || { cat out.txt err.txt; die "a thousand solves"; }
[ "$(cat out.txt)" = "all well" ] || { cat out.txt; die "something was printed"; }
cat err.txt

c++ -std=c++20 -Wall -Wextra -Werror -O1 -shared -fPIC "$source_folder/tests/fake/faults.cpp" -o libfaults.so -ldl
client start_faults
LD_PRELOAD=$PWD/libfaults.so ./start_faults >out.txt 2>err.txt || { tail -n 5 err.txt; die "a start in which one call fails"; }
[ "$(cat out.txt)" = "all well" ] || { cat out.txt; die "something was printed"; }
cat err.txt

# Nothing is suppressed: StarPU, hwloc and MPI leave nothing behind that is lost.
if ! command -v valgrind >/dev/null; then
  echo "SKIPPED valgrind: it is not there"
elif ! timeout 900 valgrind --quiet --leak-check=full --show-leak-kinds=definite,possible --errors-for-leak-kinds=definite,possible --error-exitcode=9 \
  ./loop 2 >out.txt 2>err.txt; then
  grep -q 'CPU kernels: this build has none for this processor' err.txt || { head -n 100 err.txt; die "valgrind"; }
  echo "SKIPPED valgrind: it has no AVX-512, and this build (QUARKSTAR_ARCHITECTURES) no kernels without"
fi

# The client alone is built with it: it sees all allocations, and accesses of the client and of the C library's functions.
mkdir asan
(cd asan && client loop -fsanitize=address)
if ASAN_OPTIONS=detect_leaks=1 asan/loop 2 >out.txt 2>err.txt; then
  [ "$(cat out.txt)" = "all well" ] || { cat out.txt; die "something was printed"; }
elif grep -qE 'LeakSanitizer has encountered a fatal error|ptrace' err.txt; then
  echo "SKIPPED leaks by AddressSanitizer: it may not look at this process"
else
  head -n 100 err.txt
  die "AddressSanitizer"
fi
