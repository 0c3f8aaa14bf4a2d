#pragma once
// MPI's own types. For runtime/mpi/*.cpp only.
#include <mpi.h>

#include <string>

#include "runtime/error.hpp"
#include "runtime/mpi/job.hpp"

namespace quarkstar::runtime::mpi {

/// Communicators: what goes on in one never meets what goes on in another.
struct Job::Native {
  MPI_Comm control = MPI_COMM_NULL;  ///< collective calls and messages of main threads
  MPI_Comm faces = MPI_COMM_NULL;    ///< messages of tasks
  MPI_Comm sums = MPI_COMM_NULL;     ///< sums of tasks
  MPI_Comm failure = MPI_COMM_NULL;  ///< Job::fail
  MPI_Comm alive = MPI_COMM_NULL;    ///< questions of watchdogs
};

/// Throws Error(environment) with MPI's text unless code is MPI_SUCCESS. what: the call, or what it was for.
inline void check(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorKind::environment, "MPI", what + ": " + std::string(text, static_cast<std::size_t>(length)),
              "check the network and the launcher (`quarkstar machine --self-test`)");
}

}  // namespace quarkstar::runtime::mpi
