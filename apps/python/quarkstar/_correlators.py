"""Correlators of propagators."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _library as c
from ._arrays import Vectors, as_input, check_shape, layout_number, propagator_shape
from ._errors import InputError, check
from ._numbers import wholes
from ._operator import Operator, Propagator, _doubles
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


def _values(handle: Any) -> Correlators:
    return Correlators({c.library.qs_correlators_name(handle, number).decode(): _array(handle, number)
                        for number in range(c.library.qs_correlators_count(handle))})


def _taken(handle: Any) -> Correlators:
    """What a call has made, which is freed."""
    try:
        return _values(handle)
    finally:
        c.library.qs_correlators_free(handle)


def _vectors(propagator: Propagator) -> Vectors:
    layout_number(propagator.layout)
    array, columns = as_input(propagator.array, "propagator"), components(propagator.action)
    check_shape(array, propagator_shape(propagator.layout, propagator.gauge.part[1], columns), "propagator", propagator.layout)
    return Vectors(array, propagator.layout, columns, propagator.layout == "pyquda")


def _sum(terms: Sequence[str] | str | None) -> str | None:
    return terms if terms is None or isinstance(terms, str) else "+".join(terms)


def _momenta(momenta: Sequence[Sequence[int]] | None) -> str | None:
    return _sum([",".join(map(str, wholes(p, "momenta", "x, y, z"))) for p in momenta]) if momenta is not None else None


def _contracted(propagator: Propagator, correlators: Sequence[str] | str | None, momenta: Sequence[Sequence[int]] | None, fold: bool) -> Any:
    vectors = _vectors(propagator)
    settings, count = settings_of({"correlators": correlators, "momenta": _momenta(momenta), "fold": fold or None})
    handle = ctypes.c_void_p()
    check(c.library.qs_contract(propagator.gauge.handle, propagator.action.encode(), propagator.source.encode(), settings, count,
                                vectors.struct, ctypes.byref(handle)))
    return handle


def contract(propagator: Propagator, correlators: Sequence[str] | str | None = None, momenta: Sequence[Sequence[int]] | None = None,
             fold: bool = False) -> Correlators:
    """Two-point functions of a propagator, as the command's, but for domain wall's pion_midpoint and pion_residual_mass: residual_mass().

    correlators: names, groups of them ("rho") or families ("mesons", "octet", "decuplet", "staggered-mesons"); None: the usual ones of the
    action. momenta: (x, y, z) in units of 2 pi / L; None: (0, 0, 0). fold: averaged forward and backward in time."""
    return _taken(_contracted(propagator, correlators, momenta, fold))


def low_mode_averages(D: Operator, propagators: Sequence[Propagator], correlators: Sequence[str] | str | None = None,
                      momenta: Sequence[Sequence[int]] | None = None, fold: bool = False, masses: Any = None) -> list[Correlators]:
    """What contract() gives for each propagator from a point that D has made, and for each of its mesons at momentum zero the low-mode
    average too, `pion_low-mode-average`: the command's, by the Eigenvectors that D.deflate() was given. masses: of the propagators, where
    they are not D's own. What eigenvectors know is computed once for all propagators of a call, so give all of a configuration together."""
    handles = (ctypes.c_void_p * len(propagators))()
    try:
        for number, propagator in enumerate(propagators):
            if propagator.action != D.action:
                raise InputError(f"propagators: the action of number {number} is {propagator.action}, the operator's {D.action}; give those "
                                 "that the operator has made", "propagators")
            if propagator.gauge is not D.gauge:
                raise InputError(f"propagators: number {number} is of another configuration than the operator; give those that the operator "
                                 "has made", "propagators")
            handles[number] = _contracted(propagator, correlators, momenta, fold)
        sources = (ctypes.c_char_p * len(propagators))(*[propagator.source.encode() for propagator in propagators])
        check(c.library.qs_operator_low_mode_averages(D.handle, sources, _doubles(masses, len(propagators), "masses", "propagators"), handles, len(propagators)))
        return [_values(handle) for handle in handles]
    finally:
        for handle in handles:
            c.library.qs_correlators_free(handle)


def residual_mass(D: Operator, propagator: Propagator) -> tuple[float, Correlators]:
    """Of domain wall and Moebius, right after D.propagator(): the residual mass, and the correlators `pion_midpoint`, sum over columns and
    space of |q|^2 in the middle of the fifth dimension, and `pion_residual_mass`, its ratio at each time to that on the walls. Raises
    InputError where D has solved for something else since."""
    if propagator.report is None or propagator.report is not D.last:
        raise InputError("propagator: it is not what the operator has solved for last; ask right after D.propagator()", "propagator")
    mass, handle = ctypes.c_double(), ctypes.c_void_p()
    check(c.library.qs_operator_residual_mass(D.handle, propagator.source.encode(), ctypes.byref(mass), ctypes.byref(handle)))
    return mass.value, _taken(handle)


def three_points(D: Operator, propagator: Propagator, hadrons: Sequence[str] | str, currents: Sequence[str] | str | None = None,
                 momenta: Sequence[Sequence[int]] | None = None, sinks: Sequence[str] | str | None = None) -> Correlators:
    """Three-point functions of a propagator that D has made (its action and lattice are checked, its links and mass are not), as the
    command's: C3(t) of a hadron from the source to a sink with a current on one of its quarks at t, complex128.

    hadrons: with time slices from source to sink and, if any, momentum there, "pion:8" or ["pion:8", "proton_u:8,1,0,0"]. currents: names,
    groups ("axial") or families ("local"); None: vector_t and, where there is one, conserved_t. momenta: of the currents, (x, y, z) in units
    of 2 pi / L; None: (0, 0, 0). sinks: smearings of the hadron, ["point", "gaussian:2,10"]; None: "point". For each hadron and sink D solves
    for twelve more columns, of which D.history() then tells; D.last is None. Raises NotConverged where one does not converge."""
    if propagator.action != D.action:
        raise InputError(f"propagator: its action is {propagator.action}, the operator's {D.action}; give one that the operator has made",
                         "propagator")
    if propagator.gauge.part != D.gauge.part:
        raise InputError("propagator: it is of another lattice; give one that the operator has made", "propagator")
    vectors = _vectors(propagator)
    settings, count = settings_of({"three-points": _sum(hadrons), "currents": currents, "current-momenta": _momenta(momenta),
                                   "sinks": _sum(sinks)})
    handle = ctypes.c_void_p()
    D._forget()
    check(c.library.qs_operator_three_points(D.handle, propagator.source.encode(), settings, count, vectors.struct,
                                             ctypes.byref(handle)))
    return _taken(handle)


def mesons(propagator: Propagator, momenta: Sequence[Sequence[int]] | None = None, fold: bool = False) -> Correlators:
    """All mesons of the action's propagators: Wilson's `pion`, `rho_x`, ..., `a4p`; staggered `pion5`, `rho_x`, ..."""
    return contract(propagator, "mesons" if components(propagator.action) == 12 else "staggered-mesons", momenta, fold)
