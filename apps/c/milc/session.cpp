// The session of libquda.so, and memory.
#include "apps/c/milc/milc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

// Of QMP, which programs may have: weak, so that a program without it links, and one with it exports them.
extern "C" {
[[gnu::weak, gnu::visibility("default")]] int QMP_logical_topology_is_declared(void);
[[gnu::weak, gnu::visibility("default")]] int QMP_get_node_number_from(const int* coordinates);
}

using namespace quarkstar;
using namespace quarkstar::c;

namespace quarkstar::c::milc {
namespace {

struct State {
  const void* communicator = nullptr;  ///< MPI_Comm*
  qs_session* session = nullptr;
  Coord lattice{};
  int verbosity = QUDA_SUMMARIZE;
};
State state;

/// QMP, where the program has it, says which rank has which part; else that goes by x, which is fastest.
void require_order_of_ranks(const std::array<int, 4>& grid) {
  if (QMP_get_node_number_from == nullptr || QMP_logical_topology_is_declared == nullptr || QMP_logical_topology_is_declared() == 0) return;
  work("qudaInit", [&](Context& context) {
    context.job->together([&] {
      const int rank = context.job->rank();
      std::array<int, 4> place{};
      int rest = rank;
      for (std::size_t mu = 0; mu < 4; ++mu) {
        place[mu] = rest % grid[mu];
        rest /= grid[mu];
      }
      const int node = QMP_get_node_number_from(place.data());
      if (node != rank)
        throw Error(ErrorKind::input, "",
                    fmt::format("QMP gives the part {} to rank {}, and here it is that of rank {}", fmt::join(place, ","), node, rank),
                    "do not map QMP's topology (-qmp-logic-map, -qmp-alloc-map)");
    });
  });
}

constexpr const char* settings_variable = "QUARKSTAR_MILC";

void log(void*, int level, const char* message) {
  const runtime::mpi::Job* const job = state.session != nullptr ? state.session->context->job.get() : nullptr;
  const bool speaks_for_all = job == nullptr || job->is_root();
  if (level == QS_LOG_INFO && (state.verbosity < QUDA_VERBOSE || !speaks_for_all)) return;
  if (level == QS_LOG_WARNING && (state.verbosity < QUDA_SUMMARIZE || !speaks_for_all)) return;
  std::fprintf(stderr, "libquda of Quarkstar: %s\n", message);
}

/// "key=value key=value" of the environment.
std::vector<std::array<std::string, 2>> settings_of_environment(const char* function) {
  std::vector<std::array<std::string, 2>> settings;
  const char* const text = std::getenv(settings_variable);
  std::istringstream words(text != nullptr ? text : "");
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      end(function, fmt::format("${}: '{}' is no setting: write key=value, separated by blanks", settings_variable, word));
    settings.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return settings;
}

void* allocate(const char* function, std::size_t bytes) {
  constexpr std::size_t alignment = 4096;  // of a page: so that a device may map it
  void* const memory = std::aligned_alloc(alignment, (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  if (memory == nullptr) end(function, fmt::format("no memory for {} bytes: use more ranks", bytes));
  return memory;
}

}  // namespace

qs_session* session(const char* function) {
  if (state.session == nullptr) end(function, "qudaInit was not called before, or qudaFinalize was: call qudaInit first");
  return state.session;
}

const Coord& lattice() { return state.lattice; }

void end(const char* function, const std::string& message) {
  std::fflush(nullptr);  // what the program has written to all its files
  std::fprintf(stderr, "libquda of Quarkstar: %s: %s\n", function, message.c_str());
  std::fflush(stderr);
  // Not exit(), since threads of ours may still be at work. Of a rank that ends so the launcher ends the others.
  std::_Exit(EXIT_FAILURE);
}

void require_ok(const char* function, qs_status status) {
  if (status != QS_OK && status != QS_NOT_CONVERGED) end(function, qs_error_message());
}

void work(const char* function, const std::function<void(Context& context)>& work) {
  Context& context = *session(function)->context;
  require_ok(function, call(&context, std::function<void()>([&] { work(context); })));
}

runtime::Decomposition cut(Context& context) { return cut_over_ranks(context, state.lattice); }

qs_precision precision_of(const char* function, int precision) {
  if (precision != 1 && precision != 2) end(function, fmt::format("precision {} of fields: give 1, single, or 2, double", precision));
  return precision == 1 ? QS_SINGLE : QS_DOUBLE;
}

qs_links links_at(const char* function, int precision, const void* links) {
  return {.struct_size = sizeof(qs_links),
          .data = {const_cast<void*>(links)},  // only read where they are an argument
          .precision = precision_of(function, precision),
          .layout = QS_EVEN_ODD,
          .location = QS_HOST,
          .site_stride = 0,
          .cuda_stream = nullptr};
}

qs_links links_at(const char* function, int precision, const QudaMILCSiteArg_t* site) {
  if (site == nullptr) end(function, "no site structs: give where links are");
  if (site->site == nullptr) return links_at(function, precision, site->link);
  qs_links links = links_at(function, precision, static_cast<const char*>(site->site) + site->link_offset);
  links.layout = QS_MILC_SITE;
  links.site_stride = site->size;
  return links;
}

GaugePointer gauge_of(const char* function, const qs_links& links) {
  qs_gauge* gauge = nullptr;
  require_ok(function, qs_gauge_create(session(function), state.lattice.data(), &links, &gauge));
  return GaugePointer(gauge);
}

std::uint64_t hash(std::uint64_t sum, const void* data, std::size_t bytes) {
  const char* const first = static_cast<const char*>(data);
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, first + i, sizeof word);
    sum = (sum ^ word) * odd;
    sum ^= sum >> 32;
  }
  return sum;
}

std::uint64_t sample_of(std::uint64_t sum, const void* links, const Coord& extents, std::size_t bytes) {
  if (links == nullptr) return sum;
  const std::int64_t sites = volume(extents);
  const std::size_t of_site = bytes / static_cast<std::size_t>(sites);
  const auto add = [&](std::int64_t place) {
    sum = hash(sum, static_cast<const char*>(links) + static_cast<std::size_t>(place) * of_site, of_site);
  };
  for (std::size_t mu = 0; mu < 4; ++mu)
    for (Coord site{}; site[mu] < extents[mu]; ++site[mu])
      add((site[0] + extents[0] * (site[1] + extents[1] * (site[2] + std::int64_t{extents[2]} * site[3]))) / 2 +
          site[mu] % 2 * (sites / 2));
  constexpr std::int64_t spread = 256, prime = 1000003;
  for (std::int64_t i = 0; i < std::min(spread, sites); ++i) add(i * prime % sites);
  return sum;
}

qs_vectors vectors_at(const char* function, int precision, void* const* vectors, int count) {
  return {.struct_size = sizeof(qs_vectors),
          .data = vectors,
          .count = count,
          .precision = precision_of(function, precision),
          .layout = QS_EVEN_ODD,
          .location = QS_HOST,
          .site_stride = 0,
          .cuda_stream = nullptr};
}

}  // namespace quarkstar::c::milc

using namespace quarkstar::c::milc;

void qudaSetMPICommHandle(void* communicator) { state.communicator = communicator; }

void qudaInit(QudaInitArgs_t input) {
  if (state.session != nullptr) return;
  if (input.layout.latsize == nullptr || input.layout.machsize == nullptr) end(__func__, "no lattice or no grid of ranks: give both");
  state.verbosity = input.verbosity;
  std::array<int, 4> ranks{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    ranks[mu] = input.layout.machsize[mu];
    const int extent = state.lattice[mu] = input.layout.latsize[mu];
    if (ranks[mu] < 1 || extent < 1 || extent % (2 * ranks[mu]) != 0)
      end(__func__, fmt::format("{} = {} on {} ranks: give extents that are even on each of equal ranks", "xyzt"[mu], extent, ranks[mu]));
  }
  const auto of_environment = settings_of_environment(__func__);
  const std::string grid = fmt::format("{}", fmt::join(ranks, ","));
  std::vector<qs_setting> settings{{"ranks", grid.c_str()}};
  for (const auto& [key, value] : of_environment) settings.push_back({key.c_str(), value.c_str()});
  qs_session_options options{};
  options.struct_size = sizeof options;
  options.mpi_communicator = state.communicator;
  options.settings = settings.data();
  options.settings_count = settings.size();
  options.log = log;
  require_ok(__func__, qs_session_open(&options, &state.session));
  require_order_of_ranks(ranks);
}

void qudaFinalize(void) {
  if (state.session == nullptr) return;
  forget_operators();
  forget_transport();
  require_ok(__func__, qs_session_close(state.session));
  state.session = nullptr;
}

void* qudaAllocatePinned(size_t bytes) { return allocate(__func__, bytes); }
void qudaFreePinned(void* pointer) { std::free(pointer); }
void* qudaAllocateManaged(size_t bytes) { return allocate(__func__, bytes); }
void qudaFreeManaged(void* pointer) { std::free(pointer); }

void qudaHisqParamsInit(QudaHisqParams_t) {}
void qudaCleanUpDeflationSpace(void) {}
