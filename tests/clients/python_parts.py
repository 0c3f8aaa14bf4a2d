"""On two ranks: an array that is no part of the lattice is refused before the library reads beyond it."""
import numpy as np
from mpi4py import MPI

import quarkstar as qs

with qs.Session(comm=MPI.COMM_WORLD, devices="cpu", workers=1, threads=1, ranks="1,1,1,2"):
    links = np.zeros((4, 4, 4, 4, 4, 3, 3), complex)
    links[...] = np.eye(3)
    assert abs(qs.gauge(links, lattice=(4, 4, 4, 8)).plaquette().mean - 1) < 1e-15
    for wrong in ((4, 4, 4, 16), (4, 4, 4, 4), None):
        try:
            qs.gauge(links, lattice=wrong)
        except qs.InputError as error:
            assert error.parameter == "lattice", error
        else:
            raise SystemExit(f"{wrong} is accepted")
