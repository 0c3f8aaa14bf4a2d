"""The Python package against numpy's own arithmetic and other layouts of the same problem."""
import concurrent.futures
import gc
import pathlib
import pydoc
import resource
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np

import quarkstar as qs
from python_testing import EXTENTS, Package, even_odd, random_vectors


class Solves(Package):
    def test_links(self) -> None:
        links = self.U.links()
        self.assertEqual(links.shape, (8, 4, 4, 4, 4, 3, 3))
        self.assertLess(np.abs(links @ links.conj().swapaxes(-1, -2) - np.eye(3)).max(), 1e-13)
        # Axis of x is 3, of t is 0.
        total = 0.0
        for mu in range(4):
            for nu in range(mu):
                u_mu, u_nu = links[..., mu, :, :], links[..., nu, :, :]
                after = u_mu @ np.roll(u_nu, -1, 3 - mu), u_nu @ np.roll(u_mu, -1, 3 - nu)
                total += np.einsum("...ij,...ij->...", after[0], after[1].conj()).real.mean() / 3 / 6
        self.assertAlmostEqual(self.U.plaquette().mean, total, 13)
        rearranged = even_odd(links)
        for layout in ("even_odd", "qdp", "pyquda"):
            mine = rearranged if layout == "even_odd" else np.moveaxis(rearranged, 5, 0)
            np.testing.assert_array_equal(self.U.links(layout), mine)
            np.testing.assert_array_equal(qs.gauge(np.ascontiguousarray(mine), layout=layout).links(), links)
            np.testing.assert_array_equal(qs.gauge(mine, layout=layout).links(), links)  # of strides of its own
        np.testing.assert_array_equal(self.U.links(dtype=np.complex64), links.astype(np.complex64))
        with tempfile.TemporaryDirectory() as folder:
            self.U.write(pathlib.Path(folder) / "lattice")
            read = qs.read_gauge(pathlib.Path(folder) / "lattice")
            np.testing.assert_array_equal(read.links(), links)
        fat, far = self.U.smear("hisq")
        self.assertEqual(far.links().shape, links.shape)
        self.assertLess(np.abs(np.abs(np.linalg.det(far.links() * 24)) - 1).max(), 1e-12)  # 24 N is in U(3)

    def test_solves(self) -> None:
        b = random_vectors(3, 12, 11)
        with qs.wilson(self.U, kappa=0.11, tol=1e-10) as D:
            x = D.solve(b)
            image = D @ x
            for v in range(3):
                residual = np.linalg.norm(b[v] - image[v]) / np.linalg.norm(b[v])
                self.assertLess(residual, 1.001e-10)
                self.assertAlmostEqual(residual, D.last.columns[v].residual, 13)
            self.assertTrue(D.last.converged)
            self.assertEqual(D.last.iterations, max(column.iterations for column in D.last.columns))
            self.assertEqual(len(D.history(1)), D.last.columns[1].iterations)
            np.testing.assert_array_equal(D.solve(b[0]), x[0])
            for layout in ("even_odd", "pyquda"):
                np.testing.assert_array_equal(D.solve(even_odd(b[1]), layout=layout), even_odd(x[1]))
            single = b[0].astype(np.complex64)
            np.testing.assert_array_equal(D.solve(single), D.solve(single.astype(np.complex128)).astype(np.complex64))
            D.solve(b[0], guess=x[0])
            self.assertEqual(D.last.iterations, 0)
            self.assertEqual(D.solve(single, guess=x[0]).dtype, np.complex64)
            self.assertEqual(D.solve(b[0], guess=x[0].astype(np.complex64)).dtype, np.complex128)
            out = np.empty_like(b[0])
            self.assertIs(D.solve(b[0], out=out), out)
            np.testing.assert_array_equal(out, x[0])
            self.assertIs(D.solve(b[0], guess=out, out=out), out)  # from the solution on
            self.assertEqual(D.last.iterations, 0)
            self.refused("out: another array than guess", "out", lambda: D.solve(b[0], guess=x[0], out=out))
            self.refused("out: shape", "out", lambda: D.solve(b[0], out=b))
            D.solve(b[:2], tol=[1e-4, 1e-9])
            self.assertGreater(D.last.columns[0].residual, 1e-9)
            left = np.vdot(b[1], D @ b[0])
            self.assertLess(abs(left - np.vdot(D.apply(b[1], adjoint=True), b[0])), 1e-11 * abs(left))
            error = self.refused("after 2 iterations", "", lambda: qs.wilson(self.U, kappa=0.11, max_iterations=2).solve(b[0]))
            self.assertIsInstance(error, qs.NotConverged)
            self.assertFalse(error.report.converged)
            self.assertEqual(error.solution.shape, b[0].shape)
        for key, value in dict(aggregate="3,2,2,2", null_vectors=6, levels=5, smoother_steps=13, setup_steps=0, precision="half").items():
            self.refused("", key.replace("_", "-"), lambda: qs.wilson(self.U, kappa=0.11, solver="multigrid", **{key: value}))
        kept = dict(solver="multigrid", aggregate="2,2,2,2", null_vectors=8, setup_steps=8, setup_cycles=1)
        with tempfile.TemporaryDirectory() as folder:
            kept["multigrid_setup"] = str(pathlib.Path(folder) / "kept")
            solved, files = [], []
            for kappa in (0.11, 0.11, 0.12):  # null vectors are made, read, and begun with
                with qs.wilson(self.U, kappa=kappa, tol=1e-9, **kept) as D:
                    solved.append(D.solve(b[0]))
                    self.assertLess(np.linalg.norm(b[0] - D @ solved[-1]), 1.001e-9 * np.linalg.norm(b[0]))
                    files.append({file.name: file.read_bytes() for file in pathlib.Path(kept["multigrid_setup"]).iterdir()})
            self.assertEqual(len(files[0]), 8)
            self.assertEqual(files[0], files[2])
        np.testing.assert_array_equal(solved[0], solved[1])
        poor = dict(solver="multigrid", no_fallback=True, aggregate="2,2,2,2", null_vectors=4, setup_steps=1)
        with qs.wilson(self.U, kappa=0.3, **poor) as D:  # past the critical mass: there is no solve
            error = self.refused("the multigrid set-up failed", "null-vectors", lambda: D.solve(b[0]))
            self.assertIsInstance(error, qs.NotConverged)
            self.assertIsNone(error.report)
            self.assertIsNone(error.solution)

    def test_arrays_of_several_forms(self) -> None:
        """One operator's solves of arrays that differ in number, type, layout and place, one by one and from several threads."""
        b = random_vectors(3, 12, 75)
        with qs.wilson(self.U, kappa=0.11, tol=1e-9) as D:
            forms = [(given, layout) for given in (b[0], b[1], b[1:], b[2].astype(np.complex64)) for layout in ("lexicographic", "pyquda")]
            forms = [(given if layout == "lexicographic" else given.reshape(*given.shape[:-6], 2, 8, 4, 4, 2, 4, 3), layout) for given, layout in forms]
            alone = [D.solve(given, layout=layout) for given, layout in forms]
            for solution, (given, layout) in zip(alone, forms):
                image = D.apply(solution, layout=layout)
                self.assertLess(np.abs(image - given).max() / np.abs(given).max(), 1e-6)
            with concurrent.futures.ThreadPoolExecutor(3) as threads:
                together = list(threads.map(lambda form: D.solve(form[0], layout=form[1]), 2 * forms))
            for solution, same in zip(2 * alone, together):
                np.testing.assert_array_equal(solution, same)

    def test_eigenvectors(self) -> None:
        folder = pathlib.Path(tempfile.mkdtemp())
        b = random_vectors(2, 3, 72)
        with qs.naive(self.U, mass=0.005, tol=1e-9) as D:
            x = D.solve(b)
            plain = D.last.iterations
            E = qs.eigenvectors(D, modes=12)
            self.assertEqual(len(E), 12)
            self.assertTrue((np.diff(E.values) >= 0).all() and E.values[0] > 0)
            self.assertLess(E.residuals.max(), 1e-10)
            E.write(folder / "modes.h5")
            D.deflate(E)
            deflated = D.solve(b)
            self.assertLess(D.last.iterations, plain)
            self.assertLess(np.abs(deflated - x).max() / np.abs(x).max(), 1e-6)
            E.close()  # the operator keeps them
            np.testing.assert_array_equal(D.solve(b), deflated)
            self.refused("they have been closed", "vectors", lambda: D.deflate(E))
            self.refused("they have been closed", "vectors", lambda: E.write(folder / "closed.h5"))
            with qs.read_eigenvectors(D, folder / "modes.h5") as again:
                np.testing.assert_array_equal(again.values, E.values)
                D.deflate(again)
                np.testing.assert_array_equal(D.solve(b), deflated)
                again.write(folder / "modes.lime")
            with qs.read_eigenvectors(D, folder / "modes.lime") as again:
                np.testing.assert_array_equal(again.values, E.values)
                D.deflate(again)
                np.testing.assert_array_equal(D.solve(b), deflated)
            iterations = D.last.iterations
            for store, most in (("single", 1e-5), ("half", 1e-3)):
                with qs.eigenvectors(D, modes=12, store=store) as small:
                    np.testing.assert_array_equal(small.values, again.values)
                    self.assertTrue(1e-9 < small.residuals.max() < most)
                    small.write(folder / store)
                    D.deflate(small)
                rounded = D.solve(b)
                self.assertLess(D.last.iterations, 1.2 * iterations)
                self.assertLess(np.abs(rounded - x).max() / np.abs(x).max(), 1e-6)
                with qs.read_eigenvectors(D, folder / store) as small:
                    small.write(folder / "same")
                    D.deflate(small)
                np.testing.assert_array_equal(D.solve(b), rounded)
                self.assertEqual((folder / "same").read_bytes(), (folder / store).read_bytes())
            with qs.eigenvectors(D, modes=12, basis_memory="host") as same:
                np.testing.assert_array_equal(same.values, E.values)
            with qs.eigenvectors(D, modes=12, basis_precision="single") as narrow:
                np.testing.assert_allclose(narrow.values, again.values, rtol=1e-11)
                self.assertLess(narrow.residuals.max(), 1e-10)
            self.refused("a basis in half precision", "basis-precision", lambda: qs.eigenvectors(D, modes=8, basis_precision="half"))
            self.refused("'disk' is unknown", "basis-memory", lambda: qs.eigenvectors(D, modes=8, basis_memory="disk"))
            self.refused("'quarter' is unknown", "store", lambda: qs.eigenvectors(D, modes=8, store="quarter"))
            S = D.propagator(point=(0, 0, 0, 0))
            self.refused("masses: 1 numbers for 2 propagators", "masses", lambda: qs.low_mode_averages(D, [S, S], masses=[0.005]))
            with qs.naive(self.U, masses=[0.005, 0.1]) as two, qs.read_eigenvectors(two, folder / "modes.h5") as again:
                two.deflate(again)
                propagators = [qs.Propagator(S.array, S.source, S.action, S.layout, two.gauge)] * 3
                self.refused("the operator has 2 masses for 3 propagators", "masses", lambda: qs.low_mode_averages(two, propagators))
            D.deflate(None)
            np.testing.assert_array_equal(D.solve(b), x)
            self.refused("0 of them", "modes", lambda: qs.eigenvectors(D, modes=0))
        with qs.naive(self.U, mass=0.005, boundary={"t": "periodic"}) as other:
            with self.assertRaisesRegex(qs.InputError, "those of another operator or configuration"):
                qs.read_eigenvectors(other, folder / "modes.h5")
        with qs.naive(self.U, mass=0.005, solver="blockcg", precision="half") as block:
            with qs.read_eigenvectors(block, folder / "modes.h5") as E:
                self.refused("blockcg in half precision", "precision", lambda: block.deflate(E))

    def test_gamma5(self) -> None:
        with tempfile.TemporaryDirectory() as name, qs.wilson(self.U, kappa=0.12) as D:
            file = pathlib.Path(name) / "modes.h5"
            with qs.eigenvectors(D, modes=6, operator="gamma5") as E:
                self.assertTrue((E.values < 0).any() and (E.values > 0).any())
                np.testing.assert_array_equal(np.abs(E.values), np.sort(np.abs(E.values)))
                self.assertLess(E.residuals.max(), 1e-10)
                E.write(file)
                with qs.read_eigenvectors(D, file) as again:
                    np.testing.assert_array_equal(again.values, E.values)
                self.refused("those of another operator", "vectors", lambda: D.deflate(E))
            with qs.eigenvectors(D, modes=6, operator="gamma5", end="highest") as high:
                np.testing.assert_array_equal(np.abs(high.values), np.sort(np.abs(high.values))[::-1])
            self.refused("'gamma4' is unknown", "operator", lambda: qs.eigenvectors(D, modes=6, operator="gamma4"))
            self.refused("'middle' is unknown", "end", lambda: qs.eigenvectors(D, modes=6, end="middle"))
        with qs.naive(self.U, mass=0.1) as D:
            self.refused("the vectors of naive have no spin", "operator", lambda: qs.eigenvectors(D, modes=6, operator="gamma5"))

    def test_recycling(self) -> None:
        b = random_vectors(3, 3, 17)
        with qs.naive(self.U, mass=0.01, recycle=16) as D:
            D.solve(b[0])
            first = D.last.iterations
            for source in b[1:]:
                x = D.solve(source)
            self.assertLess(D.last.iterations, first)
            self.assertLess(np.linalg.norm(b[2] - D.apply(x)) / np.linalg.norm(b[2]), 1.01e-10)
        with self.assertRaisesRegex(qs.InputError, "gathers no modes"):
            qs.naive(self.U, mass=0.01, recycle=16, solver="blockcg").solve(b[0])

    def test_parity_and_shifts(self) -> None:
        b = random_vectors(1, 3, 12)[0]
        with qs.operator(self.U, "naive", masses=[0.2, 0.5], solver="multishift", tol=1e-9) as D:
            x = D.solve(b)
            self.assertEqual(x.shape, (2, *b.shape))
            for mass, solution in zip((0.2, 0.5), x):
                self.assertLess(np.linalg.norm(b - D.apply(solution, masses=mass)) / np.linalg.norm(b), 1.001e-9)
        with qs.operator(self.U, "naive", masses=np.array([0.2, 0.5]), solver="multishift", tol=np.float64(1e-9)) as D:
            np.testing.assert_array_equal(D.solve(b), x)
        spinor = random_vectors(1, 12, 14)[0]
        with qs.twisted_mass(self.U, kappa=0.12, mu=[0.2, 0.5], solver="multishift", tol=1e-9) as D:
            for mu, solution in zip((0.2, 0.5), D.solve(spinor)):
                self.assertLess(np.linalg.norm(spinor - D.apply(solution, masses=mu)) / np.linalg.norm(spinor), 1.001e-9)
        with qs.naive(self.U, mass=0.4, tol=1e-9) as D:
            y = D.solve(b, parity="odd", relative_tol=1e-8)
            self.assertLessEqual(D.last.relative_residual, 1e-8)
            self.assertEqual(np.abs(even_odd(y)[0]).max(), 0)
            image = 0.8 * y - D.apply(D.apply(y, parity="even"), parity="odd") / 0.8
            wanted = even_odd(b)[1]
            self.assertLess(np.linalg.norm(wanted - even_odd(image)[1]) / np.linalg.norm(wanted), 1.001e-9)

    def test_normal_operator(self) -> None:
        """Shifted systems of S^+ S, S = 1 - M_oe M_eo, which numpy makes of hops; of S^+ = gamma_5 S gamma_5."""
        shifts = (0.0, 1e-3, 0.05, 0.4, 2.0)
        gamma5 = np.array([1, 1, -1, -1])[:, None]
        b = random_vectors(1, 12, 20)[0]

        def odd(vector: np.ndarray) -> np.ndarray:
            return even_odd(vector)[1]

        for kept in (dict(), dict(precision="single"), dict(precision="half", links=12), dict(nrhs=2)):
            with qs.wilson(self.U, kappa=0.125, tol=1e-9, **kept) as D:
                def schur(y: np.ndarray) -> np.ndarray:
                    return y - D.apply(D.apply(y, parity="even"), parity="odd")

                x = D.solve_normal(b, shifts)
                self.assertEqual(x.shape, (5, *b.shape))
                self.assertLess(D.last.residual, 1e-9)
                for shift, y in zip(shifts, x):
                    self.assertEqual(np.abs(even_odd(y)[0]).max(), 0)
                    image = gamma5 * schur(gamma5 * schur(y)) + shift * y
                    self.assertLess(np.linalg.norm(odd(b) - odd(image)) / np.linalg.norm(odd(b)), 1.01e-9)
                out = np.full((1, *b.shape), 7, complex)
                self.assertIs(D.solve_normal(b, 0.05, tol=[1e-7], out=out), out)
                self.assertLess(np.abs(odd(out[0]) - odd(x[2])).max(), 1e-5)
                self.assertTrue((even_odd(out[0])[0] == 7).all())
                self.refused("give finite numbers from 0", "shifts", lambda: D.solve_normal(b, [0.1, -1]))
                self.refused("shape", "b", lambda: D.solve_normal(x, [0.1]))
                self.refused("there are none", "shifts", lambda: D.solve_normal(b, []))
                self.refused("between 0 and 1", "tol", lambda: D.solve_normal(b, [0.1], tol=2))
        with qs.wilson(self.U, kappa=0.125, max_iterations=2) as D:
            with self.assertRaises(qs.NotConverged) as caught:
                D.solve_normal(b, [0.1, 0.2])
            self.assertIn("shift 0.1", str(caught.exception))
            self.assertEqual(caught.exception.solution.shape, (2, *b.shape))
        with qs.naive(self.U, mass=0.2) as D:
            self.refused("masses are shifts", "op", lambda: D.solve_normal(random_vectors(1, 3, 20)[0], [0.1]))
        with qs.moebius(self.U, mass=0.3, ls=4, tol=1e-9) as D:
            wall = random_vectors(4, 12, 21)
            x = D.solve_normal(wall, shifts)
            self.assertEqual(x.shape, (5, *wall.shape))
            # x_i - x_j = (shift_j - shift_i) (A + shift_i)^-1 x_j: the resolvent's identity.
            y = D.solve_normal(x[3], [shifts[1]])[0]
            difference = x[1] - x[3] - (shifts[3] - shifts[1]) * y
            self.assertLess(np.linalg.norm(difference), 1e-6 * np.linalg.norm(x[1]))
            self.refused("shape", "b", lambda: D.solve_normal(wall[0], shifts))

    def test_masses_in_a_list(self) -> None:
        # Of one source a multishift gives a dimension for masses that are listed, also for one.
        b = random_vectors(1, 3, 19)[0]
        shift = dict(solver="multishift", tol=1e-9)
        with qs.naive(self.U, masses=[0.2], **shift) as one, qs.naive(self.U, mass=0.2, **shift) as plain, \
                qs.naive(self.U, masses=[0.2, 0.5], **shift) as two:
            x = plain.solve(b)
            self.assertEqual(x.shape, b.shape)
            np.testing.assert_array_equal(one.solve(b), x[None])
            np.testing.assert_array_equal(plain.solve(b, masses=[0.2]), x[None])
            np.testing.assert_array_equal(plain.solve(b, masses=np.array([0.2, 0.5])), two.solve(b))
            np.testing.assert_array_equal(two.solve(b, masses=0.2), x)
            self.refused("masses: 0 numbers for 1 vectors", "masses", lambda: plain.solve(b, masses=[]))
        with qs.naive(self.U, masses=[0.2], tol=1e-9) as D:  # a vector for each mass
            self.assertEqual(D.solve(b).shape, b.shape)
            self.refused("masses: 2 numbers for 1 vectors", "masses", lambda: D.solve(b, masses=[0.2, 0.5]))

    def test_numbers(self) -> None:
        # What C's types would cut off is refused, by one line that names it.
        with qs.naive(self.U, mass=1.0, tol=1e-3) as D:
            S = D.propagator(point=np.array([1, 0, 2, 3]))
            self.assertEqual(S.source, "point:1,0,2,3")
            self.refused("point: 0.9; give an integer", "point", lambda: D.propagator(point=(0.9, 0, 0, 0)))
            self.refused("point: (0, 0, 0); give 4 numbers", "point", lambda: D.propagator(point=(0, 0, 0)))
            self.refused(f"point: {2**32}; give an integer from", "point", lambda: D.propagator(point=(2**32, 0, 0, 0)))
            self.refused("wall: 1.5; give an integer", "wall", lambda: D.propagator(wall=1.5))
            self.refused("momenta: 0.5; give an integer", "momenta", lambda: qs.contract(S, momenta=[(0.5, 0, 0)]))
            self.refused("momenta: (1, 0); give 3 numbers, (x, y, z)", "momenta", lambda: qs.contract(S, momenta=[(1, 0)]))
            self.refused("tol: 'small'; give a real number", "tol", lambda: D.solve(S.array[0], tol="small"))
            self.refused("number: 0.0; give an integer", "number", lambda: D.history(0.0))
            self.refused("modes: 8.5; give an integer", "modes", lambda: qs.eigenvectors(D, modes=8.5))
            self.refused(f"block: {2**32 + 4}; give an integer from", "block", lambda: qs.eigenvectors(D, modes=8, block=2**32 + 4))
            self.refused("window: (0,); give 2 numbers, (low, high)", "window", lambda: qs.eigenvectors(D, modes=8, window=(0,)))
        for lattice, text in (((4.9, 4, 4, 4), "4.9; give an integer"), ((2**32 + 4, 4, 4, 4), f"{2**32 + 4}; give an integer from 1 to"),
                              ((0, 4, 4, 4), "0; give an integer from 1"), ((4, 4, 4), "(4, 4, 4); give 4 numbers, (x, y, z, t)"),
                              ("4444", "'4444'; give 4 numbers"), (4, "4; give 4 numbers")):
            self.refused(f"lattice: {text}", "lattice", lambda: qs.generate(lattice, beta=6.0, sweeps=1))
        self.refused(f"seed: {2**64 + 1}; give an integer from 1 to", "seed", lambda: qs.generate(EXTENTS, beta=6.0, sweeps=1, seed=2**64 + 1))
        self.refused("sweeps: 1.5; give an integer", "sweeps", lambda: qs.generate(EXTENTS, beta=6.0, sweeps=1.5))
        self.refused("beta: None; give a real number", "beta", lambda: qs.generate(EXTENTS, beta=None, sweeps=1))
        for boundary in ((0, 0, 0), (0, 0, 0, 0, 1)):
            self.refused("boundary: (0, 0, 0", "boundary", lambda: self.U.smear("hisq", boundary=boundary))
        self.refused("u0: 'x'; give a real number", "u0", lambda: self.U.smear("asqtad", u0="x"))

    def test_fork(self) -> None:
        # A child is refused by name, closes nothing and ends.
        script = textwrap.dedent("""
            import os, signal, sys
            import quarkstar as qs
            session = qs.Session(devices="cpu", workers=1, threads=1)
            U = qs.generate((4, 4, 4, 4), beta=6.0, sweeps=1)
            D = qs.naive(U, mass=1.0, tol=1e-3)
            D.propagator(point=(0, 0, 0, 0))
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                for call in (U.plaquette, lambda: D.propagator(wall=0), qs.Session):
                    try:
                        call()
                    except qs.InputError as error:
                        assert error.parameter == "session" and "forked" in str(error), error
                    else:
                        os._exit(1)
                D.close()
                sys.exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            U.plaquette()
        """)
        done = subprocess.run([sys.executable, "-c", script], timeout=60, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_write(self) -> None:
        try:
            import h5py
        except ImportError:
            self.skipTest("h5py is not installed")
        with qs.wilson(self.U, kappa=0.11, tol=1e-4) as D:
            c = qs.contract(D.propagator(point=(0, 0, 0, 0)), ["pion", "proton"], momenta=[(0, 0, 0), (1, 0, -1)])
        with tempfile.TemporaryDirectory() as folder:
            c.write(pathlib.Path(folder) / "correlators.h5")
            with h5py.File(pathlib.Path(folder) / "correlators.h5") as file:
                self.assertEqual(set(file), {"pion", "pion_p1,0,-1", "proton", "proton_p1,0,-1"})
                for name, values in c.items():
                    self.assertEqual(file[name].dtype, values.dtype)
                    np.testing.assert_array_equal(file[name][:], values)

    def test_snippet(self) -> None:
        with qs.hisq(self.U, mass=0.2, tol=1e-10) as D:
            S = D.propagator(point=(0, 0, 0, 0))
            self.assertGreater(D.last.iterations, 0)
            self.assertLessEqual(D.last.residual, 1e-10)
        pion = qs.mesons(S).pion5
        self.assertEqual(S.array.shape, (3, 8, 4, 4, 4, 3))
        np.testing.assert_allclose(pion, (np.abs(S.array) ** 2).sum(axis=(0, 2, 3, 4, 5)), rtol=1e-13)

    def test_help(self) -> None:
        # What help() says is enough to write the snippet.
        text = pydoc.plain(pydoc.render_doc(qs))
        for words in ('U = qs.read_gauge("lat.1000")', "with qs.hisq(U, mass=0.05, tol=1e-10) as D:", "read_gauge(path", "mesons(propagator",
                      "propagator(self, point", "class SolveReport", "generate(lattice", "relative_residual", "a4p"):
            self.assertIn(words, text)
        text = pydoc.plain(pydoc.render_doc(qs.twisted_mass))
        self.assertIn("twisted_mass(gauge: Gauge, **settings: Any) -> Operator", text.replace("'", ""))
        self.assertIn("of the action twisted-mass", text)
        for name in qs.actions():
            known = qs.settings(name)
            self.assertTrue({"tol", "solver", "precision", "max_iterations"} < set(known) and not {"action", "json", "workers"} & set(known))
            self.assertEqual("kappa" in known, qs.components(name) == 12 and "ls" not in known, name)
            for key, line in known.items():
                self.assertTrue(key.isidentifier() and len(line) > 5 and "\n" not in line, (key, line))
        self.assertIn("\n    csw: ", pydoc.plain(pydoc.render_doc(qs.clover)))
        self.refused("there is no action 'none'", "action", lambda: qs.settings("none"))

    def test_closed_gauge(self) -> None:
        b = random_vectors(1, 3, 23)[0]
        with qs.gauge(self.U.links()) as U:
            D = qs.naive(U, mass=1.0, tol=1e-3)
            S = D.propagator(wall=0)
        D.solve(b)  # operators have links of their own
        D.close()
        for call in (lambda: U.plaquette(), lambda: qs.naive(U, mass=1.0), lambda: qs.mesons(S)):
            self.refused("gauge: it has been closed", "gauge", call)

    def test_all_actions(self) -> None:
        for name in qs.actions():
            function = getattr(qs, name.replace("-", "_"))
            if name in ("domain-wall", "moebius"):  # vectors of four dimensions are solved for, not what the operator works on
                b = random_vectors(1, 12, 15)[0]
                with function(self.U, mass=0.3, ls=4, tol=1e-9) as D:
                    S = qs.Propagator(np.stack([b] * 12), "point:0,0,0,0", name, "lexicographic", self.U)
                    self.refused("pion_midpoint is of solutions in the middle", "correlators", lambda: qs.contract(S, "pion_midpoint"))
                    for what in (dict(guess=b), dict(relative_tol=1e-5), dict(parity="odd")):  # what help(D.solve) says of it
                        self.assertRaises(qs.InputError, lambda: D.solve(b, **what))
                    D.solve(b)
                    self.assertLess(D.last.residual, 1.001e-9, name)
                    self.assertRaises(qs.InputError, lambda: D @ b)
                continue
            settings = {"kappa" if qs.components(name) == 12 else "mass": 0.11 if qs.components(name) == 12 else 0.4}
            if name == "asqtad":
                settings["u0"] = 0.9
            b = random_vectors(1, qs.components(name), 15)[0]
            with function(self.U, tol=1e-9, **settings) as D:
                x = D.solve(b)
                self.assertLess(np.linalg.norm(b - D @ x) / np.linalg.norm(b), 1.001e-9, name)
        b = random_vectors(1, 12, 16)[0]
        gamma5 = np.array([1, 1, -1, -1])[:, None]
        with qs.wilson(self.U, kappa=0.11) as W, qs.twisted_mass(self.U, kappa=0.11, mu=0.3) as T, qs.clover(self.U, kappa=0.11, csw=0) as C:
            np.testing.assert_allclose(T @ b, (W @ b) + 2j * 0.11 * 0.3 * gamma5 * b, atol=1e-13)
            np.testing.assert_allclose(C @ b, W @ b, atol=1e-13)

    def test_errors(self) -> None:
        b = random_vectors(1, 12, 13)[0]
        D = qs.wilson(self.U, kappa=0.11)
        self.refused("no layout 'row'", "layout", lambda: D.solve(b, layout="row"))
        self.refused("shape (8, 4, 4, 4, 12)", "b", lambda: D.solve(b.reshape(8, 4, 4, 4, 12)))
        self.refused("dtype float64", "b", lambda: D.solve(b.real))
        self.refused("list is no numpy array", "b", lambda: D.solve([1]))
        self.refused("numbers for 1 vectors", "tol", lambda: D.solve(b, tol=[1e-3, 1e-4]))
        self.refused("parity: 'both'", "parity", lambda: D.solve(b, parity="both"))
        self.refused("one of point", "source", lambda: D.propagator())
        self.refused("outside", "source", lambda: D.propagator(point=(9, 0, 0, 0)))

        class OnDevice:
            __cuda_array_interface__ = {}

        self.refused("GPU memory", "b", lambda: D.solve(OnDevice()))
        D.close()
        self.refused("has been closed", "operator", lambda: D.solve(b))
        links = self.U.links()
        self.refused("but this rank's links are of", "lattice", lambda: qs.gauge(links[:4].copy(), lattice=EXTENTS))
        self.refused("seed: 0", "seed", lambda: qs.generate(EXTENTS, beta=6.0, sweeps=1, seed=0))
        error = self.refused("unknown key; use one of kappa, ", "kapa", lambda: qs.wilson(self.U, kapa=0.11))
        self.assertNotIn("json", str(error))
        self.refused("give it where the session is opened", "workers", lambda: qs.wilson(self.U, kappa=0.11, workers=2))
        b[0, 0, 0, 0, 0, 0] = np.nan
        with qs.wilson(self.U, kappa=0.11) as of_nan:
            self.refused("the source, the guess or the links are not finite", "", lambda: of_nan.solve(b))
        self.refused("another one is open", "session", qs.Session)
        error = self.refused("no action 'none'", "action", lambda: qs.operator(self.U, "none"))
        self.assertIsInstance(error, qs.InputError)
        self.assertIsInstance(error, ValueError)
        self.assertEqual(error.code, 2)
        with self.assertRaises(AttributeError):
            qs.none
        self.assertIn("hisq", dir(qs))
        self.refused("no such file", "", lambda: qs.read_gauge("no such file"))
        self.assertTrue(qs.version().startswith("quarkstar "))

    def test_leaks(self) -> None:
        b = random_vectors(1, 3, 14)[0]

        def resident() -> int:
            gc.collect()
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

        with qs.naive(self.U, mass=1.0, tol=1e-3) as D:
            for _ in range(100):
                D.solve(b)
            before = resident()
            for _ in range(1000):
                D.solve(b)
            self.assertLess(resident(), 1.01 * before)


if __name__ == "__main__":
    unittest.main()
