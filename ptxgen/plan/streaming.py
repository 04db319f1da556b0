"""A sum whose slabs blocks that stay share evenly: what a `stream` step may ask, how the terms are cut, and the proof
that each is summed once."""

from __future__ import annotations

from attrs import frozen

from polyhedral import Affine, Set, var
from ptxgen.compute import Statement, show
from ptxgen.plan.checks import Checks
from ptxgen.plan.nest import tile_levels
from ptxgen.plan.splits import check_summed
from ptxgen.plan.splitting import Join
from ptxgen.plan.steps import Persist, Split, Step, Stream, Turns

CUT, NEXT, SLAB, TERM = "cut", "next", "slab", "other"


def streamable(checks: Checks, step: Stream) -> None:
    """A sum whose slabs can be dealt out, to blocks that stay. Raises PlanError on the step's line."""
    checks.word("dim", step.dim, str, "the name of a dim")
    checks.word("join", step.join, Join, "ordered")
    if any(isinstance(other, Split | Stream) for other in checks.steps):
        raise checks.refused("a sum is split already")
    check_summed(checks, step.dim, f"stream({step.dim})")
    if not any(isinstance(other, Persist) for other in checks.steps):
        raise checks.refused(
            f"stream({step.dim}): blocks that stay share the slabs of all tiles: persist a level first"
        )
    turns = next((other for other in checks.steps if isinstance(other, Turns)), None)
    if turns is not None:
        dealt = "deals whole items to units, of which none has" if turns.split_items else "has units share all, not"
        raise checks.refused(f"stream({step.dim}): {turns} {dealt} a part of a sum")
    wrong = miscut(cut_of(checks.steps, checks.compute.statements, step)[1])
    if wrong:
        raise checks.refused(f"{step} is no rearrangement of the sum: {wrong}")


@frozen
class Cutting:
    """Terms 0 <= k < extent in slabs of `slab`, cut before some of them: the part from one cut on has the slabs up to
    the next cut, of each the `length` terms from its start on."""

    dim: str
    extent: Affine
    slab: int
    length: int

    @property
    def dealt(self) -> Set:
        """All terms with the slab that has them and the two cuts around it."""
        k, cut, after, slab = (var(name) for name in (self.dim, CUT, NEXT, SLAB))
        start = slab * self.slab
        return Set.of(
            (CUT, NEXT, SLAB, self.dim), cut >= 0, cut <= slab, slab < after, k >= start, k < start + self.length,
            k < self.extent,
        )  # fmt: skip


def cut_of(steps: tuple[Step, ...], statements: tuple[Statement, ...], step: Stream) -> tuple[Statement, Cutting]:
    """The statement whose sum a step streams, and how its terms are cut."""
    statement = next(s for s in statements if step.dim in s.reduced)
    slab = next(tile.sizes[step.dim] for tile in tile_levels(steps) if step.dim in tile.sizes)
    return statement, Cutting(step.dim, statement.dim(step.dim).extent, slab, slab)


def miscut(cutting: Cutting) -> str:
    """What is wrong with parts that are summed apart instead of all terms in one sum; "" where each term is in one
    slab, and so, wherever the cuts are, in the one part between the cuts around that slab, and terms ascend with slabs
    and parts. Decided exactly, for every extent and every place of the cuts."""
    k, dealt = cutting.dim, cutting.dealt.project_onto(SLAB, cutting.dim)
    terms = Set.of((k,), var(k) >= 0, var(k) < cutting.extent)
    missing = (terms - dealt.project_onto(k)).sample()
    if missing is not None:
        return f"term {k} = {missing[k]} is in no slab"
    names = (SLAB, k, NEXT, TERM)
    both = Set(names, dealt.pieces) & Set(names, dealt.rename({SLAB: NEXT, k: TERM}).pieces)
    back = both.intersect(var(SLAB) < var(NEXT), var(TERM) <= var(k)).sample()
    if back is None:
        return ""
    again = "again" if back[TERM] == back[k] else f"before the term {back[k]}"
    return f"slab {back[NEXT]} has the term {back[TERM]} {again} behind slab {back[SLAB]}"


def streamed_into(cutting: Cutting, statement: Statement) -> tuple[str, str]:
    """The statements that a sum becomes, as they are printed: the partial sums, and their sum."""
    kept = ", ".join(map(str, statement.target.indices))
    part = f"{statement.name}.partial[p, {kept}]"
    between = f"{cutting.slab}*cut[p] <= {cutting.dim} < {cutting.slab}*cut[p + 1]"
    return (
        f"{part} = sum[{cutting.dim}: {between}] {show(statement.value)}",
        f"{show(statement.target)} = sum[p] {part}    in f32, p ascending, cuts where the slabs of a block end",
    )
