"""A session and a configuration for tests of the Python package."""
import os
import pathlib
import unittest

import numpy as np

import quarkstar as qs

EXTENTS = (4, 4, 4, 8)
DATA = pathlib.Path(os.environ.get("QUARKSTAR_DATA", "/none"))


def even_odd(array: np.ndarray) -> np.ndarray:
    """(..., T, Z, Y, X, rest) as (..., 2, T, Z, Y, X/2, rest) of one field."""
    t, z, y, x = array.shape[:4]
    out = np.empty((2, t, z, y, x // 2, *array.shape[4:]), array.dtype)
    for it in range(t):
        for iz in range(z):
            for iy in range(y):
                for parity in range(2):
                    first = (it + iz + iy + parity) % 2
                    out[parity, it, iz, iy] = array[it, iz, iy, first::2]
    return out


def random_vectors(n: int, components: int, seed: int) -> np.ndarray:
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    shape = (n, *qs.vector_shape("lexicographic", EXTENTS, components))
    return random.normal(size=shape) + 1j * random.normal(size=shape)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.log = []
        cls.session = qs.Session(devices="cpu", workers=1, threads=1, log=lambda level, text: cls.log.append((level, text)))
        cls.U = qs.generate(EXTENTS, beta=6.0, sweeps=10, seed=7)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.session.close()

    def refused(self, text: str, parameter: str, call) -> qs.Error:
        with self.assertRaises(qs.Error) as caught:
            call()
        self.assertIn(text, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
        self.assertEqual(caught.exception.parameter, parameter)
        return caught.exception
