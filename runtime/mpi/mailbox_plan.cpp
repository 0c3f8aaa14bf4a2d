#include "runtime/mpi/mailbox_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

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

bool refreshes_have_whole_messages(const Program& program, const MailboxPlan& plan) {
  std::vector<std::size_t> part(program.steps.size());  // the refresh that a step is in, from 1 on; 0: none
  std::size_t refreshes = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::size_t count = whole_refresh_behind(program, i);
    if (count > 0) std::fill_n(part.begin() + static_cast<std::ptrdiff_t>(i) + 1, count, ++refreshes);
  }
  std::map<const void*, std::size_t> under_way;  // mailboxes with a message that has begun, and in which part
  for (std::size_t i = 0; i < part.size(); ++i) {
    const MailboxUse& use = plan.uses[i];
    for (const auto* begins : {&use.room, &use.arrival})
      for (const Mailbox& mailbox : *begins) under_way[mailbox.data] = part[i];
    for (const int buffer : program.steps[i].buffers) {
      const void* const mailbox = plan.memory[static_cast<std::size_t>(buffer)];
      if (mailbox != nullptr && under_way.at(mailbox) != part[i]) return false;
    }
  }
  return true;
}

void place_messages(std::vector<ScheduleStep>& steps, const MailboxPlan& plan) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].aside = plan.uses[i].touches;
    for (ScheduleStep::Use& use : steps[i].uses)
      if (plan.memory[static_cast<std::size_t>(use.buffer)] != nullptr) use.reads = use.writes = true;
  }
}

}  // namespace quarkstar::runtime
