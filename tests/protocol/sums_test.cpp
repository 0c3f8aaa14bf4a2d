// Sums of ranks: in the memory of a host (runtime/mpi/host_sums.hpp), between hosts (runtime/mpi/two_step_sums.cpp), and between GPUs
// (runtime/gpu/sum_exchange.hpp).
#include "tests/protocol/explorer.hpp"

#include <doctest/doctest.h>

using namespace quarkstar::protocol;

namespace {

struct Hosts {
  int hosts, members, sums, depth = 2;
  bool looks_at_all_counters = true, in_order = true;
};

/// HostSums with `depth` places on each host, and TwoStepSums between the hosts. What a process contributes to sum n is the number n + 1.
std::vector<Process> two_steps(const Hosts& h) {
  const auto places = static_cast<std::size_t>(h.members * h.depth);
  const std::size_t of_host = places + static_cast<std::size_t>(h.depth + h.members + 1);
  const auto base = [=](int host) { return of_host * static_cast<std::size_t>(host); };
  const auto place = [=](int host, int n, int member) { return base(host) + static_cast<std::size_t>(n % h.depth * h.members + member); };
  const auto published = [=](int host, int n) { return base(host) + places + static_cast<std::size_t>(n % h.depth); };
  const auto left = [=](int host, int member) { return base(host) + places + static_cast<std::size_t>(h.depth + member); };
  const auto begun = [=](int host) { return base(host) + of_host - 1; };  // reductions between hosts

  std::vector<Process> processes;
  for (int host = 0; host < h.hosts; ++host)
    for (int member = 0; member < h.members; ++member) {
      const std::string name = "host " + std::to_string(host) + " member " + std::to_string(member);
      Process contributes{name + " contributes", {}}, completes{name + " completes", {}};
      for (int n = 0; n < h.sums; ++n) {
        contributes.then({"finds room",
                          [=](const State& s) {
                            for (int m = 0; m < (h.looks_at_all_counters ? h.members : 1); ++m)
                              if (s[left(host, h.looks_at_all_counters ? m : member)] < n - h.depth + 1) return false;
                            return true;
                          },
                          [](State&) {}});
        contributes.then({"contributes", always, [=](State& s) { s[place(host, n, member)] = static_cast<std::uint8_t>(n + 1); }});
        const auto has_all = [=](const State& s) {
          for (int m = 0; m < h.members; ++m)
            if (s[place(host, n, m)] != n + 1) return false;
          return true;
        };
        const auto merges = [=](State& s) { s.broken = s.broken || !has_all(s); };
        const auto leaves = [=](State& s) { s[left(host, member)] = static_cast<std::uint8_t>(n + 1); };
        if (h.hosts == 1) {
          completes.then({"has all", has_all, [](State&) {}});
          completes.then({"merges and leaves", always, [=](State& s) {
                            merges(s);
                            leaves(s);
                          }});
        } else if (member != 0) {
          completes.then({"sees the total", [=](const State& s) { return s[published(host, n)] == n + 1; }, [](State&) {}});
          completes.then({"reads it and leaves", always, [=](State& s) {
                            s.broken = s.broken || s[published(host, n)] != n + 1;
                            leaves(s);
                          }});
        } else {
          // The first member looks at all sums under way: that one has all contributions it may see before it sees it of an earlier one.
          Process reduces{name + " reduces " + std::to_string(n), {}};
          reduces.then({"begins MPI_Iallreduce", [=](const State& s) { return (!h.in_order || s[begun(host)] == n) && has_all(s); },
                        [=](State& s) {
                          merges(s);
                          s.broken = s.broken || s[begun(host)] != n;  // calls come in one order on all hosts
                          s[begun(host)] = static_cast<std::uint8_t>(n + 1);
                        }});
          processes.push_back(std::move(reduces));
          completes.then({"has the total",
                          [=](const State& s) {
                            for (int other = 0; other < h.hosts; ++other)
                              if (s[begun(other)] < n + 1) return false;
                            return true;
                          },
                          [=](State& s) { s[published(host, n)] = static_cast<std::uint8_t>(n + 1); }});
          completes.then({"leaves", always, leaves});
        }
      }
      processes.push_back(std::move(contributes));
      processes.push_back(std::move(completes));
    }
  return processes;
}

/// SumExchange: each device writes its words of exchange n to all others, in one of `turns` places in turn, and waits for theirs by number.
std::vector<Process> exchange(int devices, int exchanges, int turns) {
  const auto place = [=](int reader, int writer, int n) {
    return static_cast<std::size_t>((reader * devices + writer) * turns + n % turns);
  };
  std::vector<Process> processes;
  for (int device = 0; device < devices; ++device) {
    Process process{"device " + std::to_string(device), {}};
    for (int n = 1; n <= exchanges; ++n) {
      for (int other = 0; other < devices; ++other)
        if (other != device) process.then({"sends", always, [=](State& s) { s[place(other, device, n)] = static_cast<std::uint8_t>(n); }});
      for (int other = 0; other < devices; ++other)
        if (other != device) process.then({"receives", [=](const State& s) { return s[place(device, other, n)] == n; }, [](State&) {}});
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

}  // namespace

TEST_CASE("sums of the ranks of a host, and between hosts") {
  for (const Hosts& h : {Hosts{1, 2, 5}, Hosts{1, 3, 4}, Hosts{1, 2, 4, 1}, Hosts{2, 2, 3}, Hosts{3, 1, 3}}) {
    const Outcome outcome = explore(two_steps(h));
    INFO(outcome.fault);
    CHECK(outcome.fault.empty());
    CHECK(outcome.states > 50);
    MESSAGE(h.hosts << " hosts of " << h.members << ": " << outcome.states << " states");
  }
}

TEST_CASE("the checker finds what is wrong with other sums") {
  CHECK(!explore(two_steps({.hosts = 1, .members = 2, .sums = 4, .looks_at_all_counters = false})).fault.empty());
  CHECK(explore(two_steps({.hosts = 2, .members = 2, .sums = 2, .in_order = false})).fault.find("a rule is broken") != std::string::npos);
}

TEST_CASE("sums between GPUs need two places, and no answers") {
  for (const int devices : {2, 3}) {
    const Outcome outcome = explore(exchange(devices, 5, 2));
    INFO(outcome.fault);
    CHECK(outcome.fault.empty());
    CHECK(explore(exchange(devices, 5, 1)).fault.find("nobody can go on") != std::string::npos);
  }
}
