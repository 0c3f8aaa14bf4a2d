// Mailboxes between hosts (runtime/mpi/proxy.hpp): a GPU copies a face into host memory, a thread sends, another receives, a GPU copies it
// out, piece by piece. MPI may send a message at once into memory of its own, or only when it is received.
#include "tests/protocol/explorer.hpp"

#include <doctest/doctest.h>

using namespace quarkstar::protocol;

namespace {

struct Pair {
  int iterations, buffers = 2;
  bool gpu_waits_for_room = true, receives_into_read_buffer = true, room_when_sent = true, arrived_when_complete = true, packs_first = true;
};

/// Of one mailbox, at its two ends and on its way.
struct Box {
  std::size_t first;
  std::size_t send_buffer() const { return first; }
  std::size_t written() const { return first + 1; }   ///< by the GPU
  std::size_t room() const { return first + 2; }      ///< messages that have left
  std::size_t started() const { return first + 3; }   ///< sends
  std::size_t left() const { return first + 4; }      ///< sends that MPI has completed
  std::size_t in_mpi() const { return first + 5; }    ///< the message in memory of MPI's
  std::size_t posted() const { return first + 6; }    ///< receives
  std::size_t received() const { return first + 7; }  ///< receives that MPI has completed
  std::size_t read_buffer() const { return first + 8; }
  std::size_t arrived() const { return first + 9; }
  std::size_t consumed() const { return first + 10; }  ///< by the GPU
  static constexpr std::size_t bytes = 11;
};

Step raise(const std::string& name, std::size_t when, int reaches, std::size_t byte, int number) {
  return {name, [when, reaches](const State& s) { return s[when] >= reaches; },
          [byte, number](State& s) { s[byte] = static_cast<std::uint8_t>(number); }};
}

/// The threads at both ends of a mailbox and MPI between them; a thread looks at all its mailboxes in turn and waits for none, so what it
/// does for one is a process. message(n): what the n-th message is, from 1.
void add_threads(std::vector<Process>& processes, const Pair& p, const Box& box, int messages,
                 const std::function<std::uint8_t(int)>& message) {
  Process sender{"sender", {}}, mpi{"MPI", {}}, receiver{"receiver", {}};
  for (int n = 1; n <= messages; ++n) {
    sender.then(raise("starts to send", box.written(), n, box.started(), n));
    sender.then(raise("tells of room", p.room_when_sent ? box.left() : box.started(), n, box.room(), n));
    receiver.then(raise("posts a receive", box.consumed(), p.receives_into_read_buffer ? n - 1 : 0, box.posted(), n));
    receiver.then(raise("tells of a message", p.arrived_when_complete ? box.received() : box.posted(), n, box.arrived(), n));
    // At once: copied, then sent. Or: the receiver is waited for, and the message goes from buffer to buffer.
    const std::uint8_t is = message(n);
    const auto copies = [is](std::size_t to, std::size_t from) {
      return [is, to, from](State& s) {
        s.broken = s.broken || s[from] != is;
        s[to] = s[from];
      };
    };
    mpi.either({{"takes the message", [box, n](const State& s) { return s[box.started()] >= n; },
                 [box, n, copy = copies(box.in_mpi(), box.send_buffer())](State& s) {
                   copy(s);
                   s[box.left()] = static_cast<std::uint8_t>(n);
                 }},
                {"meets the receiver", [box, n](const State& s) { return s[box.started()] >= n && s[box.posted()] >= n; },
                 [box](State& s) { s[box.read_buffer()] = torn; }, 3}});
    mpi.then(
        {"begins to deliver", [box, n](const State& s) { return s[box.posted()] >= n; }, [box](State& s) { s[box.read_buffer()] = torn; }});
    mpi.then({"has delivered", always,
              [box, n, copy = copies(box.read_buffer(), box.in_mpi())](State& s) {
                copy(s);
                s[box.received()] = static_cast<std::uint8_t>(n);
              },
              2});
    mpi.then({"has sent", always, [box, n, copy = copies(box.read_buffer(), box.send_buffer())](State& s) {
                copy(s);
                s[box.left()] = s[box.received()] = static_cast<std::uint8_t>(n);
              }});
  }
  for (Process* process : {&sender, &mpi, &receiver}) processes.push_back(std::move(*process));
}

/// Two ranks that send each other a face of one piece in each iteration.
std::vector<Process> pair(const Pair& p) {
  std::vector<Process> processes;
  const auto box = [&p](int reader, int buffer) { return Box{Box::bytes * static_cast<std::size_t>(reader * p.buffers + buffer)}; };
  for (const int rank : {0, 1}) {
    Process gpu{"GPU " + std::to_string(rank), {}};
    for (int i = 0; i < p.iterations; ++i) {
      const int buffer = i % p.buffers, before = i / p.buffers;
      const Box out = box(1 - rank, buffer), in = box(rank, buffer);
      const auto message = static_cast<std::uint8_t>(i + 1);
      const auto pack = [&] {
        if (p.gpu_waits_for_room) add_wait(gpu, "room", out.room(), before);
        add_write(gpu, "a face", out.send_buffer(), message, [out](State& s) { ++s[out.written()]; });
      };
      if (p.packs_first) pack();
      add_wait(gpu, "a face", in.arrived(), before + 1);
      add_read(gpu, "a face", in.read_buffer(), message, [in](State& s) { ++s[in.consumed()]; });
      if (!p.packs_first) pack();
    }
    processes.push_back(std::move(gpu));
  }
  for (const int reader : {0, 1})
    for (int buffer = 0; buffer < p.buffers; ++buffer)
      add_threads(processes, p, box(reader, buffer), (p.iterations - buffer + p.buffers - 1) / p.buffers,
                  [buffer, buffers = p.buffers](int n) { return static_cast<std::uint8_t>((n - 1) * buffers + buffer + 1); });
  return processes;
}

struct Pieces {
  int iterations, pieces = 2;
  bool packs_after_copies = true, reads_after_copies = true, copies_after_reading = true;
};

/// A rank that packs a face in each iteration and another that reads it, each in its GPU's memory. A block of a kernel copies each piece,
/// and the kernel ends when all its blocks have.
std::vector<Process> in_pieces(const Pieces& p) {
  const auto count = static_cast<std::size_t>(p.pieces);
  const std::size_t packed_face = Box::bytes * count, packed = packed_face + 1, left = packed + 1, awaited = left + 1, copied = awaited + 1;
  const auto face_to_read = [copied](std::size_t piece) { return copied + 1 + piece; };
  std::vector<Process> processes;
  Process packs{"GPU that packs", {}}, reads{"GPU that reads", {}};
  std::vector<Process> out(count), in(count);
  const auto add_copy = [](Process& block, std::size_t from, std::size_t to, std::uint8_t message, std::function<void(State&)> afterwards) {
    const auto looks = [from, message](State& s) { s.broken = s.broken || s[from] != message; };
    block.then({"begins to copy", always, [looks, to](State& s) {
                  looks(s);
                  s[to] = torn;
                }});
    block.then({"has copied", always, [looks, to, message, afterwards = std::move(afterwards)](State& s) {
                  looks(s);
                  s[to] = message;
                  afterwards(s);
                }});
  };
  for (int n = 1; n <= p.iterations; ++n) {
    const auto message = static_cast<std::uint8_t>(n);
    if (p.packs_after_copies) add_wait(packs, "the end of the copies", left, p.pieces * (n - 1));
    add_write(packs, "a face", packed_face, message, [packed](State& s) { ++s[packed]; });
    const auto awaits = [awaited](State& s) { ++s[awaited]; };
    if (p.copies_after_reading || n == 1) reads.then({"starts the copies", always, awaits});
    add_wait(reads, "the end of the copies", copied, p.reads_after_copies ? p.pieces * n : p.pieces * (n - 1) + 1);
    if (!p.copies_after_reading && n < p.iterations) reads.then({"starts the copies", always, awaits});
    for (std::size_t i = 0; i < count; ++i) {
      const Box box{Box::bytes * i};
      add_read(reads, "a piece", face_to_read(i), message, [](State&) {});
      out[i].name = "block that sends piece " + std::to_string(i);
      add_wait(out[i], "a face", packed, n);
      add_wait(out[i], "room", box.room(), n - 1);
      add_copy(out[i], packed_face, box.send_buffer(), message, [box, left](State& s) {
        ++s[box.written()];
        ++s[left];
      });
      in[i].name = "block that receives piece " + std::to_string(i);
      add_wait(in[i], "its start", awaited, n);
      add_wait(in[i], "a piece", box.arrived(), n);
      add_copy(in[i], box.read_buffer(), face_to_read(i), message, [box, copied](State& s) {
        ++s[box.consumed()];
        ++s[copied];
      });
    }
  }
  processes.push_back(std::move(packs));
  processes.push_back(std::move(reads));
  for (std::vector<Process>* blocks : {&out, &in})
    for (Process& block : *blocks) processes.push_back(std::move(block));
  for (std::size_t i = 0; i < count; ++i)
    add_threads(processes, Pair{p.iterations}, Box{Box::bytes * i}, p.iterations, [](int n) { return static_cast<std::uint8_t>(n); });
  return processes;
}

}  // namespace

TEST_CASE("pieces of a face between hosts") {
  for (const Pieces& p : {Pieces{3, 1}, Pieces{2, 2}}) {
    const Outcome outcome = explore(in_pieces(p));
    INFO(outcome.fault);
    CHECK(outcome.fault.empty());
    CHECK(outcome.states > 1000);
    MESSAGE(p.iterations << " iterations, " << p.pieces << " pieces: " << outcome.states << " states");
  }
  const auto broken = [](const Pieces& p) { return explore(in_pieces(p)).fault.find("a rule is broken") != std::string::npos; };
  CHECK(broken({.iterations = 2, .pieces = 1, .packs_after_copies = false}));
  CHECK(broken({.iterations = 1, .pieces = 2, .reads_after_copies = false}));
  CHECK(broken({.iterations = 2, .pieces = 1, .copies_after_reading = false}));
}

TEST_CASE("faces between hosts") {
  for (const Pair& p : {Pair{3, 1}, Pair{3, 2}}) {
    const Outcome outcome = explore(pair(p));
    INFO(outcome.fault);
    CHECK(outcome.fault.empty());
    CHECK(outcome.states > 1000);
    MESSAGE(p.iterations << " iterations, " << p.buffers << " buffers: " << outcome.states << " states");
  }
}

TEST_CASE("the checker finds what is wrong with other proxies") {
  const auto broken = [](const Pair& p) { return explore(pair(p)).fault.find("a rule is broken") != std::string::npos; };
  CHECK(broken({.iterations = 2, .buffers = 1, .gpu_waits_for_room = false}));
  CHECK(broken({.iterations = 2, .buffers = 1, .receives_into_read_buffer = false}));
  CHECK(broken({.iterations = 2, .buffers = 1, .room_when_sent = false}));
  CHECK(broken({.iterations = 1, .buffers = 1, .arrived_when_complete = false}));
  CHECK(explore(pair({.iterations = 1, .buffers = 1, .packs_first = false})).fault.find("nobody can go on") != std::string::npos);
}
