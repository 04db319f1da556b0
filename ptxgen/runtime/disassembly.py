"""From PTX to the machine code that runs, as a typed listing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from ptxgen.runtime.assembler import Cubin, assemble
from ptxgen.runtime.disassembler import Disassembler, describe_disassembler, disassemble, find_disassembler
from ptxgen.runtime.machine_code import LABELLED, SassFunction, SassInstruction, read_functions
from ptxgen.runtime.ptxas import Assembler
from ptxgen.runtime.source import Source


@frozen
class Sass:
    """The machine code of a module: its functions by name, the cubin that they are in, and what read it.

    `sass["name"]` is a function; `str` prints all of it, each instruction behind the PTX line that it was made for.
    """

    functions: tuple[SassFunction, ...]
    cubin: Cubin
    disassembler: Disassembler = field(repr=False)

    def __getitem__(self, name: str) -> SassFunction:
        """The function of that name; LookupError names those that there are."""
        for function in self.functions:
            if function.name == name:
                return function
        known = ", ".join(function.name for function in self.functions) or "none"
        raise LookupError(f"the machine code has no function {name!r}; it has: {known}")

    def __str__(self) -> str:
        return "\n".join(self.text(function) for function in self.functions)

    def text(self, function: SassFunction) -> str:
        """One function in print: addresses, instructions, the PTX before them, a bar along each innermost loop."""
        loops = function.innermost_loops()
        lines = [f"{function.name}:  // {self.cubin.target}, {len(function.instructions)} instructions"]
        shown: int | None = None
        for each in function.instructions:
            if each.ptx_line is not None and each.ptx_line != shown:
                lines.append(f"  {'':6}  // {each.ptx_line}: {self.cubin.listing.line(each.ptx_line)}")
                shown = each.ptx_line
            bar = "|" if any(loop.first <= each.address <= loop.last for loop in loops) else " "
            lines.append(f"  {each.address:04x} {bar}  {in_print(each)}")
        return "\n".join(lines)


def in_print(instruction: SassInstruction) -> str:
    """An instruction with the address that its label stands for in the place of the label."""
    if instruction.target is None:
        return str(instruction)
    return LABELLED.sub(f"{instruction.target:#06x}", str(instruction))


def sass(
    source: Source | Cubin,
    *,
    target: str | None = None,
    assembler: Assembler | Path | str | None = None,
    disassembler: Path | str | None = None,
    options: Sequence[str] = (),
) -> Sass:
    """The machine code that a module, a listing or PTX text becomes, with PTX and user lines, or that of a cubin.

    `target`, `assembler` and `options` are those of `assemble`; lines are known because `-lineinfo` is among the
    options, in a cubin only if it was. `disassembler` is the path of an nvdisasm; None takes the first that reads the
    target. AssemblerError where the text is refused, or no nvdisasm reads the target, with where one is to be had.
    """
    cubin = (
        source
        if isinstance(source, Cubin)
        else assemble(source, target=target, assembler=assembler, options=("-lineinfo", *options))
    )
    chosen = (
        find_disassembler(cubin.target) if disassembler is None else describe_disassembler(Path(disassembler).resolve())
    )
    return Sass(read_functions(disassemble(cubin.image, chosen), cubin.listing), cubin, chosen)
