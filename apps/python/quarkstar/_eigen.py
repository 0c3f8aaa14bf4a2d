"""Eigenvectors, for deflated solves."""
from __future__ import annotations

import ctypes
import os

import numpy as np

from . import _library as c
from ._closing import Closing
from ._errors import InputError, check
from ._numbers import real, reals, whole
from ._operator import Operator


class Eigenvectors(Closing):
    """Modes of A of an operator's even-odd system, -D_eo D_oe of staggered actions, else Mh^+ Mh, or of gamma_5 M. `values`: lambda, |lambda| ascending
    (of the highest: descending); `residuals`: |A v - lambda v| of the vectors as they are kept. They stay in host memory until close(), or until no operator is deflated by them. A context manager."""

    _free = "qs_eigenvectors_free"

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle
        count = c.library.qs_eigenvectors_count(handle)
        self.values = np.array(c.library.qs_eigenvectors_values(handle)[:count])
        self.residuals = np.array(c.library.qs_eigenvectors_residuals(handle)[:count])

    def __len__(self) -> int:
        return len(self.values)

    @property
    def handle(self) -> ctypes.c_void_p:
        if not self._handle:
            raise InputError("vectors: they have been closed; compute or read them again", "vectors")
        return self._handle

    def write(self, path: str | os.PathLike[str]) -> None:
        """The file of `quarkstar eigen`, for the command's --deflate too: SciDAC where it ends in .lime or .scidac, else HDF5."""
        check(c.library.qs_eigenvectors_write(self.handle, os.fsencode(path)))


def eigenvectors(D: Operator, modes: int, *, tol: float = 0, block: int = 0, basis: int = 0, degree: int = 0,
                 window: tuple[float, float] = (0, 0), store: str = "double", basis_precision: str = "double",
                 basis_memory: str = "device", operator: str = "even-odd", end: str = "lowest") -> Eigenvectors:
    """Computes modes, as `quarkstar eigen` does, with the same bits. operator: "even-odd", A of the even-odd system, or "gamma5", gamma_5 M on all
    sites. end: those with the "lowest" or the "highest" |lambda|; D.deflate() takes the lowest of A. tol: largest |A v - lambda v| (1e-10). block: vectors that A
    is applied to together, 1 to 16 (4). basis, degree, window: of the largest basis and of the filter, else chosen. store:
    precision in which they are kept, "double", "single" or "half", in memory, in files and by solves that they deflate. basis_precision: in which the basis is held, "double" or "single".
    basis_memory: where it is while GPUs compute, "device", or "host", from where it is copied for each use."""
    handle = ctypes.c_void_p()
    low, high = reals(window, "window", "low, high")
    options = c.EigenOptions(modes=whole(modes, "modes"), tolerance=real(tol, "tol"), block=whole(block, "block"), basis=whole(basis, "basis"),
                             degree=whole(degree, "degree"), window_low=low, window_high=high, store=os.fsencode(store),
                             basis_precision=os.fsencode(basis_precision), basis_memory=os.fsencode(basis_memory), operator_name=os.fsencode(operator),
                             end=os.fsencode(end))
    check(c.library.qs_eigenvectors_compute(D.handle, ctypes.byref(options), ctypes.byref(handle)))
    return Eigenvectors(handle)


def read_eigenvectors(D: Operator, path: str | os.PathLike[str]) -> Eigenvectors:
    """Those of a file of `quarkstar eigen` or Eigenvectors.write(), which must be of this operator and configuration."""
    handle = ctypes.c_void_p()
    check(c.library.qs_eigenvectors_read(D.handle, os.fsencode(path), ctypes.byref(handle)))
    return Eigenvectors(handle)
