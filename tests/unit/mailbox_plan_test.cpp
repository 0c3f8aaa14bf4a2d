// Messages of a program over GPUs: who waits for room, who sends, who waits for a message and who answers. No GPU takes part.
#include "runtime/mpi/mailbox_plan.hpp"

#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace mailbox_plan_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {

using Part = Batch::Part;

Part task(AccessList accesses) { return {.accesses = std::move(accesses)}; }
Part send(const Handle& handle, const Mailbox* mailbox) { return {.accesses = {in(handle)}, .kind = Part::Kind::send, .mailbox = mailbox}; }
Part receive(const Handle& handle, const Mailbox* mailbox) {
  return {.accesses = {out(handle)}, .kind = Part::Kind::receive, .mailbox = mailbox};
}

/// A halo of one block with one neighbour: a field, and faces of two applications in turn.
struct Problem {
  static constexpr int buffers = 2;
  Handle field{64}, result{64};
  std::vector<Handle> leaving, coming;
  std::vector<char> memory = std::vector<char>(2 * buffers);
  std::vector<Mailbox> to, from;

  Problem() {
    for (int i = 0; i < buffers; ++i) {
      leaving.emplace_back(64);
      coming.emplace_back(64);
      to.push_back({.data = &memory[static_cast<std::size_t>(i)]});
      from.push_back({.data = &memory[static_cast<std::size_t>(buffers + i)]});
    }
  }
  /// pack, receive, send, interior, boundary: as an operator submits them.
  void apply(std::vector<Part>& parts, std::size_t buffer) const {
    parts.push_back(task({in(field), out(leaving[buffer])}));
    parts.push_back(receive(coming[buffer], &from[buffer]));
    parts.push_back(send(leaving[buffer], &to[buffer]));
    parts.push_back(task({in(field), out(result)}));
    parts.push_back(task({in(field), inout_apart(result), in(coming[buffer])}));
  }
};

bool is(const std::vector<Mailbox>& list, const Mailbox& only) { return list.size() == 1 && list.front().data == only.data; }

/// What the steps of a program of these parts do with messages.
std::vector<MailboxUse> uses_of(const std::vector<Part>& parts) {
  Program program(parts);
  const auto plan = plan_mailboxes(program);
  REQUIRE(plan);
  return plan->uses;
}

}  // namespace

TEST_CASE("packs wait for room and send, boundaries wait for the message and answer") {
  const Session session(runtime_testing::options(1));
  const Problem problem;
  std::vector<Part> parts;
  for (std::size_t application = 0; application < 4; ++application) problem.apply(parts, application % 2);
  Program program(parts);
  const auto plan = plan_mailboxes(program);
  REQUIRE(plan);
  REQUIRE(program.steps.size() == 12);
  REQUIRE(plan->uses.size() == 12);
  for (std::size_t application = 0; application < 4; ++application) {
    const Mailbox &to = problem.to[application % 2], &from = problem.from[application % 2];
    const MailboxUse &pack = plan->uses[3 * application], &interior = plan->uses[3 * application + 1],
                     &boundary = plan->uses[3 * application + 2];
    CHECK(is(pack.room, to));
    CHECK(is(pack.sent, to));
    CHECK((pack.arrival.empty() && pack.consumed.empty()));
    CHECK((interior.room.empty() && interior.sent.empty() && interior.arrival.empty() && interior.consumed.empty()));
    CHECK((pack.touches && !interior.touches && boundary.touches));
    CHECK(is(boundary.arrival, from));
    CHECK(is(boundary.consumed, from));
    CHECK((boundary.room.empty() && boundary.sent.empty()));
  }
  // Both faces of an application lie in mailboxes, nothing else does.
  std::size_t mailboxes = 0;
  for (std::size_t b = 0; b < plan->memory.size(); ++b) {
    mailboxes += plan->memory[b] != nullptr ? 1 : 0;
    const auto* state = program.accesses[b].handle->state();
    if (state == problem.field.state() || state == problem.result.state()) CHECK(plan->memory[b] == nullptr);
    if (state == problem.leaving[1].state()) CHECK(plan->memory[b] == problem.to[1].data);
    if (state == problem.coming[0].state()) CHECK(plan->memory[b] == problem.from[0].data);
  }
  CHECK(mailboxes == 4);
}

TEST_CASE("a message with several readers is answered by the last one") {
  const Session session(runtime_testing::options(1));
  const Problem problem;
  const Part read = task({in(problem.coming[0]), out(problem.result)}), other = task({in(problem.field), out(problem.result)});
  const std::vector<MailboxUse> uses = uses_of({receive(problem.coming[0], &problem.from[0]), read, other, read, read});
  REQUIRE(uses.size() == 4);
  CHECK(is(uses[0].arrival, problem.from[0]));
  CHECK(uses[0].consumed.empty());
  CHECK((uses[2].arrival.empty() && uses[2].consumed.empty()));
  CHECK(uses[3].arrival.empty());
  CHECK(is(uses[3].consumed, problem.from[0]));
  // The one between them neither waits nor answers: it keeps its place in the order of those that do.
  CHECK((uses[0].touches && !uses[1].touches && uses[2].touches && uses[3].touches));
}

TEST_CASE("a message with several writers is sent by the last one") {
  const Session session(runtime_testing::options(1));
  const Problem problem;
  const Part write = task({in(problem.field), out(problem.leaving[0])});
  const std::vector<MailboxUse> uses = uses_of({write, write, write, send(problem.leaving[0], &problem.to[0])});
  REQUIRE(uses.size() == 3);
  CHECK(is(uses[0].room, problem.to[0]));
  CHECK((uses[1].room.empty() && uses[1].sent.empty() && uses[1].touches));
  CHECK(is(uses[2].sent, problem.to[0]));
}

TEST_CASE("programs whose messages do not fit mailboxes are left to the host") {
  const Session session(runtime_testing::options(1));
  const Problem problem;
  const Handle &leaving = problem.leaving[0], &coming = problem.coming[0];
  const Mailbox &to = problem.to[0], &from = problem.from[0];
  const std::vector<std::vector<Part>> unfit{
      {task({out(leaving)}), send(leaving, nullptr)},                                                   // no mailbox
      {send(leaving, &to)},                                                                             // written before the program
      {task({out(leaving)}), send(leaving, &to), send(leaving, &to)},                                   // sent twice
      {task({out(leaving)}), send(leaving, &to), task({out(leaving)})},                                 // written, and not sent
      {task({out(leaving)}), send(leaving, &to), task({in(leaving), out(problem.result)})},             // read by others too
      {task({out(leaving)}), send(leaving, &to), task({out(leaving)}), send(leaving, &problem.to[1])},  // to two places
      {task({in(coming), out(problem.result)}), receive(coming, &from)},                                // read before it has come
      {receive(coming, &from)},                                                                         // nobody reads it
      {receive(coming, &from), receive(coming, &from), task({in(coming), out(problem.result)})},
      {receive(coming, &from), task({inout(coming)})},  // overwritten
  };
  for (const std::vector<Part>& parts : unfit) {
    Program program(parts);
    CHECK(!plan_mailboxes(program));
    CHECK(program.steps.size() == parts.size());
  }
}

TEST_CASE("messages are in the side lane, in a refresh and behind it, and those of one mailbox keep their order") {
  const Session session(runtime_testing::options(1));
  const Problem refreshed, problem;
  const Handle state(64);
  // The faces of one halo, for a refresh and behind it, with nothing else in common.
  std::vector<Part> parts{task({inout(state)})};
  parts.front().placement.role = Role::step;
  refreshed.apply(parts, 0);
  for (Part& part : parts)
    if (part.kind == Part::Kind::task && part.placement.role == Role::work) {
      part.placement.role = Role::refresh;
      part.accesses.push_back(in(state));
    }
  parts.push_back(task({in(problem.field), out(refreshed.leaving[0])}));
  parts.push_back(receive(refreshed.coming[0], &refreshed.from[0]));
  parts.push_back(send(refreshed.leaving[0], &refreshed.to[0]));
  parts.push_back(task({in(refreshed.coming[0]), out(problem.result)}));
  Program program(parts);
  const auto plan = plan_mailboxes(program);
  REQUIRE(plan);
  REQUIRE(program.steps.size() == 6);  // the scalar step; pack, interior and boundary of the refresh; pack and boundary
  std::vector<ScheduleStep> steps = schedule_steps(program, {0});
  place_messages(steps, *plan);
  const auto schedule = schedule_lanes(steps, 1, static_cast<int>(program.accesses.size()));
  REQUIRE(schedule);
  const std::vector<int> lanes{0, 1, 0, 1, 1, 1};
  for (std::size_t i = 0; i < lanes.size(); ++i) CHECK(schedule->steps[i].lane == lanes[i]);
  CHECK(schedule->steps[4].waits == std::vector<int>{});
  CHECK(schedule->steps[5].waits == std::vector<int>{});
  CHECK_FALSE(refreshes_have_own_mailboxes(program, *plan));
}

TEST_CASE("refreshes with a halo of their own") {
  const Session session(runtime_testing::options(1));
  const Problem refreshed, problem;
  const Handle state(64);
  std::vector<Part> parts{task({inout(state)})};
  parts.front().placement.role = Role::step;
  refreshed.apply(parts, 0);
  for (Part& part : parts)
    if (part.kind == Part::Kind::task && part.placement.role == Role::work) {
      part.placement.role = Role::refresh;
      part.accesses.push_back(in(state));
    }
  problem.apply(parts, 0);
  Program program(parts);
  const auto plan = plan_mailboxes(program);
  REQUIRE(plan);
  CHECK(refreshes_have_own_mailboxes(program, *plan));
}

}  // namespace mailbox_plan_test
