"""A whole program from its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import define, field

from ptxgen.tile.leaves import Code
from ptxgen.tile.program import Program, Role, Told
from ptxgen.tile.reading.bodies import body, node
from ptxgen.tile.reading.cursor import Line, lines_of
from ptxgen.tile.reading.declarations import buffer, fact, grid, parameter, ring, tensor_box, workspace
from ptxgen.tile.reading.regions import Scope
from ptxgen.tile.synchronisation import ClusterArrive, ClusterWait, Entering, GridRelease, GridWait

ROLE = re.compile(r"[A-Za-z_][\w.#]*(?: \d+)?")
TOLD = re.compile(r"(?<= )(\d+) (warps|shared bytes|bytes|values a lane)(?=,|$)")
OVERLAPPED = ", launches overlapped"
SECTIONS = ("parameters", "requires", "grid", "buffers", "rings", "tensor maps", "workspaces", "all threads")
HEADINGS = ", ".join((*SECTIONS, "role NAME, N warps"))


def read(text: str, file: str = "<tile program>", codes: Iterable[Code] = ()) -> Program:
    """The program that `show` prints as `text`; every node keeps its line. What a line tells for the reader alone is
    no part of it, but kept as `told`: the warps and bytes of the program, the bytes and values of a buffer. `codes` are
    what is written by hand, of which the text has the names.

    PtxSyntaxError, with the line and what was wanted there, for anything else.
    """
    lines = lines_of(text, file)
    if not lines:
        raise Line(file, 1, 0, "").cursor().failure("there is no program", "'program NAME for TARGET: ...'")
    cursor = lines[0].cursor()
    cursor.take("program")
    name = cursor.name("the kernel's name")
    cursor.take("for")
    target = cursor.name("a target")
    cursor.take(":")
    overlapped = cursor.rest.endswith(OVERLAPPED)
    lines[0].alone()
    found = _sections(lines[1:])
    buffers = {each.name: each for each in map(buffer, found.of("buffers"))}
    scope = Scope(buffers, {code.name: code for code in codes})
    heading = found.headings.get("grid")
    if heading is None:
        raise lines[0].cursor().failure("the program has no grid", "a section 'grid'")
    return Program(
        name,
        target,
        tuple(map(parameter, found.of("parameters"))),
        tuple(map(fact, found.of("requires"))),
        grid(heading.below, heading),
        tuple(buffers.values()),
        tuple(_role(line, scope) for line in found.roles),
        tuple(map(ring, found.of("rings"))),
        tuple(map(tensor_box, found.of("tensor maps"))),
        tuple(map(_entering, found.of("all threads"))),
        overlapped,
        tuple(map(workspace, found.of("workspaces"))),
        told=(*_told("the program", lines[0]), *(t for line in found.of("buffers") for t in _told("", line))),
    )


def _told(subject: str, line: Line) -> Iterator[Told]:
    """The sizes that a line tells, of the program or of the buffer whose name comes first."""
    name = subject or line.cursor().name("a buffer's name")
    for count, unit in TOLD.findall(line.text):
        yield Told(name, int(count), unit, line.place)


@define
class _Sections:
    headings: dict[str, Line] = field(factory=dict)
    roles: list[Line] = field(factory=list)

    def of(self, name: str) -> list[Line]:
        """The lines of a section, none where it is not there."""
        return self.headings[name].below if name in self.headings else []


def _sections(lines: list[Line]) -> _Sections:
    found = _Sections()
    for line in lines:
        cursor = line.cursor()
        if cursor.took("role"):
            found.roles.append(line)
            continue
        name = next((own for own in SECTIONS if cursor.took(own)), None)
        if name is None or name in found.headings:
            raise cursor.failure(cursor.found() if name is None else f"{name} are told twice", f"a heading: {HEADINGS}")
        cursor.end()
        found.headings[name] = line
    return found


def _role(line: Line, scope: Scope) -> Role:
    cursor = line.cursor()
    cursor.take("role")
    name = cursor.match(ROLE, "a role's name")
    cursor.take(",")
    warps = cursor.integer("how many warps")
    cursor.take("warps")
    elected = cursor.took(", one thread elected")
    registers = None
    if cursor.took(","):
        registers = cursor.integer("registers of a thread")
        cursor.take("registers a thread")
    cursor.end()
    return Role(name, warps, body(line.below, scope), elected, registers, line=line.place)


def _entering(line: Line) -> Entering:
    match node(line, Scope({}, {})):
        case (ClusterArrive() | ClusterWait() | GridRelease() | GridWait()) as entering:
            return entering
        case _:
            raise line.cursor().failure(
                "only barriers of the cluster, and what is between grids, stand before the roles",
                "an arrival or a wait",
            )
