"""The C library as ctypes sees it: its structs, its functions, and where it is."""
from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

OK, NOT_CONVERGED, LOST = 0, 4, 5
DOUBLE, SINGLE = 0, 1
HOST, CUDA = 0, 1
LAYOUTS = {"lexicographic": 0, "even_odd": 1, "qdp": 3, "pyquda": 4}
PYQUDA_PROPAGATOR = 5
PARITIES = {None: 0, "even": 1, "odd": 2}

LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class _Sized(Structure):
    """A struct of the C library: its first member is its size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(ctypes.sizeof(self), **members)


class Setting(Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class Links(_Sized):
    _fields_ = [("struct_size", c_size_t), ("data", c_void_p * 4), ("precision", c_int), ("layout", c_int), ("location", c_int),
                ("site_stride", c_size_t), ("cuda_stream", c_void_p)]


class Vectors(_Sized):
    _fields_ = [("struct_size", c_size_t), ("data", POINTER(c_void_p)), ("count", c_int), ("precision", c_int), ("layout", c_int),
                ("location", c_int), ("site_stride", c_size_t), ("cuda_stream", c_void_p)]


class SessionOptions(_Sized):
    _fields_ = [("struct_size", c_size_t), ("mpi_communicator", c_void_p), ("settings", POINTER(Setting)), ("settings_count", c_size_t),
                ("log", LOG), ("log_user", c_void_p)]


class Heatbath(_Sized):
    _fields_ = [("struct_size", c_size_t), ("beta", c_double), ("sweeps", c_int), ("seed", c_uint64), ("cold", c_int),
                ("overrelaxation", c_int)]


class Plaquettes(_Sized):
    _fields_ = [("struct_size", c_size_t), ("mean", c_double), ("spatial", c_double), ("temporal", c_double), ("link_trace", c_double)]


class Smearing(_Sized):
    _fields_ = [("struct_size", c_size_t), ("action", c_char_p), ("naik_epsilon", c_double), ("u0", c_double), ("boundary", c_double * 4)]


class Result(Structure):
    _fields_ = [("struct_size", c_size_t), ("reason", c_int), ("iterations", c_int), ("restarts", c_int), ("residual", c_double),
                ("relative_residual", c_double), ("seconds", c_double), ("flops", c_double)]


class SolveOptions(_Sized):
    _fields_ = [("struct_size", c_size_t), ("parity", c_int), ("masses", POINTER(c_double)), ("tolerances", POINTER(c_double)),
                ("relative_tolerances", POINTER(c_double)), ("use_guess", c_int)]


class ApplyOptions(_Sized):
    _fields_ = [("struct_size", c_size_t), ("masses", POINTER(c_double)), ("adjoint", c_int), ("parity", c_int)]


class EigenOptions(_Sized):
    _fields_ = [("struct_size", c_size_t), ("modes", c_int), ("tolerance", c_double), ("block", c_int), ("basis", c_int), ("degree", c_int),
                ("window_low", c_double), ("window_high", c_double), ("store", c_char_p), ("basis_precision", c_char_p),
                ("basis_memory", c_char_p), ("operator_name", c_char_p), ("end", c_char_p)]


_handle = c_void_p
_out = POINTER(c_void_p)
_coord = c_int * 4
_functions = {
    "qs_version": (c_char_p, []),
    "qs_error_message": (c_char_p, []),
    "qs_error_parameter": (c_char_p, []),
    "qs_action_name": (c_char_p, [c_int]),
    "qs_action_components": (c_int, [c_char_p]),
    "qs_solver_has_shifts": (c_int, [c_char_p]),
    "qs_action_setting": (c_char_p, [c_char_p, c_int, POINTER(c_char_p)]),
    "qs_session_open": (c_int, [POINTER(SessionOptions), _out]),
    "qs_session_close": (c_int, [_handle]),
    "qs_gauge_create": (c_int, [_handle, _coord, POINTER(Links), _out]),
    "qs_gauge_read": (c_int, [_handle, c_char_p, POINTER(c_int), _out]),
    "qs_gauge_generate": (c_int, [_handle, _coord, POINTER(Heatbath), _out]),
    "qs_gauge_write": (c_int, [_handle, c_char_p, c_char_p, c_int]),
    "qs_gauge_export": (c_int, [_handle, POINTER(Links)]),
    "qs_gauge_reunitarize": (c_int, [_handle]),
    "qs_gauge_lattice": (c_int, [_handle, _coord]),
    "qs_gauge_part": (c_int, [_handle, _coord, _coord]),
    "qs_gauge_plaquette": (c_int, [_handle, POINTER(Plaquettes)]),
    "qs_gauge_smear": (c_int, [_handle, POINTER(Smearing), _out, _out]),
    "qs_gauge_free": (None, [_handle]),
    "qs_operator_create": (c_int, [_handle, c_char_p, POINTER(Setting), c_size_t, _out]),
    "qs_operator_free": (None, [_handle]),
    "qs_operator_solve": (c_int, [_handle, POINTER(SolveOptions), POINTER(Vectors), POINTER(Vectors), POINTER(Result)]),
    "qs_operator_propagate": (c_int, [_handle, c_char_p, POINTER(c_int), POINTER(SolveOptions), POINTER(Vectors), POINTER(Result)]),
    "qs_operator_slices": (c_int, [_handle]),
    "qs_operator_solve_normal": (c_int, [_handle, POINTER(c_double), c_int, POINTER(c_double), POINTER(Vectors), POINTER(Vectors), POINTER(Result)]),
    "qs_operator_history": (c_int, [_handle, c_int, POINTER(POINTER(c_double)), POINTER(c_size_t)]),
    "qs_operator_apply": (c_int, [_handle, POINTER(ApplyOptions), POINTER(Vectors), POINTER(Vectors)]),
    "qs_operator_deflate": (c_int, [_handle, _handle]),
    "qs_eigenvectors_compute": (c_int, [_handle, POINTER(EigenOptions), _out]),
    "qs_eigenvectors_read": (c_int, [_handle, c_char_p, _out]),
    "qs_eigenvectors_write": (c_int, [_handle, c_char_p]),
    "qs_eigenvectors_count": (c_int, [_handle]),
    "qs_eigenvectors_values": (POINTER(c_double), [_handle]),
    "qs_eigenvectors_residuals": (POINTER(c_double), [_handle]),
    "qs_eigenvectors_free": (None, [_handle]),
    "qs_operator_source": (c_int, [_handle, c_char_p, POINTER(c_int), POINTER(Vectors)]),
    "qs_operator_residual_mass": (c_int, [_handle, c_char_p, POINTER(c_double), _out]),
    "qs_contract": (c_int, [_handle, c_char_p, c_char_p, POINTER(Setting), c_size_t, POINTER(Vectors), _out]),
    "qs_operator_three_points": (c_int, [_handle, c_char_p, POINTER(Setting), c_size_t, POINTER(Vectors), _out]),
    "qs_operator_low_mode_averages": (c_int, [_handle, POINTER(c_char_p), POINTER(c_double), _out, c_int]),
    "qs_correlators_count": (c_int, [_handle]),
    "qs_correlators_name": (c_char_p, [_handle, c_int]),
    "qs_correlators_values": (POINTER(c_double), [_handle, c_int, POINTER(c_size_t)]),
    "qs_correlators_imaginary": (POINTER(c_double), [_handle, c_int, POINTER(c_size_t)]),
    "qs_correlators_free": (None, [_handle]),
    "qs_reason_text": (c_char_p, [c_int]),
}


def _candidates() -> list[str]:
    name = "libquarkstar.so.0"
    here = pathlib.Path(__file__).resolve().parent
    tree = here.parents[2]
    if os.environ.get("QUARKSTAR_LIBRARY"):
        return [os.environ["QUARKSTAR_LIBRARY"]]  # and no other in its place
    found = [str(path) for path in (here / name, tree / "build" / "release" / name) if path.exists()]
    return found + [name]  # where the system's loader looks


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
            continue
        lacks = [name for name in _functions if not hasattr(library, name)]
        if lacks:
            tried.append(f"{path} is of another version than this package: it has no {lacks[0]}")
            continue
        for name, (result, arguments) in _functions.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        return library
    raise ImportError("libquarkstar.so.0 cannot be loaded (" + "; ".join(tried) + "); build it with ./bootstrap build, or set QUARKSTAR_LIBRARY to its path")


library = _load()
