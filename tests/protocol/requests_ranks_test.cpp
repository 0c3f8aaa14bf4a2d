// Faces of many halos between ranks that mpirun has started; tests/cli/ranks_requests.sh counts the requests that MPI is asked for. On one
// process there is nothing to send.
#include "runtime/cut/halo.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>

using namespace quarkstar::runtime;

namespace {

constexpr int halos = 140, words = 4;
constexpr int faces_a_halo = 16;  // that a rank sends in one application

Decomposition decomposition_of(const mpi::Job& job) {
  const int t = 4 * job.size();
  return {{4, 4, 4, t}, RankGrid{{1, 1, 1, job.size()}, job.rank(), {}}, {2, 2, 2, job.size()}, 1};
}

Halo halo_on(const Decomposition& decomposition) {
  return {decomposition, [](int, int direction) { return direction < 6 ? 0 : words * sizeof(std::uint64_t); }, "face"};
}

/// Sends numbers that follow from sender, direction and `number`.
void send(Halo& halo, const Decomposition& decomposition, std::uint64_t number) {
  halo.next();
  for (const int b : decomposition.local())
    for (const int d : {6, 7}) {
      const HostView<std::uint64_t> face(halo.outgoing(b, d), HostAccess::overwrite);
      std::fill_n(face.get(), words, number * 1000 + static_cast<std::uint64_t>(8 * b + d));
    }
  halo.exchange();
}
bool arrived(const Halo& halo, const Decomposition& decomposition, std::uint64_t number) {
  bool good = true;
  for (const int b : decomposition.local())
    for (const int d : {6, 7}) {
      const HostView<std::uint64_t> face(halo.incoming(b, d));
      for (std::size_t i = 0; i < words; ++i)
        good = good && face[i] == number * 1000 + static_cast<std::uint64_t>(8 * decomposition.neighbour(b, d) + d);
    }
  return good;
}

}  // namespace

TEST_CASE("halos one after another") {
  mpi::Job job;
  if (!job.is_distributed()) return;
  Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const Decomposition decomposition = decomposition_of(job);
  for (std::uint64_t h = 0; h < halos; ++h) {
    Halo halo = halo_on(decomposition);
    for (std::uint64_t application = 0; application < 2; ++application) {
      send(halo, decomposition, 2 * h + application);
      CHECK(arrived(halo, decomposition, 2 * h + application));
    }
    session.wait_all();
  }
  CHECK(session.messages()->totals().messages == halos * 2 * faces_a_halo);
}

TEST_CASE("halos that are there together") {
  mpi::Job job;
  if (!job.is_distributed()) return;
  Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const Decomposition decomposition = decomposition_of(job);
  std::deque<Halo> all;
  for (int h = 0; h < halos; ++h) all.push_back(halo_on(decomposition));
  constexpr std::uint64_t applications = 4;
  for (std::uint64_t application = 0; application < applications; ++application) {
    for (std::uint64_t h = 0; h < halos; ++h) send(all[h], decomposition, h);
    for (std::uint64_t h = 0; h < halos; ++h) CHECK(arrived(all[h], decomposition, h));
  }
  session.wait_all();
  CHECK(session.messages()->totals().messages == halos * static_cast<int>(applications) * faces_a_halo);
}
