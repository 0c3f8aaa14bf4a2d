// Lambdas as CUDA codelets: device data in the shape of their arrays, batches that are replayed, and an exception on a GPU's worker.
#include "runtime/graph/typed_codelet.hpp"

#include "runtime/graph/batch.hpp"
#include "tests/gpu/support.hpp"
#include "tests/unit/error_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

namespace typed_codelet_test {

#ifdef QUARKSTAR_CUDA
using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {

/// to(., j + 1) = from(., j), periodic.
const TypedCodelet shift(
    "test.shift", CodeletKind::copy,
    [](Call&, In<int, 2> from, Out<int, 2> to, int refuses) {
      if (refuses != 0) throw Error(ErrorKind::input, "shift", "it is refused", "ask for another");
      const std::int64_t rows = from.extents[0], columns = from.extents[1];
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) to(i, (j + 1) % columns) = from(i, j);
    },
    [](Call& call, In<int, 2> from, Out<int, 2> to, int refuses) {
      if (refuses != 0) throw Error(ErrorKind::input, "shift", "it is refused", "ask for another");
      const std::int64_t rows = from.extents[0], columns = from.extents[1];
      const auto copy = [&](std::int64_t target, std::int64_t source, std::int64_t count) {
        cudaMemcpyAsync(&to(0, target), &from(0, source), static_cast<std::size_t>(rows * count) * sizeof(int), cudaMemcpyDeviceToDevice,
                        static_cast<cudaStream_t>(call.stream()));
      };
      copy(1, 0, columns - 1);
      copy(0, columns - 1, 1);
    });

}  // namespace

TEST_CASE("a lambda with a CUDA version runs on the GPU that owns its data, alone and in batches") {
  QUARKSTAR_NEEDS_GPU("typed codelets");
  SessionOptions settings = runtime_testing::options(1);
  settings.cuda_workers = 1;
  Session session(settings);
  const Array<int, 2> a(5, 7), b(5, 7);
  {
    const HostArray host(a, HostAccess::overwrite);
    for (int j = 0; j < 7; ++j)
      for (int i = 0; i < 5; ++i) host(i, j) = 10 * j + i;
  }
  submit(shift.on(a, b, 0), {0, 280}, {.owner = 0});
  submit(shift.on(b, a, 0), {0, 280}, {.owner = 0});
  for (int round = 0; round < 4; ++round) {  // the second is captured, later ones are replayed
    Batch batch;
    submit(shift.on(a, b, 0), {0, 280}, {.owner = 0});
    submit(shift.on(b, a, 0), {0, 280}, {.owner = 0});
    batch.submit();
  }
  const HostArray host(a);
  for (int j = 0; j < 7; ++j)
    for (int i = 0; i < 5; ++i) CHECK(host(i, (j + 10) % 7) == 10 * j + i);
}

TEST_CASE("an exception on a GPU's worker ends the graph with the name of the codelet") {
  QUARKSTAR_NEEDS_GPU("exceptions on GPUs");
  SessionOptions settings = runtime_testing::options(1);
  settings.cuda_workers = 1;
  Session session(settings);
  const Array<int, 2> a(2, 2), b(2, 2);
  { const HostArray host(a, HostAccess::overwrite); }
  submit(shift.on(a, b, 1), {}, {.owner = 0, .block = 4});
  CHECK(error_testing::message_of([&] { session.wait_all(); }) ==
        "codelet test.shift (block 4, worker 0): shift: it is refused; ask for another");
}
#endif

}  // namespace typed_codelet_test
