"""Choosing plans by measuring them: a gate, a search, and what it found kept (see README.md)."""

from functools import cache

from ptxgen.errors import DriverError
from ptxgen.runtime import described
from ptxgen.tune.calibration import Measurement, fit
from ptxgen.tune.gate import Gate, Refusal, Stage, Subject, Timing
from ptxgen.tune.keeping import Best, Everywhere, Kept
from ptxgen.tune.tuner import Measurer, Trial, Tuner, Tuning
from ptxgen.tune.versions import driver_here

__all__ = [
    "Best",
    "Everywhere",
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


def best(device: int | str | None = None) -> Kept | Everywhere:
    """What was found with the driver that is here, as `Matmul(tuned=...)` and `ptxgen.matmul(tuned=...)` take it: on a
    device, by its number or the name that its driver gives it, or, with None, on the one where a call's arrays lie;
    nothing where no GPU of that number is there. The same object for the same device, so that a call finds the launch
    that an earlier one prepared. TypeError for what is no device."""
    if device is None:
        return EVERYWHERE
    if type(device) not in (int, str):
        raise TypeError(f"best: device is the number or the name of a GPU, or None, got {device!r}")
    return _on(device)


@cache
def _on(device: int | str) -> Kept:
    if isinstance(device, int):
        try:
            device = described(device).name
        except DriverError:
            device = ""
    return Kept(device, driver_here())


EVERYWHERE = Everywhere(_on)
