"""Where a pointwise statement finds an operand, and the ops that bring it there."""

from __future__ import annotations

from attrs import field, frozen

from polyhedral import Affine
from ptxgen.compute import Load, Statement
from ptxgen.derive.access import Reach, reach
from ptxgen.derive.draft import Draft
from ptxgen.derive.finishing import Finishing
from ptxgen.derive.iterations import kept_dims
from ptxgen.derive.operands import into_shared
from ptxgen.derive.staging import (
    Chain,
    load_fragments,
    load_registers,
    path_at,
    rank_of,
    reader,
)
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op
from ptxgen.tile import Buffer


@frozen
class Source:
    """An operand of a statement: what the map reads, the ops that bring it there, and which tile of it that is;
    `is_whole` where a buffer in registers holds whole tiles, of which a map may read pieces. It `comes_first` where the
    plan stages it at the level that blocks take: as the tile begins, ahead of sums that later statements read."""

    access: Load
    reach: Reach
    buffer: Buffer
    ops: tuple[Op, ...]
    rank: Affine = field(factory=Affine)
    is_whole: bool = False
    comes_first: bool = False

    @classmethod
    def of(cls, draft: Draft, statement: Statement, access: Load, work: Finishing) -> Source:
        """Finds an operand: in fragments through shared memory, staging registers, a statement's registers, memory."""
        found, path = reach(statement, access), work.path
        kept = kept_dims(statement, found)
        chain = Chain.of(draft, access.array)
        held = draft.held(access.array)
        if chain.fragments:
            buffer, ops = _through_shared(draft, statement, found, chain, work)
            return cls(access, found, buffer, ops, rank_of(path))
        if chain.shared:
            raise PlanError(
                f"{chain.shared.op} is read by {statement.name}: "
                f"stage({access.array}, into=fragments(...)) brings it back",
                line=chain.shared.line,
            )
        if chain.registers:
            at = path_at(draft, path, chain.registers.at)
            spread = work.spread if at == path else work.whole
            ops = load_registers(draft, chain.registers, found, at, spread.project(kept))
            first = at != path and chain.registers.at == draft.space.block_level
            return cls(access, found, draft.buffers[chain.registers.op], ops, is_whole=at != path, comes_first=first)
        if held is None:
            return cls(access, found, draft.global_buffer(access.array), ())
        if held.distribution != work.whole.project(kept):
            raise PlanError(
                f"{statement.name} reads {access.array} in another distribution than the one it was left in: "
                f"stage({access.array}) through shared memory into fragments",
                line=statement.line,
            )
        return cls(access, found, held, (), is_whole=True)


def _through_shared(
    draft: Draft,
    statement: Statement,
    access: Reach,
    chain: Chain,
    work: Finishing,
) -> tuple[Buffer, tuple[Op, ...]]:
    assert chain.fragments is not None
    if chain.shared is None:
        raise PlanError(
            f"{chain.fragments.op} of {statement.name} come from shared memory: "
            f"stage({access.array}, into=shared(...)) is missing",
            line=chain.fragments.line,
        )
    path, wanted = work.path, work.spread.project(kept_dims(statement, access))
    by = reader(draft, chain.fragments, wanted)
    ring, ops, stores = into_shared(draft, statement, chain, access, path, by)
    origin = (0,) * len(access.dims)
    buffer, fetched = load_fragments(draft, chain.fragments, path, ring, by, (origin,))
    return buffer, (*ops, *stores, *fetched)
