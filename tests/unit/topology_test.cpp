// The machine as hwloc shows it: this one, and ones that we do not have, described to a child process.
#include "runtime/system/topology.hpp"

#include "tests/unit/affinity_testing.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace topology_test {

using quarkstar::runtime::bind_this_thread;
using quarkstar::runtime::Domain;
using quarkstar::runtime::Topology;
using quarkstar::runtime_testing::allowed_cpus;

namespace {

/// "node:core,core,...;" for each domain.
std::string text_of(const Topology& topology) {
  std::ostringstream text;
  for (const Domain& domain : topology.domains()) {
    text << domain.numa_node << ':';
    for (std::size_t i = 0; i < domain.cores.size(); ++i) text << (i == 0 ? "" : ",") << domain.cores[i];
    text << ';';
  }
  return text.str();
}

/// What a fresh process finds under the given environment (the topology is read once in a process's life).
std::string found_under(const std::string& prefix) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = prefix + " '" + self + "' --no-skip --test-case='machine as a child process sees it' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 256> part;
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) output += part.data();
  pclose(pipe);
  const std::string mark = "machine=[";
  const std::size_t begin = output.find(mark), end = output.find(']', begin);
  if (begin == std::string::npos || end == std::string::npos) return "no answer: " + output;
  return output.substr(begin + mark.size(), end - begin - mark.size());
}

/// A file that goes with the object.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() / (name + "." + std::to_string(getpid()))) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("machine as a child process sees it" * doctest::skip()) {
  const Topology topology = Topology::discover();
  const std::string caches = topology.cache_bytes() > 0 ? " " + std::to_string(topology.cache_bytes() / (1 << 20)) + " MiB" : "";
  std::printf("machine=[%s %d %s%s]\n", text_of(topology).c_str(), topology.cores(), topology.cpu_model().c_str(), caches.c_str());
}

TEST_CASE("this machine has cores, each in one domain") {
  const Topology topology = Topology::discover();
  REQUIRE_FALSE(topology.domains().empty());
  std::set<int> cores, nodes;
  int total = 0;
  for (const Domain& domain : topology.domains()) {
    CHECK_FALSE(domain.cores.empty());
    cores.insert(domain.cores.begin(), domain.cores.end());
    nodes.insert(domain.numa_node);
    total += static_cast<int>(domain.cores.size());
  }
  CHECK(static_cast<int>(cores.size()) == total);
  CHECK(nodes.size() == topology.domains().size());
  CHECK(topology.cores() == total);
  CHECK(total <= static_cast<int>(allowed_cpus().size()));
  CHECK(text_of(Topology::discover()) == text_of(topology));
}

TEST_CASE("a thread binds itself to one processing unit") {
  const Topology topology = Topology::discover();
  std::set<int> used;
  int bound = 0;
  for (const Domain& domain : topology.domains())
    for (const int core : domain.cores)
      std::thread([&, core] {
        if (!bind_this_thread(core)) return;
        ++bound;
        const std::vector<int> mask = allowed_cpus();
        CHECK(mask.size() == 1);
        used.insert(mask.begin(), mask.end());
        CHECK(sched_getcpu() == mask.front());
      }).join();
  CHECK(static_cast<int>(used.size()) == bound);
  CHECK_FALSE(bind_this_thread(1 << 20));
  CHECK_FALSE(bind_this_thread(-1));
}

TEST_CASE("machines that we do not have") {
  CHECK(found_under("HWLOC_SYNTHETIC='numa:1 core:1 pu:1'") == "0:0; 1 ");
  CHECK(found_under("HWLOC_SYNTHETIC='numa:1 core:4 pu:2'") == "0:0,2,4,6; 4 ");
  CHECK(found_under("HWLOC_SYNTHETIC='package:2 numa:2 core:3 pu:1'") == "0:0,1,2;1:3,4,5;2:6,7,8;3:9,10,11; 12 ");
}

TEST_CASE("caches count from the second level on") {
  CHECK(found_under("HWLOC_SYNTHETIC='package:2 l3:1(size=32MiB) l2:2(size=1MiB) l1:1(size=32KiB) core:1 pu:1'") ==
        "0:0,1,2,3; 4  68.000000 MiB");
}

TEST_CASE("two kinds of memory near the same cores are one domain") {
  CHECK(found_under("HWLOC_SYNTHETIC='package:2 [numa(memory=64GB)] [numa(memory=16GB)] core:2 pu:1'") == "0:0,1;2:2,3; 4 ");
}

TEST_CASE("a machine from an XML file") {
  // Two packages of one core each, and a memory node without cores, as GPUs and CXL memory show up.
  const TemporaryFile file("quarkstar_topology", R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" allowed_cpuset="0x00000003"
      nodeset="0x00000007" complete_nodeset="0x00000007" allowed_nodeset="0x00000007" gp_index="1">
    <object type="NUMANode" os_index="2" cpuset="0x0" complete_cpuset="0x0" nodeset="0x00000004"
        complete_nodeset="0x00000004" gp_index="8" local_memory="1073741824"/>
    <object type="Package" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001"
        complete_nodeset="0x00000001" gp_index="2">
      <info name="CPUModel" value="Model X"/>
      <object type="NUMANode" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001"
          complete_nodeset="0x00000001" gp_index="3" local_memory="1073741824"/>
      <object type="Core" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001"
          complete_nodeset="0x00000001" gp_index="4">
        <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001"
            complete_nodeset="0x00000001" gp_index="5"/>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000002"
        complete_nodeset="0x00000002" gp_index="6">
      <object type="NUMANode" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000002"
          complete_nodeset="0x00000002" gp_index="7" local_memory="1073741824"/>
      <object type="Core" os_index="0" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000002"
          complete_nodeset="0x00000002" gp_index="9">
        <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000002"
            complete_nodeset="0x00000002" gp_index="10"/>
      </object>
    </object>
  </object>
</topology>
)");
  CHECK(found_under("HWLOC_XMLFILE='" + file.path() + "'") == "0:0;1:1; 2 Model X");
}

TEST_CASE("only the processing units that this process may use count") {
  if (std::system("command -v taskset > /dev/null") != 0) {
    std::printf("SKIPPED only the processing units that this process may use count: no taskset\n");
    return;
  }
  for (const int cpu : allowed_cpus()) {
    const std::string found = found_under("taskset -c " + std::to_string(cpu));
    INFO(found);
    CHECK(found.find("; 1 ") != std::string::npos);
  }
}

}  // namespace topology_test
