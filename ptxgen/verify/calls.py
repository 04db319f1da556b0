"""Calls against the signature of what they call."""

from __future__ import annotations

from collections.abc import Iterator

from isa.types import Kind, Type
from ptxgen.errors import Finding, Severity
from ptxgen.ir import (
    Alias,
    Call,
    Function,
    Module,
    Operand,
    Parameter,
    Prototype,
    Register,
    SymbolAddress,
    Variable,
    besides_instructions,
    operand_text,
)
from ptxgen.verify.body import Body, Declared


def call_findings(module: Module, body: Body) -> Iterator[Finding]:
    """`call.signature` for calls with other returns or arguments than those declared, by number and size."""
    functions = {item.name: item for item in module.items if isinstance(item, Function)}
    for alias in (item for item in module.items if isinstance(item, Alias)):
        if alias.of in functions:
            functions[alias.name] = functions[alias.of]
    scope = body.function.body
    others = besides_instructions(scope) if scope else ()
    prototypes = {node.name.name: node for node in others if isinstance(node, Prototype)}
    for index, call in body.calls.items():
        declared = body.declared[index]
        found: Function | Prototype | None = None
        if isinstance(call.target, SymbolAddress):
            found = functions.get(call.target.name)
            if call.declared is not None:
                message = f"{call.target.text} is a function and wants no {call.declared.name}"
                yield Finding("call.signature", Severity.ERROR, message, call.origin)
        elif call.declared is not None:
            found = prototypes.get(call.declared.name)
        else:
            message = f"{call.target.text}: a call through a register names a prototype or a list of functions"
            yield Finding("call.signature", Severity.ERROR, message, call.origin)
        if found is not None:
            for message in _wrong(call, found, declared):
                yield Finding("call.signature", Severity.ERROR, f"{call.target.text}: {message}", call.origin)


def _wrong(call: Call, called: Function | Prototype, declared: Declared) -> Iterator[str]:
    for what, given, wanted in (
        ("return value", call.returns, called.returns),
        ("argument", call.arguments, called.parameters),
    ):
        if any(each.shape and each.shape[0] is None for each in wanted):
            continue
        if len(given) != len(wanted):
            yield f"takes {len(wanted)} {what}s, got {len(given)}"
            continue
        for place, (operand, parameter) in enumerate(zip(given, wanted, strict=True)):
            if isinstance(operand, Register) and parameter.register and _apart(operand.type, parameter.type):
                yield f"{what} {place} is {_told(parameter)}; {operand.name} is a register of {operand.type}"
                continue
            size = _bytes(operand, declared)
            if size is not None and size != parameter.size_bytes:
                yield (
                    f"{what} {place} is {_told(parameter)} of {parameter.size_bytes} bytes; "
                    f"{operand_text(operand)} has {size}"
                )


def _apart(given: Type, wanted: Type) -> bool:
    """True if one is a float and the other an integer of the same size; bits go with both."""
    kinds = {given.kind, wanted.kind}
    return given.bits == wanted.bits and Kind.FLOAT in kinds and bool(kinds & {Kind.SIGNED, Kind.UNSIGNED})


def _told(parameter: Parameter) -> str:
    return f".{parameter.type.name} {parameter.name}"


def _bytes(operand: Operand, declared: Declared) -> int | None:
    if isinstance(operand, Register):
        return operand.type.bits // 8 or None
    if isinstance(operand, SymbolAddress):
        found = declared.get(operand.name)
        if isinstance(found, Variable | Parameter) and None not in found.shape:
            return found.size_bytes
    return None
