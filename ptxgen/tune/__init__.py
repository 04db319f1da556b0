"""Choosing plans by measuring them: a gate, a search, and what it found kept (see README.md)."""

from functools import cache

from ptxgen.errors import DriverError
from ptxgen.runtime import described
from ptxgen.tune.calibration import Measurement, fit
from ptxgen.tune.gate import Gate, Refusal, Stage, Subject, Timing
from ptxgen.tune.keeping import Best, Kept
from ptxgen.tune.tuner import Measurer, Trial, Tuner, Tuning
from ptxgen.tune.versions import driver_here

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
def best(device: int | str = 0) -> Kept:
    """What was found on a device, by its number or the name that its driver gives it, with the driver that is here, as
    `Matmul(tuned=...)` and `ptxgen.matmul(tuned=...)` take it: nothing where no GPU of that number is there. The same
    object for the same device, so that a call finds the launch that an earlier one prepared."""
    if isinstance(device, int):
        try:
            device = described(device).name
        except DriverError:
            device = ""
    return Kept(device, driver_here())
