#include "runtime/mpi/messages.hpp"

#include "runtime/gpu/counted_exchange.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/transports.hpp"
#include "runtime/mpi/two_step_sums.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/sanitizer.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <new>
#include <thread>
#include <tuple>
#include <utility>

namespace quarkstar::runtime::mpi {
namespace {

std::string text_of(const Job& job, const Messages::Label& label, bool sent, int peer, int tag, std::size_t bytes) {
  const std::string place = label.block < 0 ? ""
                                            : fmt::format(" of block {} along {}{}", label.block, label.direction % 2 == 0 ? '+' : '-',
                                                          "xyzt"[label.direction / 2]);
  return fmt::format("{}{} {} {}, tag {}, {} bytes", label.what, place, sent ? "to" : "from", job.name_of(peer), tag, bytes);
}

}  // namespace

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

  std::string describe(const Job& job) const {
    const char* step = missing.load() > 0 ? " (its data are not ready)" : "";
    if (kind == Kind::sum) return fmt::format("sum over ranks for {}{}", label.what, step);
    return text_of(job, label, kind == Kind::send, peer, tag, bytes) + step;
  }
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

  explicit Calls(Job& job_of_all) : job(job_of_all) {
    if constexpr (simulate::active) {
      MPI_Comm_dup(MPI_COMM_WORLD, &faces);
      MPI_Comm_dup(MPI_COMM_WORLD, &simulated_sums);
    }
    if (job.is_fake()) return;
    faces = job.native().faces;
    sums = std::make_unique<TwoStepSums>(job);
  }
  /// Once nothing is on its way. After an error of MPI there is nobody to come here: the job ends.
  void release() {
    if constexpr (simulate::active) {
      MPI_Comm_free(&faces);
      MPI_Comm_free(&simulated_sums);
    }
    sums.reset();
    call_mpi(job, [this] { forget(persistent.begin(), persistent.end()); });
  }
  bool idle() const { return requests.empty() && (sums == nullptr || sums->idle()); }
  /// What GPUs wait for that reach each other through their hosts; nullptr: nothing ever.
  Transports* transports() const {
    if (job.is_fake() || job.native().transports == nullptr || !job.native().transports->is_needed()) return nullptr;
    return job.native().transports.get();
  }
  /// Whether GPUs may wait for this thread: not between the calls of a guest's host, when none works.
  bool gpus_may_wait() const { return transports() != nullptr && is_at_work(); }
  /// Not between the calls of a guest's host: no GPU works then, and MPI is not ours. Whether there was anything to do.
  bool serve_gpus() {
    Transports* const needed = transports();
    if (needed == nullptr) return false;
    if (funnel().is_on()) return needed->advance();  // this is the thread that may
    const std::lock_guard lock(job.library());
    return is_at_work() && needed->advance();
  }

  void start(Message* m) {
    switch (m->kind) {
      case Message::Kind::send:
      case Message::Kind::receive:
        if constexpr (simulate::active)
          m->kind == Message::Kind::send ? send(m, m->peer, m->tag, faces) : receive(m, m->peer, m->tag, faces);
        else start_face(m);
        break;
      case Message::Kind::sum:
        if constexpr (simulate::active) start_in_turn(m);
        else
          sums->add(m->order, static_cast<const BinnedSum*>(m->memory(m->read)), static_cast<BinnedSum*>(m->memory(m->write)), m->count, m);
        break;
    }
  }

  /// By a persistent request, of which there is one for each face and buffer: MPI finds peer, tag and memory once.
  void start_face(Message* m) {
    const bool sends = m->kind == Message::Kind::send;
    void* const memory = m->memory(sends ? m->read : m->write);
    Persistent& of_face = persistent[{m->tag, m->peer, m->kind}];
    if (of_face.running) return sends ? send(m, m->peer, m->tag, faces) : receive(m, m->peer, m->tag, faces);
    const auto bytes = static_cast<int>(m->bytes);
    if (of_face.request != MPI_REQUEST_NULL && (of_face.memory != memory || of_face.bytes != m->bytes)) MPI_Request_free(&of_face.request);
    of_face.memory = memory;
    of_face.bytes = m->bytes;
    if (of_face.request == MPI_REQUEST_NULL)
      check(sends ? MPI_Send_init(memory, bytes, MPI_BYTE, m->peer, m->tag, faces, &of_face.request)
                  : MPI_Recv_init(memory, bytes, MPI_BYTE, m->peer, m->tag, faces, &of_face.request),
            m->describe(job));
    check(MPI_Start(&of_face.request), m->describe(job));
    ++m->running;
    of_face.running = true;
    requests.push_back(of_face.request);
    messages.push_back(m);
    again.push_back(&of_face);
  }

  /// Those that do not run; whether that is all of them.
  using Place = std::map<Key, Persistent>::iterator;
  bool forget(Place face, Place end) {
    bool all = true;
    while (face != end) {
      if (face->second.running) {
        all = false;
        ++face;
        continue;
      }
      if (face->second.request != MPI_REQUEST_NULL) MPI_Request_free(&face->second.request);
      face = persistent.erase(face);
    }
    return all;
  }

  /// Requests with tags that nobody has any more.
  void forget_given_back(std::vector<Numbers::Range> fresh) {
    given_back.insert(given_back.end(), fresh.begin(), fresh.end());
    std::erase_if(given_back, [this](const Numbers::Range& tags) {
      constexpr auto first_kind = Message::Kind::send;
      return forget(persistent.lower_bound({tags.first, 0, first_kind}), persistent.lower_bound({tags.end, 0, first_kind}));
    });
  }

  void start_in_turn(Message* sum) {
    early_sums.emplace(sum->order, sum);
    while (!early_sums.empty() && early_sums.begin()->first == next_sum) {
      start_round(early_sums.begin()->second);
      early_sums.erase(early_sums.begin());
      ++next_sum;
    }
  }

  void send(Message* m, int to, int tag, MPI_Comm communicator) {
    start_call(
        m, [&](MPI_Request* r) { return MPI_Isend(m->memory(m->read), static_cast<int>(m->bytes), MPI_BYTE, to, tag, communicator, r); });
  }

  void receive(Message* m, int from, int tag, MPI_Comm communicator) {
    start_call(m, [&](MPI_Request* r) {
      return MPI_Irecv(m->memory(m->write), static_cast<int>(m->bytes), MPI_BYTE, from, tag, communicator, r);
    });
  }

  template <class Start>
  void start_call(Message* m, Start&& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(start(&request), m->describe(job));
    ++m->running;
    if constexpr (simulate::active) {
      int complete = 0;
      check(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
      if (complete != 0) return at_once.push_back(m);
    }
    requests.push_back(request);
    messages.push_back(m);
    again.push_back(nullptr);
  }

  /// MPI_Iallreduce of SimGrid sends from every rank to every other. In its place: as many rounds as the number of
  /// ranks has bits, in each of which a rank hears from another at twice the distance, as MPI libraries do it.
  void start_round(Message* m) {
    constexpr std::int64_t tags = 32768, most_rounds = 32;
    const int ranks = job.size(), distance = 1 << m->round;
    const auto tag = static_cast<int>((m->order * most_rounds + m->round) % tags);
    ++m->round;
    send(m, (job.rank() + distance) % ranks, tag, simulated_sums);
    receive(m, (job.rank() - distance + ranks) % ranks, tag, simulated_sums);
  }

  /// To be asked when a call of the message has completed.
  bool is_complete(Message* m) {
    if (--m->running > 0) return false;
    if (!simulate::active || m->kind != Message::Kind::sum || 1 << m->round >= job.size()) return true;
    start_round(m);
    return false;
  }

  /// Takes out the messages that are complete.
  std::vector<Message*> test() {
    std::vector<Message*> complete;
    do {
      std::vector<Message*> calls = std::exchange(at_once, {});
      if constexpr (simulate::active) take_each(calls);
      else take_some(calls);
      std::copy_if(calls.begin(), calls.end(), std::back_inserter(complete), [this](Message* message) { return is_complete(message); });
    } while (!at_once.empty());
    if (sums != nullptr)
      for (void* token : sums->advance()) complete.push_back(static_cast<Message*>(token));
    return complete;
  }

  void take_some(std::vector<Message*>& calls) {
    if (requests.empty()) return;
    done.resize(requests.size());
    int count = 0;
    check(MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, done.data(), MPI_STATUSES_IGNORE), "MPI_Testsome");
    if (count == MPI_UNDEFINED || count == 0) return;
    std::sort(done.begin(), done.begin() + count);
    for (int i = count; i-- > 0;) {  // the last one takes the place of one that has ended
      const auto at = static_cast<std::size_t>(done[static_cast<std::size_t>(i)]);
      calls.push_back(messages[at]);
      if (again[at] != nullptr) again[at]->running = false;
      requests[at] = requests.back();
      messages[at] = messages.back();
      again[at] = again.back();
      requests.pop_back();
      messages.pop_back();
      again.pop_back();
    }
  }

  /// In a simulation one question about all requests costs what one about each of them would.
  void take_each(std::vector<Message*>& calls) {
    while (!requests.empty()) {
      int index = MPI_UNDEFINED, found = 0;
      check(MPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &found, MPI_STATUS_IGNORE), "MPI_Testany");
      if (found == 0 || index == MPI_UNDEFINED) return;
      calls.push_back(messages[static_cast<std::size_t>(index)]);
      messages.erase(messages.begin() + index);
      requests.erase(requests.begin() + index);
      again.erase(again.begin() + index);
    }
  }
};

Messages::Messages(Job& job, std::unique_ptr<GpuPeers> peers)
    : job_(job), peers_(std::move(peers)), numbers_(std::make_shared<Numbers>(32767)) {  // the least that MPI allows
  if (by_device()) {
    device_order_ = Handle(sizeof(int));
    *HostView<int>(device_order_, HostAccess::overwrite) = 0;
  }
  if (!job.is_fake()) {
    int* highest = nullptr;
    int known = 0;
    call_mpi(job, [&] { check(MPI_Comm_get_attr(job.native().faces, MPI_TAG_UB, &highest, &known), "MPI_Comm_get_attr"); });
    if (known != 0) numbers_ = std::make_shared<Numbers>(*highest);
  }
  // Here, not in the thread, which may begin when a guest's host does not wait any more. In a simulation its actor makes all calls.
  if constexpr (!simulate::active) calls_ = std::make_unique<Calls>(job);
  if (const std::string obstacle = obstacle_to_shared_sums(); !obstacle.empty() && job.is_root())
    spdlog::warn("{}: every rank takes part in the messages of each sum over ranks; make room in /dev/shm, or let containers share it",
                 obstacle);
  if (funnel().is_on()) {
    funnel().set_step([this] { return look(*calls_); });
    return;
  }
  thread_ = simulate::MpiThread([this] {
    try {
      run();
    } catch (const std::exception& error) {
      job_.fail_alone(error.what(), static_cast<int>(ErrorKind::environment));
    }
  });
}

Messages::~Messages() {
  wait_idle();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (!funnel().is_on()) {
    thread_.join();
    return;
  }
  try {
    funnel().set_step({});
    calls_->release();
  } catch (const std::exception&) {  // of MPI: nothing is on its way any more
  }
}

std::shared_ptr<const int> Messages::reserve_tags(int count) {
  const auto give_back = [numbers = numbers_, count](const int* first) {
    numbers->tags.release(*first);
    try {
      const std::lock_guard lock(numbers->mutex);
      numbers->given_back.push_back({*first, *first + count});
    } catch (const std::bad_alloc&) {  // then the requests stay
    }
    delete first;
  };
  return std::shared_ptr<const int>(new int(numbers_->tags.reserve(count)), give_back);
}

std::string Messages::obstacle_to_shared_sums() const {
  return calls_ != nullptr && calls_->sums != nullptr ? calls_->sums->obstacle() : "";
}

bool Messages::collected() const { return Batch::current() != nullptr && Batch::current()->tasks_wait(); }

void Messages::watch(std::shared_ptr<const Mailboxes> mailboxes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [](const std::weak_ptr<const Mailboxes>& old) { return old.expired(); });
  watched_.emplace_back(std::move(mailboxes));
}

std::string Messages::describe(const Label& label, bool sent, int peer, int tag, std::size_t bytes) const {
  return text_of(job_, label, sent, peer, tag, bytes);
}

void Messages::send(const Handle& handle, int to, int tag, const Label& label, const Mailbox* mailbox) {
  {
    const std::lock_guard lock(mutex_);
    ++totals_.messages;
    totals_.bytes += static_cast<std::int64_t>(handle.bytes());
  }
  if (!collected()) return post_send(handle, to, tag, label);
  Batch::Part part{.accesses = {in(handle)}, .kind = Batch::Part::Kind::send, .mailbox = mailbox};
  part.unfused = [this, &handle, to, tag, label] { post_send(handle, to, tag, label); };
  Batch::current()->add(std::move(part));
}

void Messages::receive(const Handle& handle, int from, int tag, const Label& label, const Mailbox* mailbox) {
  if (!collected()) return post_receive(handle, from, tag, label);
  Batch::Part part{.accesses = {out(handle)}, .kind = Batch::Part::Kind::receive, .mailbox = mailbox};
  part.unfused = [this, &handle, from, tag, label] { post_receive(handle, from, tag, label); };
  Batch::current()->add(std::move(part));
}

void Messages::post_send(const Handle& handle, int to, int tag, const Label& label) {
  auto message = std::make_unique<Message>(Message::Kind::send, this);
  message->read = handle.state();
  message->address(handle.bytes(), to, tag, label);
  post(std::move(message));
}

void Messages::post_receive(const Handle& handle, int from, int tag, const Label& label) {
  auto message = std::make_unique<Message>(Message::Kind::receive, this);
  message->write = handle.state();
  message->address(handle.bytes(), from, tag, label);
  post(std::move(message));
}

void Messages::sum(const Handle& total, const Handle& local, int count, const char* what) {
  auto message = std::make_unique<Message>(Message::Kind::sum, this);
  message->read = local.state();
  message->write = total.state();
  message->bytes = static_cast<std::size_t>(count) * sizeof(BinnedSum);
  message->count = count;
  message->order = next_sum_++;
  message->label = {what};
  post(std::move(message));
}

void require_countable(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(INT32_MAX))
    throw Error(ErrorKind::input, Parameter("ranks"), fmt::format("a face of {} bytes is more than MPI can count", bytes),
                "use more ranks");
}

void Messages::post(std::unique_ptr<Message> owned) {
  require_countable(owned->bytes);
  Message* message = owned.release();  // complete() takes it back
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(message);
    if (message->kind == Message::Kind::sum) ++totals_.sums;
  }
  ++pending_;
  const bool reads = message->read != nullptr, writes = message->write != nullptr;
  const auto read = message->read, write = message->write;
  message->missing = (reads ? 1 : 0) + (writes ? 1 : 0);  // the message may be gone once the last one is acquired
  const std::string text = message->describe(job_);
  const auto acquire = [&](starpu_data_handle_t handle, starpu_data_access_mode mode) {
    // Another rank waits for this message, so it cannot be given up.
    if (starpu_data_acquire_on_node_cb(handle, STARPU_MAIN_RAM, mode, acquired, message) != 0)
      job_.fail_alone(fmt::format("{}: the runtime does not give its data; this is a defect: please report it", text),
                      static_cast<int>(ErrorKind::internal));
  };
  if (reads) acquire(read, STARPU_R);
  if (writes) acquire(write, STARPU_W);
}

void Messages::acquired(void* argument) noexcept {
  auto* message = static_cast<Message*>(argument);
  if (--message->missing == 0) message->owner->ready(message);
}

void Messages::ready(Message* message) {
  if (message->read != nullptr) begin_access(message->memory(message->read), false);
  if (message->write != nullptr) begin_access(message->memory(message->write), true);
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(message);
  }
  changed_.notify_one();
}

void Messages::run() {
  if constexpr (simulate::active) calls_ = std::make_unique<Calls>(job_);
  Calls& calls = *calls_;
  int idle_rounds = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      // A GPU tells nobody when it has begun: who serves it looks all the time.
      if (calls.idle()) changed_.wait(lock, [&] { return ending_ || !ready_.empty() || (by_device() && calls.gpus_may_wait()); });
      if (ending_ && ready_.empty() && calls.idle()) break;
    }
    idle_rounds = look(calls) ? 0 : idle_rounds + 1;
    // On a core of its own the thread polls; where others want the core they get it. In a simulation each look costs
    // real time.
    constexpr int patient_rounds = 20000, sleepy_rounds = 60000;
    constexpr double looks_every_us = 5;
    if (idle_rounds == 0) continue;
    if constexpr (simulate::active) simulate::pause(looks_every_us);
    else if (idle_rounds > sleepy_rounds && calls.idle()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    else if (idle_rounds > patient_rounds) std::this_thread::sleep_for(std::chrono::microseconds(20));
    else std::this_thread::yield();
  }
  calls.release();
}

/// Starts what is ready and completes what has arrived; whether there was anything.
bool Messages::look(Calls& calls) {
  std::vector<Message*> fresh, complete_now;
  {
    const std::lock_guard lock(mutex_);
    fresh.swap(ready_);
  }
  if (job_.is_fake() && !simulate::active) {
    for (Message* message : fresh)
      if (message->kind == Message::Kind::sum) std::memcpy(message->memory(message->write), message->memory(message->read), message->bytes);
    complete_now = fresh;
  } else if (!fresh.empty() || !calls.idle()) {
    std::vector<Numbers::Range> given_back;
    {
      const std::lock_guard lock(numbers_->mutex);
      given_back.swap(numbers_->given_back);
    }
    call_mpi(job_, [&] {
      calls.forget_given_back(std::move(given_back));
      for (Message* message : fresh) calls.start(message);
      complete_now = calls.test();
    });
  }
  for (Message* message : complete_now) complete(message);
  return calls.serve_gpus() || !fresh.empty() || !complete_now.empty();
}

void Messages::complete(Message* message) {
  const std::unique_ptr<Message> owned(message);
  if (message->read != nullptr) end_access(message->memory(message->read), false);
  if (message->write != nullptr) end_access(message->memory(message->write), true);
  if (message->read != nullptr) starpu_data_release_on_node(message->read, STARPU_MAIN_RAM);
  if (message->write != nullptr) starpu_data_release_on_node(message->write, STARPU_MAIN_RAM);
  const std::lock_guard lock(mutex_);
  std::erase(posted_, message);
  ++completed_;
  if (--pending_ == 0) idle_.notify_all();
}

void Messages::wait_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return pending_ == 0; });
}

void Messages::wait_sent() {
  if (job_.is_fake() || job_.native().transports == nullptr) return;
  const Transports& transports = *job_.native().transports;
  if (transports.at_rest()) return;
  const Job::Waiting waiting(job_, "faces that GPUs have written for other hosts");
  constexpr std::chrono::microseconds between_looks(20);
  // Where an exception goes through here another rank may have gone, and its error is what the user must read.
  constexpr std::chrono::seconds patience_of_an_exception(5);
  const bool unwinds = std::uncaught_exceptions() > 0;
  const auto start = std::chrono::steady_clock::now();
  while (!transports.at_rest() && !(unwinds && std::chrono::steady_clock::now() - start > patience_of_an_exception))
    std::this_thread::sleep_for(between_looks);
}

void Messages::wake() {
  { const std::lock_guard lock(mutex_); }  // whoever has looked before it began to wait hears the call
  changed_.notify_all();
}

Messages::Totals Messages::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::vector<std::string> Messages::waiting() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const Message* message : posted_) lines.push_back(message->describe(job_));
  for (const std::weak_ptr<const Mailboxes>& watched : watched_)
    if (const auto mailboxes = watched.lock(); mailboxes != nullptr)
      for (const std::string& line : mailboxes->waiting()) lines.push_back(line + " (GPU to GPU)");
  if (by_device()) {
    const SumExchange& exchange = peers_->sum_exchange();
    for (int device = 0; device < exchange.devices; ++device)
      if (static_cast<const volatile std::uint32_t*>(exchange.late)[device] != 0)
        lines.push_back(
            fmt::format("sum over ranks from {} (GPU to GPU)", counts_sums(exchange) ? "the others, by the host" : job_.name_of(device)));
  }
  return lines;
}

}  // namespace quarkstar::runtime::mpi
