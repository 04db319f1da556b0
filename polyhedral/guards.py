"""Nodes behind conditions: guards, quotients of existentials named before they are tested, equal guards together."""

from __future__ import annotations

from polyhedral.affine import Condition, var
from polyhedral.quotients import definition, determined, reveal
from polyhedral.shadows import determined_apart
from polyhedral.surroundings import Surroundings
from polyhedral.system import UNIVERSE, System
from polyhedral.tree import Block, Guard, Node, block, let


def when(guard: System, body: Node) -> Node:
    """`body` where `guard` holds; existentials that are no congruences are cases of named quotients."""
    if guard.is_universe or body == Block():
        return body
    if guard.is_false:
        return Block()
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
    node = when(shown, body)
    for name, quotient in reversed(part.quotients):
        node = let(names[name], quotient.substitute({n: var(m) for n, m in names.items()}), node)
    return node


def hoisted(name: str, body: Node) -> tuple[tuple[Condition, ...], Node]:
    """The conditions of a body of loop `name` that are not about it, and what is left of the body."""
    if not isinstance(body, Guard):
        return (), body
    outside = tuple([c for c in body.conditions if name not in c.names])
    inside = tuple([c for c in body.conditions if name in c.names])
    return outside, Guard(inside, body.body) if inside else body.body


def nested(parts: list[tuple[System, Node]], known: Surroundings) -> Node:
    """The nodes in order, each behind its guard; one whose guard needs that of the node before stands inside of it."""
    found: list[Node] = []
    last: tuple[System, Node] | None = None
    for guard, body in reversed([p for p in parts if p[1] != Block()]):
        if last is not None and not guard.is_universe and (known & last[0]).gist_of(guard).is_universe:
            body = block([body, when((known & guard).gist_of(last[0]), last[1])])
        elif last is not None:
            found.append(when(*last))
        last = (guard, body)
    return block([*([when(*last)] if last is not None else []), *reversed(found)])


def beside(nodes: list[Node], known: Surroundings) -> list[Node]:
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
                if not known.exclude(own, System.of(*other.conditions)):
                    break
        found.insert(place, node)
    return found
