"""Every stage of a kernel as text."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import assert_never

from ptxgen.cli.timeline import timelines
from ptxgen.derive.part import Part
from ptxgen.kernels.launching.generated import GeneratedKernel
from ptxgen.tile import (
    Acquire,
    Advance,
    Arrive,
    ClusterArrive,
    ClusterWait,
    Commit,
    Copy,
    Counter,
    Expect,
    Fill,
    ForEachItem,
    GridRelease,
    GridWait,
    HandWritten,
    Let,
    Loop,
    Map,
    Meet,
    Multiply,
    Node,
    ProxyFence,
    Quotient,
    Reduce,
    RegisterFence,
    Release,
    Retire,
    Sequence,
    Wait,
    When,
)
from ptxgen.tile.printing import show
from ptxgen.tile.printing.bodies import of_tile


class Stage(Enum):
    """What is explained: every stage, synchronisation alone, or the tile program alone, which `ptxgen build` reads."""

    ALL = "all"
    SYNC = "sync"
    TILE = "tile"


def explain(kernel: GeneratedKernel, what: Stage = Stage.ALL) -> str:
    """Statements, schedule, ops, their requirements and what keeps them, tile program, loops, PTX with its origins; of
    synchronisation each wait, arrival and fence with what it covers, and which filling of a ring waits for which
    release."""
    if what is Stage.TILE:
        return show(kernel.program)
    if what is Stage.SYNC:
        return "\n".join(_of_parts(kernel, ops=False))
    lines = _headed("statements", str(kernel.plan.compute).splitlines())
    lines += _headed("schedule: each step with the loops before -> after", str(kernel.plan).splitlines())
    lines += _of_parts(kernel, ops=True)
    lines += _headed("order of sums: equal signatures give equal bits", orders(kernel))
    lines += _headed("tile program", show(kernel.program).splitlines())
    for role in kernel.program.roles:
        lines += _headed(f"loops of {role.name}", list(skeleton(role.body)))
    return "\n".join(lines + _headed("PTX", _ptx(kernel)))


def _of_parts(kernel: GeneratedKernel, *, ops: bool) -> list[str]:
    lines: list[str] = []
    for number, part in enumerate(kernel.derivation.parts):
        which = "" if len(kernel.derivation.parts) == 1 else (" of full blocks", " of partial blocks")[number]
        if ops:
            lines += _headed(f"ops{which}", _ops(part))
        lines += _headed(f"requirements{which}", [str(each) for each in part.requirements])
        lines += _headed(f"synchronisation{which}", _synchronisation(part))
        if part.synchronised.rings:
            lines += _headed(f"rings{which}", list(timelines(part)))
    return lines


def orders(kernel: GeneratedKernel) -> list[str]:
    """The signature of a kernel's sums of products."""
    return [str(order) for order in kernel.derivation.signature()] or ["no sum of products on tensor cores"]


def _headed(heading: str, lines: list[str]) -> list[str]:
    return ["", f"== {heading} ==", *lines]


def _ops(part: Part) -> list[str]:
    lines = []
    for op in part.ops:
        loops = ", ".join(
            f"{loop} + {ahead}" if ahead else loop for loop, ahead in zip(op.time.loops, op.time.ahead, strict=True)
        )
        touches = ", ".join(f"{t.kind.value}s {t.buffer.name}" for t in op.touches)
        lines.append(f"{op}: {touches}" + (f"; in {loops}" if loops else "") + f"    # {op.line}")
    return lines


def _synchronisation(part: Part) -> list[str]:
    lines = [f"all threads, before their roles: {atom}" for atom in part.synchronised.enter]
    for atom in part.synchronised.atoms:
        loops = ", ".join(atom.time.loops)
        where = f"behind the loop {loops}" if atom.tail else f"in {loops}" if loops else "outside the loops"
        late = next((-ahead for ahead in atom.time.ahead if ahead), 0)
        lag = f", {late} steps late" if late > 0 else ""
        place = atom.time.place[len(atom.time.loops)]
        lines.append(f"{atom.role}: {atom.atom}, {where}, at place {place} of its body{lag}")
        lines += [f"    covers {each}" for each in atom.covers]
    return lines or ["none is needed"]


def skeleton(node: Node, indent: str = "") -> Iterator[str]:
    """The loops and conditions of a tree, with the names of the ops in them."""
    match node:
        case Sequence(children):
            names: list[str] = []
            for child in children:
                if isinstance(child, (Copy, Fill, Multiply, Map, Reduce, HandWritten)):
                    names.append(child.op)
                    continue
                if names:
                    yield f"{indent}{', '.join(names)}"
                    names = []
                yield from skeleton(child, indent)
            if names:
                yield f"{indent}{', '.join(names)}"
        case Loop(variable, lower, upper, step, body):
            by = f" by {step}" if step != 1 else ""
            yield f"{indent}for {variable} from {_bound('max', lower)} to {_bound('min', upper)}{by}"
            yield from skeleton(body, indent + "    ")
        case Let(variable, value, body):
            yield f"{indent}with {variable} = {value}"
            yield from skeleton(body, indent + "    ")
        case When(conditions, then, otherwise):
            yield f"{indent}where {' and '.join(map(str, conditions))}"
            yield from skeleton(then, indent + "    ")
            if otherwise is not None:
                yield f"{indent}else"
                yield from skeleton(otherwise, indent + "    ")
        case ForEachItem(_, body, first, step):
            yield f"{indent}for each item" if step == 1 else f"{indent}for items {first}, {first + step}, ..."
            yield from skeleton(body, indent + "    ")
        case Counter(variable, body):
            yield f"{indent}count {variable}"
            yield from skeleton(body, indent + "    ")
        case Advance(variable, by):
            yield f"{indent}advance {variable} by {by}"
        case Meet():
            yield f"{indent}meet"
        case Commit(kind):
            yield f"{indent}commit {kind.value}"
        case Retire(kind, pending, reads_only=reads_only):
            yield f"{indent}retire {kind.value}{' reads' if reads_only else ''}, pending {pending}"
        case Wait(ring, side, rank):
            yield f"{indent}wait {ring}{{{rank}}} {side.value}"
        case Arrive(ring, rank):
            yield f"{indent}arrive {ring}{{{rank}}}"
        case Expect(ring, rank):
            yield f"{indent}expect {ring}{{{rank}}}"
        case ClusterArrive():
            yield f"{indent}arrive at the cluster's barrier"
        case ClusterWait():
            yield f"{indent}wait for the cluster's barrier"
        case GridRelease():
            yield f"{indent}let the grids behind begin"
        case GridWait():
            yield f"{indent}wait for the grids ahead"
        case Acquire(flags, value, _, tile):
            yield f"{indent}acquire {flags}{of_tile(tile)} at {value}"
        case Release(flags, value, _, tile):
            yield f"{indent}release {flags}{of_tile(tile)} as {value}"
        case RegisterFence():
            yield f"{indent}register fence"
        case ProxyFence():
            yield f"{indent}proxy fence"
        case Copy() | Fill() | Multiply() | Map() | Reduce() | HandWritten():
            yield f"{indent}{node.op}"
        case _:
            assert_never(node)


def _bound(join: str, quotients: tuple[Quotient, ...]) -> str:
    texts = [str(each) for each in quotients]
    return texts[0] if len(texts) == 1 else f"{join}({', '.join(texts)})"


def _ptx(kernel: GeneratedKernel) -> list[str]:
    lines = []
    for text, origin in zip(kernel.listing.text.splitlines(), kernel.listing.origins, strict=False):
        mark = f"  // {Path(origin.file).name}:{origin.line}" if origin is not None else ""
        lines.append(f"{text}{mark}")
    return lines
