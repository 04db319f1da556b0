"""isl's own loops of an input, run: the instances in order, and what the control costs by the weights of `Control`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import islpy as isl
from attrs import frozen

from polyhedral.cost import Control

Instance = tuple[str, tuple[int, ...]]
Kind: Any = isl.ast_expr_op_type
NodeKind: Any = isl.ast_node_type


@frozen
class Loops:
    """The AST, the names of its statements and the number of their calls in the text."""

    node: isl.AstNode
    leaves: int


@frozen
class Run:
    """The instances in the order in which they ran, and the control that it took."""

    instances: tuple[Instance, ...]
    control: Control


class TooMany(Exception):
    """The run has more instances than asked for."""


def run(node: isl.AstNode, values: Mapping[str, int], most: int) -> Run:
    """The run at these parameters; TooMany after `most` instances."""
    runner = _Runner(dict(values), most)
    runner.node(node)
    c = runner
    control = Control(c.steps, c.comparisons, c.extrema, c.divisions, len(c.instances))
    return Run(tuple(runner.instances), control)


def leaves(node: isl.AstNode) -> int:
    """The number of statement calls in the text."""
    kind: Any = node.get_type()
    match kind:
        case NodeKind.for_:
            return leaves(node.for_get_body())
        case NodeKind.if_:
            other = leaves(node.if_get_else_node()) if node.if_has_else_node() else 0
            return leaves(node.if_get_then_node()) + other
        case NodeKind.block:
            children = node.block_get_children()
            return sum(leaves(children.get_ast_node(k)) for k in range(children.n_ast_node()))
        case NodeKind.mark:
            return leaves(node.mark_get_node())
        case _:
            return 1


_COMPARE = {
    Kind.eq: lambda a, b: a == b,
    Kind.le: lambda a, b: a <= b,
    Kind.lt: lambda a, b: a < b,
    Kind.ge: lambda a, b: a >= b,
    Kind.gt: lambda a, b: a > b,
}
_DIVIDE = {
    Kind.div: lambda a, b: a // b,
    Kind.fdiv_q: lambda a, b: a // b,
    Kind.pdiv_q: lambda a, b: a // b,
    Kind.pdiv_r: lambda a, b: a % b,
    Kind.zdiv_r: lambda a, b: a % b,
}
_ADD = {Kind.add: lambda a, b: a + b, Kind.sub: lambda a, b: a - b, Kind.mul: lambda a, b: a * b}


class _Runner:
    def __init__(self, values: dict[str, int], most: int) -> None:
        self.values = values
        self.most = most
        self.instances: list[Instance] = []
        self.steps = self.comparisons = self.extrema = self.divisions = 0

    def node(self, node: isl.AstNode) -> None:
        kind: Any = node.get_type()
        match kind:
            case NodeKind.for_:
                self._loop(node)
            case NodeKind.if_:
                if self._value(node.if_get_cond()):
                    self.node(node.if_get_then_node())
                elif node.if_has_else_node():
                    self.node(node.if_get_else_node())
            case NodeKind.block:
                children = node.block_get_children()
                for k in range(children.n_ast_node()):
                    self.node(children.get_ast_node(k))
            case NodeKind.mark:
                self.node(node.mark_get_node())
            case _:
                self._call(node.user_get_expr())

    def _loop(self, node: isl.AstNode) -> None:
        name = node.for_get_iterator().get_id().get_name()
        value = self._value(node.for_get_init())
        if node.for_is_degenerate():
            self.values[name] = value
            self.node(node.for_get_body())
            return
        condition = node.for_get_cond()
        last = self._value(condition.op_get_arg(1))
        last -= condition.op_get_type() == Kind.lt
        step = self._value(node.for_get_inc())
        body = node.for_get_body()
        while value <= last:
            self.steps += 1
            self.values[name] = value
            self.node(body)
            value += step

    def _call(self, call: isl.AstExpr) -> None:
        if len(self.instances) >= self.most:
            raise TooMany
        name = call.op_get_arg(0).get_id().get_name()
        arguments = tuple(self._value(call.op_get_arg(k)) for k in range(1, call.op_get_n_arg()))
        self.instances.append((name, arguments))

    def _value(self, expr: isl.AstExpr) -> int:
        kind: Any = expr.get_type()
        match kind:
            case isl.ast_expr_type.int:
                return int(expr.get_val().to_python())
            case isl.ast_expr_type.id:
                return self.values[expr.get_id().get_name()]
        kind = expr.op_get_type()
        own = [expr.op_get_arg(k) for k in range(expr.op_get_n_arg())]
        if kind in (Kind.and_, Kind.and_then):
            return int(min(self._value(a) for a in own))
        if kind in (Kind.or_, Kind.or_else):
            return int(max(self._value(a) for a in own))
        if kind in (Kind.cond, Kind.select):
            return self._value(own[1]) if self._value(own[0]) else self._value(own[2])
        found = [self._value(a) for a in own]
        if kind in (Kind.max, Kind.min):
            self.extrema += len(found) - 1
            return max(found) if kind == Kind.max else min(found)
        if kind in _COMPARE:
            self.comparisons += 1
            return int(_COMPARE[kind](*found))
        if kind in _DIVIDE:
            self.divisions += 1
            return int(_DIVIDE[kind](*found))
        if kind == Kind.minus:
            return -found[0]
        return int(_ADD[kind](*found))
