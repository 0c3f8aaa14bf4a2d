#include "runtime/mpi/alive.hpp"

#include <thread>

#include "runtime/mpi/native.hpp"

namespace quarkstar::runtime::mpi {
namespace {

constexpr int question = 1, answer = 2;

bool can_ask(const Job& job) { return job.is_distributed() && !job.is_fake(); }

/// An empty message that nobody waits for: a rank that has stopped must not stop those who write to it.
void send_empty(Job& job, int to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, job.native().alive, &request), "asking whether a rank is alive");
  MPI_Request_free(&request);
}

/// Takes one message with that tag, if there is any, and returns its sender or -1.
int take(Job& job, int tag) {
  MPI_Status status;
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, tag, job.native().alive, &found, &status), "MPI_Iprobe");
  if (found == 0) return -1;
  check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, tag, job.native().alive, MPI_STATUS_IGNORE), "MPI_Recv");
  return status.MPI_SOURCE;
}

}  // namespace

void answer_calls(Job& job) {
  if (!can_ask(job)) return;
  // A collective call on a file holds the library for as long as it hangs.
  const std::unique_lock library(job.library(), std::try_to_lock);
  if (!library) return;
  for (int asking = take(job, question); asking >= 0; asking = take(job, question)) send_empty(job, asking, answer);
}

std::vector<int> silent_ranks(Job& job, std::chrono::seconds limit) {
  if (!can_ask(job)) return {};
  std::vector<bool> answered(static_cast<std::size_t>(job.size()), false);
  answered[static_cast<std::size_t>(job.rank())] = true;
  int missing = job.size() - 1;
  bool asked = false;
  const auto end = std::chrono::steady_clock::now() + limit;
  while (missing > 0 && std::chrono::steady_clock::now() < end) {
    answer_calls(job);
    if (const std::unique_lock library(job.library(), std::try_to_lock); library) {
      for (int rank = 0; !asked && rank < job.size(); ++rank)
        if (rank != job.rank()) send_empty(job, rank, question);
      asked = true;
      for (int rank = take(job, answer); rank >= 0; rank = take(job, answer)) {
        if (!answered[static_cast<std::size_t>(rank)]) --missing;
        answered[static_cast<std::size_t>(rank)] = true;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::vector<int> silent;
  if (!asked) return silent;
  for (int rank = 0; rank < job.size(); ++rank)
    if (!answered[static_cast<std::size_t>(rank)]) silent.push_back(rank);
  return silent;
}

}  // namespace quarkstar::runtime::mpi
