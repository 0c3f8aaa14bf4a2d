"""Staggered pions from many sources, averaged. With mpirun and mpi4py the lattice is cut over the ranks.

    python3 many_sources.py [lat.1000]
    mpirun -n 2 python3 many_sources.py [lat.1000]
"""
import os
import sys

import numpy as np

import quarkstar as qs

comm = None
if int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1")) > 1:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
root = comm is None or comm.rank == 0


def configuration(path: str) -> str:
    """A file: the one that was named, or one that the first rank makes."""
    if path:
        return path
    path = "many_sources.ildg"
    if root:
        with qs.Session(devices="cpu"):
            qs.generate((4, 4, 4, 8), beta=6.0, sweeps=10, seed=7).write(path)
    if comm is not None:
        comm.Barrier()
    return path


path = configuration(sys.argv[1] if len(sys.argv) > 1 else "")
with qs.Session(comm=comm):
    U = qs.read_gauge(path)
    times = U.lattice[3]
    pions = []
    with qs.hisq(U, mass=0.2, tol=1e-10) as D:
        for t in range(0, times, 2):
            pions.append(qs.mesons(D.propagator(point=(0, 0, 0, t))).pion5)
            if root:
                print(f"# source at t = {t}: {D.last.iterations} iterations, residual {D.last.residual:.1e}")
    mean = qs.jackknife(pions)
    if root:
        for t in range(times):
            print(f"{t:3d} {mean.value[t]:.12e} {mean.error[t]:.3e}")
