"""What an instruction tells the scheduler: None to go on, a number to jump, or one of these."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

from attrs import frozen

from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group


class Signal(Enum):
    """`REPEAT`: come back when more lanes are here. `WAIT`: the group is parked at a barrier. `PARK`: it runs the
    instruction again when one of its `waits` is over. `END`: nobody is left."""

    REPEAT = "repeat"
    WAIT = "wait"
    PARK = "park"
    END = "end"


@frozen(eq=False)
class Parted:
    """The group went different ways; `counted` False runs the instruction again in each part."""

    groups: tuple[Group, ...]
    counted: bool = True


Outcome: TypeAlias = "int | Signal | Parted | None"
Step: TypeAlias = Callable[[Group, Batch], Outcome]
