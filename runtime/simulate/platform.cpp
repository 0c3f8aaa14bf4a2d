#include "runtime/simulate/platform.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <starpu_config.h>

#include <filesystem>
#include <fstream>

namespace quarkstar::runtime::simulate {
namespace {

std::string gpu_host(int number) { return fmt::format("CUDA{}", number); }

/// Ways between memories, each with a link of its own.
class Ways {
 public:
  /// shared: further links of the way.
  void add(const std::string& from, const std::string& to, const Machine::Link& link, const std::string& shared) {
    links_ += fmt::format("  <link id=\"{}-{}\" bandwidth=\"{:.0f}Bps\" latency=\"{:.9f}s\"/>\n", from, to, link.gbs * 1e9, link.us * 1e-6);
    routes_ += fmt::format("  <route src=\"{0}\" dst=\"{1}\" symmetrical=\"NO\"><link_ctn id=\"{0}-{1}\"/>{2}</route>\n", from, to, shared);
  }
  std::string xml() const { return links_ + routes_; }  // no link may follow a route

 private:
  std::string links_, routes_;
};

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw Error(ErrorKind::environment, path.string(), "cannot be written", "check the space and permissions of $TMPDIR");
}

/// StarPU's matrix over memory nodes: host memory first, then GPUs; what does not exist is not a number.
template <class Between>
std::string matrix(const Machine& machine, Between&& between) {
  const int present = 1 + machine.all_gpus();
  std::string text = "# to NUMA 0";
  for (int g = 0; g < machine.all_gpus(); ++g) text += fmt::format("\tto CUDA {}", g);
  text += "\n";
  for (int from = 0; from < STARPU_MAXNODES; ++from) {
    for (int to = 0; to < STARPU_MAXNODES; ++to) {
      if (to > 0) text += "\t";
      text += from >= present || to >= present ? "nan" : fmt::format("{:e}", from == to ? 0.0 : between(from, to));
    }
    text += "\n";
  }
  return text;
}

Machine::Link between_nodes(const Machine& machine, int from, int to) {
  return from == 0 || to == 0 ? Machine::Link{machine.host_gpu_gbs, machine.host_gpu_us} : machine.copy_between(from - 1, to - 1);
}

/// As the value of an attribute.
std::string escaped(const std::string& text) {
  std::string xml;
  for (const char c : text) xml += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  return xml;
}

/// What every description begins with. A message takes its latency and its bytes over the bandwidth: none of what TCP
/// adds.
std::string head() {
  std::string xml =
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd'>\n<platform version=\"4\">\n"
      " <config id=\"General\">\n";
  for (const auto& [key, value] : {std::pair{"network/TCP-gamma", "-1"},
                                   {"network/latency-factor", "1"},
                                   {"network/bandwidth-factor", "1"},
                                   {"network/crosstraffic", "0"},
                                   {"network/weight-S", "0.0"}})
    xml += fmt::format("  <prop id=\"{}\" value=\"{}\"></prop>\n", key, value);
  return xml + " </config>\n";
}

/// Hosts of the processors and their memory.
std::string host_list(const std::string& prefix, int cores) {
  std::string xml = fmt::format("  <host id=\"{}MAIN\" speed=\"1f\"/>\n", prefix);
  for (int core = 0; core < cores; ++core) xml += fmt::format("  <host id=\"{}CPU{}\" speed=\"1Gf\"/>\n", prefix, core);
  return xml + fmt::format("  <host id=\"{}RAM\" speed=\"1f\"/>\n", prefix);
}

}  // namespace

std::string platform_xml(const Machine& machine) {
  const int cores = machine.nodes * machine.domains * machine.cores, gpus = machine.all_gpus();
  std::string xml = head() + " <AS id=\"AS0\" routing=\"Full\">\n" + host_list("", cores);
  for (int g = 0; g < gpus; ++g)
    xml += fmt::format(
        "  <host id=\"{}\" speed=\"1Gf\">\n   <prop id=\"model\" value=\"{}\"/>\n   <prop id=\"memsize\" value=\"{:.0f}\"/>\n"
        "   <prop id=\"memcpy_peer\" value=\"{}\"/>\n  </host>\n",
        gpu_host(g), escaped(machine.gpu(g).model), machine.gpu(g).memory_gib * 1073741824.0, machine.peers || machine.nodes > 1 ? 1 : 0);
  xml += fmt::format("  <link id=\"Host\" bandwidth=\"{:.0f}Bps\" latency=\"0s\"/>\n", machine.host_gbs * 1e9);
  Ways ways;
  const std::string memory_bus = "<link_ctn id=\"Host\"/>";
  for (int g = 0; g < gpus; ++g) {
    const Machine::Link link{machine.host_gpu_gbs, machine.host_gpu_us};
    ways.add("RAM", gpu_host(g), link, memory_bus);
    ways.add(gpu_host(g), "RAM", link, memory_bus);
  }
  for (int a = 0; a < gpus; ++a)
    for (int b = 0; b < gpus; ++b)
      if (a != b) ways.add(gpu_host(a), gpu_host(b), machine.copy_between(a, b), "");
  return xml + ways.xml() + " </AS>\n</platform>\n";
}

void write_platform(const Machine& machine, const std::string& folder, const std::string& host_name) {
  const int cores = machine.nodes * machine.domains * machine.cores, gpus = machine.all_gpus();
  if (cores > STARPU_MAXCPUS || gpus > STARPU_MAXCUDADEVS)
    throw Error(ErrorKind::input, machine.name, fmt::format("{} cores and {} GPUs", cores, gpus),
                fmt::format("this build of StarPU simulates up to {} and {}", STARPU_MAXCPUS, STARPU_MAXCUDADEVS));
  const std::filesystem::path bus = std::filesystem::path(folder) / "bus";
  std::error_code error;
  std::filesystem::create_directories(bus, error);
  if (error) throw Error(ErrorKind::environment, bus.string(), "cannot be made", "check the space and permissions of $TMPDIR");
  const auto file = [&](const char* ending) { return bus / (host_name + ending); };
  write(file(".platform.v4.xml"), platform_xml(machine));
  std::string config =
      fmt::format("# Current configuration\n{} # Number of CPUs\n1 # Number of NUMA nodes\n{} # Number of CUDA nodes\n", cores, gpus);
  for (const char* kind : {"OpenCL", "FPGA", "Disk", "MPI_MS", "TCPIP_MS", "HIP"}) config += fmt::format("0 # Number of {} nodes\n", kind);
  write(file(".config"), config);
  constexpr double mb_a_gb = 1e3;
  write(file(".bandwidth"), matrix(machine, [&](int from, int to) { return between_nodes(machine, from, to).gbs * mb_a_gb; }));
  write(file(".latency"), matrix(machine, [&](int from, int to) { return between_nodes(machine, from, to).us; }));
}

std::string job_xml(const Machine& machine, int ranks) {
  // A message crosses the link of its sender and that of its receiver.
  std::string xml = head() + " <AS id=\"JOB\" routing=\"None\">\n" +
                    fmt::format(
                        "  <cluster id=\"NETWORK\" prefix=\"NODE\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" "
                        "bw=\"{:.0f}Bps\" lat=\"{:.9f}s\"/>\n",
                        ranks - 1, machine.network_gbs * 1e9, machine.network_us * 0.5e-6);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string zone = fmt::format("StarPU-MPI{}", rank);
    xml += fmt::format(" <AS id=\"{}\" routing=\"None\">\n{} </AS>\n", zone, host_list(zone + "-", machine.domains * machine.cores));
  }
  return xml + " </AS>\n</platform>\n";
}

void write_job(const Machine& machine, int ranks, const std::string& platform, const std::string& hosts) {
  write(platform, job_xml(machine, ranks));
  std::string names;
  for (int rank = 0; rank < ranks; ++rank) names += fmt::format("NODE{}\n", rank);
  write(hosts, names);
}

}  // namespace quarkstar::runtime::simulate
