"""A sum split into parts that are summed apart and joined in ascending order: how terms are dealt, and the proof that
each is summed once."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from polyhedral import Affine, FloorDiv, Set, var
from ptxgen.compute import Statement, show


class Join(Enum):
    """How partial sums are joined. ORDERED: one after the other in ascending order of the part, the same in every
    run."""

    ORDERED = "ordered"


ordered = Join.ORDERED


@frozen
class Deal:
    """Terms 0 <= k < extent dealt to `parts` in slabs: part p has the slabs p, p + parts, p + 2 parts, ..., so that
    parts differ by one slab at most. Slab number s has `length` terms from s * `slab` on."""

    dim: str
    extent: Affine
    slab: int
    parts: int
    length: int

    @property
    def dealt(self) -> Set:
        """All triples of a part, the number of a slab in it and a term of that slab."""
        k, part, number = var(self.dim), var("part"), var("number")
        start = (number * self.parts + part) * self.slab
        return Set.of(
            ("part", "number", self.dim), part >= 0, part < self.parts, number >= 0, k >= start,
            k < start + self.length, k >= 0, k < self.extent,
        )  # fmt: skip


def misdealt(deal: Deal) -> str:
    """What is wrong with parts that are summed apart instead of all terms in one sum; "" where each term is in one slab
    of one part, and the terms of a part ascend with its slabs. Decided exactly, for every extent."""
    k, dealt = deal.dim, deal.dealt
    terms = Set.of((k,), var(k) >= 0, var(k) < deal.extent)
    missing = (terms - dealt.project_onto(k)).sample()
    if missing is not None:
        return f"term {k} = {missing[k]} is in no part"
    names = ("part", "number", k, "other", "later", "term")
    again = dealt.rename({"part": "other", "number": "later", k: "term"})
    both = Set(names, dealt.pieces) & Set(names, again.pieces)
    for first, second in ((var("part"), var("other")), (var("number"), var("later"))):
        twice = both.intersect(var(k).equals(var("term")), first < second).sample()
        if twice is not None:
            return f"term {k} = {twice[k]} is in part {twice['part']} and in part {twice['other']}"
    back = both.intersect(
        var("part").equals(var("other")), var("number") < var("later"), var("term") <= var(k)
    ).sample()
    return "" if back is None else f"part {back['part']} has the term {back[k]} before the term {back['term']}"


def split_into(deal: Deal, statement: Statement) -> tuple[str, str]:
    """The statements that a sum becomes, as they are printed: the partial sums, and their sum."""
    slab = FloorDiv(var(deal.dim), deal.slab)
    kept = ", ".join(map(str, statement.target.indices))
    part = f"{statement.name}.partial[p, {kept}]"
    return (
        f"{part} = sum[{deal.dim}: {slab} mod {deal.parts} = p] {show(statement.value)}",
        f"{show(statement.target)} = sum[p] {part}    in f32, p ascending",
    )
