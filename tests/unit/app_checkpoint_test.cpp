// Restart files: what is written comes back, damage of any byte is refused, signals wait for the next solve.
#include "apps/command/interrupt.hpp"
#include "apps/run/checkpoint.hpp"
#include "apps/run/parse.hpp"
#include "codelets/actions/staggered/links_input.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <csignal>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace app_checkpoint_test {

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::read_file;
using quarkstar::testing::TemporaryFolder;
using quarkstar::testing::write_file;

namespace {

using Numbers = std::vector<std::complex<double>>;

const Coord lattice{2, 2, 2, 4};
const RestartKey key{"column03", "a problem"};
constexpr std::uint64_t seed = 20261122;

Numbers random_field() {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Numbers field(static_cast<std::size_t>(volume(lattice)) * 12);
  for (auto& z : field) z = {normal(engine), normal(engine)};
  return field;
}

/// The message of the input error that loading throws.
std::string refusal(const Checkpoint& checkpoint, const RestartKey& of = key) {
  Numbers field(static_cast<std::size_t>(volume(lattice)) * 12);
  try {
    checkpoint.load(of, field);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "loaded";
}

}  // namespace

TEST_CASE("a restart file gives back what was saved") {
  const TemporaryFolder folder;
  const Checkpoint checkpoint(folder.file("new/restart"), lattice, {{}, lattice});
  CAPTURE(seed);
  const Numbers saved = random_field();
  Numbers loaded(saved.size());
  CHECK_FALSE(checkpoint.load(key, loaded).has_value());
  checkpoint.save(key, saved, 17);
  CHECK(checkpoint.load(key, loaded).value_or(0) == 17);
  CHECK(loaded == saved);

  Numbers broken = saved;
  broken[5] = {0, std::numeric_limits<double>::quiet_NaN()};
  checkpoint.save(key, broken, 18);
  CHECK(checkpoint.load(key, loaded).value_or(0) == 17);
}

TEST_CASE("copies of parts are kept on the next host") {
  CHECK(partners(std::vector{0, 1, 2, 3}) == std::vector{1, 2, 3, 0});
  CHECK(partners(std::vector{0, 0, 1, 1}) == std::vector{2, 3, 0, 1});
  CHECK(partners(std::vector{0, 1, 0, 1, 1}) == std::vector{1, 0, 3, 2, 0});
  CHECK(partners(std::vector{0, 0, 0}) == std::vector{1, 2, 0});
  CHECK(partners(std::vector{0}) == std::vector{0});
}

TEST_CASE("the state of a solve comes back, from one file and from part files") {
  for (const auto access : {Checkpoint::Access::write, Checkpoint::Access::redundant}) {
    const TemporaryFolder folder;
    const Box whole{{}, lattice};
    const Checkpoint checkpoint(folder.file("restart"), lattice, whole, access);
    SolveState state;
    state.results.resize(2);
    state.results[1] = {.reason = StopReason::converged, .iterations = 12, .true_residual = 0.1, .residual_history = {0.5, 1.0 / 3}};
    state.numbers = {std::byte{1}, std::byte{0}, std::byte{255}};
    for (int i = 0; i < 3; ++i) state.fields.emplace_back(12, whole).data = random_field();
    state.fields[1].data[7] = {-0.0, 5e-324};
    CHECK_FALSE(checkpoint.load_state(key, 12).has_value());
    checkpoint.save_state(key, state);
    const std::optional<SolveState> found = checkpoint.load_state(key, 12);
    REQUIRE(found.has_value());
    CHECK(found->numbers == state.numbers);
    CHECK(found->results[1].residual_history == state.results[1].residual_history);
    CHECK(found->results[1].iterations == 12);
    for (std::size_t i = 0; i < 3; ++i) CHECK(found->fields[i].data == state.fields[i].data);
    CHECK_FALSE(checkpoint.load_state({key.name, "another problem"}, 12).has_value());
    checkpoint.remove_state(key);
    CHECK_FALSE(checkpoint.load_state(key, 12).has_value());
  }
}

TEST_CASE("a damaged restart file is refused, whatever byte it is") {
  const TemporaryFolder folder;
  const Checkpoint checkpoint(folder.file("restart"), lattice, {{}, lattice});
  checkpoint.save(key, random_field(), 1234);
  const std::string path = folder.file("restart/column03.checkpoint"), good = read_file(path);
  constexpr std::size_t header = 4096;
  const auto with_header = [&](std::string text) {
    text.resize(header, ' ');
    write_file(path, text + good.substr(header));
    return refusal(checkpoint);
  };
  for (std::size_t byte = 0; byte < header + 100; ++byte) {
    CAPTURE(byte);
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ 1);
    write_file(path, bad);
    CHECK(refusal(checkpoint).find(path) == 0);
  }
  std::string digit = good;
  const std::size_t place = digit.find("1234");
  REQUIRE(place < header);
  digit[place] = '2';
  CHECK(with_header(digit.substr(0, header)).find("the header does not match") != std::string::npos);
  for (const char* text : {"", "[]", "7", "{", "{\"format\":1}", "{\"format\":null}", "{\"problem\":\"a problem\"}", "\x01\xff\xfe"}) {
    CAPTURE(text);
    CHECK(with_header(text).find("this is not a restart file") != std::string::npos);
  }
  write_file(path, good.substr(0, header - 1));
  CHECK(refusal(checkpoint).find("ends within its header") != std::string::npos);
  write_file(path, good + "x");
  CHECK(refusal(checkpoint).find("bytes instead of") != std::string::npos);
  write_file(path, good);
  CHECK(refusal(checkpoint) == "loaded");
  CHECK(refusal(checkpoint, {key.name, "another"}).find("another problem (a problem)") != std::string::npos);
}

TEST_CASE("a staggered restart file knows its links, source, colour and mass") {
  smear::StaggeredLinks links;
  links.fat = {lattice, HostReals(static_cast<std::size_t>(volume(lattice)) * HostGauge::reals_per_site, 0.0)};
  for (std::int64_t site = 0; site < volume(lattice); ++site)
    for (int mu = 0; mu < 4; ++mu) links.fat.link(site, mu)[8] = 0.5;  // the real part of the middle of the diagonal
  const std::string equation = staggered::describe_operator("naive", links, runtime::Decomposition::uncut(lattice, 0));
  // The third number is the sum over i < 128 of (1 + (i 2^64 / golden ratio mod 2^64) / 2^64, cut off at 32 bits) / 2.
  CHECK(equation ==
        "action naive fat links 3.2000000000000e+01 6.4000000000000e+01 9.5690130271134e+01 long links 0.0000000000000e+00 "
        "0.0000000000000e+00 0.0000000000000e+00");
  const RestartKey of_one = restart_key(equation, parse_source("point:1,0,1,3"), 2, 0.05);
  CHECK(of_one.name == "column02-mass0.05");
  CHECK(of_one.problem == equation + " source point:1,0,1,3 mass 0.05");
}

TEST_CASE("the job that owns a restart folder removes what killed ones left") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("restart"));
  write_file(folder.file("restart/.column03.checkpoint.4711-0.tmp"), "half");
  write_file(folder.file("restart/.notes.4711-0.tmp"), "not ours");
  const Checkpoint checkpoint(folder.file("restart"), lattice, {{}, lattice});
  CHECK_FALSE(std::filesystem::exists(folder.file("restart/.column03.checkpoint.4711-0.tmp")));
  CHECK(std::filesystem::exists(folder.file("restart/.notes.4711-0.tmp")));
}

TEST_CASE("what a solve ended with is worth a restart file unless it broke down") {
  const auto result = [](StopReason reason, double residual) {
    SolveResult made;
    made.reason = reason;
    made.true_residual = residual;
    return made;
  };
  for (const StopReason reason : {StopReason::converged, StopReason::interrupted, StopReason::iteration_limit, StopReason::stagnation}) {
    CHECK(worth_saving(result(reason, 1e-3)));
    CHECK_FALSE(worth_saving(result(reason, std::numeric_limits<double>::quiet_NaN())));
  }
  CHECK_FALSE(worth_saving(result(StopReason::not_finite, 1e-3)));
  CHECK_FALSE(worth_saving(result(StopReason::zero_denominator, 1e-3)));
  CHECK_FALSE(worth_saving(result(StopReason::stagnation, 1.5)));
  CHECK(worth_saving(result(StopReason::interrupted, 1.5)));
}

TEST_CASE("a request for a restart file between two solves waits for the next one") {
  struct sigaction before[4]{};
  const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
  for (int i = 0; i < 4; ++i) sigaction(signals[i], nullptr, &before[i]);
  CommandWatch watch;
  SaveRequests requests(watch);
  {
    const auto first = restart_file_due(0, requests);
    CHECK_FALSE(first(10));
    std::raise(SIGUSR1);
    CHECK(first(20));
    CHECK_FALSE(first(30));
  }
  std::raise(SIGUSR1);
  const auto second = restart_file_due(8, requests);
  CHECK(second(1));
  CHECK_FALSE(second(2));
  CHECK(second(8));
  CHECK_FALSE(interrupted());
  for (int i = 0; i < 4; ++i) sigaction(signals[i], &before[i], nullptr);
}

}  // namespace app_checkpoint_test
