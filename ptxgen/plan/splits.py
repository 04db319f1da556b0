"""What a `split` step may ask: a sum of products over one dim, whose slabs neighbouring blocks can take in turn."""

from __future__ import annotations

from math import prod

from ptxgen.compute import ArrayKind, Compute, ReductionOp, Statement
from ptxgen.plan.checks import Checks
from ptxgen.plan.nest import tile_levels
from ptxgen.plan.splitting import Deal, Join, misdealt
from ptxgen.plan.steps import Cluster, Persist, Place, Split, Stage, Step, Stream
from ptxgen.plan.uses import MOST_BLOCKS_OF_A_CLUSTER
from ptxgen.plan.words import IntoShared, IntoWorkspace, Onto, Swizzle

MOST_PARTS = 64


def splittable(checks: Checks, step: Split) -> None:
    """A sum that may be dealt out, to blocks that may form a cluster. Raises PlanError on the step's line."""
    checks.word("dim", step.dim, str, "the name of a dim")
    checks.word("parts", step.parts, int, "a whole number of blocks")
    checks.word("join", step.join, Join, "ordered")
    wanted = "shared(1), where it may lie over a ring by alias=, or workspace()"
    checks.word("through", step.through, (IntoShared, IntoWorkspace), wanted)
    if any(isinstance(other, Split | Stream) for other in checks.steps):
        raise checks.refused("a sum is split already")
    _check_parts(checks, step)
    check_summed(checks, step.dim, f"split({step.dim})")
    _check_blocks(checks, step)
    if isinstance(step.through, IntoShared):
        _check_through(checks, step, step.through)
    wrong = misdealt(deal_of(checks.compute, checks.steps, step)[1])
    if wrong:
        raise checks.refused(f"{step} is no rearrangement of the sum: {wrong}")


def deal_of(compute: Compute, steps: tuple[Step, ...], step: Split) -> tuple[Statement, Deal]:
    """The statement whose sum a step splits, and how its terms are dealt."""
    statement = next(s for s in compute.statements if step.dim in s.reduced)
    slab = next(tile.sizes[step.dim] for tile in tile_levels(steps) if step.dim in tile.sizes)
    return statement, Deal(step.dim, statement.dim(step.dim).extent, slab, step.parts, slab)


def _check_parts(checks: Checks, step: Split) -> None:
    if not step.together:
        if not 2 <= step.parts <= MOST_PARTS:
            raise checks.refused(f"split({step.dim}): parts are 2 to {MOST_PARTS}, got {step.parts}")
        return
    beside = prod(prod(other.sizes.values()) for other in checks.steps if isinstance(other, Cluster))
    if step.parts < 2 or step.parts & (step.parts - 1) or step.parts * beside > MOST_BLOCKS_OF_A_CLUSTER:
        others = f", {beside} of which take other tiles" if beside > 1 else ""
        raise checks.refused(
            f"split({step.dim}): parts are 2, 4 or 8, the blocks of a cluster{others}, got {step.parts}: a cluster has "
            f"at most {MOST_BLOCKS_OF_A_CLUSTER}"
        )


def check_summed(checks: Checks, dim: str, what: str) -> None:
    """PlanError unless a level tiles the dim, and one statement alone has it: a sum over it into a local array."""
    having = [s for s in checks.compute.statements if any(own.name == dim for own in s.dims)]
    if len(having) != 1 or having[0].reduction is None or having[0].reduced != (dim,):
        found = "; ".join(map(str, having)) or "no statement has it"
        raise checks.refused(f"{what}: one statement sums over {dim} alone, and no other has it: {found}")
    (statement,) = having
    assert statement.reduction is not None
    if statement.reduction.op is not ReductionOp.ADD:
        raise checks.refused(f"{what}: partial sums are added, {statement.name} is no sum: {statement}")
    if checks.compute.array(statement.target.array).kind is not ArrayKind.LOCAL:
        raise checks.refused(f"{what}: {statement.name} is no local array; let statements store what it gives")
    if not any(dim in tile.sizes for tile in tile_levels(checks.steps)):
        raise checks.refused(f"{what}: no level tiles {dim}, whose tiles are dealt to the parts")


def _check_blocks(checks: Checks, step: Split) -> None:
    if any(isinstance(other, Persist) for other in checks.steps):
        raise checks.refused(
            f"split({step.dim}): blocks that stay and walk the tiles do not share a sum so far: place the level onto "
            f"blocks"
        )
    if not any(isinstance(other, Place) and other.onto is Onto.BLOCKS for other in checks.steps):
        raise checks.refused(f"split({step.dim}): place a level onto blocks first")


def _check_through(checks: Checks, step: Split, ring: IntoShared) -> None:
    staged = _staged(checks)
    if ring.depth != 1 or isinstance(ring.layout, Swizzle):
        raise checks.refused(
            f"split({step.dim}): partial sums lie in one tile without conflicts, shared(1), not {ring}"
        )
    if ring.alias is not None and ring.alias not in staged:
        raise checks.refused(
            f"no ring {ring.alias!r} to lie over; staged in shared memory are {', '.join(staged) or 'none'}"
        )


def _staged(checks: Checks) -> list[str]:
    return [s.op for s in checks.steps if isinstance(s, Stage) and isinstance(s.into, IntoShared)]
