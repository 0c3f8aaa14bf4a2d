// A client of the C library in C++: the Wilson equation, checked by loops that know the operator from its definition; links and fat links
// through files; messages through the log; calls of several threads, which take turns.
#include "client.h"

#include <algorithm>
#include <complex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Complex = std::complex<double>;
constexpr int extents[4] = {4, 4, 4, 8}, strides[4] = {1, 4, 16, 64}, sites = 512;
constexpr double kappa = 0.11;

int neighbour(int site, int mu, int step) {
  const int x = site / strides[mu] % extents[mu];
  return site + ((x + step + extents[mu]) % extents[mu] - x) * strides[mu];
}

/// psi - kappa sum_mu [(1 - g_mu) U_mu(x) psi(x+mu) + (1 + g_mu) U_mu^+(x-mu) psi(x-mu)], antiperiodic in time; gamma matrices in
/// DeGrand-Rossi's basis: row s of g_mu has `phase` in column `spin`.
std::vector<Complex> wilson(const std::vector<Complex>& links, const std::vector<Complex>& psi) {
  struct Entry {
    int spin;
    Complex phase;
  };
  const Complex i(0, 1), one = 1;
  const Entry gamma[4][4] = {{{3, i}, {2, i}, {1, -i}, {0, -i}},
                             {{3, -one}, {2, one}, {1, one}, {0, -one}},
                             {{2, i}, {3, -i}, {0, -i}, {1, i}},
                             {{2, one}, {3, one}, {0, one}, {1, one}}};
  std::vector<Complex> out = psi;
  for (int site = 0; site < sites; ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (int step = 1; step >= -1; step -= 2) {
        const int there = neighbour(site, mu, step), edge = step == 1 ? extents[mu] - 1 : 0;
        const bool crosses = site / strides[mu] % extents[mu] == edge;
        const Complex* u = &links[static_cast<std::size_t>(((step == 1 ? site : there) * 4 + mu) * 9)];
        const double factor = -kappa * (mu == 3 && crosses ? -1 : 1);
        for (int s = 0; s < 4; ++s)
          for (int row = 0; row < 3; ++row)
            for (int col = 0; col < 3; ++col) {
              const Complex entry = step == 1 ? u[3 * row + col] : std::conj(u[3 * col + row]);
              const Entry& g = gamma[mu][s];
              const auto at = [&](int spin) { return psi[static_cast<std::size_t>((there * 4 + spin) * 3 + col)]; };
              out[static_cast<std::size_t>((site * 4 + s) * 3 + row)] += factor * entry * (at(s) - double(step) * g.phase * at(g.spin));
            }
      }
  return out;
}

template <class Struct>
Struct sized() {
  Struct s{};
  s.struct_size = sizeof s;
  return s;
}

void keep(void* user, int, const char* message) { static_cast<std::string*>(user)->append(message).append("\n"); }

/// Threads that solve with one operator, and others whose calls fail: each gets its own solution, and is told of its own error.
void several_threads(qs_gauge* gauge, qs_operator* op) {
  const auto solution_of = [op](int number) {
    std::vector<Complex> b(sites * 12), x(sites * 12);
    b[static_cast<std::size_t>(number)] = 1;
    void *source = b.data(), *solution = x.data();
    auto sources = sized<qs_vectors>(), solutions = sized<qs_vectors>();
    sources.count = solutions.count = 1;
    sources.data = &source;
    solutions.data = &solution;
    OK(qs_operator_solve(op, nullptr, &sources, &solutions, nullptr));
    return x;
  };
  constexpr int solvers = 3, wrong = 2, times = 4;
  std::vector<std::vector<Complex>> alone;
  for (int i = 0; i < solvers; ++i) alone.push_back(solution_of(i));
  std::vector<std::thread> threads;
  for (int i = 0; i < solvers; ++i)
    threads.emplace_back([&, i] {
      for (int time = 0; time < times; ++time) CHECK(solution_of(i) == alone[static_cast<std::size_t>(i)]);
      CHECK(qs_error_message()[0] == '\0');
    });
  for (int i = 0; i < wrong; ++i)
    threads.emplace_back([&, i] {
      const std::string kappa = i == 0 ? "-1" : "-2";
      const qs_setting setting = {"kappa", kappa.c_str()};
      qs_operator* none = nullptr;
      for (int time = 0; time < times; ++time)
        FAILS(QS_ERROR_INPUT, kappa.c_str(), "kappa", qs_operator_create(gauge, "wilson", &setting, 1, &none));
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main() {
  std::string log;
  const qs_setting workers[] = {{"devices", "cpu"}, {"workers", "1"}, {"threads", "1"}};
  auto options = sized<qs_session_options>();
  options.settings = workers;
  options.settings_count = 3;
  options.log = keep;
  options.log_user = &log;
  qs_session* session = nullptr;
  OK(qs_session_open(&options, &session));
  auto heatbath = sized<qs_heatbath>();
  heatbath.beta = 6;
  heatbath.sweeps = 5;
  qs_gauge *gauge = nullptr, *read = nullptr, *fat = nullptr, *naik = nullptr;
  OK(qs_gauge_generate(session, extents, &heatbath, &gauge));
  OK(qs_gauge_write(gauge, "client.ildg", "ildg", QS_DOUBLE));
  OK(qs_gauge_read(session, "client.ildg", nullptr, &read));
  std::vector<Complex> links(sites * 36), same(sites * 36);
  auto out = sized<qs_links>();
  out.data[0] = links.data();
  OK(qs_gauge_export(gauge, &out));
  out.data[0] = same.data();
  OK(qs_gauge_export(read, &out));
  CHECK(links == same);
  FAILS(QS_ERROR_INPUT, "single precision only", "precision", qs_gauge_write(gauge, "client.milc", "milc", QS_DOUBLE));
  FAILS(QS_ERROR_INPUT, "give one of", "format", qs_gauge_write(gauge, "client.x", "x", QS_DOUBLE));

  // Unit links smeared stay unit links but for phases and coefficients: 9/8 of a fat link in all, -1/24 of a long one.
  qs_gauge* cold = nullptr;
  std::fill(links.begin(), links.end(), 0.0);
  for (int matrix = 0; matrix < sites * 4; ++matrix)
    for (int d = 0; d < 3; ++d) links[static_cast<std::size_t>(matrix * 9 + 4 * d)] = 1;
  out.data[0] = links.data();
  OK(qs_gauge_create(session, extents, &out, &cold));
  auto smearing = sized<qs_smearing>();
  smearing.action = "hisq";
  smearing.boundary[3] = 1;
  OK(qs_gauge_smear(cold, &smearing, &fat, &naik));
  out.data[0] = same.data();
  OK(qs_gauge_export(fat, &out));
  for (int matrix = 0; matrix < sites * 4; ++matrix) CHECK(std::abs(std::abs(same[static_cast<std::size_t>(matrix * 9)]) - 1.125) < 1e-13);
  OK(qs_gauge_export(naik, &out));
  for (int matrix = 0; matrix < sites * 4; ++matrix)
    CHECK(std::abs(std::abs(same[static_cast<std::size_t>(matrix * 9 + 8)]) - 1.0 / 24) < 1e-14);
  smearing.u0 = 0.9;
  FAILS(QS_ERROR_INPUT, "tadpole", "u0", qs_gauge_smear(cold, &smearing, &fat, nullptr));

  OK(qs_gauge_export(read, &out));
  qs_operator* op = nullptr;
  const qs_setting settings[] = {{"kappa", "0.11"}, {"precision", "single"}, {"links", "12"}, {"nrhs", "1"}};
  OK(qs_operator_create(read, "wilson", settings, 4, &op));
  std::vector<Complex> b(sites * 12), x(sites * 12);
  b[5] = 1;
  void *source = b.data(), *solution = x.data();
  auto sources = sized<qs_vectors>(), solutions = sized<qs_vectors>();
  sources.count = solutions.count = 1;
  sources.data = &source;
  solutions.data = &solution;
  auto result = sized<qs_result>();
  OK(qs_operator_solve(op, nullptr, &sources, &solutions, &result));
  const std::vector<Complex> image = wilson(same, x);
  double r2 = 0;
  for (std::size_t k = 0; k < image.size(); ++k) r2 += std::norm(b[k] - image[k]);
  CHECK(std::sqrt(r2) < 1e-10 && std::abs(std::sqrt(r2) - result.residual) < 1e-14);

  several_threads(read, op);
  for (qs_gauge* g : {gauge, read, fat, naik, cold}) qs_gauge_free(g);
  qs_operator_free(op);
  OK(qs_session_close(session));
  std::puts("all well");
}
