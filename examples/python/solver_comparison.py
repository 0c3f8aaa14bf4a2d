"""Solvers and precisions on one configuration: iterations, time, and the residual that each reaches.

    python3 solver_comparison.py [lat.1000] [--kappa 0.12]
"""
import argparse

import numpy as np

import quarkstar as qs

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("configuration", nargs="?")
parser.add_argument("--kappa", type=float, default=0.12)
arguments = parser.parse_args()

U = qs.read_gauge(arguments.configuration) if arguments.configuration else qs.generate((4, 4, 4, 8), beta=6.0, sweeps=10, seed=7)
shape = qs.vector_shape("lexicographic", U.lattice, 12)
random = np.random.default_rng(1)
b = random.normal(size=shape) + 1j * random.normal(size=shape)
first = None
print(f"{'solver':10} {'precision':10} {'links':>5} {'iterations':>10} {'ms':>8} {'residual':>10} {'difference':>10}")
for solver in ("bicgstab", "cgnr", "gcr"):
    for precision, links in (("double", 18), ("single", 12), ("half", 12)):
        with qs.wilson(U, kappa=arguments.kappa, tol=1e-9, solver=solver, precision=precision, links=links) as D:
            x = D.solve(b)
            residual = np.linalg.norm(b - D @ x) / np.linalg.norm(b)  # by another application of M
        first = x if first is None else first
        difference = np.linalg.norm(x - first) / np.linalg.norm(first)
        print(f"{solver:10} {precision:10} {links:5d} {D.last.iterations:10d} {1e3 * D.last.seconds:8.1f} {residual:10.2e} {difference:10.2e}")
