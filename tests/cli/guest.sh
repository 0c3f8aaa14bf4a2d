#!/usr/bin/env bash
# A program that starts MPI itself calls the C library: tests/clients/guest.c.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/clients.bash"
needs_library libquarkstar.so mpicc mpirun
mpicc -std=c99 -Wall -Wextra -Werror -O1 -I "$source_folder/apps/c" "$source_folder/tests/clients/guest.c" -o guest \
  -L "$build" -lquarkstar -lm -Wl,-rpath,"$build" -Wl,-rpath-link,"$build"
on_two() { timeout 300 mpirun --oversubscribe --bind-to none -n 2 ./guest "$@"; }
job=()
for level in single funneled serialized multiple; do
  on_two $level >out.txt 2>err.txt || { cat out.txt err.txt; die "a guest of a program with MPI_THREAD_$level"; }
  [ "$(cat out.txt)" = "all well"$'\n'"all well" ] || { cat out.txt; die "something was printed"; }
done
# Ranks that do not compute alike: in a solve, and in a norm before it. Each has a host of its own, so that sums are messages.
source "$here/ranks.bash"
make_probe
for level in funneled multiple; do
  for sum in 1 9; do
    job=()
    for host in a b; do
      [ $host = a ] || job+=(:)
      job+=(-n 1 env "QUARKSTAR_HOST=$host" "LD_PRELOAD=$PWD/libmpi_probe.so" "MPI_PROBE_FLIP=1:$sum" ./guest $level flipped)
    done
    launch "${job[@]}" || { cat stdout.txt stderr.txt; die "a flipped bit in sum $sum of a guest, MPI_THREAD_$level"; }
    [ "$(cat stdout.txt)" = "all well"$'\n'"all well" ] || { cat stdout.txt; die "something was printed"; }
  done
done
job=()
# A rank that does not come. They wait for it, most of the time, so together.
for level in funneled multiple; do
  on_two $level lost >lost_$level.txt 2>&1 &
  job[${#job[@]}]=$!
done
for j in "${job[@]}"; do wait "$j" || { cat lost_*.txt; die "a rank that does not come"; }; done
for level in funneled multiple; do
  [ "$(cat lost_$level.txt)" = "all well"$'\n'"all well" ] || { cat lost_$level.txt; die "something was printed"; }
done
