"""Kernels and the functions that they call: their bodies with calls as instructions, and the frames of their variables.

A function's parameters, results and variables in local memory lie in a frame on the thread's stack, which is local
memory; the kernel's frame is the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, field, frozen

from isa.availability import ALWAYS
from isa.forms import Form, resolve
from isa.operands import OperandKind, OperandSlot, Role, Signature
from ptxgen.ir import (
    Call,
    Function,
    Instruction,
    Module,
    Register,
    Scope,
    Space,
    Statement,
    SymbolAddress,
    Variable,
    walk,
)

RECURSIVE_STACK_BYTES = 1024
STACK_BYTES = 1024
_ALIGNMENT = 16


@frozen(eq=False)
class Frame:
    """The places of a function's variables from the start of its frame, and the bytes of the frame."""

    offsets: dict[str, int]
    size_bytes: int


@frozen(eq=False)
class Body:
    """A function whose calls are instructions; `calls` tells which, by the identity of the instruction."""

    function: Function
    frame: Frame
    calls: dict[int, Call] = field(repr=False)


def body_of(function: Function, *, kernel: bool) -> Body:
    """The function with its calls turned into instructions that read and write the same registers."""
    calls: dict[int, Call] = {}
    scope = function.body
    turned = None if scope is None else _turned(scope, calls)
    return Body(evolve(function, body=turned), frame_of(function, kernel=kernel), calls)


def _turned(scope: Scope, calls: dict[int, Call]) -> Scope:
    made: list[Statement] = []
    for statement in scope.statements:
        if isinstance(statement, Scope):
            made.append(_turned(statement, calls))
        elif isinstance(statement, Call):
            instruction = _as_instruction(statement)
            calls[id(instruction)] = statement
            made.append(instruction)
        else:
            made.append(statement)
    return Scope(tuple(made))


def _as_instruction(call: Call) -> Instruction:
    guard = () if call.guard is None else (call.guard.register,)
    reads = [each for each in call.registers_read() if each not in guard]
    writes = list(call.registers_written())
    slots = [_slot(each, Role.WRITE) for each in writes] + [_slot(each, Role.READ) for each in reads]
    line = resolve("ret")[0].line
    name = str(call).partition(";")[0]
    form = Form(name, "call", {}, (Signature(tuple(slots)),), ALWAYS, 0, line)
    return Instruction(form, (*writes, *reads), call.guard, call.origin)


def _slot(register: Register, role: Role) -> OperandSlot:
    return OperandSlot("r", role, OperandKind.REGISTER, register.type, 1, frozenset({register.type}))


def frame_of(function: Function, *, kernel: bool) -> Frame:
    """Where the variables of a function lie; a name declared in several scopes has one place, large enough for each.

    A kernel's parameters are no part of its frame. Arrays without a size have none.
    """
    sizes: dict[str, tuple[int, int]] = {}
    for name, size, align in _variables(function, kernel):
        before = sizes.get(name, (0, 1))
        sizes[name] = max(size, before[0]), max(align, before[1])
    offsets: dict[str, int] = {}
    cursor = 0
    for name, (size, align) in sizes.items():
        cursor = -(-cursor // align) * align
        offsets[name] = cursor
        cursor += size
    return Frame(offsets, -(-cursor // _ALIGNMENT) * _ALIGNMENT)


def _variables(function: Function, kernel: bool) -> Iterator[tuple[str, int, int]]:
    for parameter in () if kernel else (*function.returns, *function.parameters):
        yield parameter.name, parameter.size_bytes, parameter.align_bytes
    for node in walk(function.body) if function.body is not None else ():
        if isinstance(node, Variable) and node.space in (Space.PARAM, Space.LOCAL):
            yield node.name, node.size_bytes, node.align or node.type.bits // 8 * node.vector


def reachable(module: Module, kernel: Function) -> tuple[Function, ...]:
    """The functions with a body that a kernel may call, in order of appearance; all where a call is indirect."""
    bodies = {item.name: item for item in module.items if isinstance(item, Function) and item.body is not None}
    names: dict[str, None] = {}
    todo = [kernel]
    while todo:
        function = todo.pop()
        for node in walk(function.body) if function.body is not None else ():
            if not isinstance(node, Call):
                continue
            called = [node.target.name] if isinstance(node.target, SymbolAddress) else _callable(module)
            for name in called:
                if name in bodies and name not in names:
                    names[name] = None
                    todo.append(bodies[name])
    return tuple(bodies[name] for name in bodies if name in names)


def _callable(module: Module) -> list[str]:
    """The functions whose address may be taken: those of the module that have a body and are no kernels."""
    return [
        item.name
        for item in module.items
        if isinstance(item, Function) and item.body is not None and item.kind.value == "func"
    ]


def stack_bytes(kernel: Frame, functions: dict[str, Body]) -> int:
    """The local memory that a thread wants: all frames, and room for recursion where a function may call itself.

    Without what `alloca` takes: STACK_BYTES behind it.
    """
    total = kernel.size_bytes + sum(body.frame.size_bytes for body in functions.values())
    return total + (RECURSIVE_STACK_BYTES if _recursive(functions) else 0)


def _recursive(functions: dict[str, Body]) -> bool:
    edges = {
        name: {call.target.name if isinstance(call.target, SymbolAddress) else name for call in body.calls.values()}
        for name, body in functions.items()
    }
    while True:
        leaves = {name for name, called in edges.items() if not called & edges.keys()}
        if not leaves:
            return bool(edges)
        edges = {name: called for name, called in edges.items() if name not in leaves}
