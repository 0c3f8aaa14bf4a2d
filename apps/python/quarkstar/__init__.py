"""Lattice-QCD Dirac solvers on a task-graph runtime: gauge fields, propagators and correlators as numpy arrays.

    import quarkstar as qs

    U = qs.read_gauge("lat.1000")
    with qs.hisq(U, mass=0.05, tol=1e-10) as D:
        S = D.propagator(point=(0, 0, 0, 0))
        print(D.last.iterations, D.last.residual)
    pion = qs.mesons(S).pion5

`qs.wilson`, `qs.twisted_mass` and so on are `qs.operator` for each action of `qs.actions()`, `_` for `-`; keyword arguments are the settings
of `quarkstar solve`, `_` for `-` in their names too: `help(qs.wilson)`, `qs.settings("wilson")`. Arrays are complex128 or complex64, in host memory or, by `__cuda_array_interface__` or
DLPack, in a GPU's, where solutions then are too; layouts and their shapes are those of `qs.layouts`. Coordinates are
(x, y, z, t) in arguments, and arrays have t slowest. Errors are `qs.Error`: one line each, with `parameter` and `code`.
"""
from __future__ import annotations

from typing import Any

from ._arrays import link_shape, propagator_shape, vector_shape
from ._device import DeviceArray
from ._eigen import Eigenvectors, eigenvectors, read_eigenvectors
from ._errors import Error, InputError, Lost, MachineError, NotConverged
from ._gauge import Gauge, PlaquetteMeans, gauge, generate, read_gauge
from ._operator import Operator, Propagator, SolveReport, operator
from ._session import Session, actions, components, settings, version
from ._statistics import Estimate, effective_mass, jackknife
from ._correlators import Correlators, contract, low_mode_averages, mesons, residual_mass, three_points

layouts = {
    "lexicographic": "links (T, Z, Y, X, 4, 3, 3), spinors (T, Z, Y, X, 4, 3), colour vectors (T, Z, Y, X, 3)",
    "even_odd": "links (2, T, Z, Y, X/2, 4, 3, 3), spinors (2, T, Z, Y, X/2, 4, 3), colour vectors (2, T, Z, Y, X/2, 3); even sites first",
    "qdp": "as even_odd, but links (4, 2, T, Z, Y, X/2, 3, 3)",
    "pyquda": "PyQUDA's: as qdp, but propagators (2, T, Z, Y, X/2, 4, 4, 3, 3), sink before source; others have columns first",
}

__all__ = ["Correlators", "DeviceArray", "Eigenvectors", "Error", "Estimate", "Gauge", "InputError", "Lost", "MachineError", "NotConverged", "Operator", "PlaquetteMeans",
           "Propagator", "Session", "SolveReport", "actions", "components", "contract", "effective_mass", "eigenvectors", "gauge", "generate", "jackknife", "layouts", "link_shape", "low_mode_averages",
           "mesons", "operator", "propagator_shape", "read_eigenvectors", "read_gauge", "residual_mass", "settings", "three_points", "vector_shape", "version"]


def _actions() -> dict[str, str]:
    """Names of actions by those of functions."""
    return {name.replace("-", "_"): name for name in actions()}


def __getattr__(name: str) -> Any:
    if name not in _actions():
        raise AttributeError(f"quarkstar has no '{name}', and no action of that name: {', '.join(_actions())}")
    action = _actions()[name]

    def make(gauge: Gauge, **settings: Any) -> Operator:
        return operator(gauge, action, **settings)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"quarkstar.operator() of the action {action}: M on a gauge field. settings:\n\n" + "\n".join(
        f"{key}: {text}" for key, text in settings(action).items())
    return make


def __dir__() -> list[str]:
    return sorted([*__all__, *_actions()])
