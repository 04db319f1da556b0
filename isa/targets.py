"""The targets that PTX names and the versions of PTX itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from attrs import field, frozen


class PtxVersion(NamedTuple):
    """A version of PTX, ordered as one expects: 6.4 < 7.0 < 10.0."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class UnknownTarget(LookupError):
    """No target has this name."""


def version(text: str) -> PtxVersion:
    """`"8.6"` as a version; ValueError for anything else."""
    major, dot, minor = text.partition(".")
    if not (dot and major.isdigit() and minor.isdigit()):
        raise ValueError(f"a PTX version looks like '8.6', not {text!r}")
    return PtxVersion(int(major), int(minor))


@frozen(eq=False)
class Target:
    """A value of `.target`: `number` 90 and `suffix` "a" for sm_90a. `bit` is its place in availability masks.

    `first_version` is the least PTX version that names it. There is one object per target.
    """

    name: str
    number: int
    suffix: str
    first_version: PtxVersion
    bit: int = field(repr=False)

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return target, (self.name,)


# What the two ptxas say (12.9.86 and 13.5.37), asked target by target.
_FIRST_VERSIONS = """
sm_50 4.0  sm_52 4.1  sm_53 4.2  sm_60 5.0  sm_61 5.0  sm_62 5.0  sm_70 6.0  sm_72 6.1  sm_75 6.3
sm_80 7.0  sm_86 7.1  sm_87 7.4  sm_88 9.0  sm_89 7.8  sm_90 7.8  sm_90a 8.0
sm_100 8.6  sm_100a 8.6  sm_100f 8.8  sm_101 8.6  sm_101a 8.6  sm_101f 8.8  sm_103 8.8  sm_103a 8.8  sm_103f 8.8
sm_107 9.4  sm_107a 9.4  sm_107f 9.4  sm_110 9.0  sm_110a 9.0  sm_110f 9.0
sm_120 8.7  sm_120a 8.7  sm_120f 8.8  sm_121 8.8  sm_121a 8.8  sm_121f 8.8
"""


def _read(text: str) -> tuple[Target, ...]:
    words = text.split()
    made = []
    for place, (name, first) in enumerate(zip(words[::2], words[1::2], strict=True)):
        digits = name[3:].rstrip("af")
        made.append(Target(name, int(digits), name[3 + len(digits) :], version(first), 1 << place))
    return tuple(made)


TARGETS: tuple[Target, ...] = _read(_FIRST_VERSIONS)
ALL_TARGETS = (1 << len(TARGETS)) - 1
_BY_NAME = {each.name: each for each in TARGETS}


def target(name: str) -> Target:
    """The target of that name (`"sm_70"`); UnknownTarget lists the known ones."""
    found = _BY_NAME.get(name)
    if found is None:
        raise UnknownTarget(f"unknown target {name!r}; known: {' '.join(_BY_NAME)}")
    return found


def at_least(number: int) -> int:
    """The mask of all targets of compute capability `number` (80 for sm_80) and later, with their a and f variants."""
    return sum(each.bit for each in TARGETS if each.number >= number)


def targets_named(*names: str) -> int:
    """The mask of exactly these targets."""
    return sum(target(name).bit for name in names)


def named_in(mask: int) -> tuple[Target, ...]:
    """The targets of a mask, in order."""
    return tuple(each for each in TARGETS if each.bit & mask)


VERSIONS: tuple[PtxVersion, ...] = tuple(
    PtxVersion(major, minor)
    for major, last in ((1, 5), (2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8), (9, 5))
    for minor in range(last + 1)
)
