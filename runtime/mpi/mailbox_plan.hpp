#pragma once
// Which step of a program does what with the mailboxes of its messages. Pure bookkeeping; runtime/gpu/gpu_program_run.cpp carries it out.
#include "runtime/gpu/gpu_messages.hpp"
#include "runtime/graph/program.hpp"

#include <optional>
#include <vector>

namespace quarkstar::runtime {

/// What a step does with mailboxes: waits before it begins, and signals when it has ended.
struct MailboxUse {
  std::vector<Mailbox> room, arrival, sent, consumed;
  bool touches = false;  ///< writes or reads a mailbox, be it between others that wait and signal
};

struct MailboxPlan {
  std::vector<MailboxUse> uses;  ///< of each step that is left
  std::vector<void*> memory;     ///< of each buffer: the mailbox that takes its place, or nullptr
};

/// Takes the messages out of a program. Who writes a handle that is sent writes into the receiver's memory instead, and who reads one that
/// is received reads its mailbox: no byte is copied. Before the first writer there must be room; with the last one the message is sent;
/// the first reader waits for it; with the last one it is consumed. Nothing where that does not fit: a message without a mailbox, a handle
/// with two, one that is sent unwritten, or read without having been received. Steps that touch mailboxes must keep their order, for one
/// between the first and the last neither waits nor signals itself.
std::optional<MailboxPlan> plan_mailboxes(Program& program);

/// Whether no mailbox of a refresh that may be left out (whole_refresh_behind()) is touched by any other step. Only then may
/// refreshes be left out: a message that began outside of one could end inside, where one end would count it and the other not.
bool refreshes_have_own_mailboxes(const Program& program, const MailboxPlan& plan);

/// For the schedule of a program with messages on one device: steps that touch mailboxes go in the side lane, beside
/// the interior. Steps that touch the same mailbox keep their order, whatever their lanes, because messages are counted.
void place_messages(std::vector<ScheduleStep>& steps, const MailboxPlan& plan);

}  // namespace quarkstar::runtime
