"""Means with errors, and effective masses."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from ._errors import InputError


class Estimate(NamedTuple):
    """A value and its error, of the shape of what was estimated."""

    value: Any
    error: Any


def jackknife(samples: Any, function: Callable[[np.ndarray], Any] = lambda mean: mean, bins: int | None = None) -> Estimate:
    """function(mean of the samples) and its error, sqrt((N - 1)/N sum_i (f_i - mean f)^2), f_i without the i-th of N samples.

    samples: along the first axis. bins: the samples are averaged in so many bins of consecutive ones first, against autocorrelation; what
    does not fill the last bin is left out."""
    samples = np.asarray(samples)
    if bins is not None:
        if not 2 <= bins <= len(samples):
            raise InputError(f"bins: {bins} for {len(samples)} samples; give from 2 to that", "bins")
        size = len(samples) // bins
        samples = samples[: bins * size].reshape(bins, size, *samples.shape[1:]).mean(axis=1)
    count = len(samples)
    if count < 2:
        raise InputError(f"samples: {count}; give two at least", "samples")
    total = samples.sum(axis=0)
    parts = np.array([function((total - sample) / (count - 1)) for sample in samples])
    error = np.sqrt((count - 1) / count * (np.abs(parts - parts.mean(axis=0)) ** 2).sum(axis=0))
    return Estimate(function(total / count), error)


def effective_mass(correlator: Any, kind: str = "cosh") -> np.ndarray:
    """cosh: arccosh((C(t-1) + C(t+1)) / (2 C(t))), t = 1 .. T-2, exact for one state on a periodic lattice; log: ln(C(t) / C(t+1)),
    t = 0 .. T-2. Not a number where that has no value. The last axis is time."""
    c = np.asarray(correlator, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "cosh":
            return np.arccosh((c[..., :-2] + c[..., 2:]) / (2 * c[..., 1:-1]))
        if kind == "log":
            return np.log(c[..., :-1] / c[..., 1:])
    raise InputError(f"kind: '{kind}'; give \"cosh\" or \"log\"", "kind")
