// The tune cache: entries outlive runs, writers do not lose each other's, damage costs nothing but measurements.
#include "runtime/tune/tune_cache.hpp"

#include "runtime/system/error.hpp"
#include "runtime/tune/tune_merge.hpp"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace tune_cache_test {

using quarkstar::runtime::merge_tune_files;
using quarkstar::runtime::TuneCache;
using quarkstar::runtime::TuneEntry;
using quarkstar::runtime::TuneMerge;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes with the test.
struct Folder {
  std::string path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "quarkstar-tune-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What is logged while it lives.
class Log {
 public:
  Log() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~Log() { spdlog::set_default_logger(before_); }
  std::string text() const { return text_.str(); }
  std::ptrdiff_t lines() const {
    const std::string all = text();
    return std::count(all.begin(), all.end(), '\n');
  }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace

TEST_CASE("entries come back in another run") {
  const Folder folder;
  const std::string path = folder.path + "/deeper/tune.json";
  {
    TuneCache cache(path);
    CHECK_FALSE(cache.find("a").has_value());
    cache.put("a", {{0, 0, 8, 8, 128}, 12.5});
    cache.put("b", {{}, 1});
    CHECK(cache.find("a") == TuneEntry{{0, 0, 8, 8, 128}, 12.5});
  }
  const TuneCache again(path);
  CHECK(again.size() == 2);
  CHECK(again.find("a") == TuneEntry{{0, 0, 8, 8, 128}, 12.5});
  CHECK(again.find("b") == TuneEntry{{}, 1});
  CHECK_FALSE(again.find("c").has_value());
}

TEST_CASE("writers merge: what another run wrote stays, and becomes known") {
  const Folder folder;
  const std::string path = folder.path + "/tune.json";
  TuneCache first(path), second(path);
  first.put("a", {{1}, 1});
  second.put("b", {{2}, 2});
  first.put("c", {{3}, 3});
  CHECK(first.find("b") == TuneEntry{{2}, 2});
  CHECK(TuneCache(path).size() == 3);
}

TEST_CASE("processes that write at the same time, some of them killed, lose nothing that was put") {
  const Folder folder;
  const std::string path = folder.path + "/tune.json";
  constexpr int writers = 6, entries = 20;
  for (int w = 0; w < writers; ++w)
    if (::fork() == 0) {
      TuneCache cache(path);
      for (int i = 0; i < entries; ++i) cache.put(std::to_string(w) + "/" + std::to_string(i), {{w, i}, 1});
      if (w % 2 == 0) ::_exit(0);
      ::kill(::getpid(), SIGKILL);
    }
  while (::wait(nullptr) > 0) {
  }
  const TuneCache cache(path);
  CHECK(cache.size() == writers * entries);
  CHECK(cache.find("3/7") == TuneEntry{{3, 7}, 1});
}

TEST_CASE("a damaged file is put aside and rebuilt") {
  for (const char* damage : {"", "{\"format\": 1, \"entries\": {\"a\": {\"choice\": [1", "[]", "{\"format\": 0, \"entries\": {}}",
                             "{\"format\": 1, \"entries\": {\"a\": {\"choice\": \"x\", \"microseconds\": 1}}}"}) {
    const Folder folder;
    const std::string path = folder.path + "/tune.json";
    write(path, damage);
    TuneCache cache(path);
    INFO(damage);
    CHECK(cache.size() == 0);
    cache.put("b", {{2}, 2});
    CHECK(TuneCache(path).find("b") == TuneEntry{{2}, 2});
    CHECK(fs::exists(path + ".damaged"));
  }
}

TEST_CASE("a file of a later version is left alone, with one warning") {
  const std::string later = "{\"format\": 2, \"entries\": [[\"a\", 1, 2, 3]]}";
  const Folder folder;
  const std::string path = folder.path + "/tune.json";
  const Log log;
  bool found_at_start = false;
  SUBCASE("found at the start") { found_at_start = true; }
  SUBCASE("written while the program ran") {}
  if (found_at_start) write(path, later);
  TuneCache cache(path);
  if (!found_at_start) write(path, later);
  CHECK(cache.size() == 0);
  for (const int number : {1, 2}) cache.put(std::to_string(number), {{number}, 1});
  CHECK(cache.find("1") == TuneEntry{{1}, 1});
  CHECK(cache.find("2") == TuneEntry{{2}, 1});
  CHECK(text_of(path) == later);
  CHECK_FALSE(fs::exists(path + ".damaged"));
  CHECK(log.lines() == 1);
  CHECK(log.text().find(path + ": the tune cache has format 2") != std::string::npos);
}

TEST_CASE("without a place to write, a run keeps its own measurements") {
  const Folder folder;
  write(folder.path + "/file", "");
  TuneCache cache(folder.path + "/file/tune.json");
  cache.put("a", {{1}, 1});
  CHECK(cache.find("a") == TuneEntry{{1}, 1});
}

TEST_CASE("a folder in the cache's place stays where it is") {
  const Folder folder;
  const std::string path = folder.path + "/tune.json";
  fs::create_directory(path);
  write(path + "/precious", "text");
  TuneCache cache(path);
  cache.put("a", {{1}, 1});
  CHECK(cache.find("a") == TuneEntry{{1}, 1});
  CHECK(fs::exists(path + "/precious"));
  CHECK_FALSE(fs::exists(path + ".damaged"));
}

TEST_CASE("caches merge: new entries come, the faster of two stays, what is unknown stays") {
  const Folder folder;
  const std::string own = folder.path + "/deeper/tune.json", a = folder.path + "/a.json", b = folder.path + "/b.json";
  write(a,
        R"({"format": 1, "made": "elsewhere", "entries": {"x": {"choice": [1], "microseconds": 5}, "y": {"choice": [2], "microseconds": 7},
               "gpu; kernel 99": {"choice": [], "microseconds": 3, "grid": "later"}}})");
  write(b, R"({"format": 1, "entries": {"x": {"choice": [3], "microseconds": 4}, "y": {"choice": [4], "microseconds": 8}}})");
  const TuneMerge merge = merge_tune_files(own, {a, b});
  CHECK(merge.entries == 3);
  CHECK(merge.of_files.added == 3);
  CHECK(merge.of_files.faster == 1);
  CHECK(merge.of_files.kept == 1);
  TuneCache cache(own);
  CHECK(cache.find("x") == TuneEntry{{3}, 4});
  CHECK(cache.find("y") == TuneEntry{{2}, 7});
  cache.put("z", {{5}, 1});  // a run that writes loses nothing either
  for (const char* kept : {"\"grid\": \"later\"", "\"made\": \"elsewhere\"", "\"z\""}) {
    INFO(kept);
    CHECK(text_of(own).find(kept) != std::string::npos);
  }
  const std::string before = text_of(own);
  const TuneMerge again = merge_tune_files(own, {a, own});  // of two alike the own one
  CHECK(again.entries == 4);
  CHECK(again.of_files.added + again.of_files.faster == 0);
  CHECK(text_of(own) == before);
}

TEST_CASE("a merge that cannot be says file and line, and changes nothing") {
  const Folder folder;
  const std::string own = folder.path + "/tune.json", good = folder.path + "/good.json", bad = folder.path + "/bad.json";
  write(good, R"({"format": 1, "entries": {"x": {"choice": [1], "microseconds": 5}}})");
  const auto message_of = [&](const std::string& into, const std::vector<std::string>& files) -> std::string {
    try {
      merge_tune_files(into, files);
    } catch (const quarkstar::Error& error) {
      CHECK(error.exit_code() == 2);
      return error.what();
    }
    return "no error";
  };
  struct Case {
    const char *text, *message;
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  for (const Case& c :
       {Case{"", "bad.json, line 1: "}, Case{"{\"format\": 1,\n\"entries\": {\n\"a\": {\"choice\": [1", "bad.json, line 3: "},
        Case{"{\"format\": 1,\n\"entries\":\n{\"a\": {\"choice\": [1], \"microseconds\": 1},\n \"b\": {\"choice\": [1]}}}",
             "bad.json, line 4: "},
        Case{"{\"format\": 1, \"entries\": {\"a\": {\"choice\": [1], \"microseconds\": -1}}}", "its time is not a positive number"},
        Case{"{\n \"format\": 0, \"entries\": {}}", "bad.json, line 2: "}, Case{"{\"format\": 1, \"entries\": []}", "not an object"},
        Case{"{\"format\": 2, \"entries\": 5}", "bad.json: the tune cache has format 2, this version knows 1"}}) {
    write(bad, c.text);
    holds(message_of(own, {good, bad}), c.message);
    CHECK_FALSE(fs::exists(own));
  }
  holds(message_of(own, {folder.path + "/none.json"}), "none.json: there is no such file");
  holds(message_of(own, {folder.path}), "it cannot be read");
  write(own, "{\"format\"");
  holds(message_of(own, {good}), "tune.json, line 1: ");
  CHECK(text_of(own) == "{\"format\"");
  CHECK_FALSE(fs::exists(own + ".damaged"));
}

}  // namespace tune_cache_test
