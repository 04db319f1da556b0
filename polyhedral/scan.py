"""From statements with schedules to a loop tree: Quillere, Rajopadhye and Wilde's scan, level by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import evolve, frozen

from polyhedral.affine import Affine, var
from polyhedral.bounds import Copies, Range, Unbounded, shape_of, unrolled
from polyhedral.candidates import candidates_of, common_stride, stride_at
from polyhedral.guards import beside, nested, when
from polyhedral.joining import joined
from polyhedral.nests import looped, nest_of
from polyhedral.places import Place
from polyhedral.precedence import in_turn
from polyhedral.separation import Candidate, Region, merged, ordered, pinned, separated
from polyhedral.shadows import Item, items_of, shared_until, without_shared_quotients
from polyhedral.statement import Option, Statement
from polyhedral.steps import in_common_steps
from polyhedral.strides import Stride
from polyhedral.surroundings import Surroundings
from polyhedral.system import UNIVERSE, System
from polyhedral.tree import Block, Leaf, Let, Node, block, let

Inside = Callable[["list[Item]", Place], Node]


def scan(
    statements: Sequence[Statement],
    context: System = UNIVERSE,
    separate: bool | Iterable[int | str] | None = None,
    unroll: Iterable[int | str] = (),
    names: Sequence[str] | None = None,
    ties: bool = True,
) -> Node:
    """The loop tree that runs every instance once, in the order of the schedules.

    `context` is what is known of the parameters. Levels are cut into regions in which the same statements
    run, and neighbours joined again where that costs little. Where `separate` is True they are joined only
    where it takes no test; where it names levels (by number or name) or is False, the others become one loop
    with conditions inside wherever their statements overlap. Levels in `unroll` are written out;
    ValueError where one has no constant number of iterations. Loops are named by `names`, or by the
    dimension that their level is, or `t0`, `t1`, ... Instances of one time run in the order of the statements,
    or in any where `ties` is False.
    """
    width = max((len(s.schedule) for s in statements), default=0)
    padded = [(*s.schedule, *([Affine()] * (width - len(s.schedule)))) for s in statements]
    params = {n for s in statements for n in s.domain.params} | set(context.names)
    params |= {
        n for s, p in zip(statements, padded, strict=False) for e in p for n in e.names if n not in s.domain.dims
    }
    levels = _level_names(statements, padded, params, names)
    items = [
        item
        for statement, schedule in zip(statements, padded, strict=False)
        for item in items_of(statement, context, schedule, levels, params)
    ]
    chosen = separate if separate is None or isinstance(separate, bool) else _by_name(separate, levels)
    place = Place(Surroundings.of(context), {})
    return _Scan(width, chosen, _by_name(unroll, levels), ties).node(0, items, place) if items else Block()


def _by_name(chosen: Iterable[int | str], levels: Sequence[str]) -> frozenset[str]:
    return frozenset(levels[c] if isinstance(c, int) and c < len(levels) else str(c) for c in chosen)


def _level_names(
    statements: Sequence[Statement],
    schedules: Sequence[tuple[Affine, ...]],
    params: set[str],
    names: Sequence[str] | None,
) -> tuple[str, ...]:
    width = len(schedules[0]) if schedules else 0
    if names is not None:
        if len(names) != width or len(set(names)) != width or params.intersection(names):
            raise ValueError(f"wanted {width} different loop names that are no parameters, got {tuple(names)}")
        return tuple(names)
    found: list[str] = []
    for level in range(width):
        entries = {s[level] for s in schedules if not s[level].is_constant}
        own = {e.names[0] for e in entries if len(e.names) == 1 and e == var(e.names[0])}
        name = own.pop() if len(own) == 1 and len(entries) == 1 else f"t{level}"
        while name in params or name in found:
            name += "_"
        found.append(name)
    return tuple(found)


@frozen
class _Scan:
    """The recursion over levels."""

    width: int
    separate: bool | frozenset[str] | None
    unroll: frozenset[str]
    ties: bool

    def node(self, level: int, items: list[Item], place: Place) -> Node:
        """The tree of these items from `level` on, behind the conditions that they share."""
        if place.alone is items[0] and len(items) == 1:
            if not place.open_still.is_universe:
                return self._inside(level, items, place)
            nest = nest_of(items[0], level, place, self._unrolls)
            return nest.around(self._inside(nest.level, items, nest.place))
        return _behind_shared(level, items, place, lambda left, inside: self._inside(level, left, inside))

    def _inside(self, level: int, items: list[Item], place: Place) -> Node:
        if level >= self.width:
            return block(beside([self._own_levels(level, item, place) for item in items], place.known))
        times = {item.fixed[level] for item in items}
        if None not in times:
            groups = [
                [i for i in items if i.fixed[level] == time] for time in sorted(t for t in times if t is not None)
            ]
            return block([self.node(level + 1, group, place) for group in groups])
        if len(items) == 1:
            return self._regions(level, items, place)
        parts = in_turn(items, level, self.width, place.near(*(i.shadows[level] for i in items)), self.ties)
        if len(parts) == 1:
            return self._regions(level, items, place)
        return block([self.node(level, part, place) for part in parts])

    def _own_levels(self, level: int, item: Item, place: Place) -> Node:
        if level < len(item.levels):
            return self._regions(level, [item], place)
        return _leaf(item, place)

    def _regions(self, level: int, items: list[Item], place: Place) -> Node:
        name = items[0].levels[level]
        if level < self.width:
            strides = [stride_at(item, level, name, place) for item in items]
            scaled = in_common_steps(level, self.width, items, strides)
            if scaled is not None:
                return evolve(self, width=self.width + 1)._loops(level, name, scaled, place)
        return self._loops(level, name, items, place)

    def _loops(self, level: int, name: str, items: list[Item], place: Place) -> Node:
        nodes = []
        for region in self._cut(level, name, candidates_of(level, name, items, place), items, place):
            members = [items[m] for m in region.members]

            def body(left: list[Item], inside: Place, region: Region = region) -> Node:
                return self._loop(level, name, region, left, inside)

            if len(items) == 1:
                nodes.append(body(members, place))
            else:
                nodes.append(_behind_shared(level, members, place, body))
        return block(nodes)

    def _cut(
        self, level: int, name: str, candidates: list[Candidate], items: list[Item], place: Place
    ) -> Sequence[Region]:
        """The regions of the level in order."""
        if len(candidates) < 2:
            return [Region(c.rows, (c.outer,), c.members) for c in candidates]
        known = place.known.near(*(s for c in candidates for s in (c.rows, c.outer)))
        if not self._separates(level, name, items):
            regions = merged(candidates, name, known)
        else:
            regions = separated(candidates, known)
        if len(regions) < 2:
            return regions
        by_cost = self.separate is None and not any(i.option(level) is Option.SEPARATE for i in items)
        regions = joined(ordered(regions, name, known), items, level, place, by_cost)
        return [pinned(r, name, known) for r in regions] if len(regions) > 1 else regions

    def _separates(self, level: int, name: str, items: list[Item]) -> bool:
        told = {item.option(level) for item in items}
        if Option.ATOMIC in told:
            return False
        if Option.SEPARATE in told or self.separate is None:
            return True
        return self.separate if isinstance(self.separate, bool) else name in self.separate

    def _unrolls(self, level: int, name: str, items: Sequence[Item]) -> bool:
        told = {item.option(level) for item in items}
        return told == {Option.UNROLL} or name in self.unroll

    def _loop(self, level: int, name: str, region: Region, items: list[Item], place: Place) -> Node:
        rows, outer = region.rows.split_on(name)
        guard = place.known.gist_of(outer)
        stride = common_stride(items, level, name, place)
        held = [_held(item, level, name, rows) for item in items]
        site = _Site(level, name, rows, held, _with_alone(place.where(guard), held, region))
        if stride.part is None:
            return self._shaped(site, stride, place, guard)
        guard = guard & site.place.known.gist_of(stride.part.condition)
        inside = site.at(site.place.where(stride.part.known))
        return when(guard, let(stride.part.name, stride.part.quotient, self._shaped(inside, stride, site.place)))

    def _shaped(self, site: _Site, stride: Stride, before: Place, guard: System = UNIVERSE) -> Node:
        said = System.of(stride.condition(site.name)) if stride.step > 1 else UNIVERSE
        near = site.place.known.near(site.rows, said)
        if self._unrolls(site.level, site.name, site.items):
            return when(guard, self._written_out(site, unrolled(site.rows, site.name, stride, near)))
        try:
            shape = shape_of(site.rows, site.name, stride, near)
        except Unbounded as side:
            raise ValueError(
                f"loop {site.name} of {' and '.join(str(i.payload) for i in site.items)} has no {side} bound: "
                "a scan needs domains bounded in every direction"
            ) from None
        if isinstance(shape, Copies):
            return self._single(site, shape, before, guard)
        if not guard.is_universe and not shape.divides:
            guard = (before.known & site.rows).gist_of(guard)
        return when(guard, self._ranged(site, shape, stride))

    def _ranged(self, site: _Site, shape: Range, stride: Stride) -> Node:
        inside = site.place.where(site.rows)
        if stride.step > 1:
            inside = inside.where(System.of(stride.condition(site.name)))
        return looped(site.name, shape, self.node(site.level + 1, site.items, inside))

    def _written_out(self, site: _Site, copies: Copies) -> Node:
        site = site.at(site.place.where(copies.definition))
        guards = [(value, guard) for value in copies.values if not (guard := site.guard_at(value)).is_false]
        body = nested([(guard, self._inner(site, value, guard)) for value, guard in guards], site.place.known)
        return body if copies.named is None else let(*copies.named, body)

    def _single(self, site: _Site, copies: Copies, before: Place, guard: System) -> Node:
        """The one value of a level; conditions around it wait for its own where both together are fewer."""
        value = copies.first
        around, inside = site.at(before.where(copies.definition)), site.at(site.place.where(copies.definition))
        own = inside.guard_at(value)
        both = own if guard.is_universe else around.place.known.gist_of(guard & site.rows_at(value))
        if both.is_false:
            return Block()
        body = self._later(around, value, both)
        if body is not None and (copies.named is None or let(*copies.named, body) == body):
            return body
        if copies.named is None:
            return when(guard, self._at(inside, value, own))
        if len(both.conditions) < len(guard.conditions) + len(own.conditions):
            return let(*copies.named, self._at(around, value, both))
        return when(guard, let(*copies.named, self._at(inside, value, own)))

    def _later(self, site: _Site, value: Affine, guard: System) -> Node | None:
        """What is inside without a test of `guard`, where the next node is a quotient that tests enough; else None."""
        if len(site.items) > 1 or guard.is_universe or not site.some_level_is_narrow():
            return None
        own = site.items[0].shadows[site.level].substitute({**site.place.values, site.name: value})
        if not (site.place.known & own).gist_of(guard).is_universe:
            return None
        body = self._at(site.at(evolve(site.place, alone=None)), value, UNIVERSE)
        return body if isinstance(body, Let) else None

    def _at(self, site: _Site, value: Affine, guard: System) -> Node:
        if guard.is_false:
            return Block()
        return when(guard, self._inner(site, value, guard))

    def _inner(self, site: _Site, value: Affine, guard: System) -> Node:
        return self.node(site.level + 1, site.items, site.place.where(guard).at(site.name, value))


@frozen
class _Site:
    """Where one region of a level becomes loops: its rows on the level and its items."""

    level: int
    name: str
    rows: System
    items: list[Item]
    place: Place

    def at(self, place: Place) -> _Site:
        """The same at another place."""
        return _Site(self.level, self.name, self.rows, self.items, place)

    def rows_at(self, value: Affine) -> System:
        """The rows at a value of the level."""
        return self.rows if value == var(self.name) else self.rows.substitute({self.name: value})

    def guard_at(self, value: Affine) -> System:
        """What is left to test at a value of the level."""
        return self.place.known.gist_of(self.rows_at(value))

    def some_level_is_narrow(self) -> bool:
        """Whether a later level of the first item is bounded by quotients on both sides."""
        item = self.items[0]
        for level in range(self.level + 1, len(item.levels)):
            if item.fixed[level] is None and item.shadows[level].has_steep_bounds(item.levels[level]):
                return True
        return False


def _with_alone(place: Place, items: list[Item], region: Region) -> Place:
    """The place inside of a level that one item has: its rows say all that the item says of this level."""
    if len(items) == 1 and not items[0].system.has_existentials:
        return Place(place.known, place.values, items[0], region.outer)
    return place if place.alone is None else Place(place.known, place.values)


def _behind_shared(level: int, items: list[Item], place: Place, inside: Inside) -> Node:
    guard = shared_until(items, level)
    if any(item.system.has_existentials for item in items):
        items, quotients = without_shared_quotients(items, set(items[0].levels[level:]))
        guard = guard & quotients
    guard = place.known.gist_of(place.valued(guard))
    if guard.is_false:
        return Block()
    return when(guard, inside(items, place.where(guard)))


def _held(item: Item, level: int, name: str, rows: System) -> Item:
    time = item.fixed[level]
    if time is None:
        return item
    own = System.of(var(name).equals(time))
    return item if own == rows else evolve(item, system=item.system & own)


def _leaf(item: Item, place: Place) -> Node:
    is_known = place.alone is item and place.open_still.is_universe and item.system in item.shadows[-1:]
    guard = UNIVERSE if is_known else place.known.gist_of(place.valued(item.system))
    values = place.values
    bindings = tuple([(d, a.substitute(values)) for d, a in item.bindings]) if values else item.bindings
    return when(guard, Leaf(item.payload, bindings))
