"""Rewrites of a sum before it is scheduled: what it becomes, and the proof that nothing is lost or counted twice."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen

from polyhedral import Affine, FloorDiv, Set, var
from ptxgen.compute import Element, Statement, show


def _power_of_two(instance: Any, attribute: Attribute[int], value: object) -> None:
    if type(value) is not int:
        raise TypeError(f"hybrid: {attribute.name} is a power of two, got {value!r}")
    if value < 1 or value & (value - 1):
        raise ValueError(f"hybrid: {attribute.name} is a power of two, got {value}")


@frozen
class Hybrid:
    """The sum of `statement` becomes chains of `every` terms in the type that its instruction accumulates in, each
    promoted into f32 when it is complete."""

    statement: str
    every: int = field(validator=_power_of_two)

    def __str__(self) -> str:
        return f"hybrid({self.statement}, every={self.every})"


def hybrid(statement: object, every: int) -> Hybrid:
    """The rule by which a sum of products is kept in short chains, joined in f32 every `every` terms."""
    return Hybrid(str(getattr(statement, "name", statement)), every)


@frozen
class Chains:
    """Terms 0 <= k < extent dealt to chains: chain q has the terms first*q <= k < first*q + length."""

    dim: str
    extent: Affine
    first: int
    length: int

    @property
    def dealt(self) -> Set:
        """All pairs of a chain and a term of it."""
        k, q = var(self.dim), var("chain")
        start = q * self.first
        return Set.of(
            ("chain", self.dim), q >= 0, start < self.extent, k >= start, k < start + self.length, k >= 0,
            k < self.extent,
        )  # fmt: skip


def flaw(chains: Chains) -> str:
    """What is wrong with chains that are summed one after the other instead of all terms in ascending order; "" where
    each term is in one chain, and chains and terms ascend together. Decided exactly, for every extent."""
    k, pairs = chains.dim, chains.dealt
    terms = Set.of((k,), var(k) >= 0, var(k) < chains.extent)
    missing = (terms - pairs.project_onto(k)).sample()
    if missing is not None:
        return f"term {k} = {missing[k]} is in no chain"
    names = ("chain", k, "later", "term")
    other = pairs.rename({"chain": "later", k: "term"})
    both = Set(names, pairs.pieces) & Set(names, other.pieces)
    apart = both.intersect(var("chain") < var("later"))
    found = apart.intersect(var("term") <= var(k)).sample()
    if found is not None:
        return f"chain {found['chain']} has the term {found[k]}, the later chain {found['later']} {found['term']}"
    return ""


def chains_of(rule: Hybrid, statement: Statement) -> Chains:
    """The chains into which a rule cuts the one dim that a statement reduces."""
    (dim,) = statement.reduced
    return Chains(dim, statement.dim(dim).extent, rule.every, rule.every)


def rewritten(rule: Hybrid, statement: Statement) -> tuple[str, str]:
    """The statements that a sum becomes, as they are printed: the chains, and their sum."""
    (dim,) = statement.reduced
    part = FloorDiv(var(dim), rule.every)
    kept = ", ".join(map(str, statement.target.indices))
    chain = f"{statement.name}.chain[{kept}, {part}]"
    return (
        f"{chain} = sum[{dim}] {show(statement.value)}    in the instruction's type",
        f"{show(statement.target)} = sum[{part}] {chain}    in {Element.F32}, ascending",
    )
