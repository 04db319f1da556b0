"""Choosing plans by measuring them: a gate, a search, and what it found kept (see README.md)."""

from functools import cache

from ptxgen.tune.calibration import Measurement, fit
from ptxgen.tune.gate import Gate, Refusal, Stage, Subject, Timing
from ptxgen.tune.keeping import Best, Kept
from ptxgen.tune.tuner import Measurer, Trial, Tuner, Tuning

__all__ = [
    "Best",
    "Gate",
    "Kept",
    "Measurement",
    "Measurer",
    "Refusal",
    "Stage",
    "Subject",
    "Timing",
    "Trial",
    "Tuner",
    "Tuning",
    "best",
    "fit",
]


@cache
def best(device: str = "H200") -> Kept:
    """What was found on devices of that name, as `Matmul(tuned=...)` and `ptxgen.matmul(tuned=...)` take it; the same
    object for the same device, so that a call finds the launch that an earlier one prepared."""
    return Kept(device)
