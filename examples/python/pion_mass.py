"""The pion's mass: propagators from a point source on a few configurations, effective masses with jackknife errors, and a plot.

    python3 pion_mass.py lat.1000 lat.1010 ... [--kappa 0.13] [--plot pion.png]
    python3 pion_mass.py --demo                 # two configurations made here
"""
import argparse

import numpy as np

import quarkstar as qs


def pion(gauge: qs.Gauge, kappa: float) -> np.ndarray:
    with qs.wilson(gauge, kappa=kappa, tol=1e-10) as D:
        propagator = D.propagator(point=(0, 0, 0, 0))
        print(f"  {D.last.iterations} iterations, residual {D.last.residual:.1e}, plaquette {gauge.plaquette().mean:.6f}")
    c = qs.mesons(propagator).pion
    return 0.5 * (c + np.roll(c[::-1], 1))  # C(t) = C(T - t)


def plot(mass: qs.Estimate, path: str) -> None:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    t = np.arange(1, len(mass.value) + 1)
    pyplot.errorbar(t, mass.value, mass.error, fmt="o")
    pyplot.xlabel("t")
    pyplot.ylabel("effective mass")
    pyplot.savefig(path)
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("configurations", nargs="*")
    parser.add_argument("--kappa", type=float, default=0.12)
    parser.add_argument("--plot", default="")
    parser.add_argument("--demo", action="store_true", help="make configurations")
    arguments = parser.parse_args()
    if arguments.demo:
        fields = (qs.generate((4, 4, 4, 8), beta=6.0, sweeps=10, seed=seed) for seed in (7, 8))
    else:
        fields = (qs.read_gauge(path) for path in arguments.configurations)
    samples = [pion(gauge, arguments.kappa) for gauge in fields]
    if len(samples) < 2:
        parser.error("give two configurations at least, or --demo")
    correlator = qs.jackknife(samples)
    mass = qs.jackknife(samples, qs.effective_mass)
    for t, (value, error) in enumerate(zip(*correlator)):
        text = f"{mass.value[t - 1]:10.5f} {mass.error[t - 1]:.5f}" if 0 < t <= len(mass.value) else ""
        print(f"{t:3d} {value:.12e} {error:.3e} {text}")
    if arguments.plot:
        plot(mass, arguments.plot)


main()
