#include "runtime/mpi/proxy.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/tags.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace quarkstar::runtime::mpi {

struct Proxy::Native {
  /// A persistent request.
  class Persistent {
   public:
    explicit Persistent(MPI_Request request) : request_(request) {}
    void start() { check(MPI_Start(&request_), "face between GPUs of two hosts"); }
    bool done() {
      int complete = 0;
      check(MPI_Test(&request_, &complete, MPI_STATUS_IGNORE), "face between GPUs of two hosts");
      return complete != 0;
    }

   private:
    MPI_Request request_;  ///< the library's object stays the same
  };

  Job& job;
  MPI_Comm communicator = MPI_COMM_NULL;
  Tags tags{32767};
  std::mutex adding{};  ///< a main thread adds while the thread of messages goes through them
  std::vector<ProxySend<Persistent>> sends{};
  std::vector<ProxyReceive<Persistent>> receives{};
  std::vector<MPI_Request> of_receives{}, of_sends{};
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
      for (MPI_Request& request : n.of_receives) {
        int inactive = 0;
        MPI_Test(&request, &inactive, MPI_STATUS_IGNORE);
        if (inactive == 0) {
          MPI_Cancel(&request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
      }
      for (MPI_Request& request : n.of_sends) MPI_Request_free(&request);
      MPI_Comm_free(&n.communicator);
    });
  } catch (const std::exception&) {  // of MPI: nothing is on its way any more
  }
}

int Proxy::reserve_tags(int count) { return native_->tags.reserve(count); }

void Proxy::add_send(const void* data, std::size_t bytes, int to, int tag, const GpuFlag* written, GpuFlag* room) {
  Native& n = *native_;
  MPI_Request request = MPI_REQUEST_NULL;
  call_mpi(n.job,
           [&] { check(MPI_Send_init(data, static_cast<int>(bytes), MPI_BYTE, to, tag, n.communicator, &request), "MPI_Send_init"); });
  const std::lock_guard lock(n.adding);
  n.of_sends.push_back(request);
  n.sends.emplace_back(written, room, Native::Persistent(request));
}

void Proxy::add_receive(void* data, std::size_t bytes, int from, int tag, GpuFlag* arrived, const GpuFlag* consumed) {
  Native& n = *native_;
  MPI_Request request = MPI_REQUEST_NULL;
  call_mpi(n.job,
           [&] { check(MPI_Recv_init(data, static_cast<int>(bytes), MPI_BYTE, from, tag, n.communicator, &request), "MPI_Recv_init"); });
  const std::lock_guard lock(n.adding);
  n.of_receives.push_back(request);
  n.receives.emplace_back(arrived, consumed, Native::Persistent(request));
}

bool Proxy::advance() {
  Native& n = *native_;
  const std::lock_guard lock(n.adding);
  bool moved = false;
  for (auto& receive : n.receives) moved = receive.advance() || moved;
  for (auto& send : n.sends) moved = send.advance() || moved;
  return moved;
}

bool Proxy::at_rest() const {
  const std::lock_guard lock(native_->adding);
  return std::all_of(native_->sends.begin(), native_->sends.end(), [](const auto& send) { return send.at_rest(); });
}

}  // namespace quarkstar::runtime::mpi
