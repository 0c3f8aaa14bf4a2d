"""Exceptions: one line each, with its parts as fields."""
from __future__ import annotations

from typing import Any

from . import _library as c


class Error(Exception):
    """What went wrong, and what to do about it. `parameter`: the argument or setting that it is about, or ""; `code`: qs_status."""

    code = 70

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter


class InputError(Error, ValueError):
    """An argument, a setting or a file is wrong."""

    code = 2


class MachineError(Error, RuntimeError):
    """The machine lacks something: memory, a device, a permission, MPI."""

    code = 3


class NotConverged(Error):
    """A solve ended without an answer. `report`: what is known of it, if anything; `solution`: the last iterates, if anything."""

    code = 4

    def __init__(self, message: str, parameter: str = "", report: Any = None, solution: Any = None) -> None:
        super().__init__(message, parameter)
        self.report = report
        self.solution = solution


class Lost(Error):
    """Another rank or a device has failed, or nothing moved for too long: start the process anew."""

    code = 5


_kinds: dict[int, type[Error]] = {2: InputError, 3: MachineError, 4: NotConverged, 5: Lost}


def error_of(status: int, names: dict[str, str] = {}) -> Error:
    """The exception for a status of the C library. names: what its arguments are called here."""
    message, parameter = c.library.qs_error_message().decode(), c.library.qs_error_parameter().decode()
    name = names.get(parameter, parameter)
    return _kinds.get(status, Error)(name + message[len(parameter):] if message.startswith(parameter + ":") else message, name)


def check(status: int, names: dict[str, str] = {}) -> None:
    """Raises it unless the call went well."""
    if status != c.OK:
        raise error_of(status, names)
