#include "runtime/mpi/proxy.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace quarkstar::runtime::mpi {

struct Proxy::Native {
  Job& job;
  std::vector<MPI_Comm> sets{};
  int highest_tag = 32767;  ///< the least that MPI allows, or what it has
  std::mutex adding{};      ///< a main thread adds while the thread of messages goes through them
  std::vector<ProxyEnd> ends{};
  std::vector<MPI_Request> requests{};  ///< persistent, of each end
  std::vector<int> ended{};             ///< room for their numbers

  MPI_Comm communicator(int set) const { return sets[static_cast<std::size_t>(set)]; }

  template <class Make>
  void add(const ProxyEnd& end, int tag, const char* what, Make&& make) {
    if (tag > highest_tag)
      throw Error(ErrorKind::environment, "MPI", fmt::format("its {} tags do not suffice for the faces of so many blocks", highest_tag + 1),
                  "use fewer blocks");
    MPI_Request request = MPI_REQUEST_NULL;
    call_mpi(job, [&] { check(make(&request), what); });
    const std::lock_guard lock(adding);
    ends.push_back(end);
    requests.push_back(request);
    ended.push_back(0);
  }
};

Proxy::Proxy(Job& job) : native_(new Native{job}) {
  int* highest = nullptr;
  int known = 0;
  call_mpi(job, [&] { check(MPI_Comm_get_attr(job.native().base, MPI_TAG_UB, &highest, &known), "MPI_Comm_get_attr"); });
  if (known != 0) native_->highest_tag = *highest;
}

Proxy::~Proxy() {
  Native& n = *native_;
  try {
    call_mpi(n.job, [&] {
      for (std::size_t i = 0; i < n.requests.size(); ++i) {
        if (!n.ends[i].sends && n.ends[i].running) {
          MPI_Cancel(&n.requests[i]);
          MPI_Wait(&n.requests[i], MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&n.requests[i]);
      }
      for (MPI_Comm& communicator : n.sets) MPI_Comm_free(&communicator);
    });
  } catch (const std::exception&) {  // of MPI: nothing is on its way any more
  }
}

int Proxy::open_set() {
  Native& n = *native_;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  call_mpi(n.job, [&] { check(MPI_Comm_idup(n.job.native().base, &communicator, &request), "MPI_Comm_idup"); });
  {
    const Job::Waiting waiting(n.job, "MPI_Comm_idup");
    wait(n.job, request, "MPI_Comm_idup");
  }
  call_mpi(n.job, [&] { check(MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"); });
  n.sets.push_back(communicator);
  return static_cast<int>(n.sets.size()) - 1;
}

void Proxy::add_send(int set, const void* data, std::size_t bytes, int to, int tag, const GpuFlag* written, GpuFlag* room) {
  native_->add({true, written, room}, tag, "MPI_Send_init", [&](MPI_Request* request) {
    return MPI_Send_init(data, static_cast<int>(bytes), MPI_BYTE, to, tag, native_->communicator(set), request);
  });
}

void Proxy::add_receive(int set, void* data, std::size_t bytes, int from, int tag, GpuFlag* arrived, const GpuFlag* consumed) {
  native_->add({false, consumed, arrived}, tag, "MPI_Recv_init", [&](MPI_Request* request) {
    return MPI_Recv_init(data, static_cast<int>(bytes), MPI_BYTE, from, tag, native_->communicator(set), request);
  });
}

bool Proxy::advance() {
  constexpr const char* what = "face between GPUs of two hosts";
  Native& n = *native_;
  const std::lock_guard lock(n.adding);
  bool moved = false;
  for (std::size_t i = 0; i < n.ends.size(); ++i) {
    if (!n.ends[i].may_start()) continue;
    check(MPI_Start(&n.requests[i]), what);
    moved = n.ends[i].running = true;
  }
  int count = 0;
  check(MPI_Testsome(static_cast<int>(n.requests.size()), n.requests.data(), &count, n.ended.data(), MPI_STATUSES_IGNORE), what);
  if (count == MPI_UNDEFINED) return moved;  // nothing is under way
  for (int i = 0; i < count; ++i) n.ends[static_cast<std::size_t>(n.ended[static_cast<std::size_t>(i)])].end();
  return moved || count > 0;
}

bool Proxy::at_rest() const {
  const std::lock_guard lock(native_->adding);
  return std::all_of(native_->ends.begin(), native_->ends.end(), [](const ProxyEnd& end) { return end.at_rest(); });
}

}  // namespace quarkstar::runtime::mpi
