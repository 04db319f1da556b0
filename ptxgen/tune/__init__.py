"""Choosing plans by measuring them: a gate, a search, and what it found kept (see README.md)."""

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


def best(device: str = "H200") -> Kept:
    """What was found on devices of that name, as `Matmul(tuned=...)` and `ptxgen.matmul(tuned=...)` take it."""
    return Kept(device)
