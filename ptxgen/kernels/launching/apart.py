"""Which arrays of a launch must not share memory, decided once for arrays alike, and asked of the addresses of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from ptxgen.compute import ArrayKind, Compute, loads
from ptxgen.errors import LaunchError
from ptxgen.kernels.launching.binding import OWN_NAMES, Bound
from ptxgen.kernels.launching.views import View


@frozen
class Pair:
    """An array that is written and another one, each by its name and the bytes from its first element to its last one.
    With `replaced` they may begin in the same place: the other is then replaced element by element."""

    written: str
    written_bytes: int
    other: str
    other_bytes: int
    replaced: bool

    def meets(self, written: int, other: int) -> bool:
        """Whether arrays that begin at these addresses share memory, and must not."""
        if written == other and self.replaced:
            return False
        return written < other + self.other_bytes and other < written + self.written_bytes


def pairs_apart(compute: Compute, views: Mapping[str, View]) -> tuple[Pair, ...]:
    """The pairs of arrays of which one is written, so that they must lie apart; whoever has no element lies nowhere.

    Allowed is only the result of the last statement in the very place of an input that every statement reads just
    where that result is written: each element is then read for the last time by the thread that replaces it.
    """
    last = compute.statements[-1].target
    reads = [load for statement in compute.statements for load in loads(statement.value)]
    written = [array.name for array in compute.arrays if array.kind is ArrayKind.OUTPUT and array.name in views]
    found = []
    for name in written:
        for other in views:
            replaced = name == last.array and other not in written and _alike(views[name], views[other])
            replaced &= all(load.indices == last.indices for load in reads if load.array == other)
            if other != name and not (views[name].is_empty or views[other].is_empty):
                found.append(Pair(name, views[name].byte_count, other, views[other].byte_count, replaced))
    return tuple(found)


def _alike(one: View, other: View) -> bool:
    """Whether elements of two arrays that begin in one place lie in the same places."""
    return (one.shape, one.strides, one.dtype) == (other.shape, other.strides, other.dtype)


def check_apart(compute: Compute, bound: Bound, spoken: Mapping[str, str] = OWN_NAMES) -> None:
    """LaunchError, with names as `spoken`, where an array that is written shares memory with another one (see
    `pairs_apart`)."""
    there = {name: view for name, view in bound.views.items() if not view.is_outline}
    for pair in pairs_apart(compute, there):
        if pair.meets(there[pair.written].address, there[pair.other].address):
            written, other = (spoken.get(name, name) for name in (pair.written, pair.other))
            raise LaunchError(f"{written} is written, but its memory is that of {other}")


@frozen
class Placed:
    """A pair by the places of its arrays among those of a call, and the names that the call has for them."""

    pair: Pair
    written: int
    other: int
    spoken: tuple[str, str]


def places_apart(
    compute: Compute, views: Mapping[str, View], order: Sequence[str], spoken: Mapping[str, str]
) -> tuple[Placed, ...]:
    """The pairs among arrays that a call brings, in the order in which it tells their addresses."""
    given = {name: views[name] for name in order}
    return tuple(
        Placed(pair, order.index(pair.written), order.index(pair.other), (spoken[pair.written], spoken[pair.other]))
        for pair in pairs_apart(compute, given)
    )


def check_places(apart: Sequence[Placed], addresses: Sequence[int]) -> None:
    """LaunchError, in the words of the call, where arrays at these addresses share memory that must lie apart."""
    for each in apart:
        if each.pair.meets(addresses[each.written], addresses[each.other]):
            written, other = each.spoken
            raise LaunchError(f"{written} is written, but its memory is that of {other}")
