"""The loop tree: what a scan gives, its printer and its interpreter."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeAlias, assert_never

from attrs import frozen

from polyhedral.affine import ZERO, Affine, Condition, FloorDiv


@frozen
class Term:
    """One bound: scale * (affine / divisor, rounded up as a lower bound, down as an upper one) + offset."""

    affine: Affine
    divisor: int = 1
    scale: int = 1
    offset: Affine = ZERO

    def lower(self, values: Mapping[str, int]) -> int:
        """Its value as a lower bound."""
        return self.scale * -(-self.affine.evaluate(values) // self.divisor) + self.offset.evaluate(values)

    def upper(self, values: Mapping[str, int]) -> int:
        """Its value as an upper bound."""
        return self.scale * (self.affine.evaluate(values) // self.divisor) + self.offset.evaluate(values)

    def spelled(self, rounding: str) -> str:
        """The text, with `rounding` (`ceil` or `floor`) where there is a division."""
        text = str(self.affine) if self.divisor == 1 else f"{rounding}(({self.affine})/{self.divisor})"
        if self.scale != 1:
            text = f"{self.scale}*({text})" if self.divisor == 1 else f"{self.scale}*{text}"
        return text if self.offset == ZERO else f"{text} + {self.offset}"


Bound = tuple[Term, ...]


class _Printed:
    """Nodes are printed as pseudo-C."""

    __slots__ = ()

    def __str__(self) -> str:
        return pseudo_c(self)  # type: ignore[arg-type]


@frozen
class Loop(_Printed):
    """`name` runs from the greatest of `lower` up to the least of `upper`, inclusive, by `step`."""

    name: str
    lower: Bound
    upper: Bound
    step: int
    body: Node


@frozen
class Let(_Printed):
    """`name` is one value in `body`; it stands for a loop that runs at most once."""

    name: str
    value: Affine | FloorDiv
    body: Node


@frozen
class Guard(_Printed):
    """`body` runs where all conditions hold."""

    conditions: tuple[Condition, ...]
    body: Node


@frozen
class Block(_Printed):
    """The children run in order; no children do nothing."""

    children: tuple[Node, ...] = ()


@frozen
class Leaf(_Printed):
    """One instance of a statement: the value of each of its dimensions in terms of what is around."""

    payload: Hashable
    bindings: tuple[tuple[str, Affine | FloorDiv], ...] = ()


Node: TypeAlias = Loop | Let | Guard | Block | Leaf


def block(children: list[Node]) -> Node:
    """The children in order as one node: blocks are opened, neighbours with one guard are joined."""
    flat: list[Node] = []
    for child in children:
        for node in child.children if isinstance(child, Block) else (child,):
            last = flat[-1] if flat else None
            if isinstance(node, Guard) and isinstance(last, Guard) and last.conditions == node.conditions:
                flat[-1] = Guard(last.conditions, block([last.body, node.body]))
            else:
                flat.append(node)
    return flat[0] if len(flat) == 1 else Block(tuple(flat))


def let(name: str, value: Affine | FloorDiv, body: Node) -> Node:
    """The body with `name` as one value: the body alone where it does not use the name."""
    return Let(name, value, body) if _uses(body, name) else body


def _uses(tree: Node, name: str) -> bool:
    match tree:
        case Loop(_, lower, upper, _, body):
            return any(_in_term(t, name) for t in (*lower, *upper)) or _uses(body, name)
        case Let(_, value, body):
            return _in_value(value, name) or _uses(body, name)
        case Guard(conditions, body):
            return any(name in c.names for c in conditions) or _uses(body, name)
        case Block(children):
            return any(_uses(child, name) for child in children)
        case Leaf(_, bindings):
            return any(_in_value(value, name) for _, value in bindings)
        case _:
            assert_never(tree)


def _in_term(term: Term, name: str) -> bool:
    return name in term.affine.names or name in term.offset.names


def _in_value(value: Affine | FloorDiv, name: str) -> bool:
    return name in (value.affine if isinstance(value, FloorDiv) else value).names


def execute(tree: Node, params: Mapping[str, int]) -> Iterator[tuple[Hashable, dict[str, int]]]:
    """The statement instances in the order in which the tree runs them at these parameters."""
    match tree:
        case Loop(name, lower, upper, step, body):
            first, last = max(t.lower(params) for t in lower), min(t.upper(params) for t in upper)
            for value in range(first, last + 1, step):
                yield from execute(body, {**params, name: value})
        case Let(name, value, body):
            yield from execute(body, {**params, name: value.evaluate(params)})
        case Guard(conditions, body):
            if all(c.holds(params) for c in conditions):
                yield from execute(body, params)
        case Block(children):
            for child in children:
                yield from execute(child, params)
        case Leaf(payload, bindings):
            yield payload, {dim: value.evaluate(params) for dim, value in bindings}
        case _:
            assert_never(tree)


def pseudo_c(tree: Node, indent: int = 0) -> str:
    """The tree as text in the manner of C, one line for each node."""
    return "\n".join("  " * (indent + depth) + line for depth, line in _lines(tree, 0))


def _lines(tree: Node, depth: int) -> Iterator[tuple[int, str]]:
    match tree:
        case Loop(name, lower, upper, step, body):
            by = f"{name}++" if step == 1 else f"{name} += {step}"
            yield depth, f"for ({name} = {_bound(lower, 'max')}; {name} <= {_bound(upper, 'min')}; {by})"
            yield from _lines(body, depth + 1)
        case Let(name, value, body):
            yield depth, f"let {name} = {value}"
            yield from _lines(body, depth)
        case Guard(conditions, body):
            yield depth, f"if ({' and '.join(map(str, conditions))})"
            yield from _lines(body, depth + 1)
        case Block(children):
            if not children:
                yield depth, "{}"
            for child in children:
                yield from _lines(child, depth)
        case Leaf(payload, bindings):
            yield depth, f"{payload}({', '.join(f'{d}={v}' for d, v in bindings)})"
        case _:
            assert_never(tree)


def _bound(terms: Bound, choice: str) -> str:
    texts = [t.spelled("ceil" if choice == "max" else "floor") for t in terms]
    return texts[0] if len(texts) == 1 else f"{choice}({', '.join(texts)})"
