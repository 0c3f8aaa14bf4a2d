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

History pipelined_cg(const Operator& a, const Field& b, int steps) {
  History history{Field(b.extents, b.spins), {}};
  Field &x = history.x, r = b, w = a(r), z = x, s = x, p = x;
  double gamma_before = 0, alpha = 0;
  for (int i = 0; i < steps; ++i) {
    const double gamma = norm2(r), delta = inner(w, r).real();
    const Field q = a(w);
    const double beta = i > 0 ? gamma / gamma_before : 0;
    alpha = i > 0 ? gamma / (delta - beta * gamma / alpha) : gamma / delta;
    gamma_before = gamma;
    z = q + beta * z;
    s = w + beta * s;
    p = r + beta * p;
    x = x + alpha * p;
    r = r - alpha * s;
    w = w - alpha * z;
    history.norm2.push_back(norm2(r));
  }
  return history;
}

History pipelined_bicgstab(const Operator& a, const Field& b, int steps) {
  History history{Field(b.extents, b.spins), {}};
  Field &x = history.x, r = b, w = a(r), t = a(w), p = x, s = x, z = x, v = x;
  const Field r0 = b;
  Complex alpha = inner(r0, r) / inner(r0, w), beta = 0, omega = 0;
  for (int i = 0; i < steps; ++i) {
    p = r + beta * (p - omega * s);
    s = w + beta * (s - omega * z);
    z = t + beta * (z - omega * v);
    const Field q = r - alpha * s, y = w - alpha * z;
    v = a(z);
    omega = inner(y, q) / inner(y, y);
    x = x + (alpha * p + omega * q);
    const Complex rho = inner(r0, r);
    r = q - omega * y;
    w = y - omega * (t - alpha * v);
    t = a(w);
    beta = (alpha / omega) * (inner(r0, r) / rho);
    alpha = inner(r0, r) / (inner(r0, w) + beta * inner(r0, s) - beta * omega * inner(r0, z));
    history.norm2.push_back(norm2(r));
  }
  return history;
}

}  // namespace quarkstar::reference
