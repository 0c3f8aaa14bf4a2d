#include "runtime/mpi/messages.hpp"

#include "runtime/gpu/counted_exchange.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/message_calls.hpp"
#include "runtime/simulate/rank_times.hpp"
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
  if (job_.is_fake() && (!simulate::active || simulate::stands_for_ranks())) {
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
