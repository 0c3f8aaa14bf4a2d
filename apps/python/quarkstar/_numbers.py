"""Numbers that callers give, for C's types, which would cut them off without a word."""
from __future__ import annotations

import operator
from typing import Any

from ._errors import InputError

INT, UINT64 = 2**31 - 1, 2**64 - 1  # the largest


def whole(value: Any, argument: str, least: int = -INT - 1, most: int = INT) -> int:
    """An integer of Python's or numpy's in this range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{argument}: {value!r}; give an integer", argument) from None
    if not least <= number <= most:
        raise InputError(f"{argument}: {number}; give an integer from {least} to {most}", argument)
    return number


def real(value: Any, argument: str) -> float:
    """A real number, of whatever type."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{argument}: {value!r}; give a real number", argument) from None


def _each(values: Any, names: str, argument: str) -> tuple[Any, ...]:
    """As many as names has words."""
    try:
        each = tuple(values)
    except TypeError:
        each = ()
    count = len(names.split(", "))
    if len(each) != count or isinstance(values, str):
        raise InputError(f"{argument}: {values!r}; give {count} numbers, ({names})", argument)
    return each


def wholes(values: Any, argument: str, names: str = "x, y, z, t", least: int = -INT - 1) -> tuple[int, ...]:
    return tuple(whole(value, argument, least) for value in _each(values, names, argument))


def reals(values: Any, argument: str, names: str = "x, y, z, t") -> tuple[float, ...]:
    return tuple(real(value, argument) for value in _each(values, names, argument))
