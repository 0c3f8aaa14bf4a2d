#include "runtime/mpi/alive.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/native.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

namespace quarkstar::runtime::mpi {
namespace {

using Clock = std::chrono::steady_clock;
using Note = Job::Native::Note;

/// Of a question; of what a rank says of itself; of the root's word that it asks all; of what it has heard.
enum NoteTag : int { question = 1, answer = 2, asking_all = 3, roll_call = 4 };

/// Not where one thread alone may call MPI: it does so for those who wait, and these are asked by nobody.
bool can_ask(const Job& job) { return job.is_connected() && job.is_distributed() && is_at_work() && !funnel().is_on(); }

Note& note_to(std::vector<Note>& notes, int rank) { return notes[static_cast<std::size_t>(rank)]; }

/// Nobody waits for it: a rank that has stopped must not stop those who write to it. While it has not taken one note it gets no other;
/// whether it got this one.
template <class Words = Answer>
bool send(MPI_Comm base, Note& note, int to, NoteTag tag, const Words& words = {}) {
  static_assert(std::is_trivially_copyable_v<Words> && sizeof words <= sizeof note.words);
  int taken = 1;
  if (note.request != MPI_REQUEST_NULL) check(MPI_Test(&note.request, &taken, MPI_STATUS_IGNORE), "MPI_Test");
  if (taken == 0) return false;
  std::memcpy(note.words.data(), &words, sizeof words);
  check(MPI_Isend(note.words.data(), sizeof words, MPI_BYTE, to, tag, base, &note.request), "asking whether a rank is alive");
  return true;
}

/// Takes one note with that tag, if there is any, and returns its sender or -1.
template <class Words = Answer>
int take(MPI_Comm base, NoteTag tag, Words* words = nullptr) {
  MPI_Status status;
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, tag, base, &found, &status), "MPI_Iprobe");
  if (found == 0) return -1;
  Words ignored;
  check(MPI_Recv(words != nullptr ? words : &ignored, sizeof ignored, MPI_BYTE, status.MPI_SOURCE, tag, base, MPI_STATUS_IGNORE),
        "MPI_Recv");
  return status.MPI_SOURCE;
}

/// Takes all that is there.
template <class Words>
void forget(MPI_Comm base, NoteTag tag) {
  while (take<Words>(base, tag) >= 0) {
  }  // too late for an earlier question
}

/// Until use(base) says that it is done or `end` has passed: answers, and has `use` use the library. False where it never could.
template <class Use>
bool poll(Job& job, const Answer& mine, const Clock::time_point& end, Use&& use) {
  bool used = false;
  while (Clock::now() < end) {
    answer_calls(job, mine);
    if (const std::unique_lock library(job.library(), std::try_to_lock); library) {
      if (!can_ask(job)) return false;
      used = true;
      if (use(job.native().base)) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return used;
}

/// Those who wait for a roll call hear so often that the root lives.
constexpr std::chrono::seconds between_words{1};

std::optional<RollCall> ask_all(Job& job, std::chrono::seconds limit, const Answer& mine) {
  std::vector<std::optional<Answer>> answers(static_cast<std::size_t>(job.size()));
  answers[static_cast<std::size_t>(job.rank())] = mine;
  int missing = job.size() - 1;
  bool asked = false;
  Clock::time_point end = Clock::now() + limit, word = Clock::now() + between_words;
  const auto listen = [&](MPI_Comm base) {
    if (!asked) {
      forget<Answer>(base, NoteTag::answer);
      for (int rank = 0; rank < job.size(); ++rank)
        if (rank != job.rank()) send(base, note_to(job.native().questions, rank), rank, NoteTag::question);
      asked = true;
      end = Clock::now() + limit;
    }
    if (Clock::now() > word) {
      job.native().to_answer = job.native().want_roll_call;
      word = Clock::now() + between_words;
    }
    Answer words;
    for (int rank = take(base, NoteTag::answer, &words); rank >= 0; rank = take(base, NoteTag::answer, &words)) {
      std::optional<Answer>& said = answers[static_cast<std::size_t>(rank)];
      if (!said) --missing;
      said = words;
    }
    return missing == 0;
  };
  if (!poll(job, mine, end, listen)) return {};

  RollCall heard{.idle_ms = mine.idle_ms};
  for (int rank = 0; rank < job.size(); ++rank) {
    const std::optional<Answer>& said = answers[static_cast<std::size_t>(rank)];
    if (!said) {
      const auto number = static_cast<std::size_t>(heard.silent++);
      if (number < RollCall::most_named) heard.first_silent[number] = rank;
      continue;
    }
    heard.idle_ms = std::min(heard.idle_ms, said->idle_ms);
    if (said->waits == 0 && heard.alone < 0) heard.alone = rank;
  }
  return heard;
}

std::optional<RollCall> ask_root(Job& job, std::chrono::seconds limit, const Answer& mine) {
  constexpr int root = 0;
  std::optional<RollCall> heard;
  bool asked = false;
  Clock::time_point end = Clock::now() + limit;
  const auto listen = [&](MPI_Comm base) {
    if (!asked) {
      forget<Answer>(base, NoteTag::asking_all);
      forget<RollCall>(base, NoteTag::roll_call);
      send(base, note_to(job.native().questions, root), root, NoteTag::question);
      asked = true;
      end = Clock::now() + limit;
    }
    if (take(base, NoteTag::asking_all) >= 0) end = Clock::now() + limit;  // it lives, and waits for others as long as it may
    RollCall words;
    if (take(base, NoteTag::roll_call, &words) >= 0) heard = words;
    return heard.has_value();
  };
  if (!poll(job, mine, end, listen)) return {};
  return heard ? heard : RollCall{.idle_ms = mine.idle_ms, .silent = 1, .first_silent = {root}};
}

}  // namespace

namespace {

/// A collective call on a file holds the library for as long as it hangs; threads that poll leave gaps.
std::unique_lock<std::mutex> library_soon(Job& job) {
  std::unique_lock<std::mutex> library(job.library(), std::defer_lock);
  constexpr int attempts = 50;
  for (int i = 0; i < attempts && !library.try_lock(); ++i) std::this_thread::yield();
  return library;
}

}  // namespace

void answer_calls(Job& job, const Answer& mine) {
  if (!can_ask(job)) return;
  const std::unique_lock library = library_soon(job);
  if (!library || !can_ask(job)) return;
  Job::Native& native = job.native();
  for (int rank = take(native.base, NoteTag::question); rank >= 0; rank = take(native.base, NoteTag::question)) {
    native.to_answer.insert(rank);
    if (job.is_root()) native.want_roll_call.insert(rank);
  }
  std::erase_if(native.to_answer, [&](int rank) {
    return send(native.base, note_to(native.answers, rank), rank, job.is_root() ? NoteTag::asking_all : NoteTag::answer, mine);
  });
}

bool is_roll_call_wanted(Job& job) {
  if (!can_ask(job)) return false;
  const std::unique_lock library = library_soon(job);
  return library && can_ask(job) && !job.native().want_roll_call.empty();
}

std::optional<RollCall> call_roll(Job& job, std::chrono::seconds limit, const Answer& mine) {
  if (!can_ask(job)) return {};
  if (!job.is_root()) return ask_root(job, limit, mine);
  const std::optional<RollCall> heard = ask_all(job, limit, mine);
  if (!heard) return {};
  poll(job, mine, Clock::now() + between_words, [&](MPI_Comm base) {
    std::set<int>& waiting = job.native().want_roll_call;
    std::erase_if(waiting, [&](int rank) { return send(base, note_to(job.native().roll_calls, rank), rank, NoteTag::roll_call, *heard); });
    return waiting.empty();
  });
  return heard;
}

}  // namespace quarkstar::runtime::mpi
