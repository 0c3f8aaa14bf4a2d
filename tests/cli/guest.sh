#!/usr/bin/env bash
# A program that starts MPI itself calls the C library: tests/clients/guest.c.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/clients.bash"
needs_library libquarkstar.so mpicc mpirun
mpicc -std=c99 -Wall -Wextra -Werror -O1 -I "$source_folder/apps/c" "$source_folder/tests/clients/guest.c" -o guest \
  -L "$build" -lquarkstar -lm -Wl,-rpath,"$build" -Wl,-rpath-link,"$build"
on_two() { timeout 120 mpirun --oversubscribe --bind-to none -n 2 ./guest "$@"; }
job=()
for level in single funneled serialized multiple; do
  on_two $level >out.txt 2>err.txt || { cat out.txt err.txt; die "a guest of a program with MPI_THREAD_$level"; }
  [ "$(cat out.txt)" = "all well"$'\n'"all well" ] || { cat out.txt; die "something was printed"; }
done
# A rank that does not come. They wait for it, most of the time, so together.
for level in funneled multiple; do
  on_two $level lost >lost_$level.txt 2>&1 &
  job[${#job[@]}]=$!
done
for j in "${job[@]}"; do wait "$j" || { cat lost_*.txt; die "a rank that does not come"; }; done
for level in funneled multiple; do
  [ "$(cat lost_$level.txt)" = "all well"$'\n'"all well" ] || { cat lost_$level.txt; die "something was printed"; }
done
