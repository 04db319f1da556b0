"""What a scan is given: statements with a domain, times and options of the loops."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable

from attrs import field, frozen

from polyhedral.affine import Affine, as_affine
from polyhedral.sets import Set


class Option(enum.Enum):
    """How the loop of a level is to be made.

    `SEPARATE` cuts it where the statements that run change and a test would be needed, `ATOMIC` keeps one loop
    with conditions inside, `UNROLL` writes every iteration out, `DEFAULT` cuts where tests would cost too much.
    """

    DEFAULT = "default"
    SEPARATE = "separate"
    ATOMIC = "atomic"
    UNROLL = "unroll"


def _as_schedule(entries: Iterable[Affine | int]) -> tuple[Affine, ...]:
    return tuple(as_affine(e) for e in entries)


@frozen
class Statement:
    """What is to run: `payload` once for each point of `domain`, at the time that `schedule` gives.

    Schedule entries are affine in the dimensions of the domain and the parameters; instances run in
    the lexicographic order of their times, those of one time in the order of the statements. Dimensions
    in `hidden` are of the domain but not told to the payload; `options` are those of the levels.
    """

    payload: Hashable
    domain: Set
    schedule: tuple[Affine, ...] = field(converter=_as_schedule)
    name: str = ""
    hidden: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
