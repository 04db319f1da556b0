"""Memory of the kernel's own: the parameter that it comes by, and what tiles of it hold."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.tile import Acquire, ParameterKind, Program, Release, Space, Workspace
from ptxgen.tile.trees import ends_of

FLAG_BYTES = 4


def workspace_faults(program: Program) -> Iterator[Finding]:
    """Workspaces that no parameter provides, parameters of which nothing tells how large they are, and tiles or flags
    of another type than what is provided."""
    parameters = {each.name: each for each in program.parameters if each.kind is ParameterKind.WORKSPACE}
    declared = {each.name: each for each in program.workspaces}
    for name, parameter in parameters.items():
        if name not in declared:
            text = (
                f"nothing tells what a tile of {name} has: wanted a workspace '{name}: N of {parameter.element} a tile'"
            )
            yield Finding("declaration.workspace", Severity.ERROR, text, parameter.line)
    for name, found in declared.items():
        given = parameters[name].element if name in parameters else None
        if given is not found.element:
            got = f"a parameter of {given}" if given else "no parameter"
            yield _finding(found, f"{name} has {found.element}, wanted a workspace of that, got {got}")
    flags = {n.flags for role in program.roles for n in ends_of(role.body) if isinstance(n, Acquire | Release)}
    for found in declared.values():
        if found.name in flags and found.element.byte_count != FLAG_BYTES:
            yield _finding(found, f"{found.name} has flags, wanted elements of {FLAG_BYTES} bytes, got {found.element}")
    for buffer in program.buffers:
        held = declared.get(buffer.array) if buffer.space is Space.GLOBAL else None
        if held is not None and held.element is not buffer.element:
            yield _finding(held, f"tiles of {buffer.name} are of {buffer.element}, but {held.name} has {held.element}")


def _finding(found: Workspace, text: str) -> Finding:
    return Finding("declaration.workspace", Severity.ERROR, text, found.line)
