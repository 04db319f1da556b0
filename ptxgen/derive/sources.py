"""Where a pointwise statement finds an operand, and the ops that bring it there."""

from __future__ import annotations

from attrs import field, frozen

from polyhedral import Affine
from ptxgen.compute import Load, Statement
from ptxgen.derive.access import Reach, reach
from ptxgen.derive.draft import Draft
from ptxgen.derive.iterations import kept_dims
from ptxgen.derive.loops import Path
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
from ptxgen.tile import (
    Buffer,
    Distribution,
)


@frozen
class Source:
    """An operand of a statement: what the map reads, the ops that bring it there, and which tile of it that is."""

    access: Load
    reach: Reach
    buffer: Buffer
    ops: tuple[Op, ...]
    rank: Affine = field(factory=Affine)

    @classmethod
    def of(cls, draft: Draft, statement: Statement, access: Load, spread: Distribution, path: Path) -> Source:
        """Finds an operand: in fragments through shared memory, staging registers, a statement's registers, memory."""
        found = reach(statement, access)
        chain = Chain.of(draft, access.array)
        held = draft.held(access.array)
        if chain.fragments:
            buffer, ops = _through_shared(draft, statement, found, chain, spread, path)
            return cls(access, found, buffer, ops, rank_of(path))
        if chain.shared:
            raise PlanError(
                f"{chain.shared.op} is read by {statement.name}: "
                f"stage({access.array}, into=fragments(...)) brings it back",
                line=chain.shared.line,
            )
        if chain.registers:
            ops = load_registers(
                draft,
                chain.registers,
                found,
                path_at(draft, path, chain.registers.at),
                spread.project(kept_dims(statement, found)),
            )
            return cls(access, found, draft.buffers[chain.registers.op], ops)
        if held is None:
            return cls(access, found, draft.global_buffer(access.array), ())
        if held.distribution != spread.project(kept_dims(statement, found)):
            raise PlanError(
                f"{statement.name} reads {access.array} in another distribution than the one it was left in: "
                f"stage({access.array}) through shared memory into fragments",
                line=statement.line,
            )
        return cls(access, found, held, ())


def _through_shared(
    draft: Draft,
    statement: Statement,
    access: Reach,
    chain: Chain,
    spread: Distribution,
    path: Path,
) -> tuple[Buffer, tuple[Op, ...]]:
    assert chain.fragments is not None
    if chain.shared is None:
        raise PlanError(
            f"{chain.fragments.op} of {statement.name} come from shared memory: "
            f"stage({access.array}, into=shared(...)) is missing",
            line=chain.fragments.line,
        )
    wanted = spread.project(kept_dims(statement, access))
    by = reader(draft, chain.fragments, wanted)
    ring, ops, stores = into_shared(draft, statement, chain, access, path, by)
    origin = (0,) * len(access.dims)
    buffer, fetched = load_fragments(draft, chain.fragments, path, ring, by, (origin,))
    return buffer, (*ops, *stores, *fetched)
