"""Statements of a body that is written elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from isa.targets import PtxVersion, Target
from ptxgen.ir import BranchTargets, Call, Instruction, LabelName, Statement
from ptxgen.parse.bodies import Bodies
from ptxgen.parse.instructions import Instructions
from ptxgen.parse.names import UNPLACED, Open
from ptxgen.parse.reader import Reader


def fragment(
    text: str,
    scope: Open,
    *,
    version: PtxVersion,
    target: Target,
    function: str,
    next_scope: int,
    labels: Mapping[str, LabelName],
) -> tuple[tuple[Statement, ...], int]:
    """The statements of a text that stands in `scope`, and the next free number of a scope.

    What the text declares stays known in the scope. A label that neither the text nor `labels` knows belongs to the
    scope itself, wherever it is placed later. PtxSyntaxError as for a module; its lines are those of the text.
    """
    known = scope.statements
    scope.statements = []
    reader = Reader(text, "")
    bodies = Bodies(reader, Instructions(reader, version, target), None)
    try:
        following = bodies.fragment(function, scope, next_scope)
        for statements, index, _ in (*scope.waiting, *(scope.parent.waiting if scope.parent is not None else ())):
            statements[index] = _settled(statements[index], scope, labels)
        return scope.frozen().statements, following
    finally:
        scope.statements = known
        scope.waiting.clear()
        if scope.parent is not None:
            scope.parent.waiting.clear()


def _settled(statement: Any, scope: Open, labels: Mapping[str, LabelName]) -> Any:
    def label(each: Any) -> Any:
        if isinstance(each, LabelName) and each.scope == UNPLACED:
            return labels.get(each.name) or LabelName(each.name, scope.ordinal)
        return each

    match statement:
        case Instruction(operands=operands):
            return evolve(statement, operands=tuple(map(label, operands)))
        case Call(declared=declared):
            return evolve(statement, declared=label(declared))
        case BranchTargets(labels=targets):
            return evolve(statement, labels=tuple(map(label, targets)))
    return statement
