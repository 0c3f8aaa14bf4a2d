#include "runtime/mpi/exchange.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/native.hpp"

#include <algorithm>
#include <vector>

namespace quarkstar::runtime::mpi {

void exchange(Job& job, std::span<const Parcel> send, std::span<const Parcel> receive) {
  if (!job.is_distributed() || job.is_fake()) return;
  constexpr int tag = 8;  // no other message of main threads has it
  constexpr std::size_t most = std::size_t{1} << 30;
  std::vector<MPI_Request> requests;
  call_mpi(job, [&] {
    const auto start = [&](const Parcel& parcel, const char* what, auto&& call) {
      for (std::size_t done = 0; done < parcel.bytes.size(); done += most) {
        const auto count = static_cast<int>(std::min(most, parcel.bytes.size() - done));
        check(call(parcel.bytes.data() + done, count, MPI_BYTE, parcel.rank, tag, job.native().control, &requests.emplace_back()), what);
      }
    };
    for (const Parcel& parcel : receive) start(parcel, "MPI_Irecv", MPI_Irecv);
    for (const Parcel& parcel : send) start(parcel, "MPI_Isend", MPI_Isend);
  });
  constexpr const char* what = "exchange between ranks";
  const Job::Waiting waiting(job, what);
  for (const MPI_Request request : requests) wait(job, request, what);
}

}  // namespace quarkstar::runtime::mpi
