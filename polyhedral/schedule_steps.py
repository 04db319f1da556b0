"""Steps on the nodes of a schedule tree: each gives a new node and keeps what it does not speak of."""

from __future__ import annotations

from collections.abc import Sequence as Many

from attrs import evolve

from polyhedral.affine import var
from polyhedral.isl_parser import parse_map
from polyhedral.maps import Map
from polyhedral.schedule_tree import Band, Filter, Leaf, ScheduleNode, Sequence
from polyhedral.sets import Set
from polyhedral.spaces import UnionMap, UnionSet
from polyhedral.system import System


def tiled(band: Band, sizes: Many[int]) -> Band:
    """band(m) -> band(floor(m / size)) over band(m): tiles outside, points inside; a size for each member.

    Legal where the band is permutable. The tile band keeps the flags; options and the isolated part stay inside.
    """
    if len(sizes) != len(band.members) or any(s < 1 for s in sizes):
        raise ValueError(f"a band of {len(band.members)} members is tiled by as many positive sizes, not by {sizes}")
    outer = tuple(m.then(parse_map(f"{{ [x] -> [floor(x/{s})] }}")) for m, s in zip(band.members, sizes, strict=True))
    inner = evolve(band, isolate=None, options=()) if band.isolate is not None else band
    return Band(outer, band.permutable, band.coincident, child=inner)


def interchanged(band: Band, order: Many[int]) -> Band:
    """band(m0, m1, ...) -> band(m[order[0]], m[order[1]], ...). Legal where the band is permutable."""
    if sorted(order) != list(range(len(band.members))):
        raise ValueError(f"{order} is no order of the {len(band.members)} members of a band")
    flags = tuple(band.coincident[k] for k in order) if band.coincident else ()
    options = tuple(evolve(o, member=list(order).index(o.member)) for o in band.options if o.member in order)
    return evolve(band, members=tuple(band.members[k] for k in order), coincident=flags, options=options)


def skewed(band: Band, member: int, by: int, factor: int) -> Band:
    """band(..., m, ...) -> band(..., m + factor * other, ...), where `by` numbers the other, which is before it."""
    if not 0 <= by < member < len(band.members):
        raise ValueError(f"member {member} is skewed by one before it, not by {by}, in a band of {len(band.members)}")
    parts = []
    for space, target, one in band.members[member].parts:
        for other_space, _, other in band.members[by].parts:
            if space == other_space:
                parts.append((space, target, _sum(one, other, factor)))
    members = list(band.members)
    members[member] = UnionMap(tuple(parts))
    return evolve(band, members=tuple(members))


def _sum(one: Map, other: Map, factor: int) -> Map:
    (a, b), total = ("%a", "%b"), "%s"
    first = one.as_set().rename({one.out_dims[0]: a})
    second = other.as_set().rename(dict(zip((*other.in_dims, other.out_dims[0]), (*one.in_dims, b), strict=True)))
    says = System.of(var(total).equals(var(a) + var(b) * factor))
    dims = (*one.in_dims, a, b, total)
    joined = Set(dims, tuple(p & q & says for p in first.pieces for q in second.pieces)).normalised()
    return Map(one.in_dims, (total,), joined.project_out(a, b).pieces)


def fissioned(band: Band) -> Sequence:
    """band(sequence(f0: c0, f1: c1, ...)) -> sequence(f0: band(c0), f1: band(c1), ...)."""
    if not isinstance(band.child, Sequence):
        raise ValueError(f"a band comes apart over a sequence, not over {type(band.child).__name__}")
    return Sequence(tuple(Filter(f.filter, evolve(band, child=f.child)) for f in band.child.children))


def fused(sequence: Sequence) -> Band:
    """sequence(f0: band(c0), f1: band(c1), ...) -> band(sequence(f0: c0, f1: c1, ...)), for bands of one width."""
    bands = [f.child for f in sequence.children if isinstance(f.child, Band)]
    if len(bands) != len(sequence.children) or len({len(b.members) for b in bands}) != 1:
        raise ValueError("the children of a sequence that is fused are bands with as many members each")
    members: list[UnionMap] = []
    for column in zip(*(b.members for b in bands), strict=True):
        own = [m.intersect_domain(f.filter) for m, f in zip(column, sequence.children, strict=True)]
        members.append(UnionMap(tuple(p for m in own for p in m.parts)))
    children = tuple(Filter(f.filter, b.child) for f, b in zip(sequence.children, bands, strict=True))
    return Band(tuple(members), child=Sequence(children))


def split_index_set(domain: UnionSet, part: UnionSet, node: ScheduleNode | None = None) -> Sequence:
    """node -> sequence(part: node, rest: node), for the instances `domain` that reach the node."""
    below = node or Leaf()
    return Sequence((Filter(domain & part, below), Filter(domain - part, below)))
