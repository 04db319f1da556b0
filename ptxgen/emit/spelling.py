"""The spelling of single declarations and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxgen.ir import (
    Attribute,
    BranchTargets,
    Call,
    CallTargets,
    DebugEntry,
    DebugLabel,
    File,
    Initial,
    Instruction,
    Linkage,
    Loc,
    Parameter,
    Pragma,
    Prototype,
    Registers,
    Variable,
    joined_slots,
    joins,
    vector_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isa.forms import Form


def instruction_text(instruction: Instruction) -> str:
    """One instruction as PTX: `@%p1 mad.lo.u32 %r3, %r0, %r1, 7;`."""
    return instruction_lines((instruction,), "")[0]


def instruction_lines(instructions: Iterable[Instruction], indent: str) -> list[str]:
    """The lines of instructions that follow each other, behind an indentation."""
    lines: list[str] = []
    for instruction in instructions:
        form, guard = instruction.form, instruction.guard
        texts = [vector_text(each) if type(each) is tuple else each.text for each in instruction.operands]  # type: ignore[union-attr]
        if guard is None and texts and (form in _COMMAS_ONLY or _has_commas_only(form)):
            lines.append(f"{indent}{form.name} {', '.join(texts)};")
            continue
        head = form.name if guard is None else f"{guard.text} {form.name}"
        lines.append(f"{indent}{head} {_joined(form, texts)};" if texts else f"{indent}{head};")
    return lines


_COMMAS_ONLY: set[Form] = set()


def _has_commas_only(form: Form) -> bool:
    """True if no operand of the form stands behind a bar; the form is in `_COMMAS_ONLY` from then on."""
    if joins(form):
        return False
    _COMMAS_ONLY.add(form)
    return True


def _joined(form: Form, texts: list[str]) -> str:
    joined = joined_slots(form, len(texts))
    return "".join(("" if not index else "|" if index in joined else ", ") + text for index, text in enumerate(texts))


def parameter_text(parameter: Parameter) -> str:
    """A parameter's declaration: `.param .u64 .ptr .global .align 16 a`, `.param .align 64 .b8 map[128]`."""
    space = "reg" if parameter.register else "param"
    shape = "".join(f"[{'' if extent is None else extent}]" for extent in parameter.shape)
    align = f".align {parameter.align} " if parameter.align is not None else ""
    align += f".v{parameter.vector} " if parameter.vector != 1 else ""
    if parameter.pointer is None:
        return f".{space} {align}.{parameter.type} {parameter.name}{shape}"
    facts = parameter.pointer
    pointed = f" .{facts.space.value}" if facts.space is not None else ""
    pointee = f" .align {facts.align}" if facts.align is not None else ""
    return f".{space} {align}.{parameter.type} .ptr{pointed}{pointee} {parameter.name}{shape}"


def registers_text(registers: Registers) -> str:
    """A declaration of registers: `.reg .b32 %r<100>;`."""
    vector = f".v{registers.vector} " if registers.vector != 1 else ""
    count = "" if registers.count is None else f"<{registers.count}>"
    return f".reg {vector}.{registers.type} {registers.name}{count};"


def variable_text(variable: Variable) -> str:
    """A variable's declaration: `.shared .align 16 .b8 tile[4096];`."""
    linkage = "" if variable.linkage is Linkage.PRIVATE else f".{variable.linkage.value} "
    attributes = attributes_text(variable.attributes)
    align = f".align {variable.align} " if variable.align is not None else ""
    vector = f".v{variable.vector} " if variable.vector != 1 else ""
    shape = "".join(f"[{'' if extent is None else extent}]" for extent in variable.shape)
    value = "" if variable.initial is None else f" = {_initial_text(variable.initial)}"
    head = f"{linkage}.{variable.space.value} {attributes}{align}{vector}"
    return f"{head}.{variable.type} {variable.name}{shape}{value};"


def attributes_text(attributes: tuple[Attribute, ...]) -> str:
    """`.attribute(.managed) ` with a blank behind it; nothing for none."""
    if not attributes:
        return ""
    texts = [f".{each.kind.value}" + (f"({', '.join(map(str, each.values))})" if each.values else "")
             for each in attributes]  # fmt: skip
    return f".attribute({', '.join(texts)}) "


def _initial_text(initial: Initial) -> str:
    return "{" + ", ".join(map(_initial_text, initial)) + "}" if isinstance(initial, tuple) else initial.text


def call_text(call: Call) -> str:
    """A call: `call.uni (retval0), f, (param0);`."""
    return str(call)


def targets_text(statement: BranchTargets | CallTargets) -> str:
    """`ts: .branchtargets A, B;` or `fs: .calltargets f, g;`."""
    if isinstance(statement, BranchTargets):
        return f"{statement.name.name}: .branchtargets {', '.join(each.name for each in statement.labels)};"
    return f"{statement.name.name}: .calltargets {', '.join(statement.functions)};"


def prototype_text(prototype: Prototype) -> str:
    """`p: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`."""
    returns = f"({', '.join(map(parameter_text, prototype.returns))}) " if prototype.returns else ""
    directives = "".join(f" {each.text}" for each in prototype.directives)
    parameters = ", ".join(map(parameter_text, prototype.parameters))
    return f"{prototype.name.name}: .callprototype {returns}_ ({parameters}){directives};"


def loc_text(loc: Loc) -> str:
    """`.loc 1 12 5, function_name info+8, inlined_at 1 40 3`."""
    function = "" if loc.function is None else f", function_name {loc.function.text}"
    inlined = "" if loc.inlined_at is None else f", inlined_at {loc.inlined_at.text}"
    return f".loc {loc.position.text}{function}{inlined}"


def file_text(file: File) -> str:
    """`.file 1 "kernel.cu", 1700000000, 1234`."""
    numbers = "".join(f", {each}" for each in (file.timestamp, file.size_bytes) if each is not None)
    return f'.file {file.index} "{file.path}"{numbers}'


def pragma_text(pragma: Pragma) -> str:
    """`.pragma "nounroll"`, without the semicolon."""
    return ".pragma " + ", ".join(f'"{each}"' for each in (pragma.text, *pragma.more))


def debug_text(entry: DebugEntry) -> str:
    """One line of a section: a label or `.b8 1, 2`."""
    if isinstance(entry, DebugLabel):
        return f"{entry.name}:"
    return f".{entry.type} {', '.join(value.text for value in entry.values)}"
