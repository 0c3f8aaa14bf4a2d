"""Operators: solves, propagators, applications."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from . import _library as c
from ._arrays import Array, Vectors, array_beside, as_input, as_output, check_shape, copy_beside, layout_number, propagator_shape, vector_shape
from ._closing import Closing
from ._errors import InputError, NotConverged, check, error_of
from ._gauge import Gauge
from ._numbers import real, whole, wholes
from ._session import components, plain, settings_of, text_of

_RESULT_BYTES = ctypes.sizeof(c.Result)


@dataclass(frozen=True)
class SolveReport:
    """Of one solution; of several the largest iterations, restarts and residuals, and the sums of seconds and flops."""

    reason: str
    iterations: int
    restarts: int
    residual: float
    relative_residual: float
    seconds: float
    flops: float
    columns: tuple["SolveReport", ...] = ()

    @property
    def converged(self) -> bool:
        return self.reason == "converged"


@dataclass(frozen=True, eq=False)
class Propagator:
    """Solutions for all columns of a source: `array`, numpy's or one in GPU memory, has propagator_shape(layout, extents, components). Make
    one of solutions from elsewhere to contract them; `report` is of those that an operator has made."""

    array: Array
    source: str
    action: str
    layout: str
    gauge: Gauge
    report: SolveReport | None = None


def _report(results: Any) -> SolveReport:
    each = tuple(
        SolveReport(c.library.qs_reason_text(r.reason).decode(), r.iterations, r.restarts, r.residual, r.relative_residual, r.seconds, r.flops)
        for r in results)
    worst = next((r for r in each if not r.converged), each[0])
    return SolveReport(worst.reason, max(r.iterations for r in each), max(r.restarts for r in each), max(r.residual for r in each),
                       max(r.relative_residual for r in each), sum(r.seconds for r in each), sum(r.flops for r in each), each)


def _doubles(values: Any, count: int, argument: str, of: str = "vectors") -> Any:
    if values is None:
        return None
    values = plain(values)
    each = [real(value, argument) for value in values] if isinstance(values, (list, tuple)) else [real(values, argument)] * count
    if len(each) != count:
        raise InputError(f"{argument}: {len(each)} numbers for {count} {of}; give one each", argument)
    return (ctypes.c_double * count)(*each)


def source_text(point: Sequence[int] | None, wall: int | None, source: str | None) -> str:
    given = [text for text in (f"point:{','.join(map(str, wholes(point, 'point')))}" if point is not None else None,
                               f"wall:{whole(wall, 'wall')}" if wall is not None else None, source) if text is not None]
    if len(given) != 1:
        raise InputError("source: give one of point=(x, y, z, t), wall=t and source=\"z2:t,seed\"", "source")
    return given[0]


class Operator(Closing):
    """M of an action on a gauge field, and what solves M x = b. A context manager; `last` is the SolveReport of the last solve."""

    _free = "qs_operator_free"

    def __init__(self, gauge: Gauge, action: str, settings: dict[str, Any]) -> None:
        self._handle = ctypes.c_void_p()
        self.gauge = gauge
        self.action = action
        self.components = components(action)
        given, count = settings_of(settings)
        check(c.library.qs_operator_create(gauge.handle, action.encode(), given, count, ctypes.byref(self._handle)))
        self._extents = gauge.part[1]
        self._shapes = {layout: vector_shape(layout, self._extents, self.components) for layout in c.LAYOUTS}  # of one vector
        masses = plain(settings.get("masses", settings.get("mu")))  # the settings that may be lists
        self._slices = c.library.qs_operator_slices(self._handle)
        self._listed = len(masses) if isinstance(masses, (list, tuple)) else None
        self._shifted = c.library.qs_solver_has_shifts(text_of(settings.get("solver", "")).encode()) != 0
        self._kept: dict[Any, tuple[Vectors, Vectors]] = {}  # of solves, by the form of their arrays
        self._results: Any = None
        self._last: SolveReport | None = None

    @property
    def last(self) -> SolveReport | None:
        """Of the last solve; None: there is none, or it ended before it knew. Made when it is asked for, since a short solve is soon over."""
        if self._last is None and self._results is not None and all(result.reason != 0 for result in self._results):
            self._last = _report(self._results)
        return self._last

    def _forget(self) -> None:
        """`last` is None from now on."""
        self._results = self._last = None

    @property
    def handle(self) -> ctypes.c_void_p:
        if not self._handle:
            raise InputError("operator: it has been closed; make another", "operator")
        self.gauge.session.handle  # raises where it has been closed
        return self._handle

    def _vectors(self, array: Any, layout: str, argument: str) -> tuple[Array, int]:
        """The array, and how many vectors it holds: a leading dimension where there may be several."""
        layout_number(layout)
        shape, array = self._shapes[layout], as_input(array, argument)
        if array.ndim == len(shape) + 1 and array.shape[0] > 0:
            check_shape(array, (array.shape[0], *shape), argument, layout)
            return array, array.shape[0]
        check_shape(array, shape, argument, layout)
        return array, 1

    def _run(self, x: Array, results_type: Any, function: Any, *arguments: Any) -> None:
        """Calls a function whose last argument are results, with what it reports in `last`, or an exception."""
        results = results_type()
        results[0].struct_size = _RESULT_BYTES
        status = function(self.handle, *arguments, results)
        if status != c.OK and status != c.NOT_CONVERGED:
            raise error_of(status, {"sources": "b", "solutions": "out", "tolerances": "tol", "relative_tolerances": "relative_tol"})
        self._results, self._last = results, None
        if status == c.NOT_CONVERGED:
            error = error_of(status)
            assert isinstance(error, NotConverged)
            error.report, error.solution = self.last, x if self.last is not None else None
            raise error

    def solve(self, b: Array, *, guess: Array | None = None, masses: Any = None, tol: Any = None, relative_tol: Any = None,
              parity: str | None = None, layout: str = "lexicographic", out: Array | None = None) -> Array:
        """x of M x = b, like b: one vector, or several along a leading dimension. Of an array in GPU memory it is a DeviceArray.

        guess: of x. out: C-contiguous, of x's shape, where x goes; of any complex type. If guess is given too, it must be this same object.
        None: a new array. masses, tol, relative_tol (Fermilab's residual): one number, or one a vector. parity: "even" or "odd", solves
        S x = b on these sites, S the Schur complement (quarkstar.h); other sites of x are those of guess or out, or 0. Wilson, clover and twisted
        mass know "odd" alone; domain wall and Moebius neither, and neither guess nor relative_tol. With solver="multishift" one b and a list
        of masses, here or of the operator, also of one: x has a leading dimension for them. Raises NotConverged, which holds what there
        is."""
        if parity not in c.PARITIES:
            raise InputError(f"parity: '{parity}'; give \"even\", \"odd\" or None", "parity")
        b, count = self._vectors(b, layout, "b")
        number, shape = count, b.shape
        if self._shifted and count == 1:
            masses = plain(masses)
            listed = max(1, len(masses)) if isinstance(masses, (list, tuple)) else self._listed if masses is None else None
            if listed is not None:
                number, shape = listed, (listed, *self._shapes[layout])
        if out is not None:
            if guess is not None and guess is not out:
                raise InputError("out: another array than guess; give one of them, or the same array as both", "out")
            x = as_output(out, "out")
            check_shape(x, shape, "out", layout)
        elif guess is None:
            x = array_beside(b, shape, parity is None)
        else:
            first, _ = self._vectors(guess, layout, "guess")
            check_shape(first, shape, "guess", layout)
            x = copy_beside(b, first)
        options = None
        if parity is not None or guess is not None or masses is not None or tol is not None or relative_tol is not None:
            options = c.SolveOptions(parity=c.PARITIES[parity], masses=_doubles(masses, number, "masses"), tolerances=_doubles(tol, number, "tol"),
                                     relative_tolerances=_doubles(relative_tol, number, "relative_tol"), use_guess=int(guess is not None))
        # Structs are kept for the next solve of such arrays, and not there for other threads while this one uses them: behind a solve, whose
        # threads have had the caches, to make them takes longer than all else here.
        form = layout, count, number, b.dtype, type(b), x.dtype, type(x)
        structs = self._kept.pop(form, None) or (Vectors(b, layout, count), Vectors(x, layout, number))
        sources, solutions = structs
        sources.point_to(b)
        solutions.point_to(x)
        self._run(x, solutions.results, c.library.qs_operator_solve, options, sources.struct, solutions.struct)
        self._kept[form] = structs
        return x

    def solve_normal(self, b: Array, shifts: Any, *, tol: Any = None, layout: str = "lexicographic", out: Array | None = None) -> Array:
        """x_i of (S^+ S + shifts[i]) x_i = b on the odd sites from one Krylov space, S of quarkstar.h's qs_solve_options: terms of rational
        functions. x has a leading dimension for the shifts, numbers from 0; with a fifth dimension b has a leading one for its slices, and
        x behind that of the shifts. Even sites of b are not used, those of x are those of out, or 0. tol: of |b - (S^+ S + shift) x| / |b|,
        one number, or one a shift. out: as of solve(), not b. Raises NotConverged, as solve() does. Not of staggered actions, whose masses
        are shifts."""
        layout_number(layout)
        shape = self._shapes[layout] if self._slices == 1 else (self._slices, *self._shapes[layout])
        b = as_input(b, "b")
        check_shape(b, shape, "b", layout)
        shifts = plain(shifts)
        number = len(shifts) if isinstance(shifts, (list, tuple)) else 1
        if number == 0:
            raise InputError("shifts: there are none; give one at least", "shifts")
        x = array_beside(b, (number, *shape), False) if out is None else as_output(out, "out")
        check_shape(x, (number, *shape), "out", layout)
        source, solutions = Vectors(b, layout, self._slices), Vectors(x, layout, number * self._slices)
        self._run(x, c.Result * number, c.library.qs_operator_solve_normal, _doubles(shifts, number, "shifts", "shifts"), number,
                  _doubles(tol, number, "tol", "shifts"), source.struct, solutions.struct)
        return x

    def propagator(self, point: Sequence[int] | None = None, wall: int | None = None, source: str | None = None,
                   layout: str = "lexicographic", dtype: Any = np.complex128, out: Array | None = None) -> Propagator:
        """Solves for all columns of a source: point=(x, y, z, t), wall=t, or as the command writes them, "z2:t,seed", or smeared points,
        "gaussian:x,y,z,t,sigma,steps". out: C-contiguous, of propagator_shape(layout, extents, components) and in place of dtype, where the
        propagator goes, also in GPU memory; None: a new numpy array."""
        text = source_text(point, wall, source)
        layout_number(layout)
        shape = propagator_shape(layout, self._extents, self.components)
        x = as_input(np.empty(shape, dtype), "dtype") if out is None else as_output(out, "out")
        check_shape(x, shape, "out", layout)
        solutions = Vectors(x, layout, self.components, layout == "pyquda")
        self._run(x, solutions.results, c.library.qs_operator_propagate, text.encode(), None, None, solutions.struct)
        assert self.last is not None
        return Propagator(x, text, self.action, layout, self.gauge, self.last)

    def deflate(self, vectors: Any) -> None:
        """From now on each correction of a solve begins with what these Eigenvectors know of the solution; None: no longer."""
        check(c.library.qs_operator_deflate(self.handle, vectors.handle if vectors is not None else None))

    def apply(self, x: Array, *, adjoint: bool = False, parity: str | None = None, masses: Any = None,
              layout: str = "lexicographic") -> Array:
        """M x, or M^+ x. parity: the hopping part alone, onto these sites; the others are 0."""
        if parity not in c.PARITIES:
            raise InputError(f"parity: '{parity}'; give \"even\", \"odd\" or None", "parity")
        x, count = self._vectors(x, layout, "x")
        image = array_beside(x, x.shape, parity is None, "x")
        options = c.ApplyOptions(masses=_doubles(masses, count, "masses"), adjoint=int(adjoint), parity=c.PARITIES[parity])
        vectors, images = Vectors(x, layout, count), Vectors(image, layout, count)
        check(c.library.qs_operator_apply(self.handle, options, vectors.struct, images.struct), {"vectors": "x"})
        return image

    def __matmul__(self, x: Array) -> Array:
        """D @ x: M x, in the layout lexicographic."""
        return self.apply(x)

    def history(self, number: int = 0) -> np.ndarray:
        """|r| / |b| after every iteration of the last solve, of one of its solutions."""
        values, count = ctypes.POINTER(ctypes.c_double)(), ctypes.c_size_t()
        check(c.library.qs_operator_history(self.handle, whole(number, "number"), ctypes.byref(values), ctypes.byref(count)))
        return np.array(values[: count.value])


def operator(gauge: Gauge, action: str, **settings: Any) -> Operator:
    """M of an action on a gauge field. settings: those of `quarkstar solve` that are of the action or of the solver, `_` for `-`:
    kappa, mass, masses, boundary, tol, solver, precision, links, nrhs, max_iterations, ..."""
    return Operator(gauge, action, settings)
