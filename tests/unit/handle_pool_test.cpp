// Handles that one program leaves for the next: the same ones in the same order, with tasks of both in order.
#include "runtime/graph/handle_pool.hpp"

#include "runtime/graph/handle.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace handle_pool_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::Gate;
using runtime_testing::options;
using runtime_testing::Script;

TEST_CASE("a program gets the handles of the program before, each in its old place") {
  const Session session(options(1));
  const auto pool = std::make_shared<HandlePool>();
  const auto program = [&] {
    const HandlePool::Use use(pool);
    std::vector<Handle> fields;
    for (int i = 0; i < 3; ++i) fields.emplace_back(4096);
    std::optional<Handle> short_lived(std::in_place, 4096);
    const Handle small(64);
    std::vector<_starpu_data_state*> states{short_lived->state(), small.state()};
    short_lived.reset();
    const Handle later(4096);
    states.push_back(later.state());
    for (const Handle& field : fields) states.push_back(field.state());
    return states;
  };
  const std::vector<_starpu_data_state*> first = program();
  CHECK(first[2] == first[0]);  // given up within the program, and taken again
  CHECK(pool->kept() == 5);
  CHECK(program() == first);
  CHECK(pool->kept() == 5);

  const Handle elsewhere(4096);
  CHECK(pool->kept() == 5);
  {
    const HandlePool::Use use(pool);
    const Handle other_size(8192);
    Handle moved_away(64);
    CHECK(pool->kept() == 4);
    const Handle moved = std::move(moved_away);
    CHECK(moved.state() == first[1]);
  }
  CHECK(pool->kept() == 6);
  pool->trim();
  CHECK(pool->kept() == 0);
}

TEST_CASE("what reads a handle before it is given up reads what was in it then") {
  Session session(options(2));
  const auto pool = std::make_shared<HandlePool>();
  Gate gate;
  int seen = 0;
  Script script;
  const auto program = [&](int value, bool reads) {
    const HandlePool::Use use(pool);
    const Handle handle(sizeof(int));
    script.submit([value](Call& call) { *call.buffer<int>(0) = value; }, {out(handle)});
    if (reads) script.submit([&](Call& call) { seen = gate.wait() ? *call.buffer<const int>(0) : -1; }, {in(handle)});
    return handle.state();
  };
  auto* const first = program(5, true);
  CHECK(program(7, false) == first);
  gate.open();
  session.wait_all();
  CHECK(seen == 5);
}

TEST_CASE("a frozen handle does not come back, and a handle may outlive the hands of its maker") {
  const Session session(options(1));
  std::optional<Handle> longer;
  auto pool = std::make_shared<HandlePool>();
  {
    const HandlePool::Use use(pool);
    Handle frozen(64);
    *HostView<int>(frozen, HostAccess::overwrite) = 1;
    frozen.freeze();
    longer.emplace(64);
  }
  CHECK(pool->kept() == 0);
  pool.reset();
  *HostView<int>(*longer, HostAccess::overwrite) = 3;
  CHECK(*HostView<int>(*longer) == 3);
}

TEST_CASE("pools of programs give up their handles when the sizes change") {
  const Session session(options(1));
  HandlePools pools;
  const auto make = [&](int shape) {
    const HandlePool::Use use(pools.mine(shape));
    const Handle handle(static_cast<std::size_t>(64 * shape));
  };
  make(2);
  CHECK(pools.mine(2)->kept() == 1);
  CHECK(HandlePool::in_use() == nullptr);
  make(3);
  CHECK(pools.mine(3)->kept() == 1);
  CHECK(pools.mine(2)->kept() == 0);
}

}  // namespace handle_pool_test
