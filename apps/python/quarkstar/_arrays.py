"""numpy arrays as fields of the C library."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _library as c
from ._errors import InputError

Lattice = tuple[int, int, int, int]


def layout_number(layout: str, argument: str = "layout") -> int:
    if layout not in c.LAYOUTS:
        raise InputError(f"{argument}: there is no layout '{layout}'; use one of {', '.join(c.LAYOUTS)}", argument)
    return c.LAYOUTS[layout]


def site_shape(layout: str, extents: Lattice) -> tuple[int, ...]:
    """Of the sites of a part of the lattice, slowest first: (T, Z, Y, X), else (2, T, Z, Y, X/2)."""
    x, y, z, t = extents
    return (t, z, y, x) if layout == "lexicographic" else (2, t, z, y, x // 2)


def link_shape(layout: str, extents: Lattice) -> tuple[int, ...]:
    sites = site_shape(layout, extents)
    return (4, *sites, 3, 3) if layout in ("qdp", "pyquda") else (*sites, 4, 3, 3)


def vector_shape(layout: str, extents: Lattice, components: int) -> tuple[int, ...]:
    return (*site_shape(layout, extents), *((4, 3) if components == 12 else (3,)))


def propagator_shape(layout: str, extents: Lattice, components: int) -> tuple[int, ...]:
    """pyquda: columns beside the sink's indices, one array; else columns first."""
    if layout != "pyquda":
        return (components, *vector_shape(layout, extents, components))
    return (*site_shape(layout, extents), *((4, 4, 3, 3) if components == 12 else (3, 3)))


def as_input(array: Any, argument: str) -> np.ndarray:
    """A C-contiguous array of complex numbers: the same memory where it is one already."""
    for name in ("__cuda_array_interface__", "__hip_array_interface__"):
        if hasattr(array, name):
            raise InputError(f"{argument}: it is in GPU memory, which this version does not take; copy it to the host", argument)
    if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] != 1:
        raise InputError(f"{argument}: it is on a device, which this version does not take; copy it to the host", argument)
    if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__"):
        array = np.from_dlpack(array)
    if not isinstance(array, np.ndarray):
        raise InputError(f"{argument}: {type(array).__name__} is no numpy array; convert it with numpy.asarray()", argument)
    if array.dtype not in (np.complex128, np.complex64):
        raise InputError(f"{argument}: dtype {array.dtype}; give complex128 or complex64", argument)
    return np.ascontiguousarray(array)


def check_shape(array: np.ndarray, shape: tuple[int, ...], argument: str, layout: str) -> None:
    if array.shape != shape:
        raise InputError(f"{argument}: shape {array.shape}, but layout '{layout}' has {shape} here", argument)


def precision_of(array: np.ndarray) -> int:
    return c.DOUBLE if array.dtype == np.complex128 else c.SINGLE


def links_of(array: np.ndarray, layout: str) -> c.Links:
    links = c.Links(precision=precision_of(array), layout=layout_number(layout))
    if layout == "qdp":
        for mu in range(4):
            links.data[mu] = array[mu].ctypes.data
    else:
        links.data[0] = array.ctypes.data
    return links


class Vectors:
    """Vectors of an array, for a call; it keeps what the struct points to."""

    def __init__(self, array: np.ndarray, layout: str, count: int, propagator: bool = False) -> None:
        number = 1 if propagator else count
        step = array.nbytes // number
        self.array = array
        self.pointers = (ctypes.c_void_p * number)(*(array.ctypes.data + i * step for i in range(number)))
        self.struct = c.Vectors(data=self.pointers, count=count, precision=precision_of(array),
                                layout=c.PYQUDA_PROPAGATOR if propagator else layout_number(layout))

    def reference(self) -> Any:
        return ctypes.byref(self.struct)
