"""Gauge fields."""
from __future__ import annotations

import ctypes
import math
import os
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _library as c
from ._arrays import Array, Lattice, as_input, check_shape, layout_number, link_shape, links_of
from ._closing import Closing
from ._errors import InputError, check
from ._numbers import INT, UINT64, real, reals, whole, wholes
from ._session import Session, current_session


class PlaquetteMeans(NamedTuple):
    """Means of Re tr / 3 over plaquettes, and over links."""

    mean: float
    spatial: float
    temporal: float
    link_trace: float


def lattice_of(lattice: Sequence[int]) -> Any:
    return (ctypes.c_int * 4)(*wholes(lattice, "lattice", least=1))


class Gauge(Closing):
    """Links U_mu(x) of a lattice; under MPI this rank's part. Made by read_gauge(), gauge() and generate(). A context manager: operators that
    were made of it go on when it is closed."""

    _free = "qs_gauge_free"

    def __init__(self, session: Session, handle: ctypes.c_void_p) -> None:
        self.session = session
        self._handle = handle

    @property
    def handle(self) -> ctypes.c_void_p:
        self.session.handle  # raises where it has been closed
        if not self._handle:
            raise InputError("gauge: it has been closed; read or make it again", "gauge")
        return self._handle

    @property
    def lattice(self) -> Lattice:
        """Extents (x, y, z, t) of the whole lattice."""
        extents = (ctypes.c_int * 4)()
        check(c.library.qs_gauge_lattice(self.handle, extents))
        return tuple(extents)  # type: ignore[return-value]

    @property
    def part(self) -> tuple[Lattice, Lattice]:
        """Origin and extents of this rank's part."""
        origin, extents = (ctypes.c_int * 4)(), (ctypes.c_int * 4)()
        check(c.library.qs_gauge_part(self.handle, origin, extents))
        return tuple(origin), tuple(extents)  # type: ignore[return-value]

    def links(self, layout: str = "lexicographic", dtype: Any = np.complex128) -> np.ndarray:
        """A copy of the links, of shape link_shape(layout, extents)."""
        layout_number(layout)
        array = as_input(np.empty(link_shape(layout, self.part[1]), dtype), "dtype")
        check(c.library.qs_gauge_export(self.handle, ctypes.byref(links_of(array, layout))))
        return array

    def plaquette(self) -> PlaquetteMeans:
        """Means over the whole lattice."""
        means = c.Plaquettes()
        check(c.library.qs_gauge_plaquette(self.handle, ctypes.byref(means)))
        return PlaquetteMeans(means.mean, means.spatial, means.temporal, means.link_trace)

    def reunitarize(self) -> "Gauge":
        """Projects every link onto SU(3), in place."""
        check(c.library.qs_gauge_reunitarize(self.handle))
        return self

    def write(self, path: str | os.PathLike[str], format: str = "ildg", precision: str = "double") -> None:
        """format: nersc, ildg or milc; precision: single or double."""
        if precision not in ("single", "double"):
            raise InputError(f"precision: '{precision}'; give single or double", "precision")
        check(c.library.qs_gauge_write(self.handle, os.fsencode(path), format.encode(), c.DOUBLE if precision == "double" else c.SINGLE))

    def smear(self, action: str, naik_epsilon: float = 0, u0: float = 0,
              boundary: Sequence[float] = (0, 0, 0, 1)) -> tuple["Gauge", "Gauge"]:
        """Fat and long links of "hisq" or "asqtad", staggered phases and boundary (angles / pi) in them."""
        how = c.Smearing(action=action.encode(), naik_epsilon=real(naik_epsilon, "naik_epsilon"), u0=real(u0, "u0"),
                         boundary=(ctypes.c_double * 4)(*reals(boundary, "boundary")))
        fat, far = ctypes.c_void_p(), ctypes.c_void_p()
        check(c.library.qs_gauge_smear(self.handle, ctypes.byref(how), ctypes.byref(fat), ctypes.byref(far)))
        return Gauge(self.session, fat), Gauge(self.session, far)


def read_gauge(path: str | os.PathLike[str], lattice: Sequence[int] | None = None, session: Session | None = None) -> Gauge:
    """Reads NERSC, SciDAC/ILDG, MILC, openQCD or DDalphaAMG. lattice: extents of a bare LIME file."""
    session = session or current_session()
    handle = ctypes.c_void_p()
    extents = lattice_of(lattice) if lattice is not None else None
    check(c.library.qs_gauge_read(session.handle, os.fsencode(path), extents, ctypes.byref(handle)))
    return Gauge(session, handle)


def gauge(links: Array, lattice: Sequence[int] | None = None, layout: str = "lexicographic", session: Session | None = None) -> Gauge:
    """From an array of this rank's links. lattice: extents of the whole one, to be given where there are several ranks; None: the array's."""
    session = session or current_session()
    array = as_input(links, "links")
    layout_number(layout)
    rank = 7 if layout == "lexicographic" else 8
    if array.ndim != rank:
        raise InputError(f"links: shape {array.shape}; give {link_shape(layout, (8, 8, 8, 8))} of an 8^4 lattice in layout '{layout}'", "links")
    if layout == "lexicographic":
        part = tuple(reversed(array.shape[:4]))
    else:
        t, z, y, half = array.shape[2:6] if layout in ("qdp", "pyquda") else array.shape[1:5]
        part = (2 * half, y, z, t)
    check_shape(array, link_shape(layout, part), "links", layout)  # type: ignore[arg-type]
    handle = ctypes.c_void_p()
    whole = lattice_of(lattice if lattice is not None else part)
    # The library reads as many links as this rank's part has: fewer must not get there.
    if math.prod(whole) != session.ranks * math.prod(part):
        raise InputError(f"lattice: {tuple(whole)} on {session.ranks} ranks, but this rank's links are of {part}; all parts are equal", "lattice")
    check(c.library.qs_gauge_create(session.handle, whole, ctypes.byref(links_of(array, layout)), ctypes.byref(handle)))
    made = Gauge(session, handle)
    if made.part[1] != part:  # the same number of sites, cut along other axes
        raise InputError(f"links: they are of {part}, but this rank's part of the lattice is {made.part[1]}", "links")
    return made


def generate(lattice: Sequence[int], beta: float, sweeps: int, seed: int = 1, start: str = "hot", session: Session | None = None) -> Gauge:
    """By heatbath and overrelaxation, Wilson's plaquette action. start: hot or cold."""
    session = session or current_session()
    if start not in ("hot", "cold"):
        raise InputError(f"start: '{start}'; give hot or cold", "start")
    heatbath = c.Heatbath(beta=real(beta, "beta"), sweeps=whole(sweeps, "sweeps", 1, INT), seed=whole(seed, "seed", 1, UINT64),
                          cold=int(start == "cold"))
    handle = ctypes.c_void_p()
    check(c.library.qs_gauge_generate(session.handle, lattice_of(lattice), ctypes.byref(heatbath), ctypes.byref(handle)))
    return Gauge(session, handle)
