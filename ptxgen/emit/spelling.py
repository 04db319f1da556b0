"""The spelling of single declarations and instructions."""

from __future__ import annotations

from ptxgen.ir import (
    Initial,
    Instruction,
    Linkage,
    Parameter,
    Register,
    Variable,
    joined_slots,
    operand_text,
)


def instruction_text(instruction: Instruction) -> str:
    """One instruction as PTX: `@%p1 mad.lo.u32 %r3, %r0, %r1, 7;`."""
    form, operands, guard = instruction.form, instruction.operands, instruction.guard
    head = form.name if guard is None else f"{guard.text} {form.name}"
    if not operands:
        return head + ";"
    joined = joined_slots(form, len(operands))
    texts = [each.name if type(each) is Register else operand_text(each) for each in operands]
    if not joined:
        return f"{head} {', '.join(texts)};"
    text = texts[0]
    for index, following in enumerate(texts[1:], 1):
        text += f"|{following}" if index in joined else f", {following}"
    return f"{head} {text};"


def parameter_text(parameter: Parameter) -> str:
    """A parameter's declaration: `.param .u64 .ptr .global .align 16 a`, `.param .align 64 .b8 map[128]`."""
    shape = "".join(f"[{extent}]" for extent in parameter.shape)
    align = f".align {parameter.align} " if parameter.align is not None else ""
    if parameter.pointer is None:
        return f".param {align}.{parameter.type} {parameter.name}{shape}"
    facts = parameter.pointer
    pointee = f" .align {facts.align}" if facts.align is not None else ""
    return f".param {align}.{parameter.type} .ptr .{facts.space.value}{pointee} {parameter.name}{shape}"


def variable_text(variable: Variable) -> str:
    """A variable's declaration: `.shared .align 16 .b8 tile[4096];`."""
    linkage = "" if variable.linkage is Linkage.PRIVATE else f".{variable.linkage.value} "
    align = f".align {variable.align} " if variable.align is not None else ""
    vector = f".v{variable.vector} " if variable.vector != 1 else ""
    shape = "".join(f"[{'' if extent is None else extent}]" for extent in variable.shape)
    value = "" if variable.initial is None else f" = {_initial_text(variable.initial)}"
    return f"{linkage}.{variable.space.value} {align}{vector}.{variable.type} {variable.name}{shape}{value};"


def _initial_text(initial: Initial) -> str:
    return "{" + ", ".join(map(_initial_text, initial)) + "}" if isinstance(initial, tuple) else initial.text
