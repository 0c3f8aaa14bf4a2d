#include "runtime/mpi/alive.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/native.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace quarkstar::runtime::mpi {
namespace {

constexpr int alive_question_tag = 1, alive_answer_tag = 2;

/// Not where one thread alone may call MPI: it does so for those who wait, and these are asked by nobody.
bool can_ask(const Job& job) { return job.is_connected() && job.is_distributed() && is_at_work() && !funnel().is_on(); }

/// Nobody waits for it: a rank that has stopped must not stop those who write to it. While it has not taken one note it gets no other;
/// whether it got this one.
bool send(MPI_Comm base, Job::Native::Note& note, const Answer& words, int to, int tag) {
  int taken = 1;
  if (note.request != MPI_REQUEST_NULL) check(MPI_Test(&note.request, &taken, MPI_STATUS_IGNORE), "MPI_Test");
  if (taken == 0) return false;
  note.words = {words.idle_ms, words.waits};
  check(MPI_Isend(note.words.data(), sizeof note.words, MPI_BYTE, to, tag, base, &note.request), "asking whether a rank is alive");
  return true;
}

/// Takes one note with that tag, if there is any, and returns its sender or -1.
int take(MPI_Comm base, int tag, Answer& words) {
  MPI_Status status;
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, tag, base, &found, &status), "MPI_Iprobe");
  if (found == 0) return -1;
  Job::Native::Note note;
  check(MPI_Recv(note.words.data(), sizeof note.words, MPI_BYTE, status.MPI_SOURCE, tag, base, MPI_STATUS_IGNORE), "MPI_Recv");
  words = {note.words[0], note.words[1]};
  return status.MPI_SOURCE;
}

Job::Native::Note& note_to(std::vector<Job::Native::Note>& notes, int rank) { return notes[static_cast<std::size_t>(rank)]; }

}  // namespace

void answer_calls(Job& job, const Answer& mine) {
  if (!can_ask(job)) return;
  // A collective call on a file holds the library for as long as it hangs; threads that poll leave gaps.
  std::unique_lock library(job.library(), std::defer_lock);
  constexpr int attempts = 50;
  for (int i = 0; i < attempts && !library.try_lock(); ++i) std::this_thread::yield();
  if (!library || !can_ask(job)) return;
  const MPI_Comm base = job.native().base;
  Answer ignored;
  std::vector<int>& asking = job.native().asking;
  for (int rank = take(base, alive_question_tag, ignored); rank >= 0; rank = take(base, alive_question_tag, ignored))
    if (std::find(asking.begin(), asking.end(), rank) == asking.end()) asking.push_back(rank);
  std::erase_if(asking, [&](int rank) { return send(base, note_to(job.native().answers, rank), mine, rank, alive_answer_tag); });
}

std::vector<std::optional<Answer>> ask_ranks(Job& job, std::chrono::seconds limit, const Answer& mine) {
  std::vector<std::optional<Answer>> answers;
  if (!can_ask(job)) return answers;
  answers.resize(static_cast<std::size_t>(job.size()));
  answers[static_cast<std::size_t>(job.rank())] = mine;
  int missing = job.size() - 1;
  bool asked = false;
  const auto end = std::chrono::steady_clock::now() + limit;
  while (missing > 0 && std::chrono::steady_clock::now() < end) {
    answer_calls(job, mine);
    if (const std::unique_lock library(job.library(), std::try_to_lock); library) {
      if (!can_ask(job)) return {};
      const MPI_Comm base = job.native().base;
      Answer words;
      while (!asked && take(base, alive_answer_tag, words) >= 0) {
      }  // too late for an earlier question
      for (int rank = 0; !asked && rank < job.size(); ++rank)
        if (rank != job.rank()) send(base, note_to(job.native().questions, rank), {}, rank, alive_question_tag);
      asked = true;
      for (int rank = take(base, alive_answer_tag, words); rank >= 0; rank = take(base, alive_answer_tag, words)) {
        std::optional<Answer>& answer = answers[static_cast<std::size_t>(rank)];
        if (!answer) --missing;
        answer = words;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!asked) answers.clear();
  return answers;
}

}  // namespace quarkstar::runtime::mpi
