// Arrays of one to five dimensions, and codelets made of lambdas: what a task sees is what was submitted, in batches too.
#include "runtime/graph/typed_codelet.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/error_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;
using error_testing::message_of;
using runtime_testing::options;

namespace {

/// Row-major offset computed the long way round, for indices whose first runs fastest.
template <std::size_t D>
std::int64_t place_of(const std::array<std::int64_t, D>& index, const std::array<std::int64_t, D>& extents) {
  std::int64_t place = 0, stride = 1;
  for (std::size_t d = 0; d < D; ++d) {
    place += index[d] * stride;
    stride *= extents[d];
  }
  return place;
}

/// Writes 1000 + place to each element.
template <int D>
const TypedCodelet<void(Out<std::int64_t, D>, std::int64_t)>& fill() {
  static const TypedCodelet codelet("test.fill", CodeletKind::other, [](Call& call, Out<std::int64_t, D> a, std::int64_t first) {
    call.team().for_range(a.size(), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) a[i] = first + i;
    });
  });
  return codelet;
}

template <int D>
void check_dimension(std::mt19937_64& random) {
  INFO(D << " dimensions");
  typename Array<std::int64_t, D>::Extents extents;
  for (auto& extent : extents) extent = std::uniform_int_distribution<int>(1, 6)(random);
  const Array<std::int64_t, D> array(extents);
  CHECK(array.extents() == extents);
  submit(fill<D>().on(array, 1000));
  const HostArray host(array);
  CHECK(host.size() == array.size());
  for (int trial = 0; trial < 20; ++trial) {
    std::array<std::int64_t, static_cast<std::size_t>(D)> index;
    for (std::size_t d = 0; d < index.size(); ++d) index[d] = std::uniform_int_distribution<std::int64_t>(0, extents[d] - 1)(random);
    CHECK(std::apply([&](auto... i) { return host(i...); }, index) == 1000 + place_of(index, extents));
  }
}

const TypedCodelet axpy("test.axpy", CodeletKind::vector, [](Call&, In<double, 1> x, InOut<double, 1> y, double a) {
  for (std::int64_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
});

struct Mixed {
  std::int32_t a, b;
  double c;
};
/// Every kind of parameter, in an order that would show a wrong place or buffer.
const TypedCodelet everything("test.everything", CodeletKind::other,
                              [](Call&, int before, const std::vector<In<int, 1>>& list, Out<double, 2> out, Mixed mixed, In<Mixed> state,
                                 const std::vector<InOut<int, 1>>& none, char last) {
                                double sum = before;
                                for (const In<int, 1>& data : list)
                                  for (std::int64_t i = 0; i < data.size(); ++i) sum += data[i];
                                for (std::int64_t i = 0; i < out.size(); ++i) out[i] = sum;
                                out(0, 0) = mixed.a + mixed.b * mixed.c;
                                out(1, 0) = state->a + state->b * state->c;
                                out(0, 1) = static_cast<double>(none.size());
                                out(1, 1) = last;
                              });
const TypedCodelet nothing("test.nothing", CodeletKind::other, [](Call&) {});
const TypedCodelet skips("test.skips", CodeletKind::other, [](Call& call, InOut<int>) { call.skip(); });

}  // namespace

TEST_CASE("arrays of one to five dimensions have the first index fastest, for tasks and for the host") {
  const std::uint64_t seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const Session session(options(2));
  for (int round = 0; round < 5; ++round) {
    check_dimension<1>(random);
    check_dimension<2>(random);
    check_dimension<3>(random);
    check_dimension<4>(random);
    check_dimension<5>(random);
  }
}

TEST_CASE("extents that make no array are refused") {
  const Session session(options(1));
  CHECK(message_of([] { Array<double, 2>(3, 0); }) == "Array: an extent is 0; give each direction one element at least");
  CHECK(message_of([] { Array<double, 1>(-1); }).find("an extent is -1") != std::string::npos);
  CHECK(message_of([] { Array<double, 3>(1ll << 40, 1ll << 40, 1ll << 40); }).find("more elements than memory can hold") !=
        std::string::npos);
  CHECK(message_of([] { Array<double, 2>(1ll << 30, 1ll << 30); }).find("more than the runtime can count") != std::string::npos);
}

TEST_CASE("tasks of lambdas run in the order of their data") {
  const Session session(options(2));
  const Array<double, 1> x(100), y(100);
  {
    const HostArray hx(x, HostAccess::overwrite), hy(y, HostAccess::overwrite);
    for (int i = 0; i < 100; ++i) hx[i] = i, hy[i] = 1;
  }
  for (int k = 0; k < 10; ++k) submit(axpy.on(x, y, 0.5), {200, 2400}, {.owner = k % 2});
  submit(axpy.on(y, x, 1.0), {200, 2400}, {.owner = 1});  // reads what the others have written
  const HostArray hx(x), hy(y);
  for (int i = 0; i < 100; ++i) {
    CHECK(hy[i] == 1 + 5.0 * i);
    CHECK(hx[i] == i + 1 + 5.0 * i);
  }
}

TEST_CASE("numbers, structures, lists and handles reach the task in their order") {
  const Session session(options(1));
  std::vector<Array<int, 1>> data;
  for (int i = 0; i < 3; ++i) {
    data.emplace_back(i + 1);
    const HostArray host(data.back(), HostAccess::overwrite);
    for (int k = 0; k <= i; ++k) host[k] = 10 * i + k;
  }
  const Handle plain(2 * sizeof(int)), state(sizeof(Mixed));
  {
    const HostView<int> view(plain, HostAccess::overwrite);
    for (std::size_t i = 0; i < plain.bytes() / sizeof(int); ++i) view[i] = 1000;
    *HostView<Mixed>(state, HostAccess::overwrite) = {5, 6, 0.25};
  }
  const Array<double, 2> out(2, 3);
  const std::vector<const Array<int, 1>*> list{&data[2], &data[0], &data[1]};
  submit(everything.on(7, list, out, Mixed{1, 2, 0.5}, state, std::vector<const Array<int, 1>*>{}, 'q'));
  {
    const HostArray host(out);
    CHECK(host(0, 2) == 7 + 0 + (10 + 11) + (20 + 21 + 22));
    CHECK(host(0, 0) == 2);
    CHECK(host(1, 0) == 6.5);
    CHECK(host(0, 1) == 0);
    CHECK(host(1, 1) == 'q');
  }
  submit(everything.on(0, std::vector<const Handle*>{&plain}, out, Mixed{}, state, std::vector<const Handle*>{}, 'q'));
  CHECK(HostArray(out)(1, 2) == 2000);
}

TEST_CASE("the arguments of a task follow from the values alone, so that batches can be told apart by them") {
  const Session session(options(1));
  const Array<int, 1> data(4);
  const Array<double, 2> out(2, 3);
  const Handle state(sizeof(Mixed));
  const std::vector<const Array<int, 1>*> list{&data}, none;
  const auto bytes = [&](int before, double c) { return everything.on(before, list, out, Mixed{1, 2, c}, state, none, 'q').arguments; };
  CHECK(bytes(3, 0.5) == bytes(3, 0.5));
  CHECK(bytes(3, 0.5) != bytes(4, 0.5));
  CHECK(bytes(3, 0.5) != bytes(3, 0.25));
}

TEST_CASE("lambdas fuse in batches, and a task that skips is not counted") {
  Session session(options(1));
  const Array<double, 1> x(10), y(10);
  {
    const HostArray hx(x, HostAccess::overwrite), hy(y, HostAccess::overwrite);
    for (int i = 0; i < 10; ++i) hx[i] = 1, hy[i] = 0;
  }
  session.events().reset();
  Batch batch;
  for (int k = 0; k < 8; ++k) submit(axpy.on(x, y, 2.0), {20, 240});
  submit(nothing.on());
  batch.submit();
  session.wait_all();
  CHECK(session.events().totals().submitted == 1);
  CHECK(session.events().totals().executed == 9);
  CHECK(session.events().totals().flops == 8 * 20);
  CHECK(HostArray(y)[9] == 16);
  const Handle number(sizeof(int));
  *HostView<int>(number, HostAccess::overwrite) = 0;
  submit(skips.on(number));
  session.wait_all();
  CHECK(session.events().totals().executed == 9);
}

TEST_CASE("data that do not fit their parameters are refused by the name of the codelet") {
  const Session session(options(1));
  const Array<double, 1> x(10);
  CHECK(message_of([&] { (void)axpy.on(x, x, 1.0); }, ErrorKind::internal) ==
        "test.axpy: a task is to write data that it uses for another parameter too; use one InOut parameter");
  const Handle small(1);
  CHECK(message_of([&] { (void)skips.on(small); }, ErrorKind::internal).find("test.skips: a handle of 1 bytes is smaller") == 0);
}
