// Cases run on one process; those of tiling_test.cpp also on the ranks that mpirun has started.
#define DOCTEST_CONFIG_IMPLEMENT
#include "runtime/mpi/job.hpp"

#include <doctest/doctest.h>

int main(int argc, char** argv) {
  const quarkstar::runtime::mpi::Job job;
  return doctest::Context(argc, argv).run();
}
