"""Sessions: the workers, between open and close."""
from __future__ import annotations

import atexit
import ctypes
import os
from typing import Any, Callable

import numpy as np

from . import _library as c
from ._device import session_closed, session_opened
from ._errors import InputError, check

_levels = {1: "info", 2: "warning", 3: "error"}
_current: "Session | None" = None
_logs: list[Any] = []  # of sessions that are not closed: the library may call them, also of one that is lost and that nobody holds any more


def version() -> str:
    """The library's version, and what it was built with."""
    return c.library.qs_version().decode()


def actions() -> list[str]:
    """Names of the fermion actions."""
    names: list[str] = []
    while (name := c.library.qs_action_name(len(names))) is not None:
        names.append(name.decode())
    return names


def components(action: str) -> int:
    """Complex numbers of an action's vector per site: 12 of a spinor, 3 of a colour vector."""
    number = c.library.qs_action_components(action.encode())
    if number == 0:
        raise InputError(f"action: there is no action '{action}'; use one of {', '.join(actions())}", "action")
    return number


def settings(action: str) -> dict[str, str]:
    """Keyword arguments of an action's operators, with a line about each."""
    components(action)  # raises where there is no such action
    texts: dict[str, str] = {}
    text = ctypes.c_char_p()
    while (key := c.library.qs_action_setting(action.encode(), len(texts), ctypes.byref(text))) is not None:
        texts[key.decode().replace("-", "_")] = (text.value or b"").decode()
    return texts


def plain(value: Any) -> Any:
    """numpy's arrays and numbers as Python's lists and numbers."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def text_of(value: Any) -> str:
    """A setting as the command takes it: True is true, a sequence is joined by commas, a mapping is K=V,..."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ",".join(f"{key}={text_of(v)}" for key, v in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(text_of(v) for v in value)
    return repr(float(value)) if isinstance(value, float) else str(value)


def settings_of(values: dict[str, Any]) -> tuple[Any, int]:
    given = [c.Setting(key.replace("_", "-").encode(), text_of(value).encode()) for key, value in values.items() if value is not None]
    return (c.Setting * max(1, len(given)))(*given), len(given)


class Session:
    """The workers that compute. One at a time in a process; functions that need one and are not given any open it with its defaults.

    comm: an mpi4py communicator, over which lattices are cut (setting `ranks`); None: this process alone. log: called with (level, text).
    settings: devices, workers, threads, ranks, policy, watchdog, ... of docs/howto/c.md. Use it as a context manager, or close() it. A
    process that is forked while it is open cannot use it, nor open another.
    """

    def __init__(self, comm: Any = None, log: Callable[[str, str], None] | None = None, **settings: Any) -> None:
        global _current
        self._handle = ctypes.c_void_p()
        self._log = c.LOG(lambda _, level, text: log(_levels.get(level, "info"), text.decode())) if log is not None else c.LOG()
        options = c.SessionOptions(log=self._log)
        if comm is not None:
            from mpi4py import MPI

            if not isinstance(comm, MPI.Comm):
                raise InputError(f"comm: {type(comm).__name__} is no communicator of mpi4py", "comm")
            options.mpi_communicator = MPI._addressof(comm)
        self._comm = comm
        options.settings, options.settings_count = settings_of(settings)
        _logs.append(self._log)
        self._check(c.library.qs_session_open(ctypes.byref(options), ctypes.byref(self._handle)))
        _current = self
        self._process = os.getpid()
        session_opened()

    def _check(self, status: int) -> None:
        """Of an open that failed and of a close. A lost session keeps its log."""
        if not self._handle and status != c.LOST:
            _logs.remove(self._log)
        check(status)

    @property
    def ranks(self) -> int:
        """How many processes share each lattice."""
        return self._comm.Get_size() if self._comm is not None else 1

    @property
    def handle(self) -> ctypes.c_void_p:
        if not self._handle:
            raise InputError("session: it has been closed; open another", "session")
        return self._handle

    def close(self) -> None:
        """Ends the workers. Its gauge fields and operators are of no use any more."""
        global _current
        handle, self._handle = self._handle, ctypes.c_void_p()
        if _current is self:
            _current = None
        if handle and os.getpid() == self._process:  # a child that was forked has none of its threads
            session_closed()
            self._check(c.library.qs_session_close(handle))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def current_session() -> Session:
    """The open session, or a new one with its defaults, which ends with the program."""
    return _current if _current is not None else Session()


@atexit.register
def _close() -> None:
    if _current is not None:
        _current.close()
