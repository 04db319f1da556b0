"""What the process that launches candidates is asked, and where it says that it is."""

from __future__ import annotations

from typing import TypeAlias

from attrs import field, frozen

from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import Processor
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.tune.gate import Refusal, Stage, Timing
from ptxgen.tune.making import Made

HOST_SECONDS = 600.0
"""What the host may take for its own work, which no candidate holds up: to draw operands, compile, calculate in
float64."""


@frozen
class At:
    """The stage that is begun, and of what."""

    stage: Stage
    what: str = ""

    @property
    def seconds(self) -> float | None:
        """How long it may take where no launch of the candidate is part of it; None where one is."""
        return None if self.stage in (Stage.LAUNCH, Stage.WORK) else HOST_SECONDS


@frozen
class Shape:
    """From here on candidates of these sizes are asked about: operands are drawn by the seed; a row of each `tile_rows`
    rows of the results is looked at. Answer: None, or a Refusal for all."""

    spec: MatmulSpec
    target: str
    sizes: Sizes
    processor: Processor
    tile_rows: int
    seed: int


@frozen(eq=False)
class Gated:
    """A candidate is loaded, by its machine code where it has some; whether it passes the stages that need no time.
    Answer: None or a Refusal."""

    number: int
    made: Made = field(repr=False)


@frozen(eq=False)
class Tried:
    """A candidate is launched at the shape itself, and held. Answer: None or a Refusal."""

    number: int
    made: Made = field(repr=False)


@frozen
class Turned:
    """Held candidates take turns. Answer: the microseconds of each, or a Refusal where that cannot be."""

    numbers: tuple[int, ...]
    count: int


@frozen
class Finished:
    """A held candidate with its microseconds is timed once more, over poisoned results. Answer: a Timing without
    samples, or a Refusal."""

    number: int
    microseconds: float


@frozen
class Looked:
    """What the launches of Finished left is looked at, which takes the host its time. Answer: Checked."""

    number: int
    timing: Timing


@frozen
class Sound:
    """Whether the device still does as it is told. Answer: True or False."""


@frozen
class Checked:
    """What becomes of a candidate, and another one whose results, thought good before, it has shown to be wrong."""

    verdict: Refusal | Timing
    spoiled: int | None = None


Question: TypeAlias = Shape | Gated | Tried | Turned | Finished | Looked | Sound
