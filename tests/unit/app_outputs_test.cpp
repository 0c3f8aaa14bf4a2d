// The files of a solve, read back by other means than they were written.
#include "apps/report/report_html.hpp"
#include "apps/run/hdf5_file.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/write_hdf5.hpp"
#include "apps/run/write_json.hpp"
#include "codelets/io/propagator.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace app_outputs_test {

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::TemporaryFolder;

namespace {

const Coord extents{4, 2, 2, 6};

std::vector<hsize_t> shape_of(hid_t dataset) {
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

}  // namespace

TEST_CASE("outputs of a run can be read back") {
  const TemporaryFolder folder;
  const Propagators propagators = testing::counted_propagators(extents);
  const Propagator& propagator = propagators.front();
  const RunReport report = testing::made_up_report(extents);
  {
    const OutputFolder out(folder.file("run"));
    CHECK(write_outputs(out, report, propagators).size() == 5);
  }

  SUBCASE("HDF5 propagator") {
    const Hdf5Id file(H5Fopen(folder.file("run/propagator.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const Hdf5Id dataset(H5Dopen2(file, "propagator", H5P_DEFAULT), H5Dclose);
    CHECK(shape_of(dataset) == std::vector<hsize_t>{12, 6, 2, 2, 4, 4, 3});
    const Hdf5Id type(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
    H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "i", 8, H5T_NATIVE_DOUBLE);
    std::vector<std::complex<double>> values(12 * propagator.columns[0].data.size());
    REQUIRE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    bool equal = true;
    for (std::size_t i = 0; i < values.size(); ++i)
      equal = equal && values[i] == propagator.columns[i / propagator.columns[0].data.size()].data[i % propagator.columns[0].data.size()];
    CHECK(equal);
    CHECK(H5Aexists(file, "kappa") > 0);
  }
  SUBCASE("HDF5 correlators") {
    const Hdf5Id file(H5Fopen(folder.file("run/correlators.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const Hdf5Id dataset(H5Dopen2(file, "correlators/rho_z", H5P_DEFAULT), H5Dclose);
    CHECK(shape_of(dataset) == std::vector<hsize_t>{6});
    std::vector<double> values(6);
    REQUIRE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    CHECK(values == report.correlators[3].values);
    const Hdf5Id mass(H5Dopen2(file, "effective_masses/pion/cosh", H5P_DEFAULT), H5Dclose);
    CHECK(shape_of(mass) == std::vector<hsize_t>{5});
  }
  SUBCASE("SciDAC propagator") {
    const format::PropagatorFile file(folder.file("run/propagator.lime"));
    CHECK(file.extents() == extents);
    const HostReals column = file.read_column(2, 1);
    const HostField& expected = propagator.columns[7];
    REQUIRE(column.size() == 2 * expected.data.size());
    bool equal = true;
    for (std::size_t i = 0; i < expected.data.size(); ++i)
      equal = equal && std::complex<double>(column[2 * i], column[2 * i + 1]) == expected.data[i];
    CHECK(equal);
    CHECK(file.read_source()[0] == 1);
  }
  SUBCASE("JSON") {
    const nlohmann::json json = nlohmann::json::parse(testing::read_file(folder.file("run/result.json")));
    CHECK(json.at("status") == "converged");
    CHECK(json.at("correlators").at("pion").get<std::vector<double>>() == report.correlators[0].values);
    CHECK(json.at("correlators").at("rho_x").size() == 6);
    CHECK(json.at("solves").size() == 12);
    CHECK(json.at("solves")[3].at("iterations") == 13);
    CHECK(json.at("solves")[3].at("gflops") == 2.0);
    CHECK(json.at("solves")[3].at("reason") == describe(StopReason::converged));
    CHECK_FALSE(json.at("solves")[3].contains("residual_history"));
    CHECK(json.at("parameters").at("kappa") == 0.13);
  }
}

TEST_CASE("staggered propagators are written column by column") {
  const TemporaryFolder folder;
  RunReport report;
  report.config.action = &kind_named("hisq");
  report.config.columns = {0, 2};
  report.gauge.extents = extents;
  Propagators propagators;
  for (int mass = 0; mass < 3; ++mass) {
    propagators.push_back({0.1 * (mass + 1), {}, {}});
    for (int column = 0; column < 2; ++column) {
      HostField& field = propagators.back().columns.emplace_back(colour_components, extents);
      for (std::size_t i = 0; i < field.data.size(); ++i)
        field.data[i] = {10 * mass + column + 0.001 * static_cast<double>(i), -0.5 * mass};
    }
  }
  write_propagator_hdf5(folder.file("propagator.h5"), report, propagators);
  const Hdf5Id file(H5Fopen(folder.file("propagator.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const Hdf5Id dataset(H5Dopen2(file, "propagator", H5P_DEFAULT), H5Dclose);
  CHECK(shape_of(dataset) == std::vector<hsize_t>{3, 2, 6, 2, 2, 4, 3});
  const Hdf5Id type(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
  H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "i", 8, H5T_NATIVE_DOUBLE);
  const std::size_t size = propagators[0].columns[0].data.size();
  std::vector<std::complex<double>> values(6 * size);
  REQUIRE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  for (std::size_t k = 0; k < 6; ++k)
    CHECK(std::equal(values.begin() + static_cast<std::ptrdiff_t>(k * size), values.begin() + static_cast<std::ptrdiff_t>((k + 1) * size),
                     propagators[k / 2].columns[k % 2].data.begin()));
}

TEST_CASE("residual histories in JSON are exact") {
  RunReport report = testing::made_up_report(extents);
  report.config.residual_history = true;
  report.solves[0].result.residual_history = {0x1.23456789abcdep-7};
  const auto json = report_json(report);
  CHECK(json.at("solves")[0].at("residual_history")[0] == "0x1.23456789abcdep-7");
}

TEST_CASE("a failed run has no correlators in its JSON") {
  RunReport report = testing::made_up_report(extents);
  report.failure = "column 11";
  const auto json = report_json(report);
  CHECK(json.at("status") == "failed");
  CHECK_FALSE(json.contains("correlators"));
  CHECK_FALSE(json.contains("effective_masses"));
}

TEST_CASE("the page stands alone, names everything and escapes text") {
  const std::string html = report_html(testing::made_up_report(extents));
  for (const char* outside : {"http://", "https://", "<script", "<link", "src=", "url(", "@import"})
    CHECK(html.find(outside) == std::string::npos);
  CHECK(html.find("lat.&lt;0&gt;.nersc") != std::string::npos);
  CHECK(html.find("lat.<0>") == std::string::npos);
  for (const char* part : {"A &amp; B", "max-iterations", "prefers-color-scheme: dark", "Residual history", "wilson interior", "rho_z"}) {
    CAPTURE(part);
    CHECK(html.find(part) != std::string::npos);
  }
  CHECK(html.find("nan") == std::string::npos);
}

TEST_CASE(
    "an output folder is checked at once and leaves no trace of work "
    "that failed") {
  const TemporaryFolder folder;
  { const OutputFolder out(folder.file("new/run")); }
  CHECK_FALSE(std::filesystem::exists(folder.file("new/run")));
  testing::write_file(folder.file("file"), "");
  CHECK_THROWS_AS(OutputFolder(folder.file("file")), Error);
  CHECK_THROWS_AS(OutputFolder(folder.file("file/below")), Error);
  {
    const OutputFolder out(folder.file("half"));
    Hdf5File unfinished(out.file("x.h5"));
    unfinished.make_group("group");
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("half")));
  CHECK_THROWS_AS(Hdf5File(folder.file("no/such/folder.h5")), Error);
  CHECK_THROWS_AS(check_writable(folder.file("no/such/file")), Error);
  CHECK_NOTHROW(check_writable(""));
}

TEST_CASE("what killed runs left half-written in an output folder goes, and nothing else") {
  const TemporaryFolder folder;
  for (const char* name : {".propagator.h5.4711-0.tmp", ".report.html.1-2.tmp", ".other.h5.4711-0.tmp", "propagator.h5"})
    testing::write_file(folder.file(name), "half");
  { const OutputFolder out(folder.file(".")); }
  CHECK_FALSE(std::filesystem::exists(folder.file(".propagator.h5.4711-0.tmp")));
  CHECK_FALSE(std::filesystem::exists(folder.file(".report.html.1-2.tmp")));
  CHECK(std::filesystem::exists(folder.file(".other.h5.4711-0.tmp")));
  CHECK(std::filesystem::exists(folder.file("propagator.h5")));
}

TEST_CASE("two writers of one HDF5 file do not disturb each other") {
  const TemporaryFolder folder;
  const std::string path = folder.file("numbers.h5");
  Hdf5File first(path), second(path);
  CHECK(first.temporary() != second.temporary());
  first.write("numbers", std::vector<int>{1, 2});
  second.write("numbers", std::vector<int>{3, 4, 5});
  second.commit();
  first.commit();
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const Hdf5Id dataset(H5Dopen2(file, "numbers", H5P_DEFAULT), H5Dclose);
  CHECK(shape_of(dataset) == std::vector<hsize_t>{2});
}

TEST_CASE("energy is in every output: joules where they are known, the reason where not") {
  RunReport report = testing::made_up_report(extents);
  report.solves[0].energy = {{0, "no counter"}, {50, ""}};
  report.solves[1].energy = {{30, ""}, {50, ""}};
  report.sequential.push_back({"pion:8", "point", report.solves[1]});
  report.sequential.back().solve.energy.gpu.joules = 60;
  const auto json = report_json(report);
  const auto& sequential = json.at("sequential_solves")[0];
  CHECK(sequential.at("hadron") == "pion:8");
  CHECK(sequential.at("column") == 1);
  CHECK(sequential.at("seconds") == 0.5);
  CHECK(sequential.at("energy").at("total").at("joules") == 90);
  const auto &gpu_only = json.at("solves")[0].at("energy"), &both = json.at("solves")[1].at("energy");
  CHECK(gpu_only.at("cpu").at("unavailable") == "no counter");
  CHECK_FALSE(gpu_only.at("cpu").contains("joules"));
  CHECK(gpu_only.at("gpu").at("joules") == 50);
  CHECK(gpu_only.at("total").at("of") == "GPU");
  CHECK(gpu_only.at("gflops_per_watt") == doctest::Approx(1.0 / 50));
  CHECK(both.at("total").at("joules") == 80);
  CHECK(both.at("total").at("of") == "CPU + GPU");
  const auto& none = json.at("solves")[2].at("energy");
  CHECK_FALSE(none.contains("gflops_per_watt"));
  CHECK(none.at("total").at("unavailable") == "CPU: not measured; GPU: not measured");
  const std::string html = report_html(report);
  CHECK(html.find("<td>80.0</td>") != std::string::npos);
  CHECK(html.find("sequential pion:8, sink point, ") != std::string::npos);
  CHECK(html.find("<td>90.0</td>") != std::string::npos);
  CHECK(html.find("<td>unavailable</td>") != std::string::npos);
  CHECK(html.find("energy: CPU unavailable (not measured); GPU unavailable (not measured)") != std::string::npos);
}

}  // namespace app_outputs_test
