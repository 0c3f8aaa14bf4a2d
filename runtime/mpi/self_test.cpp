#include "runtime/mpi/self_test.hpp"

#include "runtime/cut/halo.hpp"
#include "runtime/gpu/gpu_messages.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/rank_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace quarkstar::runtime::mpi {
namespace {

using Clock = std::chrono::steady_clock;

enum Tag { call_tag = 1, answer_tag, ping_tag, data_tag };

/// Calls of one rank that must be answered in time.
class Line {
 public:
  Line(Job& job, std::chrono::seconds limit) : job_(job), limit_(limit) {}

  bool wait(MPI_Request request) const {
    constexpr int in_a_hurry = 100000;  // longer than any answer that is timed; then the watchdog gets at the library
    return mpi::wait(job_, request, "MPI_Test", Clock::now() + limit_, in_a_hurry);
  }
  MPI_Request start_send(std::span<const std::uint64_t> words, int to, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    call_mpi(job_, [&] {
      check(MPI_Isend(words.data(), static_cast<int>(words.size()), MPI_UINT64_T, to, tag, job_.native().control, &request), "MPI_Isend");
    });
    return request;
  }
  MPI_Request start_receive(std::span<std::uint64_t> words, int from, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    call_mpi(job_, [&] {
      check(MPI_Irecv(words.data(), static_cast<int>(words.size()), MPI_UINT64_T, from, tag, job_.native().control, &request), "MPI_Irecv");
    });
    return request;
  }
  void send(std::span<const std::uint64_t> words, int to, int tag) const {
    if (!wait(start_send(words, to, tag))) silent({to});
  }
  void receive(std::span<std::uint64_t> words, int from, int tag) const { finish_receive(start_receive(words, from, tag), from); }
  void finish_receive(MPI_Request request, int from) const {
    if (!wait(request)) silent({from});
  }

  /// Ends the job; its other ranks may never come to a place where they could agree on anything.
  [[noreturn]] void silent(const std::vector<int>& ranks) const {
    std::vector<std::string> names;
    for (const int rank : ranks) names.push_back(job_.name_of(rank));
    job_.fail_alone(fmt::format("no answer from {} within {} s; look at that host and its network", fmt::join(names, ", "), limit_.count()),
                    static_cast<int>(ErrorKind::environment));
  }

 private:
  Job& job_;
  std::chrono::seconds limit_;
};

constexpr std::size_t long_words = (std::size_t{1} << 20) / sizeof(std::uint64_t);
constexpr int short_rounds = 20, long_rounds = 8;

/// The timings are those of the rank that begins, and zero on the other.
PairTiming time_pair(Job& job, const Line& line, int first, int second) {
  const int partner = job.rank() == first ? second : first;
  const bool begins = job.rank() == first;
  PairTiming timing{first, second};
  std::vector<std::uint64_t> mine(long_words), theirs(long_words);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = known_word(static_cast<std::uint64_t>(job.rank()), i);
  const auto there_and_back = [&](std::size_t words, int tag) {
    for (const bool sends : {begins, !begins}) {
      if (sends) line.send(std::span(mine).first(words), partner, tag);
      else line.receive(std::span(theirs).first(words), partner, tag);
    }
  };
  const auto both_at_once = [&](std::size_t words, int tag) {
    const MPI_Request receive = line.start_receive(std::span(theirs).first(words), partner, tag);
    line.send(std::span(mine).first(words), partner, tag);
    line.finish_receive(receive, partner);
  };
  // One round for the contents, then the fastest of those that are timed: nothing but messages between two looks at the clock.
  const auto seconds = [&](const auto& exchange, std::size_t words, int rounds, int tag) {
    std::fill(theirs.begin(), theirs.end(), 0);
    exchange(words, tag);
    for (std::size_t i = 0; i < words; ++i) timing.damaged += theirs[i] != known_word(static_cast<std::uint64_t>(partner), i) ? 1 : 0;
    double fastest = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
      const auto start = Clock::now();
      exchange(words, tag);
      fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return fastest;
  };
  const double round_trip = seconds(there_and_back, 1, short_rounds, ping_tag);
  job.note_progress();  // others wait for this pair
  const double long_round_trip = seconds(there_and_back, long_words, long_rounds, data_tag);
  const double at_once = seconds(both_at_once, long_words, long_rounds, data_tag);
  if (!begins) return timing;
  constexpr double gigabytes = 1e-9 * static_cast<double>(long_words * sizeof(std::uint64_t));
  timing.latency_us = round_trip / 2 * 1e6;
  timing.bandwidth_gbs = gigabytes / (long_round_trip / 2);
  timing.both_ways_gbs = gigabytes / at_once;
  return timing;
}

std::vector<std::pair<int, int>> pairs_of(int ranks) {
  constexpr int few = 32;
  std::vector<std::pair<int, int>> pairs;
  for (int distance = 1; distance < ranks; distance = ranks <= few ? distance + 1 : 2 * distance)
    for (int first = 0; first + distance < ranks; ++first) pairs.emplace_back(first, first + distance);
  return pairs;
}

struct FaceTask {
  std::uint64_t stream[8];
  int faces;
  std::uint64_t words;
};

void fill_faces(Call& call) {
  const auto& task = call.arguments<FaceTask>();
  for (int f = 0; f < task.faces; ++f)
    for (std::uint64_t i = 0; i < task.words; ++i) call.buffer<std::uint64_t>(f)[i] = known_word(task.stream[f], i);
}
void check_faces(Call& call) {
  const auto& task = call.arguments<FaceTask>();
  auto* wrong = call.buffer<std::uint64_t>(0);
  for (int f = 0; f < task.faces; ++f)
    for (std::uint64_t i = 0; i < task.words; ++i)
      wrong[f] += call.buffer<const std::uint64_t>(1 + f)[i] != known_word(task.stream[f], i) ? 1 : 0;
}
const Codelet fill_codelet("self_test.fill", fill_faces), check_codelet("self_test.check", check_faces);

}  // namespace

void roll_call(Job& job, std::chrono::seconds limit) {
  if (!job.is_distributed() || job.is_fake()) return;
  const Line line(job, limit);
  std::uint64_t mine = static_cast<std::uint64_t>(job.rank());
  if (!job.is_root()) {
    constexpr std::chrono::seconds for_its_words{5};
    line.send(std::span(&mine, 1), 0, call_tag);
    Line(job, 2 * limit + for_its_words).receive(std::span(&mine, 1), 0, answer_tag);
    return;
  }
  std::vector<std::uint64_t> answers(static_cast<std::size_t>(job.size()), ~std::uint64_t{0});
  std::vector<MPI_Request> requests;
  for (int rank = 1; rank < job.size(); ++rank)
    requests.push_back(line.start_receive(std::span(&answers[static_cast<std::size_t>(rank)], 1), rank, call_tag));
  std::vector<int> missing;
  for (int rank = 1; rank < job.size(); ++rank)
    if (!Line(job, missing.empty() ? limit : std::chrono::seconds(0)).wait(requests[static_cast<std::size_t>(rank - 1)]))
      missing.push_back(rank);
  if (!missing.empty()) line.silent(missing);
  for (int rank = 1; rank < job.size(); ++rank) line.send(std::span(&mine, 1), rank, answer_tag);
}

std::vector<PairTiming> time_pairs(Job& job, std::chrono::seconds limit) {
  std::vector<PairTiming> timings;
  const Line line(job, limit);
  for (const auto& [first, second] : pairs_of(job.size())) {
    std::vector<PairTiming> both(1);
    if (job.rank() == first || job.rank() == second) both[0] = time_pair(job, line, first, second);
    // The pair's own results go to the root, which also starts the next pair only then.
    std::uint64_t damaged = job.combined(both[0].damaged, Combine::sum);
    double numbers[3] = {both[0].latency_us, both[0].bandwidth_gbs, both[0].both_ways_gbs};
    job.combine(std::span(numbers), Combine::maximum);
    timings.push_back({first, second, numbers[0], numbers[1], numbers[2], damaged});
  }
  return timings;
}

std::vector<FaceDamage> exchange_known_faces(Job& job) {
  constexpr std::size_t bytes = 1 << 16;
  Coord lattice{};
  const Coord grid = choose_rank_grid({1024, 1024, 1024, 1024}, job.size());
  for (int mu = 0; mu < 4; ++mu) lattice[mu] = 4 * grid[mu];
  const Decomposition decomposition(lattice, RankGrid{grid, job.rank(), {}}, {2, 2, 2, 2}, 1);
  Halo halo(
      decomposition, [](int, int) { return bytes; }, "known face");
  std::vector<Handle> wrong;  // of each block, by direction
  for (std::size_t i = 0; i < decomposition.local().size(); ++i) {
    const HostView<std::uint64_t> counts(wrong.emplace_back(8 * sizeof(std::uint64_t)), HostAccess::overwrite);
    std::fill_n(counts.get(), 8, 0);
  }
  constexpr std::uint64_t applications = 2;
  for (std::uint64_t application = 0; application < applications; ++application) {
    halo.next();
    const auto stream = [&](int sender, int direction) {
      return (static_cast<std::uint64_t>(sender) * 8 + static_cast<std::uint64_t>(direction)) * applications + application;
    };
    for (const int b : decomposition.local()) {
      FaceTask task{{}, 8, bytes / sizeof(std::uint64_t)};
      AccessList accesses;
      for (int d = 0; d < 8; ++d) {
        task.stream[d] = stream(b, d);
        accesses.push_back(out(halo.outgoing(b, d)));
      }
      submit(fill_codelet, task, accesses, {}, {.owner = 0, .block = b, .urgent = true});
    }
    halo.exchange();
    for (const int b : decomposition.local()) {
      FaceTask task{{}, 8, bytes / sizeof(std::uint64_t)};
      AccessList accesses{inout(wrong[static_cast<std::size_t>(decomposition.local_index(b))])};
      for (int d = 0; d < 8; ++d) {
        task.stream[d] = stream(decomposition.neighbour(b, d), d);
        accesses.push_back(in(halo.incoming(b, d)));
      }
      submit(check_codelet, task, accesses, {}, {.owner = 0, .block = b});
    }
  }
  // In each direction a rank reads faces of one rank besides its own.
  struct Reader {
    std::array<int, 8> other;
    std::array<std::array<std::uint64_t, 2>, 8> words;  ///< of its own faces, of the other's
  };
  Reader mine{};
  for (const int b : decomposition.local()) {
    const HostView<std::uint64_t> counts(wrong[static_cast<std::size_t>(decomposition.local_index(b))]);
    for (int d = 0; d < 8; ++d) {
      const int sender = decomposition.block(decomposition.neighbour(b, d)).rank;
      const auto direction = static_cast<std::size_t>(d);
      if (sender != job.rank()) mine.other[direction] = sender;
      mine.words[direction][sender != job.rank() ? 1 : 0] += counts[direction];
    }
  }
  Session::current().wait_all();
  std::vector<FaceDamage> damage;
  const std::vector<Reader> readers = job.gather(mine);
  for (int reader = 0; reader < job.size(); ++reader) {
    const Reader& of = readers[static_cast<std::size_t>(reader)];
    for (std::size_t d = 0; d < 8; ++d)
      for (const bool others : {false, true})
        if (const std::uint64_t words = of.words[d][others ? 1 : 0]; words > 0)
          damage.push_back({others ? of.other[d] : reader, reader, static_cast<int>(d), words});
  }
  return damage;
}

std::string describe_gpu_messages() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  if (MPIX_Query_cuda_support() != 0)
    return "the MPI library could send from GPU memory; messages go through pinned host memory all the same";
#endif
  return "the MPI library cannot send from GPU memory: messages go through pinned host memory";
}

}  // namespace quarkstar::runtime::mpi
