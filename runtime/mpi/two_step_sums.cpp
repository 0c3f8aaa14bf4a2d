#include "runtime/mpi/two_step_sums.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/native.hpp"

#include <utility>

namespace quarkstar::runtime::mpi {
namespace {

void merge_sums(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const BinnedSum*>(in);
  auto* to = static_cast<BinnedSum*>(inout);
  for (int i = 0; i < *count; ++i) to[i].merge(from[i]);
}

}  // namespace

struct TwoStepSums::Native {
  Job& job;
  MPI_Comm all = MPI_COMM_NULL, hosts = MPI_COMM_NULL;  ///< all ranks; the first ranks of all hosts
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op merge = MPI_OP_NULL;
  std::map<const void*, MPI_Request> requests{};  ///< by token
};

TwoStepSums::TwoStepSums(Job& job) : native_(new Native{job}) {
  const HostGroups groups = host_groups(job);
  if (groups.count < job.size()) memory_ = SharedMemory::open(job, groups, HostSums::bytes, obstacle_);
  if (memory_ != nullptr) {
    host_ = std::make_unique<HostSums>(memory_->data(), memory_->member(), memory_->members());
    several_hosts_ = groups.count > 1;
  }
  Native& n = *native_;
  // Of its own: there may be others, whose sums come in another order.
  MPI_Request request = MPI_REQUEST_NULL;
  call_mpi(job, [&] { check(MPI_Comm_idup(job.native().sums, &n.all, &request), "MPI_Comm_idup"); });
  {
    const Job::Waiting waiting(job, "MPI_Comm_idup");
    wait(job, request, "MPI_Comm_idup");
  }
  if (several_hosts_) job.barrier();  // a call of MPI that blocks comes next: nobody is late for it
  call_mpi(job, [&] {
    check(MPI_Comm_set_errhandler(n.all, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Type_contiguous(sizeof(BinnedSum), MPI_BYTE, &n.type), "MPI_Type_contiguous");
    check(MPI_Type_commit(&n.type), "MPI_Type_commit");
    check(MPI_Op_create(merge_sums, 1, &n.merge), "MPI_Op_create");
    if (!several_hosts_) return;
    check(MPI_Comm_split(n.all, host_->member() == 0 ? 0 : MPI_UNDEFINED, job.rank(), &n.hosts), "MPI_Comm_split");
    if (n.hosts != MPI_COMM_NULL) check(MPI_Comm_set_errhandler(n.hosts, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  });
}

TwoStepSums::~TwoStepSums() {
  Native& n = *native_;
  try {
    call_mpi(n.job, [&] {
      check(MPI_Op_free(&n.merge), "MPI_Op_free");
      check(MPI_Type_free(&n.type), "MPI_Type_free");
      for (MPI_Comm* communicator : {&n.hosts, &n.all})
        if (*communicator != MPI_COMM_NULL) check(MPI_Comm_free(communicator), "MPI_Comm_free");
    });
  } catch (const std::exception&) {  // of MPI: nothing is on its way any more
  }
}

void TwoStepSums::add(std::int64_t number, const BinnedSum* mine, BinnedSum* total, int count, void* token) {
  waiting_.emplace(number, Sum{mine, total, count, token});
  // Collective calls must come in the same order everywhere, and tasks do not.
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_; first = waiting_.begin(), ++next_) {
    Sum& sum = running_.emplace_back(first->second);
    if (host_ != nullptr && sum.count <= HostSums::most_sums) sum.of_host = next_of_host_++;
    waiting_.erase(first);
  }
}

void TwoStepSums::reduce(Sum& sum, bool between_hosts) {
  Native& n = *native_;
  const void* in = between_hosts ? MPI_IN_PLACE : static_cast<const void*>(sum.mine);
  check(MPI_Iallreduce(in, sum.total, sum.count, n.type, n.merge, between_hosts ? n.hosts : n.all, &n.requests[sum.token]),
        "sum over ranks");
  sum.reducing = true;
}

bool TwoStepSums::has_ended(Sum& sum) {
  const auto request = native_->requests.find(sum.token);
  int done = 0;
  check(MPI_Test(&request->second, &done, MPI_STATUS_IGNORE), "sum over ranks");
  if (done != 0) native_->requests.erase(request);
  return done != 0;
}

/// Whether the sum has come so far that the next one may move: collective calls start in order.
bool TwoStepSums::move(Sum& sum) {
  if (sum.complete) return true;
  if (sum.of_host < 0) {
    if (!sum.reducing) reduce(sum, false);
    sum.complete = has_ended(sum);
    return true;
  }
  if (!sum.contributed) {
    if (!host_->has_room(sum.of_host)) return false;
    host_->contribute(sum.of_host, sum.mine, sum.count);
    sum.contributed = true;
  }
  if (several_hosts_ && host_->member() != 0) {
    if (!host_->is_published(sum.of_host)) return true;
    host_->read(sum.of_host, sum.total, sum.count);
  } else if (!sum.reducing) {
    // That the next one has all contributions may be seen first, for this one's may have come since it was asked.
    if (several_hosts_ && sum.of_host != next_between_hosts_) return true;
    if (!host_->has_all(sum.of_host)) return true;
    host_->merge(sum.of_host, sum.total, sum.count);
    if (several_hosts_) {
      ++next_between_hosts_;
      reduce(sum, true);
      return true;
    }
  } else {
    if (!has_ended(sum)) return true;
    host_->publish(sum.of_host, sum.total, sum.count);
  }
  sum.complete = true;
  return true;
}

std::vector<void*> TwoStepSums::advance() {
  for (Sum& sum : running_)
    if (!move(sum)) break;
  std::vector<void*> tokens;
  for (; !running_.empty() && running_.front().complete; running_.pop_front()) {
    const Sum& sum = running_.front();
    if (sum.of_host >= 0) host_->leave(sum.of_host);
    tokens.push_back(sum.token);
  }
  return tokens;
}

}  // namespace quarkstar::runtime::mpi
