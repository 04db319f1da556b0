"""What a launch must know of a kernel, without how it was made: kept beside its PTX, and written as JSON."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

from attrs import field, fields, frozen, has

from polyhedral import Affine
from ptxgen.compute import Array, ArrayKind, Element
from ptxgen.lower import dynamic_shared_bytes
from ptxgen.tile import (
    LANE_BITS,
    Fact,
    Grid,
    GridDim,
    Parameter,
    ParameterKind,
    Program,
    Quotient,
    Raster,
    Segmented,
    Space,
    TensorBox,
    WorkList,
    Workspace,
)


@frozen
class Entry:
    """A kernel's name and target, its parameters and tensor maps in launch order, what it relies on, the arrays that it
    wants, its grid, threads and dynamic shared bytes of a block, and whether it waits for the kernels ahead by itself,
    so that its launch may overlap with them."""

    name: str
    target: str
    parameters: tuple[Parameter, ...]
    boxes: tuple[TensorBox, ...]
    facts: tuple[Fact, ...]
    arrays: tuple[Array, ...]
    grid: Grid
    threads: int
    shared_bytes: int = field(default=0)
    overlapped: bool = False
    workspaces: tuple[Workspace, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether all its blocks must run at once: they pass tiles on through memory, and nothing tells in which order
        they begin. Those that come by ticket wait for such as have begun before them alone."""
        return bool(self.workspaces) and not self.grid.tickets


def entry_of(program: Program) -> Entry:
    """The entry of a tile program."""
    threads = program.warps << LANE_BITS
    arrays = program_arrays(program)
    shared = dynamic_shared_bytes(program)
    return Entry(
        program.name,
        program.target,
        program.parameters,
        program.boxes,
        program.facts,
        arrays,
        program.grid,
        threads,
        shared,
        program.overlapped,
        program.workspaces,
    )


def program_arrays(program: Program) -> tuple[Array, ...]:
    """The arrays that a program wants, in launch order."""
    placed = {buffer.array: buffer for buffer in program.buffers if buffer.space is Space.GLOBAL}
    found: list[Array] = []
    for parameter in program.parameters:
        if parameter.kind is ParameterKind.POINTER:
            buffer = placed[parameter.name]
            kind = ArrayKind.OUTPUT if parameter.written else ArrayKind.INPUT
            memory = buffer.in_memory
            found.append(Array(parameter.name, buffer.element, memory.extents, memory.strides, kind))
    return tuple(found)


_WRITTEN: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(Affine, Array, ArrayKind, Element, Entry, Fact, Grid, GridDim, Parameter, ParameterKind, Quotient, Raster),
        *(Segmented, TensorBox, WorkList, Workspace),
    )
}


def to_json(entry: Entry) -> str:
    """An entry as text, from which `from_json` makes an equal one."""
    return json.dumps(_plain(entry), separators=(",", ":"))


def from_json(text: str) -> Entry:
    """The entry that `to_json` wrote; ValueError for any other text."""
    try:
        made = _made(json.loads(text))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise ValueError(f"no entry of a kernel: {error!r}") from None
    if not isinstance(made, Entry):
        raise ValueError(f"no entry of a kernel: {type(made).__name__}")
    return made


def _plain(value: Any) -> Any:
    """Tuples as lists; members of enumerations and records as a list that begins with their class's name in a list."""
    if isinstance(value, Enum):
        return [[type(value).__name__], value.name]
    if isinstance(value, tuple):
        return [None, *map(_plain, value)]
    if has(type(value)):
        return [[type(value).__name__], *(_plain(getattr(value, each.name)) for each in fields(type(value)) if each.eq)]
    return value


def _made(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    head, *rest = value
    if head is None:
        return tuple(map(_made, rest))
    kind = _WRITTEN[head[0]]
    return kind[rest[0]] if issubclass(kind, Enum) else kind(*map(_made, rest))
