"""A loop tree as Python source that runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import assert_never

from polyhedral.affine import Affine, Condition, Congruence, FloorDiv
from polyhedral.tree import Block, Guard, Leaf, Let, Loop, Node, Term


def to_python(tree: Node, params: Sequence[str], name: str = "run") -> str:
    """The source of a function of `params` and a last argument `visit`, called with payload and dimensions.

    Payloads are given as their position in `payloads_of(tree)`.
    """
    numbers = {payload: number for number, payload in enumerate(payloads_of(tree))}
    body = "\n".join("    " * (depth + 1) + line for depth, line in _python(tree, 0, numbers))
    return f"def {name}({', '.join([*params, 'visit'])}):\n{body}\n"


def payloads_of(tree: Node) -> tuple[Hashable, ...]:
    """The payloads of the leaves, each once, in the order of the text."""
    match tree:
        case Loop() | Let() | Guard():
            return payloads_of(tree.body)
        case Block(children):
            return tuple(dict.fromkeys(p for c in children for p in payloads_of(c)))
        case Leaf(payload):
            return (payload,)
        case _:
            assert_never(tree)


def _python(tree: Node, depth: int, numbers: Mapping[Hashable, int]) -> Iterator[tuple[int, str]]:
    match tree:
        case Loop(name, lower, upper, step, body):
            first = _python_bound([_python_term(t, up=True) for t in lower], "max")
            last = _python_bound([_python_term(t, up=False) for t in upper], "min")
            by = f", {step}" if step != 1 else ""
            yield depth, f"for {name} in range({first}, {last} + 1{by}):"
            yield from _python(body, depth + 1, numbers)
        case Let(name, value, body):
            yield depth, f"{name} = {_python_value(value)}"
            yield from _python(body, depth, numbers)
        case Guard(conditions, body):
            yield depth, f"if {' and '.join(_python_condition(c) for c in conditions)}:"
            yield from _python(body, depth + 1, numbers)
        case Block(children):
            if not children:
                yield depth, "pass"
            for child in children:
                yield from _python(child, depth, numbers)
        case Leaf(payload, bindings):
            values = "".join(f", {_python_value(v)}" for _, v in bindings)
            yield depth, f"visit({numbers[payload]}{values})"
        case _:
            assert_never(tree)


def _python_value(value: Affine | FloorDiv) -> str:
    return f"({value.affine}) // {value.divisor}" if isinstance(value, FloorDiv) else str(value)


def _python_condition(condition: Condition) -> str:
    if isinstance(condition, Congruence):
        return f"({condition.affine}) % {condition.modulus} == 0"
    return f"{condition.affine} {'==' if condition.equality else '>='} 0"


def _python_term(term: Term, up: bool) -> str:
    text = f"({term.affine})" if term.divisor == 1 else f"({term.affine}) // {term.divisor}"
    if up and term.divisor != 1:
        text = f"-((-({term.affine})) // {term.divisor})"
    return text if (term.scale, term.offset) == (1, Affine()) else f"{term.scale} * ({text}) + {term.offset}"


def _python_bound(texts: list[str], choice: str) -> str:
    return texts[0] if len(texts) == 1 else f"{choice}({', '.join(texts)})"
