#pragma once
// What Messages has started in MPI. For runtime/mpi/message*.cpp only.
#include "runtime/mpi/messages.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/transports.hpp"
#include "runtime/mpi/two_step_sums.hpp"

#include <mpi.h>
#include <starpu.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace quarkstar::runtime::mpi {

/// "face of block 3 along -t from rank 2 (node12), tag 17, 4096 bytes".
std::string text_of(const Job& job, const Messages::Label& label, bool sent, int peer, int tag, std::size_t bytes);

/// One use of one or two handles. Its life: acquired by StarPU, started in MPI, completed, released.
struct Messages::Message {
  enum class Kind { send, receive, sum };
  Kind kind;
  Messages* owner;
  starpu_data_handle_t read = nullptr, write = nullptr;
  std::size_t bytes = 0;
  int peer = 0, tag = 0;
  std::int64_t order = 0;  ///< of a sum
  int count = 0;
  int running = 0;  ///< calls that are not complete
  int round = 0;    ///< of a simulated sum
  Label label{""};
  std::atomic<int> missing{0};  ///< acquisitions

  /// Between two ranks.
  void address(std::size_t size, int other, int number, const Label& text) {
    bytes = size;
    peer = other;
    tag = number;
    label = text;
  }
  void* memory(starpu_data_handle_t handle) const { return starpu_data_handle_to_pointer(handle, STARPU_MAIN_RAM); }

  std::string describe(const Job& job) const;
};

/// The tags of messages.
struct Messages::Numbers {
  explicit Numbers(int highest) : tags(highest) {}
  struct Range {
    int first, end;
  };
  Tags tags;
  std::mutex mutex;
  std::vector<Range> given_back;  ///< whose persistent requests are still there
};

/// What has been started in MPI.
struct Messages::Calls {
  Job& job;
  MPI_Comm faces = MPI_COMM_NULL;
  /// Made for messages that come again and again with one tag, from and to the same memory: those of a halo, until it gives its tags back.
  struct Persistent {
    MPI_Request request = MPI_REQUEST_NULL;
    void* memory = nullptr;
    std::size_t bytes = 0;
    bool running = false;
  };
  using Key = std::tuple<int, int, Message::Kind>;  ///< tag, peer, kind
  std::map<Key, Persistent> persistent;
  std::vector<Numbers::Range> given_back;  ///< with requests that were running
  std::vector<MPI_Request> requests;       ///< running
  std::vector<Message*> messages;          ///< of each request
  std::vector<Persistent*> again;          ///< of each request; nullptr: it ends with its message
  std::unique_ptr<TwoStepSums> sums;       ///< where MPI is there
  std::vector<int> done;
  // Of a simulation:
  MPI_Comm simulated_sums = MPI_COMM_NULL;
  std::map<std::int64_t, Message*> early_sums;  ///< ready before their turn
  std::int64_t next_sum = 0;
  std::vector<Message*> at_once;  ///< messages with a call that was complete when it began

  explicit Calls(Job& job_of_all);
  /// Once nothing is on its way. After an error of MPI there is nobody to come here: the job ends.
  void release();
  bool idle() const { return requests.empty() && (sums == nullptr || sums->idle()); }
  /// What GPUs wait for that reach each other through their hosts; nullptr: nothing ever.
  Transports* transports() const {
    if (job.is_fake() || job.native().transports == nullptr || !job.native().transports->is_needed()) return nullptr;
    return job.native().transports.get();
  }
  /// Whether GPUs may wait for this thread: not between the calls of a guest's host, when none works.
  bool gpus_may_wait() const { return transports() != nullptr && is_at_work(); }
  /// Not between the calls of a guest's host: no GPU works then, and MPI is not ours. Whether there was anything to do.
  bool serve_gpus();

  void start(Message* m);

  /// By a persistent request, of which there is one for each face and buffer: MPI finds peer, tag and memory once.
  void start_face(Message* m);
  /// Those that do not run; whether that is all of them.
  using Place = std::map<Key, Persistent>::iterator;
  bool forget(Place face, Place end);

  /// Requests with tags that nobody has any more.
  void forget_given_back(std::vector<Numbers::Range> fresh);
  void start_in_turn(Message* sum);
  void send(Message* m, int to, int tag, MPI_Comm communicator);
  void receive(Message* m, int from, int tag, MPI_Comm communicator);
  template <class Start>
  void start_call(Message* m, Start&& start);

  /// MPI_Iallreduce of SimGrid sends from every rank to every other. In its place: as many rounds as the number of
  /// ranks has bits, in each of which a rank hears from another at twice the distance, as MPI libraries do it.
  void start_round(Message* m);

  /// To be asked when a call of the message has completed.
  bool is_complete(Message* m);
  /// Takes out the messages that are complete.
  std::vector<Message*> test();
  void take_some(std::vector<Message*>& calls);

  /// In a simulation one question about all requests costs what one about each of them would.
  void take_each(std::vector<Message*>& calls);
};

}  // namespace quarkstar::runtime::mpi
