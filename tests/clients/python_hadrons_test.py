"""Propagators and hadrons of the Python package against numpy's own arithmetic, and the numbers of golden.json and golden-2.json."""
import json
import unittest

import numpy as np

import quarkstar as qs
from python_testing import DATA, Package, even_odd


class Hadrons(Package):
    def test_contract(self) -> None:
        with qs.wilson(self.U, kappa=0.11) as D:
            S = D.propagator(point=(1, 0, 2, 3))
        c = qs.contract(S, ["mesons", "proton"], momenta=[(0, 0, 0), (1, 0, -1)])
        self.assertEqual(c["proton"].dtype, np.complex128)
        square = (np.abs(S.array) ** 2).sum(axis=(0, 5, 6))  # [t][z][y][x]
        x, z = np.arange(4)[None, None, None, :], np.arange(4)[None, :, None, None]
        phase = np.exp(-2j * np.pi * ((x - 1) - (z - 2)) / 4)
        np.testing.assert_allclose(c["pion_p1,0,-1"], np.roll((phase * square).sum(axis=(1, 2, 3)), -3), rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(c.pion, qs.mesons(S).pion)
        self.assertEqual(len(qs.mesons(S)), 17)
        folded = qs.contract(S, "pion", fold=True).pion
        np.testing.assert_allclose(folded, 0.5 * (c.pion + np.roll(c.pion[::-1], 1)), rtol=1e-14)
        self.refused("'sigma' is no correlator", "correlators", lambda: qs.contract(S, "sigma"))
        of_eleven = qs.Propagator(S.array[:11], S.source, S.action, S.layout, S.gauge)
        self.refused("shape (11, 8, 4, 4, 4, 4, 3)", "propagator", lambda: qs.mesons(of_eleven))
        elsewhere = qs.Propagator(S.array.copy(), S.source, S.action, S.layout, S.gauge)
        np.testing.assert_array_equal(qs.mesons(elsewhere).pion, c.pion)
        self.assertNotEqual(elsewhere, S)

    def test_three_points(self) -> None:
        with qs.wilson(self.U, kappa=0.11, tol=1e-10) as D, qs.clover(self.U, kappa=0.11, csw=1.1) as other:
            S = D.propagator(point=(1, 0, 2, 3))
            c = qs.three_points(D, S, ["pion:4", "proton_u:3,1,0,0"], ["conserved", "vector_t"], momenta=[(0, 0, 0), (1, 0, 0)])
            self.assertEqual(len(c), 20)
            self.assertLessEqual(D.history(23)[-1], 1e-10)
            self.assertIsNone(D.last)
            # div J is the charge at the source less that at the sink.
            pion, proton = qs.contract(S, "pion").pion, qs.contract(S, "proton").proton
            charge = c.pion_3pt_dt4_conserved_t
            np.testing.assert_allclose(charge[:4] - charge[4], pion[4], rtol=1e-8)
            density = c["proton_u_3pt_dt3_conserved_t_p1,0,0_q1,0,0"]
            flow = (1 - np.exp(2j * np.pi / 4)) * c["proton_u_3pt_dt3_conserved_x_p1,0,0_q1,0,0"]
            divergence = (density - np.roll(density, 1) + flow)[1:]
            expected = np.zeros(7, complex)
            expected[2] = -2 * proton[3]
            np.testing.assert_allclose(divergence, expected, atol=1e-8 * abs(proton[3]))
            one = qs.three_points(D, S, "pion:4")  # the usual currents
            self.assertEqual(list(one), ["pion_3pt_dt4_vector_t", "pion_3pt_dt4_conserved_t"])
            np.testing.assert_array_equal(one.pion_3pt_dt4_conserved_t, charge)
            theirs = qs.three_points(D, D.propagator(point=(1, 0, 2, 3), layout="pyquda"), "pion:4", "vector")
            np.testing.assert_array_equal(theirs.pion_3pt_dt4_vector_t, one.pion_3pt_dt4_vector_t)
            self.refused("'kaon' is none of the hadrons", "three-points", lambda: qs.three_points(D, S, "kaon:3"))
            self.refused("pion:8 does not end within the lattice", "three-points", lambda: qs.three_points(D, S, "pion:8"))
            self.refused("'charge' is no current", "currents", lambda: qs.three_points(D, S, "pion:3", "charge"))
            self.refused("its action is wilson", "propagator", lambda: qs.three_points(other, S, "pion:3"))
            of_eleven = qs.Propagator(S.array[:11], S.source, S.action, S.layout, S.gauge)
            self.refused("shape (11, 8, 4, 4, 4, 4, 3)", "propagator", lambda: qs.three_points(D, of_eleven, "pion:3"))
            no_layout = qs.Propagator(S.array, S.source, S.action, "row", S.gauge)
            self.refused("no layout 'row'", "layout", lambda: qs.three_points(D, no_layout, "pion:3"))
            small = qs.generate((4, 4, 4, 4), beta=6.0, sweeps=1)
            elsewhere = qs.Propagator(S.array, S.source, S.action, S.layout, small)
            self.refused("of another lattice", "propagator", lambda: qs.three_points(D, elsewhere, "pion:3"))
        self.refused("has been closed", "operator", lambda: qs.three_points(D, S, "pion:3"))
        with qs.naive(self.U, mass=0.5) as D:
            staggered = D.propagator(point=(0, 0, 0, 0))
            self.refused("the action naive has none", "three-points", lambda: qs.three_points(D, staggered, "pion:3"))
        with qs.wilson(self.U, kappa=0.11, max_iterations=2) as D:
            error = self.refused("sequential source pion:3", "", lambda: qs.three_points(D, S, "pion:3"))
            self.assertIsInstance(error, qs.NotConverged)

    def test_sources(self) -> None:
        with qs.naive(self.U, mass=0.4) as D:
            S = D.propagator(point=(1, 0, 2, 3))
            b = np.zeros_like(S.array)
            for colour in range(3):
                b[colour, 3, 2, 0, 1, colour] = 1
            np.testing.assert_array_equal(D.solve(b), S.array)
            out = np.empty_like(b, np.complex64)
            self.assertIs(D.propagator(point=(1, 0, 2, 3), out=out).array, out)
            np.testing.assert_array_equal(out, S.array.astype(np.complex64))
            self.refused("out: shape (3, 8, 4, 4, 4, 4, 3)", "out", lambda: D.propagator(wall=0, out=np.empty((3, 8, 4, 4, 4, 4, 3), complex)))
            self.refused("out: dtype float64", "out", lambda: D.propagator(wall=0, out=np.empty(b.shape)))
            for wrong in (np.empty((*b.shape, 2), complex)[..., 0], np.broadcast_to(0j, b.shape)):
                self.refused("out: it cannot be written as it is", "out", lambda: D.propagator(wall=0, out=wrong))
            # A smeared point: (1 + w sum over space of hops - 6 w)^n of it, w = sigma^2 / (4 n).
            S = D.propagator(source="gaussian:1,0,2,3,1.2,3")
            links, weight = self.U.links(), 1.2**2 / 12
            for _ in range(3):
                hops = -6 * b
                for mu in range(3):  # the axis of x is the last but one of b's
                    u, axis = links[..., mu, :, :], 4 - mu
                    hops += np.einsum("tzyxij,ctzyxj->ctzyxi", u, np.roll(b, -1, axis))
                    hops += np.roll(np.einsum("tzyxji,ctzyxj->ctzyxi", u.conj(), b), 1, axis)
                b = b + weight * hops
            self.assertLess(np.abs(D @ S.array - b).max(), 1e-9)
            self.assertEqual(len(qs.mesons(S).pion5), 8)
        with qs.naive(self.U, masses=[0.2, 0.5], solver="multishift") as D:
            self.refused("multishift solves for one of them", "columns", lambda: D.propagator(point=(0, 0, 0, 0)))

    def test_pyquda_propagator(self) -> None:
        with qs.wilson(self.U, kappa=0.11) as D:
            mine, theirs = D.propagator(point=(1, 2, 3, 4)), D.propagator(point=(1, 2, 3, 4), layout="pyquda")
        self.assertEqual(theirs.array.shape, (2, 8, 4, 4, 2, 4, 4, 3, 3))
        for column in range(12):
            np.testing.assert_array_equal(theirs.array[..., :, column // 3, :, column % 3], even_odd(mine.array[column]))
        np.testing.assert_array_equal(qs.mesons(theirs).pion, qs.mesons(mine).pion)
        sums = (np.abs(mine.array) ** 2).sum(axis=(0, 2, 3, 4, 5, 6))
        np.testing.assert_allclose(qs.mesons(mine).pion, np.roll(sums, -4), rtol=1e-13)

    def test_statistics(self) -> None:
        samples = np.random.default_rng(5).normal(size=(100, 3))
        estimate = qs.jackknife(samples)
        np.testing.assert_allclose(estimate.value, samples.mean(axis=0))
        np.testing.assert_allclose(estimate.error, samples.std(axis=0, ddof=1) / 10)  # the jackknife of a mean
        np.testing.assert_allclose(qs.jackknife(samples, bins=20).error, samples.reshape(20, 5, 3).mean(axis=1).std(axis=0, ddof=1) / 20**0.5)
        t = np.arange(16)
        np.testing.assert_allclose(qs.effective_mass(np.cosh(0.7 * (t - 8))), 0.7)
        np.testing.assert_allclose(qs.effective_mass(np.exp(-0.7 * t), "log"), 0.7)

    def test_golden(self) -> None:
        if not (DATA / "golden.json").exists():
            self.skipTest(f"{DATA}/golden.json is not there")
        U = qs.read_gauge(DATA / "milc" / "lat.sample.l4444")
        golden = json.loads((DATA / "golden.json").read_text())
        self.compare(U, golden["milc.l4444.wilson.k0.12.p"]["pion_pt_C_t"], golden["milc.l4444.hisq.m0.1.ap"]["pion_pt_C_t"])
        milc = json.loads((DATA / "golden-milc.json").read_text())  # there links are projected first
        self.compare(U.reunitarize(), milc["wilson_l4444_periodic_k0.12_c0.0_pion"]["re"], milc["hisq_l4444_antiperiodic_m0.1_e0_pion5"]["re"])

    def test_golden_hadrons(self) -> None:
        if not (DATA / "golden-2.json").exists():
            self.skipTest(f"{DATA}/golden-2.json is not there")
        golden = json.loads((DATA / "golden-2.json").read_text())["had.jl4444.k0.125.ap"]
        U = qs.read_gauge(DATA / "other" / golden["config"])
        with qs.wilson(U, kappa=golden["kappa"], tol=1e-13) as D:
            S = D.propagator(point=(0, 0, 0, 0))
        mesons = golden["mesons16_point_p000"]  # by Chroma's number of Gamma, bit mu of which is gamma_mu
        c = qs.contract(S, ["mesons", "proton", "proton_mixed"])
        moving = qs.contract(S, ["pion", "proton"], momenta=[(1, 0, 0)])
        for values, known in ((c.pion, mesons[15]), (c.rho_x, mesons[1]), (c.rho_y, mesons[2]), (c.rho_z, mesons[4]), (c.a0, mesons[0]),
                              (c.proton, golden["point_proton_p000"]), (c.proton_mixed, golden["point_proton_Tmixed_p000"]),
                              (moving["pion_p1,0,0"], golden["point_pion_p100"]), (moving["proton_p1,0,0"], golden["point_proton_p100"])):
            known = np.array(known)
            np.testing.assert_allclose(values, known if known.ndim == 1 else known @ [1, 1j], rtol=1e-9)

    def test_residual_mass(self) -> None:
        with qs.domain_wall(self.U, mass=0.3, ls=4, tol=1e-8) as D:
            S = D.propagator(point=(1, 0, 2, 3))
            mass, c = qs.residual_mass(D, S)
            pion = qs.mesons(S).pion
            np.testing.assert_allclose(c.pion_residual_mass, c.pion_midpoint / pion, rtol=1e-12)
            self.assertAlmostEqual(mass, c.pion_midpoint[1:].sum() / pion[1:].sum(), places=12)
            elsewhere = qs.Propagator(S.array, "point:1,0,2,4", S.action, S.layout, S.gauge, S.report)
            self.refused("the last solve was not for the propagator of point:1,0,2,4", "source", lambda: qs.residual_mass(D, elsewhere))
            D.solve(S.array[0])
            self.refused("propagator: it is not what the operator has solved for last", "propagator", lambda: qs.residual_mass(D, S))
        with qs.wilson(self.U, kappa=0.11, tol=1e-4) as D:
            S = D.propagator(wall=0)
            self.refused("op: wilson has no fifth dimension", "op", lambda: qs.residual_mass(D, S))

    def test_golden_residual_mass(self) -> None:
        if not (DATA / "golden-2.json").exists():
            self.skipTest(f"{DATA}/golden-2.json is not there")
        golden = json.loads((DATA / "golden-2.json").read_text())["dwf.jl4444.shamir.M1.8.Ls8.m0.1.ap"]
        U = qs.read_gauge(DATA / "other" / golden["config"])
        with qs.domain_wall(U, mass=golden["mass"], m5=golden["M5"], ls=golden["Ls"], tol=1e-12) as D:
            mass, c = qs.residual_mass(D, D.propagator(point=(0, 0, 0, 0)))
        self.assertAlmostEqual(mass / golden["mres_sum_t1_to_Tm1"], 1, places=9)
        np.testing.assert_allclose(c.pion_midpoint, golden["midpoint"], rtol=1e-9)
        np.testing.assert_allclose(c.pion_residual_mass, golden["mres_t"], rtol=1e-9)

    def compare(self, U: qs.Gauge, wilson: list, hisq: list) -> None:
        with qs.wilson(U, kappa=0.12, boundary={"t": "periodic"}, tol=1e-12) as D:
            np.testing.assert_allclose(qs.mesons(D.propagator(point=(0, 0, 0, 0))).pion, wilson, rtol=1e-9)
        with qs.hisq(U, mass=0.1, tol=1e-12) as D:
            np.testing.assert_allclose(qs.mesons(D.propagator(point=(0, 0, 0, 0))).pion5, hisq, rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
