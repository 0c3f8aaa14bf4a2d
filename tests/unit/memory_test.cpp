// What the machine says about its memory, read from trees made for the test.
#include "runtime/system/memory.hpp"

#include "apps/run/action_memory.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/contract/correlators.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace memory_test {

using namespace quarkstar;
using runtime::available_host_memory;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

class Machine {
 public:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(path)).parent_path());
    testing::write_file(folder_.file(path), text);
  }
  std::string root() const { return folder_.file("."); }

 private:
  testing::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("available memory is the least of what the kernel and the control groups leave") {
  Machine machine;
  CHECK_FALSE(available_host_memory(machine.root()));
  machine.write("proc/meminfo", "MemTotal:       67108864 kB\nMemFree:         1048576 kB\nMemAvailable:   33554432 kB\n");
  CHECK(available_host_memory(machine.root()) == 32 * gib);
  machine.write("proc/self/cgroup", "0::/job/step\n");
  machine.write("sys/fs/cgroup/job/step/memory.max", "max\n");
  machine.write("sys/fs/cgroup/job/step/memory.current", "1073741824\n");
  CHECK(available_host_memory(machine.root()) == 32 * gib);
  machine.write("sys/fs/cgroup/job/memory.max", "8589934592\n");
  machine.write("sys/fs/cgroup/job/memory.current", "2147483648\n");
  CHECK(available_host_memory(machine.root()) == 6 * gib);
  // The cache of files is not taken for good.
  machine.write("sys/fs/cgroup/job/memory.stat", "anon 536870912\ninactive_file 536870912\nactive_file 536870912\n");
  CHECK(available_host_memory(machine.root()) == 7 * gib);
  machine.write("proc/self/cgroup", "0::/\n");
  machine.write("sys/fs/cgroup/memory.max", "1073741824\n");
  machine.write("sys/fs/cgroup/memory.current", "2147483648\n");
  CHECK(available_host_memory(machine.root()) == 0);
}

TEST_CASE("handles are counted while they live") {
  const runtime::Session session(runtime_testing::options(1));
  const std::size_t before = runtime::host_memory_use().now;
  runtime::restart_peak();
  {
    const runtime::Handle handle(3 * gib / 1024);
    *runtime::HostView<char>(handle, runtime::HostAccess::overwrite) = 1;
    CHECK(runtime::host_memory_use().now - before == 3 * gib / 1024);
  }
  runtime::Session::current().wait_all();
  CHECK(runtime::host_memory_use().now == before);
  CHECK(runtime::host_memory_use().peak - before == 3 * gib / 1024);
}

TEST_CASE("a solve that does not fit is refused with what it needs, what there is, and remedies") {
  app::MemoryNeed need{.where = "CUDA 0", .gpu = true, .fields = {.links = 2.0 * gib, .fields = 1.0 * gib}, .available = 4.0 * gib};
  CHECK_NOTHROW(app::require_memory({need}));
  CHECK(app::memory_text(need) == "CUDA 0: 3.00 GiB of 4.00 GiB (links 2.00 GiB, vectors 1.00 GiB, faces 0.0 MiB, tables 0.0 MiB)");
  need.available = 0;  // unknown
  CHECK_NOTHROW(app::require_memory({need}));
  need.available = 2.5 * gib;
  const auto message = [](const app::MemoryNeed& n) -> std::string {
    try {
      app::require_memory({n});
    } catch (const Error& error) {
      CHECK(error.exit_code() == 2);
      return error.what();
    }
    return "accepted";
  };
  CHECK(message(need).find("gpu-memory: this solve needs 3.00 GiB of memory on CUDA 0, 2.50 GiB are available; use ") == 0);
  need.gpu = false;
  CHECK(message(need).find("cpu-memory: ") == 0);
  CHECK(message(need).find("fewer --links reals") != std::string::npos);
  // Links in the making count where they take more than what comes after them.
  need.making_links = 2.75 * gib;
  CHECK(need.total() == 3.0 * gib);
  CHECK(message(need).find("--nrhs") != std::string::npos);
  need.making_links = 5.0 * gib;
  CHECK(message(need).find("cpu-memory: this solve needs 5.00 GiB of memory on CUDA 0") == 0);
  CHECK(app::memory_text(need).ends_with("; before that 5.00 GiB to make the links)"));
}

TEST_CASE("modes that are written: the host holds a block of them as they are computed, and the sites that are stored") {
  CHECK(app::host_vectors_of_writing(false, 16, 1) == 16 + 8);
  CHECK(app::host_vectors_of_writing(false, 16, 2) == 16 + 16);
  CHECK(app::host_vectors_of_writing(true, 3, 1) == 3 + 2 + 2);
}

TEST_CASE("a basis in host memory: what a GPU still holds of it") {
  app::RunConfig config;
  config.action = &kind_named("naive");
  EigenSettings settings{.modes = 1000};
  CHECK(!app::makes_basis(config));
  app::count_basis(config, settings);
  CHECK(app::makes_basis(config));
  // 1500 vectors, of which a restart keeps 1168; two fields more, and 8 blocks; and what measuring the break-even holds.
  CHECK(app::basis_vectors(config) == 1500 + 1168 + 2 * 16 + 8 * 4 + 9);
  CHECK(app::basis_vectors_on_device(config) == app::basis_vectors(config));
  // Four fields of 16 that are summed, and four that are read.
  settings.basis_in_host_memory = true;
  app::count_basis(config, settings);
  CHECK(app::basis_vectors(config) == 1500 + 1168 + 2 * 16 + 8 * 4 + 9);
  CHECK(app::basis_vectors_on_device(config) == (4 + 4) * 16 + 2 * 16 + 8 * 4);
}

namespace {

/// Of correlators, on all threads.
double bytes_of_sums(const runtime::Session& session, const app::RunConfig& config, int times) {
  return contract::sum_bytes(contract::choose(config.action->correlators, config.correlators.names), config.correlators.momenta.size(),
                             times) *
         session.cpu_team().threads();
}

}  // namespace

TEST_CASE("staggered needs: links in the making, then links, fields and columns") {
  const runtime::Session session(runtime_testing::options(1));
  app::RunConfig config;
  config.action = &kind_named("hisq");
  config.columns = {0, 1, 2};
  config.nrhs = 3;
  config.solver.solver = "cg";
  const Coord lattice{8, 8, 8, 8};
  const runtime::Decomposition whole = runtime::Decomposition::uncut(lattice, 0);
  const double sites = 4096, field = sites * 576;
  const auto need = [&] {
    const std::vector<app::MemoryNeed> needs = app::memory_needs(session, {&whole, 1}, config);
    REQUIRE(needs.size() == 1);
    return needs.front();
  };
  const auto padded = [](int depth) { return std::pow(8 + 2 * depth, 4) * 576; };
  const app::MemoryNeed hisq = need();
  CHECK(hisq.where == "host");
  CHECK(hisq.making_links == std::max(field + padded(1) + padded(2) + 2 * field, 3 * field + padded(2) + 2 * field));
  CHECK(hisq.fields.links == sites * 8 * 36 * 8);
  CHECK(hisq.other == 3 * field + sites * 3 * 48 + hisq.fields.tables + bytes_of_sums(session, config, 8));
  // Each mass with an operator of its own: what its links are made of stays.
  config.settings["masses"] = std::vector<double>{0.1, 0.2};
  config.settings["naik-epsilon"] = "auto";
  const app::MemoryNeed several = need();
  CHECK(several.fields.links == hisq.fields.links + padded(2) + 2 * field);
  CHECK(several.fields.fields == hisq.fields.fields);
  CHECK(several.other == hisq.other + sites * 3 * 48);
  // Every source has its solutions; what is solved together is not more.
  config.further_sources.resize(2);
  CHECK(app::numbers_together(config) == std::vector<int>{3, 3, 3});
  CHECK(need().fields.fields == hisq.fields.fields);
  CHECK(need().other == hisq.other + sites * 15 * 48);
  config.nrhs = 9;
  CHECK(app::numbers_together(config) == std::vector<int>{9});
  CHECK(need().fields.fields == hisq.fields.fields * 3);
  CHECK(need().other == hisq.other + sites * 15 * 48);
  // Correlators alone need no solutions in host memory where propagators are solved whole.
  config.propagators = false;
  CHECK(need().other == hisq.other - sites * 3 * 48);
  config.nrhs = 2;
  CHECK(need().other > hisq.other);
  config.propagators = true;
  config.further_sources.clear();
  config.settings["naik-epsilon"] = 0.0;
  config.nrhs = 4;
  CHECK(app::numbers_together(config) == std::vector<int>{4, 2});
  CHECK(need().fields.fields == hisq.fields.fields * 4 / 3 + sites * 9 * 16);  // the second propagator comes in parts: a copy is contracted
  config.solver.solver = "blockcg";
  CHECK(app::numbers_together(config) == std::vector<int>{3, 3});
  config.solver.solver = "multishift";
  CHECK(app::numbers_together(config) == std::vector<int>{2, 2, 2});
  config.action = &kind_named("naive");
  CHECK(need().making_links == 3 * field);
  CHECK(need().fields.links == sites * 8 * 18 * 8);
}

TEST_CASE("staggered needs: a rank makes or reads the links of its part and of hops into it") {
  const runtime::Session session(runtime_testing::options(1));
  app::RunConfig config;
  config.action = &kind_named("hisq");
  config.columns = {0, 1, 2};
  config.solver.solver = "cg";
  const runtime::Decomposition rank({8, 8, 8, 32}, runtime::RankGrid{{1, 1, 1, 4}, 1, {}}, {1, 1, 1, 1}, 1);
  const double slice = 8 * 8 * 8, columns = 8 * slice * 3 * 48;
  const auto field = [&](int slices) { return slices * slice * 576; };
  const auto padded = [](int depth) { return std::pow(8 + 2 * depth, 4) * 576; };
  // Of 8 slices: one of the configuration before and behind them; links of one hop and of three begin so far before them. While these are
  // made they have that many slices on either side, which are sent and received.
  const double read_links = field(1 + 8 + 1), kept = field(8 + 1) + field(8 + 3);
  const double making = field(8 + 2 + 4) + field(8 + 6 + 12);
  const app::MemoryNeed made = app::memory_needs(session, {&rank, 1}, config).front();
  CHECK(made.making_links == std::max(read_links + padded(1) + padded(2) + making, read_links + kept + padded(2) + making));
  const double sums = bytes_of_sums(session, config, 32);
  CHECK(made.other == read_links + kept + columns + made.fields.tables + sums);
  config.settings["fat"] = "fat";
  config.settings["long"] = "long";
  const app::MemoryNeed read = app::memory_needs(session, {&rank, 1}, config).front();
  CHECK(read.making_links == 0);
  CHECK(read.other == field(8 + 1 + 2) + field(8 + 3) + columns + read.fields.tables + sums);
}

TEST_CASE("staggered needs: links from files, copies for restart files, parts") {
  const runtime::Session session(runtime_testing::options(1));
  app::RunConfig config;
  config.action = &kind_named("hisq");
  config.columns = {0, 1, 2};
  config.solver.solver = "cg";
  const Coord lattice{8, 8, 8, 16};
  const double sites = 8192, field = sites * 576;
  const runtime::Decomposition uncut = runtime::Decomposition::uncut(lattice, 0);
  const auto need = [&] { return app::memory_needs(session, {&uncut, 1}, config).front(); };
  const app::MemoryNeed made = need();
  CHECK(made.making_links > 0);
  config.settings["fat"] = "fat";
  config.settings["long"] = "long";
  const app::MemoryNeed read = need();
  CHECK(read.making_links == 0);
  CHECK(read.other == made.other - field);
  CHECK(read.fields.total() == made.fields.total());
  config.solver.snapshots = true;
  CHECK(need().fields.fields == read.fields.fields * 15 / 12);
  CHECK(need().other == read.other + sites * 3 * 48);
  config.solver.snapshots = false;
  config.settings.erase("fat");
  config.settings.erase("long");
  for (const bool one_epsilon : {true, false})
    for (const Precision precision : {Precision::double_, Precision::half}) {
      config.solver.precision = precision;
      if (one_epsilon) config.settings["naik-epsilon"] = 0.0;
      else config.settings["naik-epsilon"] = "auto";
      const runtime::Decomposition cut(lattice, std::array<std::vector<int>, 4>{{{8}, {8}, {8}, {12, 4}}}, {0, 1});
      const std::vector<Footprint> blocks =
          footprint(cut, config.solver, operator_shape(*config.action, config.settings, config.solver), app::numbers_together(config));
      const app::PartBytes part = app::part_bytes(lattice, 3, config);
      for (int b = 0; b < 2; ++b) {
        const int layers = cut.block(b).extents[3];
        const Footprint& bytes = blocks[static_cast<std::size_t>(b)];
        CHECK(part.layer * layers + part.border > bytes.total() - bytes.scalars);
        // Links in the making: W with two layers around it, X and N, and before them U and W.
        const double around = 12.0 * 12 * 12 * (layers + 4) * 576, inside = 512.0 * layers * 576,
                     nearer = 10.0 * 10 * 10 * (layers + 2) * 576;
        CHECK(part.layer * layers + part.border >= around + nearer + 2 * inside - 1);
      }
    }
}

}  // namespace memory_test
