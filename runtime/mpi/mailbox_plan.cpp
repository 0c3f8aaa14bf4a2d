#include "runtime/mpi/mailbox_plan.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace quarkstar::runtime {
namespace {

using Kind = Batch::Part::Kind;

bool is_message(const Program::Step& step) { return step.part.kind == Kind::send || step.part.kind == Kind::receive; }

/// A buffer that is sent or received, on the way through the program.
struct Exchanged {
  const Mailbox* mailbox = nullptr;
  Kind kind = Kind::task;               ///< task: an ordinary buffer
  int first_user = -1, last_user = -1;  ///< writers since it was sent, or readers since it was received
  bool received = false;

  /// Whether the buffer has this one role only.
  bool take(const Batch::Part& message) {
    if (message.mailbox == nullptr || message.mailbox->data == nullptr) return false;
    if (mailbox != nullptr && (kind != message.kind || mailbox->data != message.mailbox->data)) return false;
    mailbox = message.mailbox;
    kind = message.kind;
    return true;
  }
};

class Planner {
 public:
  explicit Planner(const Program& program) : program_(program), buffers_(program.accesses.size()) {}

  bool plan(MailboxPlan& plan) {
    for (const Program::Step& step : program_.steps)
      if (is_message(step) && !buffer(step.buffers.front()).take(step.part)) return false;
    for (const Program::Step& step : program_.steps)
      if (!(is_message(step) ? add_message(plan, step) : add_step(plan, step))) return false;
    for (Exchanged& b : buffers_) {
      if (b.kind == Kind::send && b.first_user >= 0) return false;  // written, and not sent
      if (b.received && !end_reading(plan, b)) return false;
    }
    for (const Exchanged& b : buffers_) plan.memory.push_back(b.mailbox != nullptr ? b.mailbox->data : nullptr);
    return true;
  }

 private:
  Exchanged& buffer(int number) { return buffers_[static_cast<std::size_t>(number)]; }

  static bool end_reading(MailboxPlan& plan, Exchanged& b) {
    if (b.last_user < 0) return false;
    plan.uses[static_cast<std::size_t>(b.last_user)].consumed.push_back(*b.mailbox);
    b.first_user = b.last_user = -1;
    return true;
  }

  bool add_message(MailboxPlan& plan, const Program::Step& step) {
    Exchanged& b = buffer(step.buffers.front());
    if (b.kind == Kind::receive) {
      if (b.received && !end_reading(plan, b)) return false;
      b.received = true;
      return true;
    }
    if (b.last_user < 0) return false;
    plan.uses[static_cast<std::size_t>(b.last_user)].sent.push_back(*b.mailbox);
    b.first_user = b.last_user = -1;
    return true;
  }

  bool add_step(MailboxPlan& plan, const Program::Step& step) {
    const int number = static_cast<int>(plan.uses.size());
    MailboxUse& use = plan.uses.emplace_back();
    for (std::size_t i = 0; i < step.buffers.size(); ++i) {
      Exchanged& b = buffer(step.buffers[i]);
      if (b.kind == Kind::task) continue;
      const bool sends = b.kind == Kind::send;
      if (step.part.accesses[i].mode != (sends ? Access::Mode::out : Access::Mode::in) || (!sends && !b.received)) return false;
      if (b.first_user < 0) {
        b.first_user = number;
        (sends ? use.room : use.arrival).push_back(*b.mailbox);
      }
      b.last_user = number;
      use.touches = true;
    }
    return true;
  }

  const Program& program_;
  std::vector<Exchanged> buffers_;
};

}  // namespace

std::optional<MailboxPlan> plan_mailboxes(Program& program) {
  MailboxPlan plan;
  if (!Planner(program).plan(plan)) return std::nullopt;
  std::erase_if(program.steps, is_message);
  return plan;
}

bool refreshes_have_own_mailboxes(const Program& program, const MailboxPlan& plan) {
  std::vector<bool> left_out(program.steps.size());
  for (std::size_t i = 0; i < left_out.size(); ++i)
    for (std::size_t left = whole_refresh_behind(program, i); left > 0; --left) left_out[i + left] = true;
  std::array<std::set<void*>, 2> touched;  // by others, by refreshes
  for (std::size_t i = 0; i < left_out.size(); ++i)
    for (const int buffer : program.steps[i].buffers)
      if (void* mailbox = plan.memory[static_cast<std::size_t>(buffer)]; mailbox != nullptr) touched[left_out[i] ? 1 : 0].insert(mailbox);
  return std::none_of(touched[1].begin(), touched[1].end(), [&](void* mailbox) { return touched[0].contains(mailbox); });
}

void place_messages(std::vector<ScheduleStep>& steps, const MailboxPlan& plan) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].aside = plan.uses[i].touches;
    for (ScheduleStep::Use& use : steps[i].uses)
      if (plan.memory[static_cast<std::size_t>(use.buffer)] != nullptr) use.reads = use.writes = true;
  }
}

}  // namespace quarkstar::runtime
