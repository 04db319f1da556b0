"""What of a statement's tile is computed at once: all of it, or the pieces in which the plan finishes it."""

from __future__ import annotations

from attrs import frozen

from polyhedral import Affine, const, var
from ptxgen.compute import SourceLine, Statement
from ptxgen.derive.draft import Draft
from ptxgen.derive.iterations import dim_names, iteration_distribution
from ptxgen.derive.loops import Path, RolledLoop, pieces_of
from ptxgen.derive.pieces import Pieces
from ptxgen.errors import PlanError
from ptxgen.order.ops import Op
from ptxgen.plan import Drain, Finish, tensor
from ptxgen.tile import Buffer, Distribution, Region


@frozen
class Finishing:
    """Who computes what of a statement: of its whole tile, and of what is computed at once, which `path` may cut into
    pieces. Along a dim that no warps share, a piece is a tile of its own; else it has the coordinates of the whole."""

    path: Path
    whole: Distribution
    spread: Distribution

    @classmethod
    def of(cls, draft: Draft, statement: Statement, path: Path) -> Finishing:
        """PlanError where lanes do not share each piece."""
        whole, cut, names = iteration_distribution(draft, statement), pieces_of(path), dim_names(statement)
        if cut is None:
            return cls(path, whole, whole)
        line = _line(draft, statement)
        if draft.space.slice:
            raise PlanError(f"{statement.name} is finished in a slice of a split sum, not in pieces of it", line=line)
        _check_beside(draft, statement, cut, line)
        extents = tuple(draft.space.warp_extent(statement, name) for name in names)
        pieces = Pieces.of(whole.shape, extents, {names.index(cut.dim): cut.size})
        held = pieces.within(whole)
        if held is None:
            raise PlanError(
                f"{statement.name} cannot be finished in pieces of {cut.dim}={cut.size}: they are not spread over all "
                f"threads, which hold {whole}",
                line=line,
            )
        dealt = cut.dim in draft.space.warp_dims(statement)
        return cls(path, whole, held if dealt else pieces.packed(held))

    def of_whole(self, buffer: Buffer, rank: Affine, dims: tuple[str | None, ...]) -> Region:
        """The tile of a buffer that holds whole tiles, from the piece's corner on."""
        return Region(buffer, rank, tuple(self._start(dim) for dim in dims))

    def _start(self, dim: str | None) -> Affine:
        cut = pieces_of(self.path)
        return var(cut.name) * cut.size if cut and cut.dim == dim else const(0)


def _check_beside(draft: Draft, statement: Statement, cut: RolledLoop, line: SourceLine) -> None:
    """One thread counts the boxes that it has stored in the order in which they leave: all results that leave so go
    through one loop over pieces."""
    boxed = {step.array for step in draft.space.plan.steps if isinstance(step, Drain) and step.by == tensor}
    for other in draft.space.compute.statements:
        apart = cut not in draft.paths[other.name]
        if apart and statement.target.array in boxed and other.target.array in boxed:
            raise PlanError(
                f"{statement.name} is finished in the loop {cut.name} and {other.name} is not, but tensor copies store "
                f"both: finish them as neighbours in one loop, or drain one of them by st",
                line=line,
            )


def _line(draft: Draft, statement: Statement) -> SourceLine:
    """The line of the step that finishes a statement."""
    steps = draft.space.plan.steps
    return next((s.line for s in steps if isinstance(s, Finish) and s.statement == statement.name), statement.line)


def not_yet_there(draft: Draft, path: Path, ops: tuple[Op, ...]) -> list[Op]:
    """Those of the ops that bring an operand which no other statement in the same pieces has had brought."""
    if pieces_of(path) is None:
        return list(ops)
    known = [(item.name, item.node) for item in draft.body(path).items if isinstance(item, Op)]
    known += [(item.name, item.node) for item in draft.root.items if isinstance(item, Op)]
    return [found for found in ops if (found.name, found.node) not in known]
