"""The iteration of a pointwise or reducing statement: its dims, who holds what, the parts that it sums apart."""

from __future__ import annotations

from attrs import frozen

from ptxgen.compute import ArrayKind, Statement, loads
from ptxgen.derive.access import Reach, reach
from ptxgen.derive.draft import Draft, divided
from ptxgen.derive.loops import Path
from ptxgen.derive.placement import by_matrices, coalesced, within_warps
from ptxgen.derive.staging import (
    ACCESS_BYTES,
    Chain,
)
from ptxgen.errors import PlanError
from ptxgen.plan import Drain, Transport
from ptxgen.tile import (
    Buffer,
    Distribution,
    Iteration,
)


@frozen
class Work:
    """A statement's iteration: its dims, and after them the number of each part that its target tells apart.

    `target_dims` says which of them index the target.
    """

    statement: Statement
    target: Reach
    names: tuple[str, ...]
    parts: tuple[tuple[str, int], ...]
    spread: Distribution
    target_dims: tuple[int, ...]

    @classmethod
    def of(cls, draft: Draft, statement: Statement, spread: Distribution) -> Work:
        """The iteration of a statement whose dims are held as `spread` says."""
        target = reach(statement, statement.target)
        names = dim_names(statement)
        kept = kept_dims(statement, target)
        parts = tuple((names[place], d) for place, d in zip(kept, target.divisors, strict=True) if d > 1)
        numbers = iter(range(len(names), len(names) + len(parts)))
        dims = tuple(next(numbers) if d > 1 else place for place, d in zip(kept, target.divisors, strict=True))
        spread = with_parts(spread, tuple((names.index(name), divisor) for name, divisor in parts))
        return cls(statement, target, names, parts, spread, dims)

    def iteration(self, draft: Draft, path: Path, guarded: tuple[int, ...]) -> Iteration:
        """The iteration inside the loops of `path`."""
        array = draft.space.compute.array(self.target.array)
        places = [self.target_dims.index(len(self.names) + number) for number in range(len(self.parts))]
        return Iteration(
            (*self.names, *(f"{name}//{divisor}" for name, divisor in self.parts)),
            (
                *(draft.origin(path, name) for name in self.names),
                *(divided(draft.origin(path, name), divisor) for name, divisor in self.parts),
            ),
            (*(dim.extent for dim in self.statement.dims), *(array.extents[place] for place in places)),
            self.spread,
            (
                *guarded,
                *(len(self.names) + n for n, (name, _) in enumerate(self.parts) if self._place(name) in guarded),
            ),
        )

    def _place(self, name: str) -> int:
        return self.names.index(name)


def with_parts(spread: Distribution, parts: tuple[tuple[int, int], ...]) -> Distribution:
    """The distribution with one more dimension for each (dimension, size): the part's number, coordinate // size."""
    if not parts:
        return spread

    def extend(image: tuple[int, ...]) -> tuple[int, ...]:
        return (*image, *(image[place] // size for place, size in parts))

    return Distribution(
        (*spread.shape, *(-(-spread.shape[place] // size) for place, size in parts)),
        tuple(map(extend, spread.values)),
        tuple(map(extend, spread.lanes)),
        tuple(map(extend, spread.warps)),
    )


def dim_names(statement: Statement) -> tuple[str, ...]:
    """The iteration dims' names in order."""
    return tuple(dim.name for dim in statement.dims)


def kept_dims(statement: Statement, access: Reach) -> tuple[int, ...]:
    """The positions of the iteration dims that index an array, in the array's order; PlanError for a constant index."""
    names = dim_names(statement)
    if None in access.dims:
        raise PlanError(f"{access.array}: a constant index into a register tile", line=statement.line)
    return tuple(names.index(dim) for dim in access.named)


def iteration_distribution(draft: Draft, statement: Statement) -> Distribution:
    """Who computes what: as an operand that is in registers already lies, else as matrices of rows bring one, else so
    that memory accesses coalesce. Where an operand of fewer dims then lies otherwise, as it was computed."""
    own = _own_distribution(draft, statement)
    names, held = dim_names(statement), _held_operands(draft, statement)
    others = (draft.dealt[name] for name in held if name in draft.dealt)
    for spread in (own, *(spread for dims, spread in others if dims == names and spread.shape == own.shape)):
        if all(spread.project(kept) == buffer.distribution for kept, buffer in held.values()):
            return spread
    return own


def _held_operands(draft: Draft, statement: Statement) -> dict[str, tuple[tuple[int, ...], Buffer]]:
    """The operands that are in registers, by the statement that left them there: the iteration dims of each, and it."""
    found: dict[str, tuple[tuple[int, ...], Buffer]] = {}
    for access in loads(statement.value):
        held = draft.held(access.array)
        if held is not None and not Chain.of(draft, access.array).fragments:
            found[access.array] = kept_dims(statement, reach(statement, access)), held
    return found


def _own_distribution(draft: Draft, statement: Statement) -> Distribution:
    names = dim_names(statement)
    for access in loads(statement.value):
        held = draft.held(access.array)
        found = reach(statement, access)
        if held is None or Chain.of(draft, access.array).fragments or set(found.named) != set(names):
            continue
        return held.distribution.project(tuple(found.dims.index(name) for name in names))
    shape = tuple(draft.space.block_extent(name) for name in names)
    by_rows = _by_rows(draft, statement)
    guide = by_rows or _guide(draft, statement)
    array = draft.space.compute.array(guide.array)
    contiguous = array.contiguous_dimension
    fastest = guide.dims[contiguous] if contiguous is not None else guide.named[-1]
    place = names.index(fastest) if fastest in names else len(names) - 1
    width = array.element.byte_count
    if by_rows:
        return by_matrices(shape, place, width, draft.space.warp_images(statement, names))
    vector = min(shape[place], max(1, _guide_bytes(draft, statement) // width))
    if draft.space.slice:
        return coalesced(shape, place, width, vector, draft.space.warp_bits)
    return within_warps(shape, place, width, vector, draft.space.warp_images(statement, names))


def _by_rows(draft: Draft, statement: Statement) -> Reach | None:
    """The largest operand whose fragments come by matrices, if one does."""
    found = [
        reach(statement, access)
        for access in loads(statement.value)
        if (step := Chain.of(draft, access.array).fragments) and step.by.transport is Transport.LDMATRIX
    ]
    return max(found, key=lambda access: len(access.named), default=None)


def _guide(draft: Draft, statement: Statement) -> Reach:
    """The access whose memory order decides: the result where it goes to memory, else the largest operand."""
    target = reach(statement, statement.target)
    if draft.space.compute.array(target.array).kind is ArrayKind.OUTPUT and not statement.reduction:
        return target
    found = [reach(statement, access) for access in loads(statement.value)]
    return max(found, key=lambda access: len(access.named), default=target)


def _guide_bytes(draft: Draft, statement: Statement) -> int:
    drain = drain_step(draft, statement.target.array)
    return drain.by.vector_bytes if drain else ACCESS_BYTES


def drain_step(draft: Draft, array: str) -> Drain | None:
    """The plan's way out for an array."""
    return next((s for s in draft.space.plan.steps if isinstance(s, Drain) and s.array == array), None)
