"""`ptxgen sass`: the machine code that a PTX file becomes."""

from __future__ import annotations

import json
from typing import Any

from ptxgen.cli.terminal import show
from ptxgen.cli.texts import SassOptions, read_text
from ptxgen.cli.unusable import Unusable
from ptxgen.errors import AssemblerError
from ptxgen.runtime import Resources, Sass, SassFunction, SassInstruction, sass


def run_sass(options: SassOptions) -> int:
    """Prints the machine code of a file; 1 where ptxas refuses it, with what it says on the lines of the file."""
    text, name = read_text(options.file)
    try:
        code = sass(text, target=options.target, assembler=options.ptxas, disassembler=options.nvdisasm)
    except AssemblerError as error:
        if not error.findings:
            raise
        for finding in error.findings:
            place = f"{name}:{finding.ptx_line}" if finding.ptx_line is not None else name
            show(f"{finding.severity.value}: {place}: {finding.message} [{finding.code}]")
        return 1
    functions = _wanted(code, options.kernel)
    if options.json:
        print(json.dumps(_plain(code, functions, name), indent=2))
    else:
        show("\n\n".join(_in_print(code, function) for function in functions))
    return 0


def _wanted(code: Sass, kernel: str | None) -> tuple[SassFunction, ...]:
    if kernel is None:
        return code.functions
    try:
        return (code[kernel],)
    except LookupError as unknown:
        raise Unusable(str(unknown)) from None


def _in_print(code: Sass, function: SassFunction) -> str:
    taken = [_taken(each) for each in code.cubin.resources if each.kernel == function.name]
    loops = [_loop(each.first, each.last, len(each.instructions)) for each in function.loops()]
    return "\n".join([*(f"// {line}" for line in (*taken, *loops)), code.text(function)])


def _taken(resources: Resources) -> str:
    return (
        f"{resources.kernel}: {resources.registers} registers, {resources.spills} bytes spilled, "
        f"{resources.shared_bytes} shared, {resources.local_bytes} local"
    )


def _loop(first: int, last: int, count: int) -> str:
    return f"loop {first:#06x} to {last:#06x}: {count} instructions"


def _plain(code: Sass, functions: tuple[SassFunction, ...], name: str) -> dict[str, Any]:
    taken = {each.kernel: each for each in code.cubin.resources}
    return {
        "file": name,
        "target": code.cubin.target,
        "assembler": code.cubin.assembler.name,
        "functions": [
            {
                "name": function.name,
                **({"registers": taken[function.name].registers, "spills": taken[function.name].spills}
                   if function.name in taken else {}),
                "loops": [{"first": each.first, "last": each.last} for each in function.loops()],
                "instructions": [_instruction(each) for each in function.instructions],
            }
            for function in functions
        ],
    }  # fmt: skip


def _instruction(instruction: SassInstruction) -> dict[str, Any]:
    return {
        "address": instruction.address,
        "guard": None if instruction.guard is None else str(instruction.guard),
        "opcode": instruction.opcode,
        "operands": list(instruction.operands),
        "target": instruction.target,
        "line": instruction.ptx_line,
    }
