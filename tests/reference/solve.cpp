#include "tests/reference/solve.hpp"

#include "runtime/system/error.hpp"

#include <cmath>

namespace quarkstar::reference {
namespace {

double relative_residual(const Operator& m, const Field& x, const Field& b) { return std::sqrt(norm2(b - m(x)) / norm2(b)); }

}  // namespace

Solution cg(const Operator& a, const Field& b, double tolerance, int max_iterations) {
  Field x(b.extents, b.spins);
  Field r = b;
  Field p = r;
  double rr = norm2(r);
  const double target = tolerance * tolerance * rr;
  int iteration = 0;
  for (; rr > target; ++iteration) {
    if (iteration == max_iterations)
      throw Error(ErrorKind::numerical, "reference::cg", "no convergence in max_iterations = " + std::to_string(max_iterations),
                  "raise max_iterations or the tolerance");
    const Field ap = a(p);
    const double alpha = rr / inner(p, ap).real();
    x = x + alpha * p;
    r = r - alpha * ap;
    const double rr_next = norm2(r);
    p = r + (rr_next / rr) * p;
    rr = rr_next;
  }
  return {x, iteration, relative_residual(a, x, b)};
}

Solution cgnr(const Operator& m, const Operator& m_dagger, const Field& b, double tolerance, int max_iterations) {
  const Operator normal = [&](const Field& psi) { return m_dagger(m(psi)); };
  Solution solution = cg(normal, m_dagger(b), tolerance, max_iterations);
  solution.relative_residual = relative_residual(m, solution.x, b);
  return solution;
}

}  // namespace quarkstar::reference
