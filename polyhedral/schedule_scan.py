"""From a schedule tree, or a map as a schedule, to statements and to a loop tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from attrs import evolve, frozen

from polyhedral.affine import const, var
from polyhedral.scan import scan
from polyhedral.schedule_tree import (
    Band,
    Context,
    Domain,
    Expansion,
    Extension,
    Filter,
    Leaf,
    Mark,
    OptionRange,
    ScheduleNode,
    Sequence,
    Unordered,
)
from polyhedral.sets import Set
from polyhedral.spaces import Space, UnionMap
from polyhedral.statement import Option, Statement
from polyhedral.system import UNIVERSE, System
from polyhedral.tree import Node


@frozen
class _Branch:
    """The instances of one space that reach a node: `points` over the members so far and then their own dimensions."""

    space: Space
    points: Set
    order: tuple[str | int, ...] = ()
    options: tuple[Option, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """The members of the bands around, by the names that they have in `points`."""
        return tuple(o for o in self.order if isinstance(o, str))

    @property
    def own(self) -> tuple[str, ...]:
        """The dimensions of the space."""
        return self.points.dims[len(self.members) :]

    def within(self, dims: tuple[str, ...], other: Set) -> _Branch:
        """The branch with only the points whose `dims` are in `other`."""
        return evolve(self, points=meet(self.points, dims, other))


@frozen
class _Around:
    """What is around a node: the order so far, and the branches that came through the last band, None where none is.

    `known` are the contexts, each over the members of the bands around it.
    """

    order: tuple[str | int, ...] = ()
    reached: tuple[_Branch, ...] | None = None
    known: tuple[Set, ...] = ()

    def times(self) -> Set:
        """The times at which the bands around run something."""
        members = tuple(o for o in self.order if isinstance(o, str))
        if self.reached is None:
            return Set(members, (UNIVERSE,))
        return Set(members, tuple(p for b in self.reached for p in b.points.project_onto(*members).pieces)).coalesced()


NOTHING_AROUND = _Around()


def meet(points: Set, dims: tuple[str, ...], other: Set) -> Set:
    """The points whose dimensions `dims`, in this order, are in `other`."""
    moved = _into(other, dims)
    return Set(points.dims, tuple(p & q for p in points.pieces for q in moved)).normalised()


def _into(other: Set, dims: tuple[str, ...]) -> tuple[System, ...]:
    if len(other.dims) != len(dims):
        due = f"{len(dims)} are due, those of the bands around and of the instances"
        raise ValueError(f"{other} has {len(other.dims)} dimensions, where {due}")
    return other.pieces if other.dims == dims else other.rename(dict(zip(other.dims, dims, strict=True))).pieces


def scan_schedule(tree: Domain, names: Callable[[int], str] = "c{}".format) -> Node:
    """The loop tree that runs the instances of a schedule tree in its order, with the options of its bands.

    Loops are called by `names` from their number. What a context says of the parameters is taken to be known.
    ValueError where a loop has no bound, or one that is to be unrolled has no constant number of iterations.
    """
    statements = statements_of_schedule(tree)
    width = max((len(s.schedule) for s in statements), default=0)
    params = {n for s in statements for n in (*s.domain.params, *s.domain.dims)}
    chosen: list[str] = []
    for level in range(width):
        name = names(level)
        while name in params or name in chosen:
            name += "_"
        chosen.append(name)
    return scan(statements, known_of_parameters(tree).hull(), names=chosen, ties=False)


def known_of_parameters(node: ScheduleNode) -> Set:
    """What the contexts above all bands say of the parameters."""
    match node:
        case Context(context, child) if not context.dims:
            return context & known_of_parameters(child)
        case Domain(_, child) | Mark(_, child) | Context(_, child):
            return known_of_parameters(child)
        case _:
            return Set((), (UNIVERSE,))


def statements_of_schedule(tree: Domain) -> list[Statement]:
    """The statements of a tree; each has the members of its bands as hidden dimensions, and the name of its space."""
    taken = set(tree.domain.params) | _params(tree.child)
    branches = [_Branch(space, _apart(points, taken)) for space, points in tree.domain.parts]
    found = _leaves(tree.child, branches)
    return [
        Statement(
            b.space.name,
            b.points,
            tuple(var(o) if isinstance(o, str) else const(o) for o in b.order),
            hidden=b.members,
            options=b.options,
        )
        for b in found
        if not b.points.is_empty()
    ]


def _apart(points: Set, taken: set[str]) -> Set:
    return points.rename({d: _free(d, taken) for d in points.dims})


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _params(node: ScheduleNode) -> set[str]:
    match node:
        case Leaf():
            return set()
        case Sequence(children) | Unordered(children):
            return {p for c in children for p in _params(c)}
        case Mark(_, child):
            return _params(child)
        case Band(members, isolate=isolate):
            found = {p for m in members for p in m.params}
            return found | set(isolate.params if isolate is not None else ()) | _params(node.child)
        case Domain(own) | Context(own) | Filter(own) | Extension(own) | Expansion(own):
            return set(own.params) | _params(node.child)
        case _:
            assert_never(node)


def _leaves(node: ScheduleNode, branches: list[_Branch], around: _Around = NOTHING_AROUND) -> list[_Branch]:
    branches = [b for b in branches if b.points.pieces]
    match node:
        case Leaf():
            return branches
        case Domain(_, child) | Mark(_, child):
            return _leaves(child, branches, around)
        case Context(context, child):
            several = len(context.pieces) > 1 and not context.dims
            met = [b.within((), context.disjoint()) for b in branches] if several else branches
            return _leaves(child, met, evolve(around, known=(*around.known, context)))
        case Filter(only, child):
            return _leaves(child, [b.within(b.own, only.get(b.space)) for b in branches], around)
        case Sequence(children) | Unordered(children):
            placed = [
                (number, [evolve(b, order=(*b.order, number), options=(*b.options, Option.DEFAULT)) for b in branches])
                for number in range(len(children))
            ]
            return [
                b
                for number, own in placed
                for b in _leaves(children[number], own, evolve(around, order=(*around.order, number)))
            ]
        case Extension(extension, child):
            return _leaves(child, [*branches, *_extended(extension, branches, around)], around)
        case Expansion(expansion, child):
            return _leaves(child, [e for b in branches for e in _expanded(expansion, b)], around)
        case Band():
            start = len([o for o in around.order if isinstance(o, str)])
            order = (*around.order, *(f"t.{start + number}" for number in range(len(node.members))))
            found = [p for b in branches for p in _timed(node, b, around.known)]
            return _leaves(node.child, found, _Around(order, tuple(found), around.known))
        case _:
            assert_never(node)


def _extended(extension: UnionMap, branches: list[_Branch], around: _Around) -> Iterable[_Branch]:
    """New instances at those times, all members of the bands around, at which these run something."""
    order, times = around.order, around.times()
    options = branches[0].options if branches else (Option.DEFAULT,) * len(order)
    for _, space, relation in extension.parts:
        own = tuple(_free(d, {*times.dims, *times.params, *relation.params}) for d in relation.out_dims)
        dims = (*times.dims, *own)
        points = Set(dims, _into(relation.as_set(), dims))
        if not points.project_out(*own).is_subset(times):
            points = meet(points, times.dims, times)
        yield _Branch(space, points.normalised(), order, options)


def _expanded(expansion: UnionMap, branch: _Branch) -> Iterable[_Branch]:
    for source, space, relation in expansion.parts:
        if source == branch.space:
            own = tuple(_free(d, {*branch.points.dims, *branch.points.params}) for d in relation.out_dims)
            dims = (*branch.points.dims, *own)
            pairs = _into(relation.as_set(), (*branch.own, *own))
            joined = Set(dims, tuple(p & q for p in branch.points.pieces for q in pairs)).normalised()
            yield evolve(branch, space=space, points=joined.project_out(*branch.own))


def _timed(band: Band, branch: _Branch, known: tuple[Set, ...]) -> list[_Branch]:
    start = len(branch.members)
    points, order = branch.points, branch.order
    for number, member in enumerate(band.members):
        name = f"t.{start + number}"
        pieces: list[System] = []
        for space, _, relation in member.parts:
            if space == branch.space:
                pieces += _into(relation.as_set(), (*branch.own, name))
        if not pieces:
            instances = branch.space.text(branch.own)
            raise ValueError(f"a band gives {instances} no time: each member is due for it, but one is {member}")
        _check_whole(member, branch, known)
        dims = (*points.dims[: start + number], name, *branch.own)
        points = Set(dims, tuple(p & q for p in points.pieces for q in pieces)).normalised()
        order = (*order, name)
    timed = evolve(branch, points=points, order=order, options=(*branch.options, *[Option.DEFAULT] * len(band.members)))
    return _with_options(band, timed, len(branch.options))


def _check_whole(member: UnionMap, branch: _Branch, known: tuple[Set, ...]) -> None:
    """ValueError where a member gives a time to some instances of the space only."""
    own = tuple(p for space, _, m in member.parts if space == branch.space for p in _into(m.domain(), branch.own))
    if any(p.is_universe for p in own):
        return
    dims = branch.points.dims
    left = branch.points - Set(dims, own)
    for context in known:
        left = meet(left, dims[: len(context.dims)], context)
    lost = left.sample()
    if lost is not None:
        instance = branch.space.text(str(lost[d]) for d in branch.own)
        at = "".join(f" at {p} = {lost[p]}" for p in left.params)
        due = f"each member is due for all of {branch.space.text(branch.own)}"
        raise ValueError(f"a band gives {instance}{at} no time: {due}, but one is {member}")


def _with_options(band: Band, branch: _Branch, first: int) -> list[_Branch]:
    if band.isolate is None:
        return _chosen([o for o in band.options if not o.isolated], [branch], first)
    inside = branch.within(branch.members, band.isolate)
    outside = evolve(branch, points=branch.points - inside.points)
    own = _chosen([o for o in band.options if o.isolated], [inside], first)
    return own + _chosen([o for o in band.options if not o.isolated], [outside], first)


def _chosen(options: list[OptionRange], branches: list[_Branch], first: int) -> list[_Branch]:
    for choice in options:
        place = first + choice.member
        found: list[_Branch] = []
        for branch in branches:
            if place >= len(branch.options):
                found.append(branch)
                continue
            inside = branch if choice.times is None else branch.within(branch.members, choice.times)
            if branch.options[place] is Option.DEFAULT:
                options_ = list(branch.options)
                options_[place] = choice.option
                found.append(evolve(inside, options=tuple(options_)))
            else:
                found.append(inside)
            if choice.times is not None:
                found.append(evolve(branch, points=branch.points - inside.points))
        branches = [b for b in found if b.points.pieces]
    return branches


def scan_map(
    times: UnionMap,
    context: Set | None = None,
    options: UnionMap | None = None,
    names: Callable[[int], str] = "c{}".format,
) -> Node:
    """The loop tree that runs each instance of the domain of `times` at all its images, in their order.

    `options` maps times to `atomic[k]`, `separate[k]`, `unroll[k]` for the member k, or to
    `separation_class[[k] -> [n]]`, a part of the times that is kept apart. Shorter times are padded with 0.
    """
    known = context or Set((), (UNIVERSE,))
    several = known.disjoint() if len(known.pieces) > 1 else None
    statements = []
    for branch in _branches_of_map(times, several):
        for chosen in _with_map_options(branch, options or UnionMap()):
            schedule = tuple(var(o) if isinstance(o, str) else const(o) for o in chosen.order)
            payload = chosen.space.name
            statements.append(Statement(payload, chosen.points, schedule, "", chosen.members, chosen.options))
    width = max((len(s.schedule) for s in statements), default=0)
    return scan(statements, known.hull(), names=[f"{names(k)}" for k in range(width)], ties=False)


def _branches_of_map(times: UnionMap, several: Set | None) -> list[_Branch]:
    width = max((len(m.out_dims) for _, _, m in times.parts), default=0)
    found = []
    taken = set(times.params)
    for space, _, relation in times.parts:
        own = tuple(_free(d, taken) for d in relation.in_dims)
        members = tuple(f"t.{k}" for k in range(width))
        pieces = _into(relation.as_set(), (*own, *members[: len(relation.out_dims)]))
        padding = System.of(*(var(m).equals(0) for m in members[len(relation.out_dims) :]))
        points = Set((*members, *own), tuple(p & padding for p in pieces)).normalised()
        branch = _Branch(space, points, members, (Option.DEFAULT,) * width)
        found.append(branch if several is None else branch.within((), several))
    return [b for b in found if b.points.pieces]


def _with_map_options(branch: _Branch, options: UnionMap) -> list[_Branch]:
    width = len(branch.members)
    ranges: list[OptionRange] = []
    branches = [branch]
    for _, space, relation in options.parts:
        if len(relation.in_dims) != width:
            continue
        member = relation.out_dims[0]
        for number in range(width):
            times = relation.as_set().substitute({member: number})
            times = times if not relation.out_dims[1:] else times.project_out(*relation.out_dims[1:])
            if times.is_empty():
                continue
            if space.name == "separation_class":
                branches = [p for b in branches for p in _parted(b, times)]
            elif space.name in {o.value for o in Option}:
                ranges.append(OptionRange(Option(space.name), number, times=times))
            else:
                raise ValueError(f"a schedule map has no option {space.name!r}")
    return _chosen(ranges, branches, 0)


def _parted(branch: _Branch, times: Set) -> list[_Branch]:
    inside = branch.within(branch.members, times)
    parts = [inside, evolve(branch, points=branch.points - inside.points)]
    return [p for p in parts if p.points.pieces]
