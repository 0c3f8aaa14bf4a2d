#pragma once
// A machine that need not exist, as a simulation sees it: numbers only.
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::runtime::simulate {

/// A number for each kind of kernel, by the beginning of the codelet's name; the longest one counts.
struct ByCodelet {
  struct Entry {
    std::string codelet;
    double number;
  };
  std::vector<Entry> entries;
  double of(std::string_view codelet, double otherwise) const;  ///< otherwise: where nothing is said
};

/// A processor, or what a worker has of one.
struct Device {
  std::string model;
  double triad_gbs = 0;                                   ///< of a CPU domain with all its cores, of a whole GPU
  double peak_single_gflops = 0, peak_double_gflops = 0;  ///< of the same
  double kernel_us = 0;     ///< what a kernel costs beside its bytes: launch, or start and end of a team's loop
  double task_us = 0;       ///< what the runtime costs beside the kernels of a task
  double memory_gib = 0;    ///< of a CPU domain, of a GPU
  ByCodelet efficiency;     ///< part of the triad that the compulsory bytes reach, else 1
  ByCodelet cached_gflops;  ///< where everything comes from caches, of the same as the peaks

  /// Microseconds of a kernel on a part of the device's cores: kernel_us + the larger of bytes over the part of `gbs`
  /// that it reaches and flops over the part's peak. For kernels with `cached_gflops` the former is the root of the sum
  /// of squares of that and flops over the part's cached_gflops: they read some operands from memory and the same ones
  /// many times from caches, or wait for arithmetic too, and these hide each other in part.
  double kernel_time_us(std::string_view codelet, double flops, double bytes, double gbs, double part) const;
};

struct Machine {
  std::string name;
  int nodes = 1;  ///< alike, joined by the network; everything below is of one node

  int domains = 1, cores = 1;     ///< NUMA domains, cores of each
  bool busy_teams_share = false;  ///< a domain's triad belongs to the teams that are at work; else each team has its
                                  ///< part of it, whoever idles
  double core_triad_gbs = 0;      ///< of one core
  Device cpu;

  int gpus = 0;  ///< in the order of gpu_kinds
  struct GpuKind {
    int count = 1;
    Device device;
  };
  std::vector<GpuKind> gpu_kinds;  ///< GPUs of a node that are alike; empty without GPUs
  /// Of a GPU by its number on the whole machine.
  const Device& gpu(int number) const;

  double host_gpu_gbs = 0, host_gpu_us = 0;  ///< copies between a GPU and its host, pinned
  double host_gbs = 0;                       ///< of all such copies of a node together
  bool peers = false;                        ///< GPUs of a node write into each other's memory
  double gpu_gpu_gbs = 0, gpu_gpu_us = 0;    ///< between two of them, where they are peers; what a kernel writes there
  double gpu_copy_us = 0;                    ///< in place of gpu_gpu_us: a copy between two tasks, until the second may start
  double signal_us = 0;                      ///< until a kernel sees that another GPU's kernel has ended, inside one task
  double join_us = 0;                        ///< the same for one in the other lane of its own GPU
  double network_gbs = 0, network_us = 0;    ///< between two nodes, each way
  bool proxy = false;                        ///< GPUs of several nodes exchange faces and sums through threads of their hosts
  int node_links = 1;                        ///< network links of a node, each with network_gbs; its GPUs share them
  double flag_us = 0;     ///< until one of a GPU and a thread of its host sees what the other has written into host memory
  double message_us = 0;  ///< what that thread takes for a message at either end; messages of one GPU leave one after the other

  double submit_us = 0, handle_us = 0;  ///< of the submitting thread, per task and per handle of it
  double graph_us = 0;                  ///< a batch that runs as one task: collecting and launching it, per step
  double shared_batch = 1;              ///< part of its speed that a kernel keeps in a batch of several GPUs, whose sites come from lists

  int all_gpus() const { return nodes * gpus; }
  double wire_gbs() const { return network_gbs * node_links / gpus; }  ///< of a GPU, while all of its node send
  double host_face_gbs() const;  ///< at which a kernel writes or reads host memory, while those on all GPUs of the node do
  /// Bandwidth of a team of `threads` cores in a domain that it shares with others, so that `teams` are at work there.
  double team_gbs(int threads, int teams) const;
  /// Part of a domain's cores, and of its peak, that a team of `threads` has.
  double team_part(int threads) const;
  /// A copy between GPUs a and b, as the whole machine counts them: peers, through their host, or through two hosts and the network,
  /// one after the other.
  struct Link {
    double gbs, us;
  };
  Link between(int a, int b) const;
  /// The same for copies that the runtime makes between two tasks.
  Link copy_between(int a, int b) const;
  bool reach_each_other(int a, int b) const { return peers && a / gpus == b / gpus; }
};

}  // namespace quarkstar::runtime::simulate
