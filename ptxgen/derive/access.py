"""How a statement reaches an array: each array dimension indexed by one iteration dim plus a constant, or by a
constant."""

from __future__ import annotations

from attrs import frozen

from polyhedral import FloorDiv
from ptxgen.compute import Load, Statement, show
from ptxgen.derive.placement import unit
from ptxgen.errors import PlanError
from ptxgen.tile import Distribution


@frozen
class Reach:
    """An access taken apart: for each array dimension the iteration dim (None: none), the constant added to it, and
    what it is divided by, rounding down (1: nothing)."""

    array: str
    dims: tuple[str | None, ...]
    offsets: tuple[int, ...]
    divisors: tuple[int, ...]

    @property
    def named(self) -> tuple[str, ...]:
        """The iteration dims that the access moves with."""
        return tuple(dim for dim in self.dims if dim is not None)


def reach(statement: Statement, access: Load) -> Reach:
    """The access of a statement taken apart; PlanError for an index that is no dim plus a constant."""
    dims: list[str | None] = []
    offsets: list[int] = []
    divisors: list[int] = []
    for given in access.indices:
        index, divisor = (given.affine, given.divisor) if isinstance(given, FloorDiv) else (given, 1)
        if divisor & (divisor - 1) or (divisor > 1 and index.constant):
            raise PlanError(f"{show(access)}: a part is a dim over a power of two, got {given}", line=statement.line)
        divisors.append(divisor)
        match index.terms:
            case ():
                dims.append(None)
            case ((name, 1),) if any(dim.name == name for dim in statement.dims):
                dims.append(name)
            case _:
                raise PlanError(
                    f"{show(access)}: an index must be one dim plus a constant, got {index}", line=statement.line
                )
        offsets.append(index.constant)
    return Reach(access.array, tuple(dims), tuple(offsets), tuple(divisors))


def neighbours(distribution: Distribution, contiguous: int | None) -> int:
    """How many of a lane's first values are neighbours along dimension `contiguous`, a power of two."""
    if contiguous is None:
        return 1
    bits = 0
    while bits < len(distribution.values) and distribution.values[bits] == unit(
        distribution.rank, contiguous, 1 << bits
    ):
        bits += 1
    return 1 << bits
