"""A tile program as text: declarations first, then one tree per role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxgen.tile.nodes import Node
from ptxgen.tile.printing.bodies import node_lines
from ptxgen.tile.printing.declarations import (
    buffer_lines,
    grid_lines,
    parameter_cells,
    ring_line,
    table,
    tensor_line,
    workspace_line,
)
from ptxgen.tile.printing.regions import INDENT
from ptxgen.tile.program import Program, Role


def show(item: Program | Node) -> str:
    """A program, or one node with all below it, as text: everything that decides its meaning, the same bytes for equal
    programs, so that `read` gives an equal one. Lines of the user's source are left out, and the name of an op that is
    named by the buffer it fills.

    `X{n}` is tile number n of buffer X, `X[...]` the corner of a box in it or, in a map, one element; there the name of
    a dim counts from the corner of the iteration.
    """
    return "\n".join(program_lines(item) if isinstance(item, Program) else node_lines(item))


def program_lines(program: Program) -> Iterator[str]:
    """The lines of a whole program."""
    overlapped = ", launches overlapped" if program.overlapped else ""
    size = f"{program.warps} warps, {program.shared_bytes} shared bytes{overlapped}"
    yield f"program {program.name} for {program.target}: {size}"
    yield from section("parameters", table(map(parameter_cells, program.parameters)))
    yield from section("requires", map(str, program.facts))
    yield from section("grid", grid_lines(program.grid))
    yield from section("buffers", buffer_lines(program.buffers))
    yield from section("rings", map(ring_line, program.rings))
    yield from section("tensor maps", map(tensor_line, program.boxes))
    yield from section("workspaces", map(workspace_line, program.workspaces))
    yield from section("all threads", (line for node in program.enter for line in node_lines(node)))
    for role in program.roles:
        yield from role_lines(role)


def section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    """`heading` and the indented lines; nothing at all where there are none."""
    held = list(lines)
    if held:
        yield heading
        yield from (INDENT + line for line in held)


def role_lines(role: Role) -> Iterator[str]:
    """The tree of a role."""
    words = [f"role {role.name}, {role.warps} warps"]
    words += ["one thread elected"] if role.elected else []
    words += [f"{role.registers} registers a thread"] if role.registers is not None else []
    yield ", ".join(words)
    yield from (INDENT + line for line in node_lines(role.body))
