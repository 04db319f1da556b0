"""Placement: block, warp and lane indices as bounded parameters that schedule dimensions are equated to."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeAlias, assert_never

from attrs import evolve, field, frozen

from polyhedral.affine import Affine, Condition, FloorDiv, Remainder, as_affine, var
from polyhedral.quotients import definition
from polyhedral.statement import Option, Statement
from polyhedral.system import System
from polyhedral.tree import Block, Guard, Leaf, Let, Loop, Node

Index: TypeAlias = Affine | FloorDiv | Remainder | int


@frozen
class Unit:
    """An index of the machine such as a block's, a warp's or a lane's: a parameter `name` from 0 up to `count` - 1."""

    name: str
    count: Affine = field(converter=as_affine)

    @property
    def bounds(self) -> System:
        """What is known of the parameter."""
        return System.of(var(self.name) >= 0, var(self.name) < self.count)


def known_of_units(units: Iterable[Unit]) -> System:
    """The bounds of all units: the context of a scan."""
    return System.of(*(u.bounds for u in units))


def placed(statement: Statement, places: Mapping[str, Index]) -> Statement:
    """The instances that each unit runs: those at which every unit named in `places` has the value given there.

    A value is an expression of the statement's dimensions and parameters, `i // 128` for blocks of neighbours, or
    `i % 32` for neighbours on neighbouring lanes. ValueError where a unit is a dimension of the statement.
    """
    clash = [n for n in places if n in statement.domain.dims]
    if clash:
        raise ValueError(f"the unit {clash[0]} is a dimension of the statement over {statement.domain.dims}")
    conditions = System.of(*(_says(name, index) for name, index in places.items()))
    return evolve(statement, domain=statement.domain.intersect(conditions))


def _says(name: str, index: Index) -> System | Condition:
    match index:
        case Affine() | int():
            return var(name).equals(index)
        case FloorDiv():
            return definition(name, index)
        case Remainder(_, modulus):
            return System.of(index.equals(var(name)), var(name) >= 0, var(name) < modulus)
        case _:
            assert_never(index)


def uniform(statement: Statement, units: Iterable[Unit]) -> Statement:
    """The statement run by every value of the units wherever one of them runs it: as a barrier must be. Exact.

    Its loops are atomic, so that a scan does not cut them where other statements, on some of the units only, end.
    """
    own = tuple(units)
    domain = statement.domain.intersect(known_of_units(own)).project_out(*(u.name for u in own))
    return evolve(statement, domain=domain, options=(Option.ATOMIC,) * len(statement.schedule))


def divergence(tree: Node, units: Iterable[Unit | str], barriers: Collection[Hashable]) -> Loop | Guard | None:
    """The first loop or guard around a leaf of `barriers` whose trips or conditions depend on a unit, None if uniform.

    Where it is None all values of the units run these leaves equally often, in the same order. Names that are given
    values by units on the way count as units.
    """
    names = frozenset(u.name if isinstance(u, Unit) else u for u in units)
    return _divergence(tree, names, barriers)


def _divergence(tree: Node, units: frozenset[str], barriers: Collection[Hashable]) -> Loop | Guard | None:
    match tree:
        case Leaf():
            return None
        case Block(children):
            found = (_divergence(c, units, barriers) for c in children)
            return next((f for f in found if f is not None), None)
        case Let(name, value, body):
            own = value.affine if isinstance(value, FloorDiv) else value
            return _divergence(body, units | {name} if units.intersection(own.names) else units - {name}, barriers)
        case Guard(conditions, body):
            names = {n for c in conditions for n in c.names}
            return _around(tree, names, body, units, units, barriers)
        case Loop(name, lower, upper, _, body):
            names = {n for t in (*lower, *upper) for n in (*t.affine.names, *t.offset.names)}
            return _around(tree, names, body, units, units - {name}, barriers)
        case _:
            assert_never(tree)


def _around(
    node: Loop | Guard,
    names: Collection[str],
    body: Node,
    units: frozenset[str],
    inside: frozenset[str],
    barriers: Collection[Hashable],
) -> Loop | Guard | None:
    if units.isdisjoint(names):
        return _divergence(body, inside, barriers)
    return node if _holds_leaf(body, barriers) else None


def _holds_leaf(tree: Node, payloads: Collection[Hashable]) -> bool:
    match tree:
        case Leaf(payload, _):
            return payload in payloads
        case Block(children):
            return any(_holds_leaf(c, payloads) for c in children)
        case Loop() | Let() | Guard():
            return _holds_leaf(tree.body, payloads)
        case _:
            assert_never(tree)
