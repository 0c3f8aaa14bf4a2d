// Messages of the runtime beside StarPU's own MPI layer, in turns on the same workers: what an iteration with a Dslash sends.
//
//   mpirun -n 2 measure_starpu_mpi [ROUNDS]        or -n 4; a machine with nothing else to do
//
// An iteration: a pack for each face, its journey, an interior (or none), a boundary that reads all faces, and a sum over ranks (or none).
// The next iteration's packs need it all, as in a solver. 2 ranks have two faces each, 4 have four. Every word that arrives is compared.
// docs/results/2026-11-28-starpu-mpi.md has numbers.
#include "runtime/cut/halo.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/typed_codelet.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/system/failure.hpp"

#include <fmt/format.h>
#include <starpu_mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {
std::atomic<std::int64_t> sends{0};
}

// MPI's profiling interface. Both engines have a thread that calls MPI, and neither waits for the other's: the job asks for less.
extern "C" int MPI_Init_thread(int* argc, char*** argv, int, int* provided) {
  return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
}
// What StarPU sends, envelopes too; persistent requests are not among them.
extern "C" int MPI_Isend(const void* memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator, MPI_Request* request) {
  ++sends;
  return PMPI_Isend(memory, count, type, to, tag, communicator, request);
}

namespace {

constexpr int most_faces = 4;
using Seeds = std::array<std::uint64_t, most_faces>;

/// What stands for the solver's vectors and scalars: it orders iterations.
struct State {
  std::uint64_t wrong;  ///< words and sums
  double work;
};

const TypedCodelet pack("measure.pack", CodeletKind::pack, [](Call&, In<State>, Out<std::uint64_t, 1> face, std::uint64_t seed) {
  for (std::int64_t i = 0; i < face.size(); ++i) face[i] = seed + static_cast<std::uint64_t>(i);
});

/// A chain of `steps` operations.
const TypedCodelet interior("measure.interior", CodeletKind::stencil, [](Call&, In<State> state, Out<double> work, std::int64_t steps) {
  double x = state.data->work;
  for (std::int64_t i = 0; i < steps; ++i) x = x * 0.5 + 1;
  *work.data = x;
});

const TypedCodelet boundary("measure.boundary", CodeletKind::stencil,
                            [](Call&, std::vector<In<std::uint64_t, 1>> faces, In<double> work, InOut<State> state, Seeds seeds) {
                              std::uint64_t wrong = 0;
                              for (std::size_t f = 0; f < faces.size(); ++f)
                                for (std::int64_t i = 0; i < faces[f].size(); ++i)
                                  wrong += faces[f][i] != seeds[f] + static_cast<std::uint64_t>(i) ? 1U : 0U;
                              state.data->wrong += wrong;
                              state.data->work = *work.data;
                            });

const TypedCodelet contribute("measure.contribute", CodeletKind::scalar, [](Call&, In<State>, Out<BinnedSum> local, double mine) {
  *local.data = BinnedSum::zero();
  add(*local.data, mine);
});

const TypedCodelet step("measure.step", CodeletKind::scalar,
                        [](Call&, std::vector<In<BinnedSum>> parts, InOut<State> state, double expected) {
                          BinnedSum total = BinnedSum::zero();
                          for (const auto& part : parts) total.merge(*part.data);
                          if (value_of(total) != expected) ++state.data->wrong;
                        });

/// How faces and sums travel.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void next() = 0;
  virtual const Handle& outgoing(int direction) const = 0;
  virtual const Handle& incoming(int direction) const = 0;
  virtual void exchange() = 0;
  virtual const Handle& local() const = 0;
  /// After local() has been written: what a scalar step adds up.
  virtual std::vector<const Handle*> sum() = 0;
  virtual std::int64_t messages() const = 0;
};

class Ours : public Engine {
 public:
  Ours(const Decomposition& decomposition, std::size_t bytes)
      : block_(decomposition.local().front()),
        halo_(
            decomposition, [&](int, int direction) { return decomposition.is_cut(direction / 2) ? bytes : 0; }, "face"),
        messages_(*Session::current().messages()) {}
  void next() override { halo_.next(); }
  const Handle& outgoing(int direction) const override { return halo_.outgoing(block_, direction); }
  const Handle& incoming(int direction) const override { return halo_.incoming(block_, direction); }
  void exchange() override { halo_.exchange(); }
  const Handle& local() const override { return local_; }
  std::vector<const Handle*> sum() override {
    messages_.sum(total_, local_, 1, "measure");
    return {&total_};
  }
  std::int64_t messages() const override { return messages_.totals().messages; }

 private:
  int block_;
  Halo halo_;
  mpi::Messages& messages_;
  Handle local_{sizeof(BinnedSum)}, total_{sizeof(BinnedSum)};
};

/// StarPU's layer, between the start of a session and its end.
class Layer {
 public:
  Layer() {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    if (starpu_mpi_init_comm(nullptr, nullptr, 0, communicator_) != 0)
      throw Error(ErrorKind::environment, "StarPU", "its MPI layer does not start", "rebuild StarPU with MPI (./bootstrap deps)");
  }
  ~Layer() {
    starpu_mpi_shutdown_comm(communicator_);
    MPI_Comm_free(&communicator_);
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  MPI_Comm communicator() const { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

/// The same buffers. Data have tags, so that StarPU receives what comes early in a handle of the same kind. Its cache is for data that are
/// read again unchanged, which no face is. It has no sum that all ranks get: each sends its part to all others, in one hop.
class Starpu : public Engine {
 public:
  Starpu(const Decomposition& decomposition, std::size_t bytes, MPI_Comm communicator)
      : decomposition_(decomposition), block_(decomposition.local().front()), communicator_(communicator) {
    for (int buffer = 0; buffer < 2; ++buffer) {
      for (int d = 0; d < 8 && bytes > 0; ++d) {
        if (!decomposition.is_cut(d / 2)) continue;
        sent_[buffer][d] = Handle(bytes);
        incoming_[buffer][d] = with_tag(bytes, tag(buffer, decomposition.rank(), d), decomposition.rank());
      }
      local_[buffer] = Handle(sizeof(BinnedSum));
      for (int rank = 0; rank < decomposition.count(); ++rank)
        parts_[buffer].push_back(
            rank == decomposition.rank() ? Handle() : with_tag(sizeof(BinnedSum), tag(buffer, decomposition.rank(), 8 + rank), rank));
    }
  }
  void next() override { buffer_ ^= 1; }
  const Handle& outgoing(int direction) const override { return sent_[buffer_][direction]; }
  const Handle& incoming(int direction) const override { return incoming_[buffer_][direction]; }
  void exchange() override {
    for (int d = 0; d < 8; ++d)
      if (incoming(d)) receive(incoming(d), rank_at(d), tag(buffer_, decomposition_.rank(), d));
    for (int d = 0; d < 8; ++d)
      if (outgoing(d)) send(outgoing(d), rank_at(d ^ 1), tag(buffer_, rank_at(d ^ 1), d));
  }
  const Handle& local() const override { return local_[buffer_]; }
  std::vector<const Handle*> sum() override {
    const int mine = decomposition_.rank(), ranks = decomposition_.count();
    std::vector<const Handle*> all{&local()};
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == mine) continue;
      const Handle& part = parts_[buffer_][static_cast<std::size_t>(rank)];
      receive(part, rank, tag(buffer_, mine, 8 + rank));
      all.push_back(&part);
    }
    for (int rank = 0; rank < ranks; ++rank)
      if (rank != mine) send(local(), rank, tag(buffer_, rank, 8 + mine));
    return all;
  }
  std::int64_t messages() const override { return sends.load(); }

 private:
  int rank_at(int direction) const { return decomposition_.block(decomposition_.neighbour(block_, direction)).rank; }
  /// Of the reader's data.
  static starpu_mpi_tag_t tag(int buffer, int reader, int number) { return 1 + buffer + 2 * (number + 16 * reader); }
  Handle with_tag(std::size_t bytes, starpu_mpi_tag_t tag, int owner) const {
    Handle handle(bytes);
    starpu_mpi_data_register_comm(handle.state(), tag, owner, communicator_);
    return handle;
  }
  static void require(int code) {
    if (code != 0)
      throw Error(ErrorKind::environment, "StarPU", fmt::format("its MPI layer refuses a message with code {}", code), "report this");
  }
  void send(const Handle& handle, int to, starpu_mpi_tag_t tag) const {
    require(starpu_mpi_isend_detached(handle.state(), to, tag, communicator_, nullptr, nullptr));
  }
  void receive(const Handle& handle, int from, starpu_mpi_tag_t tag) const {
    require(starpu_mpi_irecv_detached(handle.state(), from, tag, communicator_, nullptr, nullptr));
  }

  const Decomposition& decomposition_;
  int block_;
  MPI_Comm communicator_;
  int buffer_ = 0;
  std::array<std::array<Handle, 8>, 2> incoming_, sent_;
  std::array<Handle, 2> local_;
  std::array<std::vector<Handle>, 2> parts_;
};

struct Case {
  std::size_t bytes;  ///< of a face; 0: none
  std::int64_t interior_steps;
  bool sums;
  int iterations;
};

/// Of all ranks.
struct Sample {
  double us = 0, cpu_us = 0;  ///< an iteration: of the slowest rank; added up
  double messages = 0;        ///< that a rank sends
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// One engine's iterations.
class Iterations {
 public:
  Iterations(std::unique_ptr<Engine> engine, const Decomposition& decomposition, const Case& what)
      : engine_(std::move(engine)), decomposition_(decomposition), case_(what) {
    *HostView<State>(state_, HostAccess::overwrite) = {};
  }

  Sample run(const Layer& layer) {
    mpi::Job& job = mpi::Job::current();
    job.barrier();
    const std::int64_t messages = engine_->messages();
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < case_.iterations; ++i) submit_iteration();
    const std::uint64_t wrong = HostView<State>(state_)->wrong;
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    std::array slowest{time.count()}, all{1e6 * (cpu_seconds() - cpu)};
    // The last sends may still be on their way.
    Session::current().wait_all();
    starpu_mpi_wait_for_all(layer.communicator());
    if (const std::uint64_t everywhere = job.combined(wrong, mpi::Combine::sum); everywhere > 0)
      throw mpi::SharedError(ErrorKind::numerical, "messages", fmt::format("{} words or sums are not those that were sent", everywhere),
                             "report this");
    job.combine(slowest, mpi::Combine::maximum);
    job.combine(all, mpi::Combine::sum);
    const double n = case_.iterations;
    return {slowest[0] / n, all[0] / n, static_cast<double>(engine_->messages() - messages) / n};
  }

 private:
  static std::uint64_t seed(std::int64_t iteration, int reader, int direction) {
    return (static_cast<std::uint64_t>(iteration) << 32) + (static_cast<std::uint64_t>(8 * reader + direction) << 24);
  }

  void submit_iteration() {
    const Placement urgent{.owner = 0, .urgent = true};
    const int rank = decomposition_.rank(), ranks = decomposition_.count(), block = decomposition_.local().front();
    ++iteration_;
    engine_->next();
    std::vector<const Handle*> faces;
    Seeds seeds{};
    for (int d = 0; d < 8 && case_.bytes > 0; ++d) {
      if (!decomposition_.is_cut(d / 2)) continue;
      const int reader = decomposition_.block(decomposition_.neighbour(block, d ^ 1)).rank;
      submit(pack.on(state_, engine_->outgoing(d), seed(iteration_, reader, d)), {}, urgent);
      seeds.at(faces.size()) = seed(iteration_, rank, d);
      faces.push_back(&engine_->incoming(d));
    }
    engine_->exchange();
    submit(interior.on(state_, work_, case_.interior_steps));
    submit(boundary.on(faces, work_, state_, seeds), {}, urgent);
    if (!case_.sums) return;
    const auto number = static_cast<double>(iteration_);
    submit(contribute.on(state_, engine_->local(), number * (rank + 1)), {}, urgent);
    submit(step.on(engine_->sum(), state_, number * ranks * (ranks + 1) / 2), {}, urgent);
  }

  std::unique_ptr<Engine> engine_;
  const Decomposition& decomposition_;
  Case case_;
  Handle state_{sizeof(State)}, work_{sizeof(double)};
  std::int64_t iteration_ = 0;
};

Sample best_of(const std::vector<Sample>& samples) {
  return *std::min_element(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.us < b.us; });
}
double median_of(const std::vector<Sample>& samples, double Sample::*value) {
  std::vector<double> sorted;
  for (const Sample& sample : samples) sorted.push_back(sample.*value);
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

void measure(const Case& what, const Decomposition& decomposition, const Layer& layer, int rounds) {
  Iterations ours(std::make_unique<Ours>(decomposition, what.bytes), decomposition, what);
  Iterations theirs(std::make_unique<Starpu>(decomposition, what.bytes, layer.communicator()), decomposition, what);
  std::vector<Sample> of_ours, of_theirs;
  for (int round = -1; round < rounds; ++round) {  // the first one makes buffers and requests
    const bool ours_first = round % 2 == 0;
    if (ours_first) of_ours.push_back(ours.run(layer));
    of_theirs.push_back(theirs.run(layer));
    if (!ours_first) of_ours.push_back(ours.run(layer));
  }
  of_ours.erase(of_ours.begin());
  of_theirs.erase(of_theirs.begin());
  if (!mpi::Job::current().is_root()) return;
  const double our_median = median_of(of_ours, &Sample::us), their_median = median_of(of_theirs, &Sample::us);
  fmt::print("| {} | {} | {} | {:.0f} ({:.0f}) | {:.0f} ({:.0f}) | {:.2f} ({:.2f}) | {:.0f} | {:.0f} | {:.0f} | {:.0f} |\n",
             what.bytes / 1024, what.interior_steps > 0 ? "yes" : "", what.sums ? "yes" : "", best_of(of_ours).us, our_median,
             best_of(of_theirs).us, their_median, best_of(of_theirs).us / best_of(of_ours).us, their_median / our_median,
             median_of(of_ours, &Sample::cpu_us), median_of(of_theirs, &Sample::cpu_us), of_ours.front().messages,
             of_theirs.front().messages);
  std::fflush(stdout);
}

void run(int rounds) {
  mpi::Job& job = mpi::Job::current();
  if (job.size() != 2 && job.size() != 4)
    throw mpi::SharedError(ErrorKind::input, "ranks", fmt::format("there are {}", job.size()), "start 2 or 4 with mpirun");
  // StarPU would bind its thread to a core that it takes to be free, where another rank's worker may be.
  setenv("STARPU_MPI_NOBIND", "1", 0);
  Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const Layer layer;
  const Decomposition decomposition({4, 4, 8, 8}, RankGrid{{1, 1, job.size() / 2, 2}, job.rank(), {}}, {1, 1, 1, 1}, 1);
  if (job.is_root())
    fmt::print(
        "{}, {} ranks, {} rounds; us an iteration, best (median); CPU of all ranks, median\n\n"
        "| KiB a face | interior | sum | ours | StarPU's | StarPU's / ours | CPU us, ours | StarPU's | MPI messages of a rank, ours | "
        "StarPU's |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        runtime_version(), job.size(), rounds);
  constexpr std::size_t kib = 1024, mib = 1024 * kib;
  constexpr std::int64_t a_millisecond = 400'000;  // about
  for (const Case& what : {Case{4 * kib, 0, false, 100}, Case{64 * kib, 0, false, 100}, Case{mib, 0, false, 40},
                           Case{4 * mib, 0, false, 16}, Case{64 * kib, a_millisecond, false, 50}, Case{mib, a_millisecond, false, 40},
                           Case{0, 0, true, 100}, Case{64 * kib, 0, true, 100}, Case{64 * kib, a_millisecond, true, 50}}) {
    measure(what, decomposition, layer, rounds);
    session.wait_all();  // handles go before the layer that knows them
  }
}

int rounds_of(int argc, char** argv) {
  if (argc < 2) return 11;
  const std::string_view text = argv[1];
  int rounds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rounds);
  if (argc > 2 || error != std::errc{} || end != text.data() + text.size() || rounds < 1)
    throw mpi::SharedError(ErrorKind::input, "arguments", "not understood", "give the number of rounds, 1 or more, or nothing");
  return rounds;
}

}  // namespace

int main(int argc, char** argv) try {
  mpi::Job job;
  try {
    run(rounds_of(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    const Failure failure = failure_of(error, "use a machine with more memory");
    return job.fail(failure.message, failure.exit_code, dynamic_cast<const mpi::SharedError*>(&error) != nullptr);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "measure_starpu_mpi: {}\n", error.what());
  return 1;
}
