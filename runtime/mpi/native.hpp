#pragma once
// MPI's own types. For runtime/mpi/*.cpp only.
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::runtime::mpi {

class Transports;

/// Communicators: what goes on in one never meets what goes on in another.
struct Job::Native {
  explicit Native(int size) : questions(static_cast<std::size_t>(size)), answers(questions.size()), roll_calls(questions.size()) {}

  MPI_Comm base = MPI_COMM_WORLD;    ///< for the questions of watchdogs, which come before there are others (alive.cpp)
  MPI_Comm control = MPI_COMM_NULL;  ///< collective calls and messages of main threads
  MPI_Comm faces = MPI_COMM_NULL;    ///< messages of tasks
  MPI_Comm sums = MPI_COMM_NULL;     ///< sums of tasks
  MPI_Comm failure = MPI_COMM_NULL;  ///< Job::fail
  std::array<MPI_Comm*, 4> all() { return {&control, &faces, &sums, &failure}; }

  std::shared_ptr<Transports> transports;  ///< of GPUs (transports.hpp); as long as the job

  /// A small message that nobody waits for.
  struct Note {
    std::array<std::int64_t, 7> words{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  /// guest_of().
  static std::unique_ptr<Job> guest(Host program);
  static void join(Job& job, const void* communicator);
  static void forget_host();
  /// Of a guest: MPI goes on. Notes that a rank has not taken are given up, but not their memory, from which MPI may still send.
  void leave() {
    for (std::vector<Note>* notes : {&questions, &answers, &roll_calls}) {
      bool on_the_way = false;
      for (Note& note : *notes) {
        int taken = 1;
        if (note.request != MPI_REQUEST_NULL) MPI_Test(&note.request, &taken, MPI_STATUS_IGNORE);
        if (taken != 0) continue;
        MPI_Cancel(&note.request);
        MPI_Request_free(&note.request);
        on_the_way = true;
      }
      if (on_the_way) new std::vector<Note>(std::move(*notes));  // for ever
    }
    MPI_Comm_free(&base);
  }
  std::vector<Note> questions, answers, roll_calls;  ///< on their way, by the rank that they go to
  std::set<int> to_answer;                           ///< ranks that have asked: the answer before is still on its way
  std::set<int> want_roll_call;                      ///< on the root: ranks that have asked, and have not heard of all
};

/// What MPI says about one of its errors.
inline std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

/// Throws Error(environment) with MPI's text unless code is MPI_SUCCESS. what: the call, or what it was for.
inline void check(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  throw Error(ErrorKind::environment, "MPI", what + ": " + error_text(code),
              "check the network and the launcher (`quarkstar machine --self-test`)");
}

/// Waits without holding the library, so that others can use it; spins at first, so many rounds, because most answers come soon.
/// False when the limit has passed.
bool wait(Job& job, MPI_Request request, const char* what,
          std::chrono::steady_clock::time_point limit = std::chrono::steady_clock::time_point::max(), int spins = 1000);

}  // namespace quarkstar::runtime::mpi
