"""Meson correlators."""
from __future__ import annotations

import ctypes
import os
from typing import Iterator, Mapping

import numpy as np

from . import _library as c
from ._arrays import Vectors, as_input
from ._errors import check
from ._operator import Propagator


class Correlators(Mapping[str, np.ndarray]):
    """C(t) by name, t from the source's time slice; each is also an attribute."""

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


def mesons(propagator: Propagator) -> Correlators:
    """The action's meson correlators of a propagator: Wilson's `pion`, `rho_x`, ...; staggered `pion5`, ..."""
    components = c.library.qs_action_components(propagator.action.encode())
    vectors = Vectors(as_input(propagator.array, "propagator"), propagator.layout, components, propagator.layout == "pyquda")
    handle = ctypes.c_void_p()
    check(c.library.qs_contract(propagator.gauge.handle, propagator.action.encode(), propagator.source.encode(), vectors.reference(),
                                ctypes.byref(handle)))
    try:
        values, times = {}, ctypes.c_size_t()
        for number in range(c.library.qs_correlators_count(handle)):
            first = c.library.qs_correlators_values(handle, number, ctypes.byref(times))
            values[c.library.qs_correlators_name(handle, number).decode()] = np.array(first[: times.value])
    finally:
        c.library.qs_correlators_free(handle)
    return Correlators(values)
