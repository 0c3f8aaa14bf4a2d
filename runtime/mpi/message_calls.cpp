#include "runtime/mpi/message_calls.hpp"

#include "runtime/graph/binned_sum.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/simulate/rank_times.hpp"
#include "runtime/simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace quarkstar::runtime::mpi {

std::string text_of(const Job& job, const Messages::Label& label, bool sent, int peer, int tag, std::size_t bytes) {
  const std::string place = label.block < 0 ? ""
                                            : fmt::format(" of block {} along {}{}", label.block, label.direction % 2 == 0 ? '+' : '-',
                                                          "xyzt"[label.direction / 2]);
  return fmt::format("{}{} {} {}, tag {}, {} bytes", label.what, place, sent ? "to" : "from", job.name_of(peer), tag, bytes);
}

std::string Messages::Message::describe(const Job& job) const {
  const char* step = missing.load() > 0 ? " (its data are not ready)" : "";
  if (kind == Kind::sum) return fmt::format("sum over ranks for {}{}", label.what, step);
  return text_of(job, label, kind == Kind::send, peer, tag, bytes) + step;
}

Messages::Calls::Calls(Job& job_of_all) : job(job_of_all) {
  if (simulate::active && !simulate::stands_for_ranks()) {
    MPI_Comm_dup(MPI_COMM_WORLD, &faces);
    MPI_Comm_dup(MPI_COMM_WORLD, &simulated_sums);
  }
  if (job.is_fake()) return;
  faces = job.native().faces;
  sums = std::make_unique<TwoStepSums>(job);
}

void Messages::Calls::release() {
  if (simulate::active && !simulate::stands_for_ranks()) {
    MPI_Comm_free(&faces);
    MPI_Comm_free(&simulated_sums);
  }
  sums.reset();
  call_mpi(job, [this] { forget(persistent.begin(), persistent.end()); });
}

bool Messages::Calls::serve_gpus() {
  Transports* const needed = transports();
  if (needed == nullptr) return false;
  if (funnel().is_on()) return needed->advance();  // this is the thread that may
  const std::lock_guard lock(job.library());
  return is_at_work() && needed->advance();
}

void Messages::Calls::start(Message* m) {
  switch (m->kind) {
    case Message::Kind::send:
    case Message::Kind::receive:
      if constexpr (simulate::active) m->kind == Message::Kind::send ? send(m, m->peer, m->tag, faces) : receive(m, m->peer, m->tag, faces);
      else start_face(m);
      break;
    case Message::Kind::sum:
      if constexpr (simulate::active) start_in_turn(m);
      else
        sums->add(m->order, static_cast<const BinnedSum*>(m->memory(m->read)), static_cast<BinnedSum*>(m->memory(m->write)), m->count, m);
      break;
  }
}

void Messages::Calls::start_face(Message* m) {
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

bool Messages::Calls::forget(Place face, Place end) {
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

void Messages::Calls::forget_given_back(std::vector<Numbers::Range> fresh) {
  given_back.insert(given_back.end(), fresh.begin(), fresh.end());
  std::erase_if(given_back, [this](const Numbers::Range& tags) {
    constexpr auto first_kind = Message::Kind::send;
    return forget(persistent.lower_bound({tags.first, 0, first_kind}), persistent.lower_bound({tags.end, 0, first_kind}));
  });
}

void Messages::Calls::start_in_turn(Message* sum) {
  early_sums.emplace(sum->order, sum);
  while (!early_sums.empty() && early_sums.begin()->first == next_sum) {
    start_round(early_sums.begin()->second);
    early_sums.erase(early_sums.begin());
    ++next_sum;
  }
}

void Messages::Calls::send(Message* m, int to, int tag, MPI_Comm communicator) {
  start_call(m,
             [&](MPI_Request* r) { return MPI_Isend(m->memory(m->read), static_cast<int>(m->bytes), MPI_BYTE, to, tag, communicator, r); });
}

void Messages::Calls::receive(Message* m, int from, int tag, MPI_Comm communicator) {
  start_call(
      m, [&](MPI_Request* r) { return MPI_Irecv(m->memory(m->write), static_cast<int>(m->bytes), MPI_BYTE, from, tag, communicator, r); });
}

template <class Start>
void Messages::Calls::start_call(Message* m, Start&& start) {
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

void Messages::Calls::start_round(Message* m) {
  constexpr std::int64_t tags = 32768, most_rounds = 32;
  const int ranks = job.size(), distance = 1 << m->round;
  const auto tag = static_cast<int>((m->order * most_rounds + m->round) % tags);
  ++m->round;
  send(m, (job.rank() + distance) % ranks, tag, simulated_sums);
  receive(m, (job.rank() - distance + ranks) % ranks, tag, simulated_sums);
}

bool Messages::Calls::is_complete(Message* m) {
  if (--m->running > 0) return false;
  if (!simulate::active || m->kind != Message::Kind::sum || 1 << m->round >= job.size()) return true;
  start_round(m);
  return false;
}

std::vector<Messages::Message*> Messages::Calls::test() {
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

void Messages::Calls::take_some(std::vector<Message*>& calls) {
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

void Messages::Calls::take_each(std::vector<Message*>& calls) {
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

}  // namespace quarkstar::runtime::mpi
