"""What a `drain` step may ask: an output, once, by a way that can carry it."""

from __future__ import annotations

from ptxgen.compute import ArrayKind
from ptxgen.plan.checks import Checks
from ptxgen.plan.nest import tile_levels
from ptxgen.plan.steps import Drain, Stage
from ptxgen.plan.transports import By, Transport
from ptxgen.plan.words import IntoShared, Swizzle

_PUTS = (Transport.ST, Transport.STMATRIX)


def drainable(checks: Checks, step: Drain) -> None:
    """An output with no way out yet, and a way that fits. Raises PlanError on the step's line."""
    checks.word("by", step.by, By, "st(bytes)" if step.through is None else "st(bytes) or tensor")
    array, kind = step.array, checks.compute.array(step.array).kind
    if step.through is not None:
        checks.word("through", step.through, IntoShared, "None or shared(depth, layout)")
    if kind is not ArrayKind.OUTPUT:
        raise checks.refused(f"{array} is not drained: it is {kind.value}, only an output leaves the kernel")
    if any(isinstance(other, Drain) and other.array == array for other in checks.steps):
        raise checks.refused(f"{array} is drained already")
    if step.through is not None:
        _through_shared(checks, step, step.through)
        return
    if step.by.transport is not Transport.ST:
        raise checks.refused(f"{array} is drained by st, not by {step.by.transport.value}")
    if step.pieces or step.put:
        raise checks.refused(f"{array}: pieces and put are of a way through shared memory, and through is None")


def _through_shared(checks: Checks, step: Drain, ring: IntoShared) -> None:
    checks.word("put", step.put, By, "st(bytes) or stmatrix(matrices)")
    assert step.put is not None
    if step.put.transport not in _PUTS:
        raise checks.refused(f"{step.op} is filled by st or stmatrix, not by {step.put.transport.value}")
    if step.by.transport not in (Transport.ST, Transport.TENSOR):
        raise checks.refused(f"{step.array} is drained by st or tensor, not by {step.by.transport.value}")
    if step.by.transport is Transport.TENSOR and not isinstance(ring.layout, Swizzle):
        raise checks.refused(f"{step.op}: tensor copies read swizzle(32), swizzle(64) or swizzle(128), not {ring}")
    staged = [other.op for other in checks.steps if isinstance(other, Stage) and isinstance(other.into, IntoShared)]
    if step.op in staged:
        raise checks.refused(f"{step.op} is staged already: the ring of the way out needs the name")
    if ring.alias is not None and ring.alias not in staged:
        raise checks.refused(f"no ring {ring.alias!r} to lie over; staged in shared memory are {', '.join(staged)}")
    _pieces(checks, step)


def _pieces(checks: Checks, step: Drain) -> None:
    """Extents of dims that index the array, powers of two that divide the innermost tile."""
    writers = [s for s in checks.compute.statements if s.target.array == step.array]
    dims = [dim.name for statement in writers for dim in statement.dims if dim.name not in statement.summed_away]
    for dim, size in step.pieces:
        if dim not in dims:
            raise checks.refused(f"{step.array} has no dim {dim!r} to cut; it has {', '.join(dims)}")
        checks.word(f"the extent of a piece along {dim}", size, int, "a whole number")
        if size < 1 or size & (size - 1):
            raise checks.refused(f"the extent of a piece along {dim} must be a power of two, got {size}")
        for tile in tile_levels(checks.steps):
            if dim in tile.sizes and tile.sizes[dim] % size:
                raise checks.refused(
                    f"a piece of {dim}={size} does not divide {dim}={tile.sizes[dim]} of level {tile.level!r}"
                )
