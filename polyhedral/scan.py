"""From statements with schedules to a loop tree: Quillere, Rajopadhye and Wilde's scan, level by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import evolve, frozen

from polyhedral.affine import Affine, var
from polyhedral.bounds import Copies, Range, shape_of, unrolled
from polyhedral.joining import joined
from polyhedral.precedence import in_turn
from polyhedral.quotients import definition, determined, reveal
from polyhedral.separation import Candidate, Region, merged, ordered, pinned, separated
from polyhedral.shadows import Item, determined_apart, items_of, without_shared_quotients
from polyhedral.statement import Option, Statement
from polyhedral.steps import in_common_steps
from polyhedral.strides import Stride, stride_of
from polyhedral.system import FALSE, UNIVERSE, System, disjoint, without_congruences
from polyhedral.tree import Block, Guard, Leaf, Let, Loop, Node, block, let

Values = dict[str, Affine]
Inside = Callable[[int, "list[Item]", System, Values], Node]


def scan(
    statements: Sequence[Statement],
    context: System = UNIVERSE,
    separate: bool | Iterable[int | str] | None = None,
    unroll: Iterable[int | str] = (),
    names: Sequence[str] | None = None,
    ties: bool = True,
) -> Node:
    """The loop tree that runs every instance once, in the order of the schedules.

    `context` is what is known of the parameters. Levels (by number or name) in `separate`, or all of
    them where it is True, are cut into regions in which the same statements run; others become one
    loop with conditions inside wherever their statements overlap. Levels in `unroll` are written out;
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
        for item in items_of(statement, statement.domain.intersect(context), schedule, levels, params)
    ]
    chosen = separate if separate is None or isinstance(separate, bool) else _by_name(separate, levels)
    return _Scan(width, chosen, _by_name(unroll, levels), ties).node(0, items, context, {}) if items else Block()


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
    """The recursion over levels. `known` holds around a node, `values` are of levels without a loop."""

    width: int
    separate: bool | frozenset[str] | None
    unroll: frozenset[str]
    ties: bool

    def node(self, level: int, items: list[Item], known: System, values: Values) -> Node:
        """The tree of these items from `level` on, behind the conditions that they share."""
        return _behind_shared(level, items, known, values, self._inside)

    def _inside(self, level: int, items: list[Item], known: System, values: Values) -> Node:
        if level >= self.width:
            return block(together([self._own_levels(level, item, known, values) for item in items], known))
        times = {item.fixed[level] for item in items}
        if None not in times:
            groups = [
                [i for i in items if i.fixed[level] == time] for time in sorted(t for t in times if t is not None)
            ]
            return block([self.node(level + 1, group, known, values) for group in groups])
        around = known & System.of(*(var(n).equals(v) for n, v in values.items())) if values else known
        parts = in_turn(items, level, self.width, around, self.ties)
        if len(parts) == 1:
            return self._regions(level, items, known, values)
        return block([self.node(level, part, known, values) for part in parts])

    def _own_levels(self, level: int, item: Item, known: System, values: Values) -> Node:
        if level < len(item.levels):
            return self._regions(level, [item], known, values)
        return _leaf(item, known, values)

    def _regions(self, level: int, items: list[Item], known: System, values: Values) -> Node:
        name = items[0].levels[level]
        if level < self.width:
            strides = [_stride(item, level, name, values) for item in items]
            scaled = in_common_steps(level, self.width, items, strides)
            if scaled is not None:
                return evolve(self, width=self.width + 1)._loops(level, name, scaled, known, values)
        return self._loops(level, name, items, known, values)

    def _loops(self, level: int, name: str, items: list[Item], known: System, values: Values) -> Node:
        candidates = _candidates(level, name, items, known, values)
        by_cost = self.separate is None and not any(i.option(level) is Option.SEPARATE for i in items)
        if self._separates(level, name, items):
            regions = separated(candidates, known)
        else:
            regions = merged(candidates, name, known)
        nodes = []
        if len(regions) > 1:
            regions = joined(ordered(regions, name, known), items, level, known, by_cost)
            regions = [pinned(r, name, known) for r in regions] if len(regions) > 1 else regions
        for region in regions:
            members = [items[m] for m in region.members]

            def body(level: int, left: list[Item], known: System, values: Values, region: Region = region) -> Node:
                return self._loop(level, name, region, left, known, values)

            nodes.append(_behind_shared(level, members, known, values, body))
        return block(nodes)

    def _separates(self, level: int, name: str, items: list[Item]) -> bool:
        told = {item.option(level) for item in items}
        if Option.ATOMIC in told:
            return False
        if Option.SEPARATE in told or self.separate is None:
            return True
        return self.separate if isinstance(self.separate, bool) else name in self.separate

    def _unrolls(self, level: int, name: str, items: list[Item]) -> bool:
        told = {item.option(level) for item in items}
        return told == {Option.UNROLL} or name in self.unroll

    def _loop(self, level: int, name: str, region: Region, items: list[Item], known: System, values: Values) -> Node:
        rows, outer = region.rows.split_on(name)
        guard = outer.gist(known)
        stride = _common_stride(items, level, name, known & guard, values)
        site = _Site(level, name, rows, [_held(item, level, name, rows) for item in items], known & guard, values)
        if stride.part is None:
            return self._shaped(site, stride, known, guard)
        guard = guard & stride.part.condition.gist(site.known)
        inside = evolve(site, known=site.known & stride.part.known)
        return _when(guard, let(stride.part.name, stride.part.quotient, self._shaped(inside, stride, site.known)))

    def _shaped(self, site: _Site, stride: Stride, known_before: System, guard: System = UNIVERSE) -> Node:
        if self._unrolls(site.level, site.name, site.items):
            copies = unrolled(site.rows, site.name, stride, site.known)
            return _when(guard, self._written_out(site, copies))
        statements = " and ".join(str(i.payload) for i in site.items)
        shape = shape_of(site.rows, site.name, stride, site.known, statements)
        if isinstance(shape, Range):
            guard = guard if shape.divides else guard.gist(known_before & site.rows)
            return _when(guard, self._ranged(site, shape, stride))
        return self._single(site, shape, known_before, guard)

    def _ranged(self, site: _Site, shape: Range, stride: Stride) -> Node:
        inside = site.known & site.rows
        if stride.step > 1:
            inside = inside & System.of(stride.condition(site.name))
        body = self.node(site.level + 1, site.items, inside, site.values)
        return Block() if body == Block() else Loop(site.name, shape.lower, shape.upper, shape.step, body)

    def _written_out(self, site: _Site, copies: Copies) -> Node:
        site = site.where(copies)
        body = block([self._at(site, value, site.guard_at(value)) for value in copies.values])
        return body if copies.named is None else let(*copies.named, body)

    def _single(self, site: _Site, copies: Copies, known_before: System, guard: System) -> Node:
        """The one value of a level; conditions around it wait for its own where both together are fewer."""
        inside, value = site.where(copies), copies.first
        around = evolve(inside, known=known_before & inside.definition(copies))
        own = inside.guard_at(value)
        both = (guard & site.rows.substitute({site.name: value})).gist(around.known)
        if both.is_false:
            return Block()
        body = self._later(around, value, both)
        if body is not None and (copies.named is None or let(*copies.named, body) == body):
            return body
        if copies.named is None:
            return _when(guard, self._at(inside, value, own))
        if len(both.conditions) < len(guard.conditions) + len(own.conditions):
            return let(*copies.named, self._at(around, value, both))
        return _when(guard, let(*copies.named, self._at(inside, value, own)))

    def _later(self, site: _Site, value: Affine, guard: System) -> Node | None:
        """What is inside without a test of `guard`, where the next node is a quotient that tests enough; else None."""
        if len(site.items) > 1 or guard.is_universe or not site.some_level_is_narrow():
            return None
        own = site.items[0].shadows[site.level].substitute({**site.values, site.name: value})
        if not guard.gist(site.known & own).is_universe:
            return None
        body = self._at(site, value, UNIVERSE)
        return body if isinstance(body, Let) else None

    def _at(self, site: _Site, value: Affine, guard: System) -> Node:
        if guard.is_false:
            return Block()
        values = {**site.values, site.name: value}
        return _when(guard, self.node(site.level + 1, site.items, site.known & guard, values))


@frozen
class _Site:
    """Where one region of a level becomes loops: its rows on the level, its items, what is known around."""

    level: int
    name: str
    rows: System
    items: list[Item]
    known: System
    values: Values

    def where(self, copies: Copies) -> _Site:
        """The site inside the name that the copies use."""
        return self if copies.named is None else evolve(self, known=self.known & self.definition(copies))

    def definition(self, copies: Copies) -> System:
        """What the name that the copies use stands for."""
        return UNIVERSE if copies.named is None else definition(*copies.named)

    def guard_at(self, value: Affine) -> System:
        """What is left to test at a value of the level."""
        return self.rows.substitute({self.name: value}).gist(self.known)

    def some_level_is_narrow(self) -> bool:
        """Whether a later level of the first item is bounded by a quotient."""
        item = self.items[0]
        for level in range(self.level + 1, len(item.levels)):
            if item.fixed[level] is None:
                lower, upper = item.shadows[level].bounds(item.levels[level])
                if any(d > 1 for _, d in (*lower, *upper)):
                    return True
        return False


def _behind_shared(level: int, items: list[Item], known: System, values: Values, inside: Inside) -> Node:
    inner = set(items[0].levels[level:])
    shared = [c for c in items[0].conditions if inner.isdisjoint(c.names)]
    for item in items[1:]:
        shared = [c for c in shared if c in item.conditions] if shared else shared
    items, quotients = without_shared_quotients(items, inner)
    if not shared and quotients.is_universe:
        return inside(level, items, known, values)
    guard = (System.of(*(c.substitute(values) for c in shared)) & quotients.substitute(values)).gist(known)
    if guard.is_false:
        return Block()
    return _when(guard, inside(level, items, known & guard, values))


def _candidates(level: int, name: str, items: list[Item], known: System, values: Values) -> list[Candidate]:
    found: dict[tuple[System, System], list[int]] = {}
    for number, item in enumerate(items):
        shadow = item.shadows[level].substitute(values)
        time = item.fixed[level]
        own, outer = shadow.split_on(name) if time is None else (System.of(var(name).equals(time)), shadow)
        around = known & outer
        rows = FALSE if disjoint(around, own) else without_congruences(own).gist(around)
        if not rows.is_false:
            found.setdefault((rows, outer), []).append(number)
    return [Candidate(rows, outer, tuple(members)) for (rows, outer), members in found.items()]


def _held(item: Item, level: int, name: str, rows: System) -> Item:
    time = item.fixed[level]
    if time is None:
        return item
    own = System.of(var(name).equals(time))
    return item if own == rows else evolve(item, system=item.system & own)


def _common_stride(items: list[Item], level: int, name: str, known: System, values: Values) -> Stride:
    strides = [_stride(item, level, name, values) for item in items]
    common = strides[0]
    for other in strides[1:]:
        common = common.joined(other, known)
    return common if common.step else Stride()


def _stride(item: Item, level: int, name: str, values: Values) -> Stride:
    time = item.fixed[level]
    if time is not None:
        return Stride(0, Affine((), time))
    shadow = item.shadows[level].substitute(values)
    only = shadow.solved_for(name)
    return stride_of(shadow, name) if only is None else Stride(0, only)


def _leaf(item: Item, known: System, values: Values) -> Node:
    bindings = tuple((d, a.substitute(values)) for d, a in item.bindings)
    guard = item.system.substitute(values).gist(known)
    if guard.is_false:
        return Block()
    return _when(guard, Leaf(item.payload, bindings))


def together(nodes: list[Node], known: System) -> list[Node]:
    """The nodes with guards of the same conditions beside each other, where those between never hold with them."""
    found: list[Node] = []
    for node in nodes:
        place = len(found)
        if isinstance(node, Guard):
            own = System.of(*node.conditions)
            for number in range(len(found) - 1, -1, -1):
                other = found[number]
                if not isinstance(other, Guard):
                    break
                if other.conditions == node.conditions:
                    place = number + 1
                    break
                if not disjoint(known, own, System.of(*other.conditions)):
                    break
        found.insert(place, node)
    return found


def _when(guard: System, body: Node) -> Node:
    if guard.is_universe or body == Block():
        return body
    try:
        return Guard(guard.conditions, body)
    except ValueError:
        return block([_with_quotients(part, body) for part in determined_apart(guard)])


def _with_quotients(guard: System, body: Node) -> Node:
    (part,) = determined(guard)
    names = {n: n.replace("$", "q") for n, _ in part.quotients}
    while any(n in guard.names for n in names.values()):
        names = {n: m + "_" for n, m in names.items()}
    known = UNIVERSE
    for name, quotient in part.quotients:
        known = known & definition(names[name], quotient.substitute({n: var(m) for n, m in names.items()}))
    shown = reveal(part.system, names).gist(known)
    node = _when(shown, body)
    for name, quotient in reversed(part.quotients):
        node = let(names[name], quotient.substitute({n: var(m) for n, m in names.items()}), node)
    return node
