// What tasks took on each worker: predictions from it, the file that keeps it, and policies that go by it.
#include "runtime/observe/codelet_costs.hpp"

#include "runtime/graph/typed_codelet.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;
using doctest::Approx;
using runtime_testing::options;

namespace {

/// A file that goes with the test.
class File {
 public:
  File() : path_((std::filesystem::temp_directory_path() / ("quarkstar-costs-" + std::to_string(getpid()))).string()) { remove(); }
  ~File() { remove(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  void remove() const {
    std::error_code ignored;
    for (const char* end : {"", ".lock"}) std::filesystem::remove(path_ + end, ignored);
  }
  std::string path_;
};

void record_many(CodeletCosts& costs, int worker, const char* codelet, double bytes, double us, int tasks = 50) {
  for (int task = 0; task < tasks; ++task) costs.record(worker, codelet, bytes, us);
}

const TypedCodelet spin("test.spin", CodeletKind::other, [](Call&, InOut<int>) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(20)) {
  }
});
const TypedCodelet where("test.where", CodeletKind::other, [](Call& call, InOut<int> worker) { *worker = call.worker(); });

}  // namespace

TEST_CASE("a task is predicted from those of its codelet, there, then on other workers of the device") {
  CodeletCosts costs({"cpu", "cpu", "gpu"}, "");
  CHECK(costs.predicted_us(0, "a", 1e6) == 0);
  costs.record(0, "a", 1e6, 5000);  // the first touches its memory
  CHECK(costs.predicted_us(0, "a", 1e6) == 0);
  costs.record(0, "a", 1e6, 100);
  CHECK(costs.predicted_us(0, "a", 1e6) == Approx(100));
  CHECK(costs.predicted_us(0, "a", 3e6) == Approx(300));
  CHECK(costs.predicted_us(1, "a", 1e6) == Approx(100));
  CHECK(costs.predicted_us(2, "a", 1e6) == 0);
  CHECK(costs.predicted_us(0, "b", 1e6) == 0);
  record_many(costs, 1, "a", 2e6, 1000);
  CHECK(costs.predicted_us(1, "a", 1e6) == Approx(500).epsilon(0.01));
  CHECK(costs.predicted_us(0, "a", 1e6) == Approx(100));
}

TEST_CASE("one task that waits for its core does not make a worker look too slow for two equal ones to be shared") {
  CodeletCosts costs({"cpu", "cpu"}, "");
  record_many(costs, 0, "a", 1e6, 100);
  costs.record(1, "a", 1e6, 100);
  costs.record(1, "a", 1e6, 5000);  // before it has done another
  CHECK(costs.predicted_us(1, "a", 1e6) < 2 * costs.predicted_us(0, "a", 1e6));
  record_many(costs, 1, "a", 1e6, 100);
  costs.record(1, "a", 1e6, 5000);
  CHECK(costs.predicted_us(1, "a", 1e6) < 2 * costs.predicted_us(0, "a", 1e6));
}

TEST_CASE("a worker that becomes slow is seen within some tasks, and nonsense is not recorded") {
  CodeletCosts costs({"cpu"}, "");
  record_many(costs, 0, "a", 1e6, 100, 1000);
  record_many(costs, 0, "a", 1e6, 400, 20);
  CHECK(costs.predicted_us(0, "a", 1e6) > 350);
  const double before = costs.predicted_us(0, "a", 1e6);
  for (const double us : {0.0, -1.0, 1.0}) costs.record(0, "a", 1e6, us);
  costs.record(0, "a", 0, 100);
  costs.record(0, "a", 1e12, 100);
  CHECK(costs.predicted_us(0, "a", 1e6) == before);
}

TEST_CASE("what was learnt is kept by device, and several sessions write one file") {
  const File file;
  {
    CodeletCosts costs({"cpu", "cpu"}, file.path());
    record_many(costs, 0, "a", 1e6, 100);
    record_many(costs, 1, "a", 1e6, 900);  // something else was on its core
    record_many(costs, 0, "rare", 1e6, 100, 3);
    costs.keep();
  }
  {
    CodeletCosts costs({"gpu"}, file.path());
    record_many(costs, 0, "a", 1e6, 2);
    costs.keep();
  }
  const CodeletCosts next({"gpu", "cpu", "fpga"}, file.path());
  CHECK(next.predicted_us(0, "a", 5e5) == Approx(1));
  CHECK(next.predicted_us(1, "a", 2e6) == Approx(200));
  CHECK(next.predicted_us(2, "a", 2e6) == 0);
  CHECK(next.predicted_us(1, "rare", 1e6) == 0);
}

TEST_CASE("a file is written only where something is new, and one that makes no sense is replaced") {
  const File file;
  {
    CodeletCosts costs({"cpu"}, file.path());
    record_many(costs, 0, "a", 1e6, 100);
    costs.keep();
  }
  const std::string kept = file.text();
  CHECK(kept.find("\"a\"") != std::string::npos);
  {
    CodeletCosts costs({"cpu"}, file.path());
    record_many(costs, 0, "a", 1e6, 110);
    costs.keep();
  }
  CHECK(file.text() == kept);
  {
    CodeletCosts costs({"cpu"}, file.path());
    record_many(costs, 0, "a", 1e6, 200);
    costs.keep();
  }
  CHECK(CodeletCosts({"cpu"}, file.path()).predicted_us(0, "a", 1e6) == Approx(200).epsilon(0.01));
  for (const char* nonsense :
       {"", "{", "[]", "{\"format\": 2}", "{\"format\": 1, \"devices\": 3}", "{\"format\": 1, \"devices\": {\"cpu\": []}}",
        "{\"format\": 1, \"devices\": {\"cpu\": {\"a\": 1, \"b\": {\"bytes\": \"x\", \"microseconds\": 1}, \"c\": {\"bytes\": 1, "
        "\"microseconds\": -1}}}}"}) {
    INFO(nonsense);
    std::ofstream(file.path()) << nonsense;
    CodeletCosts costs({"cpu"}, file.path());
    for (const char* codelet : {"a", "b", "c"}) CHECK(costs.predicted_us(0, codelet, 1e6) == 0);
    record_many(costs, 0, "d", 1e6, 7);
    costs.keep();
    CHECK(CodeletCosts({"cpu"}, file.path()).predicted_us(0, "d", 1e6) == Approx(7));
  }
}

TEST_CASE("a session under a policy that places tasks one by one learns, one that keeps owners does not") {
  {
    const Session session(options(1, 1, "static"));
    CHECK(CodeletCosts::of_session() == nullptr);
  }
  Session session(options(2, 1, "dmda"));
  REQUIRE(CodeletCosts::of_session() != nullptr);
  const Handle data(sizeof(int));
  *HostView<int>(data, HostAccess::overwrite) = 0;
  for (int task = 0; task < 20; ++task) submit(spin.on(data), {1, 1e3});
  session.wait_all();
  CHECK(CodeletCosts::of_session()->predicted_us(0, "test.spin", 1e3) > 0);
}

TEST_CASE("StarPU's policies place by what tasks took") {
  for (const char* policy : {"dm", "dmda", "dmdas"})
    for (const int fast : {0, 1}) {
      INFO(policy << ", worker " << fast << " is the fast one");
      Session session(options(2, 1, policy));
      CodeletCosts& costs = *CodeletCosts::of_session();
      record_many(costs, 1 - fast, "test.where", 1e3, 1e7);
      record_many(costs, fast, "test.where", 1e3, 10);
      const Handle data(sizeof(int));
      *HostView<int>(data, HostAccess::overwrite) = -1;
      for (int task = 0; task < 20; ++task) {
        submit(where.on(data), {1, 1e3});
        CHECK(*HostView<int>(data) == fast);
      }
    }
}
