"""Trees as text: loops, conditions, synchronisation with what it covers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Items
from typing import assert_never

from attrs import evolve

from polyhedral import Affine
from ptxgen.tile.leaves import Copy, Fill, HandWritten, Map, Multiply, Reduce
from ptxgen.tile.nodes import Counter, ForEachItem, Let, Loop, Node, Sequence, When
from ptxgen.tile.printing.leaves import copy_lines, hand_lines, masks_text, multiply_text, named
from ptxgen.tile.printing.maps import map_lines
from ptxgen.tile.printing.regions import INDENT, region_text
from ptxgen.tile.quotient import Quotient
from ptxgen.tile.synchronisation import (
    OWN_TILE,
    Acquire,
    Advance,
    Arrive,
    ClusterArrive,
    ClusterWait,
    Commit,
    Covered,
    Expect,
    GridRelease,
    GridWait,
    Meet,
    ProxyFence,
    RegisterFence,
    Release,
    Retire,
    Wait,
)
from ptxgen.tile.trees import products


def of_tile(tile: Affine) -> str:
    """Which tile a flag is of, where it is not the block's own."""
    return "" if tile == OWN_TILE else f"{{{tile}}}"


def node_lines(node: Node) -> Iterator[str]:
    """The lines of a node and of all below it."""
    match node:
        case Sequence(children):
            for child in children:
                yield from node_lines(child)
        case Loop(variable, lower, upper, step, body):
            stride = f" step {step}" if step != 1 else ""
            yield from block(f"for {variable} = {bound('max', lower)} .. {bound('min', upper)}{stride}", body)
        case Let(variable, value, body):
            yield from block(f"let {variable} = {value}", body)
        case When(conditions, then, otherwise):
            yield from block(f"when {' and '.join(map(str, conditions)) or 'always'}", then)
            if otherwise is not None:
                yield from block("otherwise", otherwise)
        case ForEachItem(variable, body, first, step):
            which = (
                "each item" if (first, step) == (0, 1) else f"items {first}, {first + step}, {first + 2 * step}, ..."
            )
            yield from block(f"for {which}, number {variable}", body)
        case Counter(variable, body):
            yield from block(f"count {variable} from 0", body)
        case Copy():
            yield from copy_lines(node)
        case Fill(op, destination, value):
            yield named(op, destination, f"fill {region_text(destination)} with {value!r}")
        case Multiply():
            yield multiply_text(node)
        case Map() | Reduce():
            yield from map_lines(node)
        case HandWritten():
            yield from hand_lines(node)
        case Meet(barrier, covers):
            yield f"meet {barrier}" + ("" if covers else ", covers nothing")
            yield from covers_lines(covers)
        case Commit(kind):
            yield f"commit {kind.value}"
        case Retire(kind, pending, covers, reads_only):
            reads = " reads" if reads_only else ""
            yield f"retire {kind.value}{reads}, pending {pending}" + ("" if covers else ", covers nothing")
            yield from covers_lines(covers)
        case Wait(ring, side, rank, covers):
            yield f"wait {ring}{{{rank}}} {side.value}"
            yield from covers_lines(covers)
        case Arrive(ring, rank, by, covers, to):
            yield f"arrive {ring}{{{rank}}} empty, {by.value}{masks_text(to)}"
            yield from covers_lines(covers)
        case Expect(ring, rank, byte_count, covers):
            yield f"expect {ring}{{{rank}}} full, {byte_count} bytes"
            yield from covers_lines(covers)
        case Advance(variable, by):
            yield f"advance {variable} by {by}"
        case ClusterArrive(covers):
            yield "arrive at the cluster's barrier"
            yield from covers_lines(covers)
        case ClusterWait(covers):
            yield "wait for the cluster's barrier"
            yield from covers_lines(covers)
        case GridRelease():
            yield "let the grids behind begin"
        case GridWait():
            yield "wait for the grids ahead"
        case Acquire(flags, value, covers, tile):
            yield f"acquire {flags}{of_tile(tile)} at {value}"
            yield from covers_lines(covers)
        case Release(flags, value, covers, tile):
            yield f"release {flags}{of_tile(tile)} as {value}"
            yield from covers_lines(covers)
        case RegisterFence(covers):
            yield "register fence"
            yield from covers_lines(covers)
        case ProxyFence(covers):
            yield "proxy fence"
            yield from covers_lines(covers)
        case _:
            assert_never(node)


def covers_lines(covers: Items[Covered]) -> Iterator[str]:
    """The requirements of a node, indented; those that differ only in the instances of an unrolled op on one line."""
    for covered, sources, sinks in products(covers):
        source, sink = covered.source + instances_text(sources), covered.sink + instances_text(sinks)
        yield f"{INDENT}covers {evolve(covered, source=source, sink=sink)}"


def instances_text(instances: Iterable[str]) -> str:
    """`[0..7]` for instances that follow each other, `[0; 2]` for others, nothing for the only one."""
    held = list(instances)
    if held == [""]:
        return ""
    numbers = [int(one) for one in held if one.isdecimal()]
    if len(numbers) == len(held) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"[{numbers[0]}..{numbers[-1]}]"
    return f"[{'; '.join(held)}]"


def block(heading: str, body: Node) -> Iterator[str]:
    """`heading:` and the indented lines of `body`."""
    yield heading + ":"
    yield from (INDENT + line for line in list(node_lines(body)) or ["nothing"])


def bound(join: str, quotients: tuple[Quotient, ...]) -> str:
    """One bound, or the largest or smallest of several."""
    return str(quotients[0]) if len(quotients) == 1 else f"{join}({', '.join(map(str, quotients))})"
