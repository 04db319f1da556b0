"""SASS, the machine code of a GPU, read from the text of nvdisasm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from attrs import frozen

from ptxgen.emit import Listing
from ptxgen.ir import Origin

SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")
ANY_SECTION = re.compile(r"^\s*\.section\s")
LABEL = re.compile(r"^([.$\w]+):\s*$")
MARKER = re.compile(r"^\s*//## File \"[^\"]*\", line (\d+)")
INSTRUCTION = re.compile(
    r"^\s*/\*(?P<address>[0-9a-f]+)\*/\s*\{?\s*(?:@(?P<not>!?)(?P<guard>U?P\w+)\s+)?(?P<opcode>[A-Z][\w.]*)"
    r"\s*(?P<operands>[^;]*?)\s*;?\s*\}?\s*(?:/\*.*)?$"
)
LABELLED = re.compile(r"`\(([^)]+)\)")
BRANCHES = ("BRA", "JMP")
OPENING, CLOSING = "([{", ")]}"


@frozen
class SassGuard:
    """A predicate before an instruction: its register (`P0`, `UP1`, `PT`), and whether it is negated."""

    register: str
    negated: bool

    def __str__(self) -> str:
        return f"@{'!' * self.negated}{self.register}"


@frozen
class SassInstruction:
    """One machine instruction.

    `address` counts bytes from the start of the function, `opcode` is with its modifiers (`LDG.E.128`), `operands` are
    as nvdisasm spells them, `target` is the address that a label among them stands for. `ptx_line` is the line of the
    PTX text that it was made for and `origin` the user's line behind that one; None where nothing tells.
    """

    address: int
    opcode: str
    operands: tuple[str, ...]
    guard: SassGuard | None = None
    target: int | None = None
    ptx_line: int | None = None
    origin: Origin | None = None

    def has_opcode(self, opcode: str) -> bool:
        """True if the opcode begins with these words: `LDG.E.128` has the opcodes `LDG` and `LDG.E`."""
        return f"{self.opcode}.".startswith(f"{opcode}.")

    @property
    def branches_back(self) -> bool:
        """True for a branch to an earlier address; a branch to itself, which ends the code, is none."""
        return self.opcode.split(".")[0] in BRANCHES and self.target is not None and self.target < self.address

    def __str__(self) -> str:
        guard = f"{self.guard} " if self.guard is not None else ""
        return f"{guard}{self.opcode} {', '.join(self.operands)}".rstrip()


@frozen
class SassLoop:
    """What lies between the target of a backward branch and the last such branch to it, both included."""

    instructions: tuple[SassInstruction, ...]

    @property
    def first(self) -> int:
        """The address of the first instruction."""
        return self.instructions[0].address

    @property
    def last(self) -> int:
        """The address of the branch back."""
        return self.instructions[-1].address

    def count(self, opcode: str) -> int:
        """How many instructions have that opcode (see `SassInstruction.has_opcode`), with those of loops inside."""
        return sum(each.has_opcode(opcode) for each in self.instructions)

    def holds(self, other: SassLoop) -> bool:
        """True if the other loop lies inside this one."""
        return other is not self and self.first <= other.first and other.last <= self.last


@frozen
class SassFunction:
    """The instructions of a function in the order of their addresses, without the filling behind the last one."""

    name: str
    instructions: tuple[SassInstruction, ...]

    def count(self, opcode: str) -> int:
        """How many instructions have that opcode (see `SassInstruction.has_opcode`)."""
        return sum(each.has_opcode(opcode) for each in self.instructions)

    def opcodes(self) -> dict[str, int]:
        """How many there are of each opcode with its modifiers, the most frequent first."""
        counted = Counter(each.opcode for each in self.instructions)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def loops(self) -> tuple[SassLoop, ...]:
        """The loops, found by backward branches; an outer one before those inside it."""
        ends = {each.target: each.address for each in self.instructions if each.branches_back}
        spans = sorted(((first, last) for first, last in ends.items() if first is not None), key=_outer_first)
        return tuple(SassLoop(self.between(first, last)) for first, last in spans)

    def between(self, first: int, last: int) -> tuple[SassInstruction, ...]:
        """The instructions from one address through another."""
        return tuple(each for each in self.instructions if first <= each.address <= last)

    def innermost_loops(self) -> tuple[SassLoop, ...]:
        """The loops without a loop inside."""
        loops = self.loops()
        return tuple(loop for loop in loops if not any(loop.holds(other) for other in loops))


def _outer_first(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], -span[1]


def read_functions(text: str, listing: Listing | None) -> tuple[SassFunction, ...]:
    """The functions in what `nvdisasm -c -gp` prints, by name; lines of PTX are those of `listing`."""
    made = [_function(name, lines, listing) for name, lines in _sections(text)]
    return tuple(sorted(made, key=lambda each: each.name))


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    name, lines = "", list[str]()
    for line in [*text.splitlines(), "\t.section\t."]:
        if not ANY_SECTION.match(line):
            lines.append(line)
            continue
        if name:
            yield name, lines
        found = SECTION.match(line)
        name, lines = found[1] if found else "", []


def _function(name: str, lines: list[str], listing: Listing | None) -> SassFunction:
    labels: dict[str, int] = {}
    waiting: list[str] = []
    read: list[tuple[re.Match[str], int | None]] = []
    ptx_line: int | None = None
    for line in lines:
        if marker := MARKER.match(line):
            ptx_line = int(marker[1])
        elif label := LABEL.match(line):
            waiting.append(label[1])
        elif found := INSTRUCTION.match(line):
            labels.update(dict.fromkeys(waiting, int(found["address"], 16)))
            waiting = []
            read.append((found, ptx_line))
    made = [_instruction(found, labels, line, listing) for found, line in read]
    return SassFunction(name, tuple(made[: _without_filling(made)]))


def _instruction(
    found: re.Match[str], labels: dict[str, int], ptx_line: int | None, listing: Listing | None
) -> SassInstruction:
    named = LABELLED.search(found["operands"])
    return SassInstruction(
        address=int(found["address"], 16),
        opcode=found["opcode"],
        operands=tuple(_operands(found["operands"])),
        guard=SassGuard(found["guard"], bool(found["not"])) if found["guard"] else None,
        target=labels.get(named[1]) if named else None,
        ptx_line=ptx_line,
        origin=listing.origin(ptx_line) if listing is not None and ptx_line is not None else None,
    )


def _operands(text: str) -> Iterator[str]:
    """Operands are separated by commas outside brackets."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    if text[start:].strip():
        yield text[start:].strip()


def _without_filling(instructions: list[SassInstruction]) -> int:
    """How many instructions there are before the closing branch to itself and the NOPs around it."""
    count = len(instructions)
    while count and (instructions[count - 1].opcode == "NOP" or _is_closing(instructions[count - 1])):
        count -= 1
    return count


def _is_closing(instruction: SassInstruction) -> bool:
    return instruction.opcode == "BRA" and instruction.target == instruction.address and instruction.guard is None
