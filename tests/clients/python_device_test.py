"""Arrays in GPU memory against the same ones in host memory. CUDA's driver may be the stand-in of tests/fake/fake_cuda.cpp."""
import ctypes
import gc
import sys
import unittest
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import numpy as np

import quarkstar as qs

EXTENTS = (4, 4, 4, 8)
DEVICES = sys.argv.pop() if sys.argv[-1] in ("cpu", "cuda") else "cpu"

try:
    cuda = ctypes.CDLL("libcuda.so.1")
    found = c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(byref(found)) != 0 or found.value < 1:
        raise OSError("no device")
except OSError as reason:
    print(f"no GPU: {reason}")
    raise SystemExit(77)
cuda.cuMemcpyAsync.argtypes = [c_uint64, c_uint64, c_size_t, c_void_p]
cuda.cuCtxPushCurrent_v2.argtypes = cuda.cuStreamSynchronize.argtypes = [c_void_p]
cuda.cuMemFree_v2.argtypes = [c_uint64]
context, stream, before = c_void_p(), c_void_p(), c_void_p()
assert cuda.cuCtxCreate_v2(byref(context), 0, 0) == 0 and cuda.cuStreamCreate(byref(stream), 0) == 0
assert cuda.cuCtxPopCurrent_v2(byref(before)) == 0


class Array:
    """Another library's: memory in a context of its own, written on a stream that nobody has waited for."""

    def __init__(self, array: np.ndarray) -> None:
        self.here = np.ascontiguousarray(array)
        pointer = c_uint64()
        assert cuda.cuCtxPushCurrent_v2(context) == 0
        assert cuda.cuMemAlloc_v2(byref(pointer), c_size_t(array.nbytes)) == 0
        assert cuda.cuMemcpyAsync(pointer.value, self.here.ctypes.data, array.nbytes, stream) == 0
        assert cuda.cuCtxPopCurrent_v2(byref(before)) == 0
        self.pointer = pointer.value
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "data": (pointer.value, False), "version": 3,
                                         "strides": None, "stream": stream.value}

    def read(self) -> np.ndarray:
        out = np.empty_like(self.here)
        assert cuda.cuCtxPushCurrent_v2(context) == 0
        assert cuda.cuMemcpyAsync(out.ctypes.data, self.pointer, out.nbytes, stream) == 0 and cuda.cuStreamSynchronize(stream) == 0
        assert cuda.cuCtxPopCurrent_v2(byref(before)) == 0
        return out

    def __del__(self) -> None:
        cuda.cuCtxPushCurrent_v2(context)
        cuda.cuStreamSynchronize(stream)
        cuda.cuMemFree_v2(self.pointer)
        cuda.cuCtxPopCurrent_v2(byref(before))


class ByDlpack:
    """What knows DLPack alone."""

    def __init__(self, array: qs.DeviceArray) -> None:
        self._array = array
        self.asked = []

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        return self._array.__dlpack__(stream=stream)


def random_vectors(n: int, components: int, seed: int) -> np.ndarray:
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    shape = (n, *qs.vector_shape("lexicographic", EXTENTS, components))
    return random.normal(size=shape) + 1j * random.normal(size=shape)


def pieces() -> int:
    """Allocated pieces of memory, which the stand-in counts; with the driver any number is right."""
    gc.collect()
    qs._device.free_memory()  # that is kept for the next array
    return cuda.fake_cuda_pieces() if hasattr(cuda, "fake_cuda_pieces") else AnyNumber()


class AnyNumber:
    def __add__(self, other: int) -> "AnyNumber":
        return self

    def __eq__(self, other: object) -> bool:
        return True


class Device(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with qs.Session(devices="cpu", workers=1, threads=1):
            cls.links = qs.generate(EXTENTS, beta=6.0, sweeps=10, seed=7).links()
        cls.session = qs.Session(devices=DEVICES, workers=1, threads=1)
        cls.U = qs.gauge(Array(cls.links))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.session.close()

    def refused(self, text: str, parameter: str, call) -> None:
        with self.assertRaises(qs.InputError) as caught:
            call()
        self.assertIn(text, str(caught.exception))
        self.assertEqual(caught.exception.parameter, parameter)

    def test_links(self) -> None:
        np.testing.assert_array_equal(self.U.links(), self.links)
        qdp = self.U.links("qdp", np.complex64)
        np.testing.assert_array_equal(qs.gauge(Array(qdp), layout="qdp").links("qdp"), qdp)

    def test_solves(self) -> None:
        at_first = pieces()
        with qs.wilson(self.U, kappa=0.11, tol=1e-9) as D:
            for dtype in (np.complex128, np.complex64):
                b = random_vectors(2, 12, 21).astype(dtype)
                there, here = D.solve(Array(b)), D.solve(b)
                self.assertIsInstance(there, qs.DeviceArray)
                self.assertEqual((there.shape, there.dtype, there.ndim, there.nbytes), (here.shape, here.dtype, here.ndim, here.nbytes))
                np.testing.assert_array_equal(there.numpy(), here)
                np.testing.assert_array_equal((D @ there).numpy(), D @ here)
                for guess in (there, here):
                    for source in (Array(b), b):
                        solved = D.solve(source, guess=guess)
                        self.assertEqual(isinstance(solved, qs.DeviceArray), source is not b)
                        self.assertTrue(dtype == np.complex64 or D.last.iterations == 0)
                np.testing.assert_array_equal(D.solve(Array(b[0])).numpy(), here[0])
                np.testing.assert_array_equal(D.solve_normal(Array(b[0]), [0.1, 1]).numpy(), D.solve_normal(b[0], [0.1, 1]))
        with qs.naive(self.U, masses=[0.3, 0.6], solver="multishift") as D:
            b = random_vectors(1, 3, 22)[0]
            np.testing.assert_array_equal(D.solve(Array(b), parity="odd").numpy(), D.solve(b, parity="odd"))
        del there, solved, guess, source
        self.assertEqual(pieces(), at_first)

    def test_dlpack(self) -> None:
        b = random_vectors(1, 12, 23)[0]
        at_first = pieces()
        with qs.wilson(self.U, kappa=0.11, tol=1e-9) as D:
            x = D.solve(Array(b))
            wrapped = ByDlpack(x)
            image = D.apply(wrapped)
            self.assertEqual(wrapped.asked, [1])  # the default stream
            np.testing.assert_array_equal(image.numpy(), D.apply(x.numpy()))
        capsule = x.__dlpack__()
        with self.assertRaises(BufferError):
            x.__dlpack__(dl_device=(1, 0))
        del x, wrapped
        self.assertEqual(pieces(), at_first + 2)  # the capsule holds one
        del capsule
        self.assertEqual(pieces(), at_first + 1)
        del image
        self.assertEqual(pieces(), at_first)

    def test_contract(self) -> None:
        for layout in ("lexicographic", "pyquda"):
            with qs.naive(self.U, mass=0.4) as D:
                S = D.propagator(point=(0, 1, 2, 3), layout=layout)
                out = Array(np.zeros_like(S.array))
                made = D.propagator(point=(0, 1, 2, 3), layout=layout, out=out)
                self.assertEqual(made.array.pointer, out.pointer)
                np.testing.assert_array_equal(out.read(), S.array)
                np.testing.assert_array_equal(qs.mesons(made).pion5, qs.mesons(S).pion5)
            there = qs.Propagator(Array(S.array), S.source, S.action, S.layout, S.gauge)
            np.testing.assert_array_equal(qs.mesons(there).pion5, qs.mesons(S).pion5)

    def test_errors(self) -> None:
        b = random_vectors(1, 12, 24)[0]
        with qs.wilson(self.U, kappa=0.11) as D:
            wrong = Array(b)
            wrong.__cuda_array_interface__["typestr"] = "<f8"
            self.refused("dtype float64", "b", lambda: D.solve(wrong))
            wrong.__cuda_array_interface__["typestr"] = "<c16"
            wrong.__cuda_array_interface__["strides"] = tuple(reversed(b.strides))
            self.refused("not C-contiguous", "b", lambda: D.solve(wrong))
            wrong.__cuda_array_interface__["strides"] = b.strides
            self.assertEqual(D.solve(wrong).shape, b.shape)
            wrong.__cuda_array_interface__["data"] = (b.ctypes.data, False)
            wrong.__cuda_array_interface__["stream"] = None
            self.refused("does not know the address", "b", lambda: D.solve(wrong))
            del wrong.__cuda_array_interface__["data"]
            self.refused("not complete", "b", lambda: D.solve(wrong))
            self.refused("shape (8, 4, 4, 4, 3, 4)", "b", lambda: D.solve(Array(b.reshape(8, 4, 4, 4, 3, 4))))
            out = Array(np.zeros((12, *b.shape), b.dtype))
            out.__cuda_array_interface__["data"] = (out.pointer, True)
            self.refused("in GPU memory, and read-only", "out", lambda: D.propagator(point=(0, 0, 0, 0), out=out))
        unread = Array(b)
        np.testing.assert_array_equal(unread.read(), b)


if __name__ == "__main__":
    unittest.main()
