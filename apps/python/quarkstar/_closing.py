"""What has a handle of the library until it is closed."""
from __future__ import annotations

import ctypes
from typing import Any, TypeVar

from . import _library as c

_Self = TypeVar("_Self", bound="Closing")


class Closing:
    """A context manager whose handle `_free`, a function of the library, frees."""

    _handle: ctypes.c_void_p
    _free: str

    def close(self) -> None:
        """Gives up its memory; what was made from it stays."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        if handle:
            getattr(c.library, self._free)(handle)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()
