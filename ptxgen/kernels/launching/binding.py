"""From arrays by name to the sizes, strides and facts that they imply, all checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field, frozen

from polyhedral import Affine, const
from ptxgen.compute import Array, ArrayKind, Compute
from ptxgen.errors import LaunchError
from ptxgen.kernels.launching.views import DTYPES, View, holds, packed_strides, view_of
from ptxgen.plan import Aligned, Fact, Multiple

WIDEST_ACCESS_BYTES = 16
LARGEST_SIZE = 2**31 - 2**20
OWN_NAMES: Mapping[str, str] = {}


@frozen(eq=False)
class Bound:
    """Arrays with every size and stride that they give."""

    views: Mapping[str, View]
    sizes: Mapping[str, int]


def arrays_in_memory(compute: Compute) -> tuple[Array, ...]:
    """The arrays of a compute that a launch must bring."""
    return tuple(array for array in compute.arrays if array.kind is not ArrayKind.LOCAL)


def bind(
    arrays: Iterable[Array],
    given: Mapping[str, Any],
    sizes: Mapping[str, int] | None = None,
    spoken: Mapping[str, str] = OWN_NAMES,
) -> Bound:
    """Matches the arrays given by name with those declared, and solves for sizes and strides in elements.

    `sizes` gives those that no array tells. LaunchError names, as `spoken`, the array that is missing, unknown, of
    another dtype, of another number of dimensions, written but read-only, or that contradicts a size known from another
    array: what was wanted and what came.
    """
    declared = {array.name: array for array in arrays}
    missing, unknown = sorted(set(declared) - set(given)), sorted(set(given) - set(declared))
    if missing:
        raise LaunchError(f"no array given for {', '.join(missing)}; wanted are {', '.join(declared)}")
    if unknown:
        raise LaunchError(f"no array is called {', '.join(unknown)}; wanted are {', '.join(declared)}")
    views = {name: view_of(name, given[name]) for name in declared}
    solution = _Solution({name: (value, "the sizes given") for name, value in (sizes or {}).items()})
    for name, array in declared.items():
        said = spoken.get(name, name)
        _check_kind(array, views[name], said)
        for place, extent in enumerate(array.extents):
            solution.meet(extent, views[name].shape[place], f"{said}'s extent {place}")
    for name, array in declared.items():
        steps = _checked_strides(array, views[name], spoken.get(name, name))
        for place, (stride, step) in enumerate(zip(array.strides, steps, strict=True)):
            solution.meet(stride, step, f"{name}'s stride {place}")
    solved = {name: value for name, (value, _) in solution.known.items()}
    for name in sorted({name for array in declared.values() for extent in array.extents for name in extent.names}):
        check_size(name, solved[name])
    return Bound(views, solved)


def check_size(name: str, size: int) -> None:
    """LaunchError for a size that a kernel cannot count to: its 32-bit sums of a size and a tile must not overflow."""
    if not 0 <= size <= LARGEST_SIZE:
        raise LaunchError(f"{name} = {size}: a size is from 0 to {LARGEST_SIZE}")


def _check_kind(array: Array, view: View, said: str) -> None:
    if not holds(view.dtype, array.element):
        raise LaunchError(f"{said} must be {DTYPES[array.element]}, got {view.dtype}")
    if len(view.shape) != len(array.extents):
        wanted = " x ".join(map(str, array.extents))
        raise LaunchError(f"{said} must have {len(array.extents)} dimensions ({wanted}), got shape {view.shape}")
    if array.kind is ArrayKind.OUTPUT and not view.writeable:
        raise LaunchError(f"{said} is written, but the array given is read-only")


def _checked_strides(array: Array, view: View, said: str) -> tuple[int, ...]:
    """The strides in elements; where a dimension has no second element its stride is free and chosen to fit."""
    unit = WIDEST_ACCESS_BYTES // view.dtype.itemsize
    padded = (*view.shape[:-1], -(-view.shape[-1] // unit) * unit) if view.shape else ()
    chosen = packed_strides(padded)
    steps: list[int] = []
    for place, (extent, step) in enumerate(zip(view.shape, view.strides, strict=True)):
        if extent <= 1 or view.is_empty:
            fixed = array.strides[place]
            steps.append(fixed.constant if fixed.is_constant else chosen[place])
            continue
        if array.strides[place] == const(1) and step != 1:
            where = f"{said}: elements along dimension {place}"
            raise LaunchError(f"{where} must lie next to each other, got stride {step}")
        steps.append(step)
    if array.kind is ArrayKind.OUTPUT and not view.is_empty:
        _check_no_overlap(view, said)
    return tuple(steps)


def _check_no_overlap(view: View, said: str) -> None:
    reach = 1
    for step, extent in sorted(zip(view.strides, view.shape, strict=True)):
        if extent > 1:
            if step < reach:
                shape = f"shape {view.shape}, strides {view.strides}"
                raise LaunchError(f"{said} is written, but its elements overlap: {shape}")
            reach = step * extent


@define
class _Solution:
    """Parameters with their values and who gave them."""

    known: dict[str, tuple[int, str]] = field(factory=dict)

    def meet(self, wanted: Affine, value: int, source: str) -> None:
        """Learns or checks that `wanted` is `value`."""
        unknown = [(name, coefficient) for name, coefficient in wanted.terms if name not in self.known]
        rest = wanted.constant + sum(c * self.known[name][0] for name, c in wanted.terms if name in self.known)
        if not unknown:
            if rest != value:
                whose = ", ".join(f"{name} = {self.known[name][0]} by {self.known[name][1]}" for name in wanted.names)
                because = f" ({whose})" if whose else ""
                raise LaunchError(f"{source} must be {rest}{because}, got {value}")
            return
        name, coefficient = unknown[0]
        if len(unknown) > 1 or (value - rest) % coefficient:
            names = ", ".join(name for name, _ in unknown)
            raise LaunchError(f"{source} is {value}, which does not tell {wanted}: give {names}")
        self.known[name] = ((value - rest) // coefficient, source)


def facts_of(compute: Compute, bound: Bound) -> tuple[Fact, ...]:
    """What holds of these arguments and lets accesses be wide, array by array, in the compute's order.

    For each array the widest access up to 16 bytes that its address and all its strides allow; then the divisibility of
    the extents along which it is contiguous, so that an edge never cuts an access. An array that allows one element
    only contributes nothing, nor does one that no statement touches, of which blocks read what they have to do.
    """
    facts: dict[tuple[object, ...], Fact] = {}
    for array in arrays_in_memory(compute):
        place = array.contiguous_dimension
        if place is None or not is_reached(compute, array):
            continue
        view = bound.views[array.name]
        width = view.dtype.itemsize
        values = [stride for stride in array.strides if not stride.is_constant]
        steps = [stride.evaluate(bound.sizes) for stride in values]
        count = _widest(0 if view.is_empty else view.address, width, steps)
        if count == 1:
            continue
        facts[("aligned", array.name)] = Aligned(array.name, count * width)
        for value, factor in [(v, count) for v in values] + [(array.extents[place], count)]:
            while factor > 1 and value.evaluate(bound.sizes) % factor:
                factor //= 2
            known = facts.get(("multiple", value))
            if factor > 1 and not (isinstance(known, Multiple) and known.factor >= factor) and not value.is_constant:
                facts[("multiple", value)] = Multiple(value, factor)
    return tuple(facts.values())


def is_reached(compute: Compute, array: Array) -> bool:
    """Whether a statement touches an array; of others blocks read what they have to do."""
    return any(access.array == array.name for s in compute.statements for access in (s.target, *s.reads))


def _widest(address: int, width: int, strides: list[int]) -> int:
    count = WIDEST_ACCESS_BYTES // width
    while count > 1 and (address % (count * width) or any(stride % count for stride in strides)):
        count //= 2
    return count
