"""Arrays in GPU memory: taken by `__cuda_array_interface__` or DLPack, and given back so."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import math
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p, py_object
from typing import Any, Iterator

import numpy as np

from ._errors import InputError, MachineError

_CUDA, _CUDA_MANAGED = 2, 13  # kDLCUDA, kDLCUDAManaged
_COMPLEX = 5  # kDLComplex
_CONTEXT, _DEVICE = 1, 9  # CU_POINTER_ATTRIBUTE_*
_LEGACY = 1  # the default stream, for producers and for the driver
_NEW, _USED = b"dltensor", b"used_dltensor"  # names of DLPack's capsules, which do not copy them

COMPLEX = {dtype.str: dtype for dtype in (np.dtype(np.complex128), np.dtype(np.complex64))}  # what is taken, by array interfaces' names


# ---- CUDA's driver

_signatures: dict[str, list[Any]] = {
    "cuInit": [ctypes.c_uint],
    "cuPointerGetAttribute": [c_void_p, c_int, c_uint64],
    "cuDevicePrimaryCtxRetain": [POINTER(c_void_p), c_int],
    "cuCtxPushCurrent_v2": [c_void_p],
    "cuCtxPopCurrent_v2": [POINTER(c_void_p)],
    "cuCtxSynchronize": [],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemFree_v2": [c_uint64],
    "cuMemsetD8Async": [c_uint64, c_uint8, c_size_t, c_void_p],
    "cuMemcpyAsync": [c_uint64, c_uint64, c_size_t, c_void_p],
    "cuStreamSynchronize": [c_void_p],
    "cuStreamGetCtx": [c_void_p, POINTER(c_void_p)],
    "cuGetErrorString": [c_int, POINTER(c_char_p)],
}


@functools.lru_cache(maxsize=None)
def _driver() -> ctypes.CDLL | None:
    """None: there is none. The library that loads us needs no CUDA."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        for name, arguments in _signatures.items():
            getattr(driver, name).argtypes = arguments
    except (OSError, AttributeError):
        return None
    return driver if driver.cuInit(0) == 0 else None


def _call(name: str, *arguments: Any) -> None:
    driver = _driver()
    assert driver is not None
    code = getattr(driver, name)(*arguments)
    if code != 0:
        text = c_char_p()
        driver.cuGetErrorString(code, byref(text))
        raise MachineError(f"GPU memory: {name} failed: {(text.value or b'').decode()}; check the arrays, and what was enqueued before")


def _context_of(pointer: int, stream: int | None) -> c_void_p:
    """The stream's, else the one that the memory belongs to, else its device's own."""
    context = c_void_p()
    if stream is not None and stream > 2:
        _call("cuStreamGetCtx", stream, byref(context))
        return context
    driver = _driver()
    assert driver is not None
    if driver.cuPointerGetAttribute(byref(context), _CONTEXT, pointer) != 0 or not context.value:
        _call("cuDevicePrimaryCtxRetain", byref(context), _device_of(pointer))  # for ever: arrays of ours may live there
    return context


class UnknownAddress(MachineError):
    """Of no memory that CUDA's driver knows."""


def _device_of(pointer: int) -> int:
    device, driver = c_int(), _driver()
    if driver is None or driver.cuPointerGetAttribute(byref(device), _DEVICE, pointer) != 0:
        raise UnknownAddress(f"CUDA's driver does not know the address {pointer:#x}")
    return device.value


@contextlib.contextmanager
def _current(context: c_void_p) -> Iterator[None]:
    _call("cuCtxPushCurrent_v2", context)
    try:
        yield
    finally:
        before = c_void_p()
        _call("cuCtxPopCurrent_v2", byref(before))


# ---- DLPack's structs: https://dmlc.github.io/dlpack/latest/c_api.html

class _Device(Structure):
    _fields_ = [("type", c_int), ("number", c_int)]


class _Type(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device", _Device), ("ndim", c_int), ("type", _Type), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_deleter = ctypes.CFUNCTYPE(None, c_void_p)


class _Managed(Structure):
    _fields_ = [("tensor", _Tensor), ("owner", c_void_p), ("deleter", _deleter)]


_python = ctypes.PyDLL(None)  # functions of our own prototypes: those of ctypes.pythonapi are everyone's
_python.PyCapsule_New.restype, _python.PyCapsule_New.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
_python.PyCapsule_GetPointer.restype, _python.PyCapsule_GetPointer.argtypes = c_void_p, [c_void_p, c_char_p]
_python.PyCapsule_IsValid.restype, _python.PyCapsule_IsValid.argtypes = c_int, [c_void_p, c_char_p]
_python.PyCapsule_SetName.restype, _python.PyCapsule_SetName.argtypes = c_int, [c_void_p, c_char_p]

_given: dict[int, Any] = {}  # by the address of what was given away: what must live until its deleter is called


@_deleter
def _forget(address: int) -> None:
    _given.pop(address, None)


@_deleter
def _forget_capsule(capsule: int) -> None:
    if _python.PyCapsule_IsValid(capsule, _NEW):  # nobody has taken what is in it
        _forget(_python.PyCapsule_GetPointer(capsule, _NEW))


class _Taken:
    """A tensor of another library, which is told when it is of no use any more."""

    def __init__(self, source: Any) -> None:
        self._address = None
        capsule = source.__dlpack__(stream=_LEGACY)
        self._address = _python.PyCapsule_GetPointer(id(capsule), _NEW)
        _python.PyCapsule_SetName(id(capsule), _USED)
        self.managed = _Managed.from_address(self._address)

    def __del__(self) -> None:
        if self._address is not None and self.managed.deleter:
            self.managed.deleter(self._address)


_sessions = 0  # that are open: pieces are kept for their calls
_given_up: list[tuple[int, int, int]] = []  # the last piece that nobody needs any more: context, bytes, address


def _free(context: int, nbytes: int, pointer: int) -> None:
    driver = _driver()
    if driver is not None and driver.cuCtxPushCurrent_v2(context) == 0:
        driver.cuMemFree_v2(pointer)
        driver.cuCtxPopCurrent_v2(byref(c_void_p()))


def session_opened() -> None:
    global _sessions
    _sessions += 1


def session_closed() -> None:
    global _sessions
    _sessions -= 1
    if _sessions == 0:
        free_memory()


def free_memory() -> None:
    """Frees what is kept for the next array."""
    with contextlib.suppress(IndexError):  # another thread may have taken it
        _free(*_given_up.pop())


class _Allocation:
    """Memory of our own, in the context of an array. One piece that was given up is kept for the next array of its size: a call whose result
    replaces that of the one before would take longer to allocate and to free than to convert its fields."""

    def __init__(self, nbytes: int, like: "DeviceArray") -> None:
        self.context = _context_of(like.pointer, like.stream)
        self.nbytes = max(1, nbytes)
        pointer = c_uint64()
        with contextlib.suppress(IndexError):
            piece = _given_up.pop()
            if piece[:2] == (self.context.value, self.nbytes):
                pointer.value = piece[2]
            else:
                _free(*piece)
        with _current(self.context):
            if pointer.value:
                _call("cuCtxSynchronize")  # as freeing it would have: others may still read what was there
            else:
                _call("cuMemAlloc_v2", byref(pointer), self.nbytes)
        self.pointer = pointer.value

    def __del__(self) -> None:
        if hasattr(self, "pointer"):
            free_memory()
            if _sessions > 0:
                _given_up.append((self.context.value, self.nbytes, self.pointer))
            else:
                _free(self.context.value, self.nbytes, self.pointer)


class DeviceArray:
    """A C-contiguous array of complex numbers in GPU memory: what a solve of such an array gives. `cupy.asarray(x)`, `torch.from_dlpack(x)`
    and their like take it without a copy; `numpy()` copies it to the host."""

    __slots__ = ("pointer", "shape", "dtype", "stream", "read_only", "_owner", "__weakref__")

    def __init__(self, pointer: int, shape: tuple[int, ...], dtype: np.dtype, stream: int | None, owner: Any, read_only: bool = False) -> None:
        self.pointer = pointer
        self.shape = shape
        self.dtype = dtype
        self.stream = stream  # on which it is made; None: it is there
        self.read_only = read_only
        self._owner = owner

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.pointer, self.read_only), "version": 3, "strides": None,
                "stream": self.stream}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, _device_of(self.pointer)

    def __dlpack__(self, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        """What was to be done on the stream that made it has been done: the consumer's need not wait."""
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError("an array in GPU memory is given as it is: copy it with numpy()")
        self._wait()
        shape = (c_int64 * self.ndim)(*self.shape)
        managed = _Managed(_Tensor(self.pointer, _Device(*self.__dlpack_device__()), self.ndim, _Type(_COMPLEX, 8 * self.dtype.itemsize, 1),
                                   shape, None, 0), None, _forget)
        address = ctypes.addressof(managed)
        _given[address] = (managed, shape, self)
        return _python.PyCapsule_New(address, _NEW, ctypes.cast(_forget_capsule, c_void_p))

    def numpy(self) -> np.ndarray:
        """A copy in host memory."""
        array = np.empty(self.shape, self.dtype)
        self._copy(array.ctypes.data, self.pointer)
        return array

    def _wait(self) -> None:
        if self.stream is not None:
            with _current(_context_of(self.pointer, self.stream)):
                _call("cuStreamSynchronize", self.stream)

    def is_beside(self, other: "DeviceArray") -> bool:
        """Whether it is in the same context."""
        return _context_of(self.pointer, self.stream).value == _context_of(other.pointer, other.stream).value

    def copy(self) -> "DeviceArray":
        """In the same context."""
        array = empty(self.shape, self, "array")
        self._copy(array.pointer, self.pointer)
        return array

    def _copy(self, to: int, source: int) -> None:
        with _current(_context_of(self.pointer, self.stream)):
            _call("cuMemcpyAsync", to, source, self.nbytes, self.stream)
            _call("cuStreamSynchronize", self.stream)

    def _set(self, array: np.ndarray) -> None:
        """Copies an array of its shape and dtype from host memory."""
        self._copy(self.pointer, array.ctypes.data)


def empty(shape: tuple[int, ...], like: DeviceArray, argument: str) -> DeviceArray:
    """In the context and of the dtype of another, which is that argument of the caller's."""
    try:
        memory = _Allocation(math.prod(shape) * like.dtype.itemsize, like)
    except UnknownAddress:
        raise _refusal(argument, "but CUDA's driver does not know the address", "give an array that is there") from None
    return DeviceArray(memory.pointer, shape, like.dtype, None, memory)


def zeros(shape: tuple[int, ...], like: DeviceArray, argument: str) -> DeviceArray:
    """The same, with zeros that are there when this returns."""
    array = empty(shape, like, argument)
    with _current(_context_of(array.pointer, None)):
        _call("cuMemsetD8Async", array.pointer, 0, array.nbytes, None)
        _call("cuStreamSynchronize", None)
    return array


def is_on_device(array: Any) -> bool:
    if hasattr(array, "__dlpack_device__"):
        return array.__dlpack_device__()[0] in (_CUDA, _CUDA_MANAGED)
    return hasattr(array, "__cuda_array_interface__")


def _refusal(argument: str, what: str, remedy: str) -> InputError:
    return InputError(f"{argument}: it is in GPU memory, {what}; {remedy}", argument)


def taken(array: Any, argument: str) -> DeviceArray:
    """Of another library, without a copy. Whether the driver knows the address is not asked here: the C library asks."""
    if isinstance(array, DeviceArray):
        return array
    if _driver() is None:
        raise _refusal(argument, "but this machine has no CUDA driver (libcuda.so.1) that works", "copy it to the host")
    # Before version 3 the interface tells no stream, and torch's tells no lazy conjugate: there DLPack's producer sees to both.
    of_torch = type(array).__module__.partition(".")[0] == "torch"
    facts = None if of_torch else getattr(array, "__cuda_array_interface__", None)
    if facts is not None and (facts.get("version", 0) >= 3 or not hasattr(array, "__dlpack__")):
        try:
            (pointer, read_only), shape, dtype = facts["data"], tuple(facts["shape"]), COMPLEX.get(facts["typestr"])
            given = "" if dtype is not None else np.dtype(facts["typestr"])
        except (KeyError, TypeError, ValueError) as error:
            raise _refusal(argument, f"and its __cuda_array_interface__ is not complete ({error})",
                           "give an array of cupy, torch or numba") from None
        if dtype is None:
            raise InputError(f"{argument}: dtype {given}; give complex128 or complex64", argument)
        strides, stream, owner = facts.get("strides"), facts.get("stream"), array
    else:
        try:
            owner = _Taken(array)
        except (BufferError, RuntimeError) as error:
            raise _refusal(argument, f"and its library does not give it ({error})", "detach() or resolve_conj() it first") from None
        tensor = owner.managed.tensor
        shape = tuple(tensor.shape[: tensor.ndim])
        kind = f"complex{tensor.type.bits}" if tensor.type.code == _COMPLEX and tensor.type.lanes == 1 else f"DLPack code {tensor.type.code}"
        if kind not in ("complex64", "complex128"):
            raise InputError(f"{argument}: dtype {kind}; give complex128 or complex64", argument)
        dtype, stream, read_only = np.dtype(kind), None, facts is not None and facts["data"][1]
        pointer = (tensor.data or 0) + tensor.byte_offset
        strides = tuple(s * dtype.itemsize for s in tensor.strides[: tensor.ndim]) if tensor.strides else None
    if strides is not None:
        step = dtype.itemsize
        for extent, stride in zip(reversed(shape), reversed(strides)):
            if extent > 1 and stride != step:
                raise _refusal(argument, "but not C-contiguous", "make it so there, with ascontiguousarray() or contiguous()")
            step *= extent
    return DeviceArray(pointer, shape, dtype, stream, owner, read_only)
