#pragma once
// Kernels of teams that share the memory of one NUMA domain: the more teams are at work, the longer each takes.
#include <vector>

namespace quarkstar::runtime::simulate {

/// The kernels that run in one domain at a time. While k teams are at work, a kernel does in each microsecond 1 / T(k)
/// of its work, where T(k) is what it would take among k teams from start to end. Where T(k) does not fall with k, no
/// kernel ends before a time that wait_us() gave.
class TeamsAtWork {
 public:
  /// A team that runs nothing starts a kernel. us[k - 1]: T(k) in microseconds; the last one stands for all larger k.
  /// Times never go back from one call to the next.
  void start(int team, std::vector<double> us, double now_us);
  /// Microseconds in which, as things are, the kernel of this team or of another ends; it is to ask again then. 0: its
  /// own has ended, and is forgotten.
  double wait_us(int team, double now_us);

 private:
  struct Kernel {
    int team;
    std::vector<double> us;
    double left = 1;  ///< part of its work
  };
  double us_left(const Kernel& kernel) const;
  double next_end_us() const;
  void advance(double now_us);

  std::vector<Kernel> running_, ended_;
  double now_us_ = 0;
};

}  // namespace quarkstar::runtime::simulate
