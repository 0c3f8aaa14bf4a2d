"""Correlators of propagators."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _library as c
from ._arrays import Vectors, as_input, check_shape, layout_number, propagator_shape
from ._errors import check
from ._operator import Propagator
from ._session import components, settings_of


class Correlators(Mapping[str, np.ndarray]):
    """C(t) by name, t from the source's time slice, float64 where every summand is real, else complex128. Each is also an attribute where
    its name allows it: `rho_x`, but `["rho_x_p1,0,0"]` with momentum."""

    def __init__(self, values: dict[str, np.ndarray]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[name]

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"no correlator '{name}'; there are {', '.join(self.__dict__.get('_values', {}))}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def write(self, path: str | os.PathLike[str]) -> None:
        """As an HDF5 file with a data set for each. Needs h5py."""
        import h5py

        with h5py.File(path, "w") as file:
            for name, values in self._values.items():
                file[name] = values


def _array(handle: Any, number: int) -> np.ndarray:
    times = ctypes.c_size_t()
    real = c.library.qs_correlators_values(handle, number, ctypes.byref(times))
    values = np.array(real[: times.value])
    imaginary = c.library.qs_correlators_imaginary(handle, number, ctypes.byref(times))
    return values + 1j * np.array(imaginary[: times.value]) if times.value > 0 else values


def contract(propagator: Propagator, correlators: Sequence[str] | str | None = None, momenta: Sequence[Sequence[int]] | None = None,
             fold: bool = False) -> Correlators:
    """Two-point functions of a propagator, as the command's.

    correlators: names, groups of them ("rho") or families ("mesons", "octet", "decuplet", "staggered-mesons"); None: the usual ones of the
    action. momenta: (x, y, z) in units of 2 pi / L; None: (0, 0, 0). fold: averaged forward and backward in time."""
    layout_number(propagator.layout)
    array, columns = as_input(propagator.array, "propagator"), components(propagator.action)
    check_shape(array, propagator_shape(propagator.layout, propagator.gauge.part[1], columns), "propagator", propagator.layout)
    vectors = Vectors(array, propagator.layout, columns, propagator.layout == "pyquda")
    settings, count = settings_of({"correlators": [correlators] if isinstance(correlators, str) else correlators,
                                   "momenta": "+".join(",".join(str(int(n)) for n in p) for p in momenta) if momenta is not None else None,
                                   "fold": fold or None})
    handle = ctypes.c_void_p()
    check(c.library.qs_contract(propagator.gauge.handle, propagator.action.encode(), propagator.source.encode(), settings, count,
                                vectors.reference(), ctypes.byref(handle)))
    try:
        return Correlators({c.library.qs_correlators_name(handle, number).decode(): _array(handle, number)
                            for number in range(c.library.qs_correlators_count(handle))})
    finally:
        c.library.qs_correlators_free(handle)


def mesons(propagator: Propagator, momenta: Sequence[Sequence[int]] | None = None, fold: bool = False) -> Correlators:
    """All mesons of the action's propagators: Wilson's `pion`, `rho_x`, ..., `a4p`; staggered `pion5`, `rho_x`, ..."""
    return contract(propagator, "mesons" if components(propagator.action) == 12 else "staggered-mesons", momenta, fold)
