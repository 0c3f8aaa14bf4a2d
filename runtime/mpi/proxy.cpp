#include "runtime/mpi/proxy.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/tags.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace quarkstar::runtime::mpi {

struct Proxy::Native {
  Job& job;
  MPI_Comm communicator = MPI_COMM_NULL;
  Tags tags{32767};
  std::mutex adding{};  ///< a main thread adds while the thread of messages goes through them
  std::vector<ProxyEnd> ends{};
  std::vector<MPI_Request> requests{};  ///< persistent, of each end
  std::vector<int> ended{};             ///< room for their numbers

  template <class Make>
  void add(const ProxyEnd& end, const char* what, Make&& make) {
    MPI_Request request = MPI_REQUEST_NULL;
    call_mpi(job, [&] { check(make(&request), what); });
    const std::lock_guard lock(adding);
    ends.push_back(end);
    requests.push_back(request);
    ended.push_back(0);
  }
};

Proxy::Proxy(Job& job) : native_(new Native{job}) {
  MPI_Request request = MPI_REQUEST_NULL;
  call_mpi(job, [&] { check(MPI_Comm_idup(job.native().base, &native_->communicator, &request), "MPI_Comm_idup"); });
  const Job::Waiting waiting(job, "MPI_Comm_idup");
  wait(job, request, "MPI_Comm_idup");
  call_mpi(job, [&] {
    check(MPI_Comm_set_errhandler(native_->communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int* highest = nullptr;
    int known = 0;
    check(MPI_Comm_get_attr(native_->communicator, MPI_TAG_UB, &highest, &known), "MPI_Comm_get_attr");
    if (known != 0) native_->tags = Tags(*highest);
  });
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
      MPI_Comm_free(&n.communicator);
    });
  } catch (const std::exception&) {  // of MPI: nothing is on its way any more
  }
}

int Proxy::reserve_tags(int count) { return native_->tags.reserve(count); }

void Proxy::add_send(const void* data, std::size_t bytes, int to, int tag, const GpuFlag* written, GpuFlag* room) {
  native_->add({true, written, room}, "MPI_Send_init", [&](MPI_Request* request) {
    return MPI_Send_init(data, static_cast<int>(bytes), MPI_BYTE, to, tag, native_->communicator, request);
  });
}

void Proxy::add_receive(void* data, std::size_t bytes, int from, int tag, GpuFlag* arrived, const GpuFlag* consumed) {
  native_->add({false, consumed, arrived}, "MPI_Recv_init", [&](MPI_Request* request) {
    return MPI_Recv_init(data, static_cast<int>(bytes), MPI_BYTE, from, tag, native_->communicator, request);
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
