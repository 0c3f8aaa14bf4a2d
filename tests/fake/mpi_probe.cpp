// Loaded before MPI (LD_PRELOAD): counts the calls of a rank, and can flip a bit of what a rank receives. Goes by MPI's profiling
// interface.
//   MPI_PROBE_COUNTS=FILE   at MPI_Finalize FILE.RANK gets a line "CALL COUNT" for each kind of call that was made, and for `persistent`
//                           requests the most that were there at a time
//   MPI_PROBE_NO_MEMORY=1   ranks cannot share memory: shm_open fails
//   MPI_PROBE_FLIP=RANK:N   on that rank the result of the N-th sum of the task graph (from 1) has one bit flipped
#include <dlfcn.h>
#include <mpi.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

std::mutex mutex;
std::map<std::string, long> counts;

void count(const char* call, long times = 1) {
  const std::lock_guard lock(mutex);
  counts[call] += times;
}

/// Persistent requests that come or go.
void add_persistent(int change) {
  const std::lock_guard lock(mutex);
  static long there = 0;
  there += change;
  long& most = counts["persistent"];
  if (there > most) most = there;
}

int rank() {
  int mine = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &mine);
  return mine;
}

/// Number of the sum whose result is to be damaged on this rank; 0: none.
long flipped() {
  static const long number = [] {
    const char* text = std::getenv("MPI_PROBE_FLIP");
    int of_rank = -1;
    long n = 0;
    return text != nullptr && std::sscanf(text, "%d:%ld", &of_rank, &n) == 2 && of_rank == rank() ? n : 0;
  }();
  return number;
}

/// Sums of the task graph are of a type of their own, exact sums of 32 bytes.
bool is_of_graph(MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return type != MPI_UINT64_T && type != MPI_DOUBLE && bytes == 32;
}

MPI_Request tracked = MPI_REQUEST_NULL;
void* result = nullptr;

/// Bit 2 of the highest limb of the first sum.
void damage() {
  *static_cast<std::uint64_t*>(result) ^= 4;
  tracked = MPI_REQUEST_NULL;
}

}  // namespace

extern "C" {

int MPI_Iallreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm communicator, MPI_Request* request) {
  const bool of_graph = is_of_graph(type);
  count(of_graph ? "sums" : "MPI_Iallreduce");
  const int code = PMPI_Iallreduce(in, out, n, type, op, communicator, request);
  static long sums = 0;
  if (of_graph && ++sums == flipped()) {
    tracked = *request;
    result = out;
  }
  return code;
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const bool is_tracked = tracked != MPI_REQUEST_NULL && *request == tracked;
  const int code = PMPI_Test(request, done, status);
  if (is_tracked && *done != 0) damage();
  return code;
}

int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm communicator, MPI_Request* request) {
  count("MPI_Isend");
  return PMPI_Isend(data, n, type, to, tag, communicator, request);
}
int MPI_Irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Request* request) {
  count("MPI_Irecv");
  return PMPI_Irecv(data, n, type, from, tag, communicator, request);
}
int MPI_Send_init(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm communicator, MPI_Request* request) {
  count("MPI_Send_init");
  add_persistent(1);
  return PMPI_Send_init(data, n, type, to, tag, communicator, request);
}
int MPI_Recv_init(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Request* request) {
  count("MPI_Recv_init");
  add_persistent(1);
  return PMPI_Recv_init(data, n, type, from, tag, communicator, request);
}
int MPI_Request_free(MPI_Request* request) {
  add_persistent(-1);  // the library frees no others
  return PMPI_Request_free(request);
}
int MPI_Start(MPI_Request* request) {
  count("MPI_Start");
  return PMPI_Start(request);
}
int MPI_Iallgather(const void* in, int n, MPI_Datatype type, void* out, int n_out, MPI_Datatype type_out, MPI_Comm communicator,
                   MPI_Request* request) {
  count("MPI_Iallgather");
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  count("gathered", static_cast<long>(n) * bytes);
  return PMPI_Iallgather(in, n, type, out, n_out, type_out, communicator, request);
}

int shm_open(const char* name, int flags, mode_t mode) noexcept {
  if (const char* wish = std::getenv("MPI_PROBE_NO_MEMORY"); wish != nullptr && std::strstr(name, "quarkstar") != nullptr) {
    errno = EACCES;
    return -1;
  }
  using Function = int (*)(const char*, int, mode_t);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "shm_open"));
  return real(name, flags, mode);
}

int MPI_Finalize() {
  if (const char* name = std::getenv("MPI_PROBE_COUNTS"); name != nullptr) {
    const std::lock_guard lock(mutex);
    if (std::FILE* file = std::fopen((std::string(name) + "." + std::to_string(rank())).c_str(), "w"); file != nullptr) {
      for (const auto& [call, times] : counts) std::fprintf(file, "%s %ld\n", call.c_str(), times);
      std::fclose(file);
    }
  }
  return PMPI_Finalize();
}
}
