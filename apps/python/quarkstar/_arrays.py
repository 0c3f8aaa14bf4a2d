"""Arrays as fields of the C library: numpy's, and those in GPU memory."""
from __future__ import annotations

import ctypes
from typing import Any, Union

import numpy as np

from . import _library as c
from ._device import COMPLEX, DeviceArray, empty, is_on_device, taken, zeros
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
    """Of an array of links, of a part of the lattice of these extents (x, y, z, t)."""
    sites = site_shape(layout, extents)
    return (4, *sites, 3, 3) if layout in ("qdp", "pyquda") else (*sites, 4, 3, 3)


def vector_shape(layout: str, extents: Lattice, components: int) -> tuple[int, ...]:
    """Of an array of one vector of 12 or 3 components per site; several have a leading dimension more."""
    return (*site_shape(layout, extents), *((4, 3) if components == 12 else (3,)))


def propagator_shape(layout: str, extents: Lattice, components: int) -> tuple[int, ...]:
    """Of the array of a propagator. pyquda: columns beside the sink's indices; else columns first."""
    if layout != "pyquda":
        return (components, *vector_shape(layout, extents, components))
    return (*site_shape(layout, extents), *((4, 4, 3, 3) if components == 12 else (3, 3)))


Array = Union[np.ndarray, DeviceArray]


def as_input(array: Any, argument: str) -> Array:
    """A C-contiguous array of complex numbers, where it is: the same memory where it is one already."""
    if not isinstance(array, np.ndarray):
        if is_on_device(array):
            return taken(array, argument)
        if not hasattr(array, "__dlpack__"):
            raise InputError(f"{argument}: {type(array).__name__} is no numpy array; convert it with numpy.asarray()", argument)
        try:
            array = np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError) as error:
            raise InputError(f"{argument}: it is on a device that is not CUDA's, or numpy does not take it ({error}); copy it to the host",
                             argument) from None
    if array.dtype.str not in COMPLEX:
        raise InputError(f"{argument}: dtype {array.dtype}; give complex128 or complex64", argument)
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def as_output(array: Any, argument: str) -> Array:
    """The same, of one that is to be written."""
    taken_as = as_input(array, argument)
    if isinstance(taken_as, DeviceArray):
        if taken_as.read_only:
            raise InputError(f"{argument}: it is in GPU memory, and read-only; give an array that may be written", argument)
    elif not isinstance(array, np.ndarray):
        raise InputError(f"{argument}: it is a {type(array).__name__} in host memory; give a numpy array, e.g. tensor.numpy()", argument)
    elif taken_as is not array or not array.flags.writeable:
        raise InputError(f"{argument}: it cannot be written as it is; give a C-contiguous array that is not read-only", argument)
    return taken_as


def array_beside(array: Array, shape: tuple[int, ...], whole: bool, argument: str = "b") -> Array:
    """Of its dtype, and where it is, which is that argument of the caller's. whole: it is to be written on all sites; else what is not written is 0."""
    if isinstance(array, DeviceArray):
        return (empty if whole else zeros)(shape, array, argument)
    return (np.empty if whole else np.zeros)(shape, array.dtype)


def copy_beside(array: Array, source: Array) -> Array:
    """A copy of source, of the dtype of array, and where that is."""
    if isinstance(array, DeviceArray) and isinstance(source, DeviceArray) and source.dtype == array.dtype and source.is_beside(array):
        return source.copy()
    here = source.numpy() if isinstance(source, DeviceArray) else source
    here = here.astype(array.dtype, order="C", copy=True)
    if not isinstance(array, DeviceArray):
        return here
    there = empty(here.shape, array, "b")
    there._set(here)
    return there


def check_shape(array: Array, shape: tuple[int, ...], argument: str, layout: str) -> None:
    if array.shape != shape:
        raise InputError(f"{argument}: shape {array.shape}, but layout '{layout}' has {shape} here", argument)


def _place(array: Array) -> tuple[int, int | None]:
    """Its address, and the stream that it is made on."""
    return (array.pointer, array.stream) if isinstance(array, DeviceArray) else (array.__array_interface__["data"][0], None)


def _form(array: Array) -> dict[str, int]:
    """Members that links and vectors have in common, but for the place."""
    return {"precision": c.DOUBLE if array.dtype.itemsize == 16 else c.SINGLE, "location": c.CUDA if isinstance(array, DeviceArray) else c.HOST}


def links_of(array: Array, layout: str) -> c.Links:
    address, stream = _place(array)
    links = c.Links(layout=layout_number(layout), cuda_stream=stream, **_form(array))
    for mu in range(4 if layout == "qdp" else 1):
        links.data[mu] = address + mu * (array.nbytes // 4)
    return links


class Vectors:
    """The struct for the vectors of an array, which calls with other arrays of its form may use again. results(): a struct for each."""

    __slots__ = ("struct", "results", "_pointers", "_step")

    def __init__(self, array: Array, layout: str, count: int, propagator: bool = False) -> None:
        number = 1 if propagator else count
        self.results = c.Result * count
        self._step = array.nbytes // number
        self._pointers = (ctypes.c_void_p * number)()
        self.struct = c.Vectors(data=self._pointers, count=count, layout=c.PYQUDA_PROPAGATOR if propagator else layout_number(layout),
                                **_form(array))
        self.point_to(array)

    def point_to(self, array: Array) -> None:
        """array: of the same form, for the next call."""
        address, self.struct.cuda_stream = _place(array)
        for i in range(len(self._pointers)):
            self._pointers[i] = address + i * self._step
