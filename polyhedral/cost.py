"""What the control of a loop tree costs when it runs: steps, conditions, extrema, divisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from attrs import frozen

from polyhedral.affine import Affine, Condition, Congruence, FloorDiv
from polyhedral.tree import Block, Bound, Guard, Leaf, Let, Loop, Node


@frozen
class Weights:
    """The cost of one iteration of a loop, of one comparison, of one `min` or `max`, of one division or remainder."""

    step: int = 1
    comparison: int = 1
    extremum: int = 1
    division: int = 4


@frozen
class Control:
    """How often each is done in one run, and how many leaves the text has and the run reaches."""

    steps: int = 0
    comparisons: int = 0
    extrema: int = 0
    divisions: int = 0
    instances: int = 0

    def __add__(self, other: Control) -> Control:
        return Control(
            self.steps + other.steps,
            self.comparisons + other.comparisons,
            self.extrema + other.extrema,
            self.divisions + other.divisions,
            self.instances + other.instances,
        )

    def cost(self, weights: Weights | None = None) -> int:
        """The weighted sum; instances themselves cost nothing."""
        w = weights or Weights()
        return (
            self.steps * w.step
            + self.comparisons * w.comparison
            + self.extrema * w.extremum
            + self.divisions * w.division
        )


def control(tree: Node, params: Mapping[str, int]) -> Control:
    """What one run of the tree at these parameters does besides its leaves.

    Bounds are evaluated once for each entry of a loop. All conditions of a guard are counted when it is reached,
    and the divisions in the values that a leaf is given.
    """
    found = _Counter()
    found.run(tree, dict(params))
    return Control(found.steps, found.comparisons, found.extrema, found.divisions, found.instances)


def leaves(tree: Node) -> int:
    """The number of leaves in the text of the tree."""
    match tree:
        case Loop() | Let() | Guard():
            return leaves(tree.body)
        case Block(children):
            return sum(map(leaves, children))
        case Leaf():
            return 1
        case _:
            assert_never(tree)


class _Counter:
    def __init__(self) -> None:
        self.steps = self.comparisons = self.extrema = self.divisions = self.instances = 0

    def run(self, tree: Node, values: dict[str, int]) -> None:
        match tree:
            case Loop(name, lower, upper, step, body):
                self._bounds(lower, upper)
                first, last = max(t.lower(values) for t in lower), min(t.upper(values) for t in upper)
                for value in range(first, last + 1, step):
                    self.steps += 1
                    values[name] = value
                    self.run(body, values)
            case Let(name, value, body):
                self.divisions += _divisions([value])
                values[name] = value.evaluate(values)
                self.run(body, values)
            case Guard(conditions, body):
                self.comparisons += len(conditions)
                self.divisions += sum(isinstance(c, Congruence) for c in conditions)
                if _all_hold(conditions, values):
                    self.run(body, values)
            case Block(children):
                for child in children:
                    self.run(child, values)
            case Leaf(_, bindings):
                self.instances += 1
                self.divisions += _divisions(v for _, v in bindings)
            case _:
                assert_never(tree)

    def _bounds(self, lower: Bound, upper: Bound) -> None:
        self.extrema += len(lower) + len(upper) - 2
        self.divisions += sum(t.divisor != 1 for t in (*lower, *upper))


def _divisions(values: Iterable[Affine | FloorDiv]) -> int:
    return sum(isinstance(v, FloorDiv) and v.divisor != 1 for v in values)


def _all_hold(conditions: tuple[Condition, ...], values: dict[str, int]) -> bool:
    return all(c.holds(values) for c in conditions)
