// What the environment says of the launcher, and which starts are refused.
#include "runtime/mpi/launcher.hpp"

#include "runtime/system/error.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace launcher_test {

using namespace quarkstar::runtime::mpi;

namespace {

template <class Call>
std::string refusal_of(Call&& call) {
  return quarkstar::error_testing::message_of(call, quarkstar::ErrorKind::environment);
}

Environment of(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  };
}

}  // namespace

TEST_CASE("processes without a launcher are alone") {
  for (const std::map<std::string, std::string>& variables : {std::map<std::string, std::string>{},
                                                              {{"SLURM_NTASKS", "4"}},
                                                              {{"SLURM_STEP_NUM_TASKS", "1"}},
                                                              {{"OMPI_COMM_WORLD_SIZE", "1"}},
                                                              {{"PMI_SIZE", "1"}}}) {
    const Launch launch = read_launch(of(variables));
    CHECK_FALSE(launch.wants_mpi);
    CHECK(launch.size == 1);
  }
}

TEST_CASE("launchers tell ranks and sizes") {
  const Launch by_mpirun = read_launch(of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}}));
  CHECK(by_mpirun.wants_mpi);
  CHECK(by_mpirun.size == 4);
  CHECK(by_mpirun.rank == 3);
  const Launch by_pmi = read_launch(of({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}));
  CHECK(by_pmi.wants_mpi);
  CHECK(by_pmi.size == 2);
  CHECK(by_pmi.rank == 1);
  const Launch by_srun = read_launch(of({{"PMIX_RANK", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}}));
  CHECK(by_srun.wants_mpi);
  CHECK(by_srun.size == 8);
  CHECK(by_srun.rank == 5);
  // Inside an allocation mpirun's daemons are the step that Slurm counts.
  const Launch inside = read_launch(of({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}}));
  CHECK(inside.size == 2);
  CHECK(read_launch(of({{"PMIX_RANK", "0"}})).wants_mpi);
}

TEST_CASE("processes that nothing connects are refused") {
  const std::map<std::string, std::string> plain{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}};
  const std::string message = refusal_of([&] { read_launch(of(plain)); });
  CHECK(message.find("4 processes") != std::string::npos);
  CHECK(message.find("srun --mpi=pmix") != std::string::npos);
  std::map<std::string, std::string> wanted = plain;
  wanted["QUARKSTAR_MPI"] = "0";
  CHECK_FALSE(read_launch(of(wanted)).wants_mpi);
  wanted["QUARKSTAR_MPI"] = "1";
  CHECK(read_launch(of(wanted)).wants_mpi);
  CHECK(refusal_of([&] { require_all_connected(read_launch(of(wanted)), 1); }).find("4 processes") != std::string::npos);
}

TEST_CASE("QUARKSTAR_MPI is 0 or 1, and empty as if it were not there") {
  for (const char* wrong : {"on", "yes", "-1", "2", "1 "}) {
    const auto read = [&] { read_launch(of({{"SLURM_STEP_NUM_TASKS", "4"}, {"QUARKSTAR_MPI", wrong}})); };
    CHECK(quarkstar::error_testing::message_of(read).starts_with("$QUARKSTAR_MPI: '" + std::string(wrong) + "' is not"));
  }
  CHECK(read_launch(of({{"PMI_SIZE", "2"}, {"QUARKSTAR_MPI", ""}})).wants_mpi);
  CHECK(refusal_of([&] {
          read_launch(of({{"SLURM_STEP_NUM_TASKS", "4"}, {"QUARKSTAR_MPI", ""}}));
        }).find("4 processes") != std::string::npos);
}

TEST_CASE("a launcher that the MPI library does not know is refused") {
  const Launch foreign = read_launch(of({{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}}));
  CHECK(refusal_of([&] { require_all_connected(foreign, 1); }).find("PMI_SIZE") != std::string::npos);
  CHECK(refusal_of([&] { require_all_connected(foreign, 2); }).find("connects 2") != std::string::npos);
  require_all_connected(foreign, 4);
  // Of a job in several parts Slurm counts the tasks of one.
  require_all_connected(read_launch(of({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}})), 6);
}

}  // namespace launcher_test
