"""Control and synchronisation: the lines of a role's tree."""

from __future__ import annotations

import re
from collections.abc import Iterable

from isa.mechanisms import GroupKind
from polyhedral import Affine
from ptxgen.compute import SourceLine
from ptxgen.tile.nodes import Counter, ForEachItem, Let, Loop, Node, When
from ptxgen.tile.reading.cursor import Cursor, Line
from ptxgen.tile.reading.leaves import blocks, leaf
from ptxgen.tile.reading.quantities import affine, bounds, condition, quotient
from ptxgen.tile.reading.regions import Scope
from ptxgen.tile.synchronisation import (
    OWN_TILE,
    Acquire,
    Advance,
    Arrive,
    Arriving,
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
    RequirementKind,
    Retire,
    Side,
    Synchronisation,
    Wait,
)
from ptxgen.tile.trees import sequence, with_instance

BEGIN_BEHIND = "let the grids behind begin"
WANTED = "a copy, fill, multiply, map, reduce, loop, condition, or a word of synchronisation"
REQUIREMENTS = {kind.value: kind for kind in RequirementKind}
GROUPS = {kind.value: kind for kind in GroupKind}
SIDES = {side.value: side for side in Side}
ARRIVING = {by.value: by for by in Arriving}
OP = re.compile(r"[^\s\[\]]+")
INSTANCES = re.compile(r"\[([^\]]*)\]")


def body(lines: Iterable[Line], scope: Scope) -> Node:
    """The nodes that lines at one indentation spell, one after the other."""
    found: list[Node] = []
    for line in lines:
        cursor = line.cursor()
        if cursor.took("otherwise:"):
            cursor.end()
            found.append(_otherwise(found.pop() if found else None, line, scope))
        elif cursor.took("nothing"):
            cursor.end()
            line.alone()
        else:
            found.append(node(line, scope))
    return sequence(found)


def _otherwise(before: Node | None, line: Line, scope: Scope) -> Node:
    match before:
        case When(conditions, then, None):
            return When(conditions, then, body(line.below, scope))
        case _:
            raise line.cursor().failure("no condition stands before", "a 'when' on the line above at this indentation")


def node(line: Line, scope: Scope) -> Node:
    """The node that a line, with those below it, spells."""
    found = leaf(line, scope) or _control(line, scope)
    if found is not None:
        return found
    cursor = line.cursor()
    made = _synchronising(cursor, line)
    if made is None:
        raise cursor.failure(cursor.found(), WANTED)
    cursor.end()
    return made


def _control(line: Line, scope: Scope) -> Node | None:
    cursor = line.cursor()
    if cursor.took("for each item, number"):
        variable = cursor.name("a name for the number")
        return ForEachItem(variable, _inside(cursor, line, scope))
    if cursor.took("for items"):
        return _some_items(cursor, line, scope)
    if cursor.took("for"):
        return _loop(cursor, line, scope)
    if cursor.sees(BEGIN_BEHIND):
        return None
    if cursor.took("let"):
        variable = cursor.name()
        cursor.take("=")
        value = quotient(cursor)
        return Let(variable, value, _inside(cursor, line, scope))
    if cursor.took("when"):
        held = [] if cursor.took("always") else [condition(cursor) for _ in cursor.separated("and")]
        return When(tuple(held), _inside(cursor, line, scope))
    if cursor.took("count"):
        variable = cursor.name()
        cursor.take("from", "0")
        return Counter(variable, _inside(cursor, line, scope))
    return None


def _some_items(cursor: Cursor, line: Line, scope: Scope) -> ForEachItem:
    """`for items 1, 3, 5, ..., number n`."""
    numbers = [cursor.integer("the number of an item")]
    for _ in range(2):
        cursor.take(",")
        numbers.append(cursor.integer("the number of an item"))
    first, second, third = numbers
    if first < 0 or second <= first or third - second != second - first:
        raise cursor.failure(f"items {first}, {second}, {third}", "items at equal distances, in ascending order")
    cursor.take(", ..., number")
    variable = cursor.name("a name for the number")
    return ForEachItem(variable, _inside(cursor, line, scope), first, second - first)


def _loop(cursor: Cursor, line: Line, scope: Scope) -> Loop:
    variable = cursor.name("the name of a loop")
    cursor.take("=")
    lower = bounds(cursor, "max")
    cursor.take("..")
    upper = bounds(cursor, "min")
    step = cursor.integer("a step") if cursor.took("step") else 1
    if step < 1:
        raise cursor.failure(f"a step of {step}", "a positive one")
    return Loop(variable, lower, upper, step, _inside(cursor, line, scope))


def _inside(cursor: Cursor, line: Line, scope: Scope) -> Node:
    cursor.take(":")
    cursor.end()
    return body(line.below, scope)


def _synchronising(cursor: Cursor, line: Line) -> Synchronisation | None:
    place = line.place
    if cursor.took("commit"):
        line.alone()
        return Commit(cursor.chosen(GROUPS, "a kind of group"), line=place)
    if cursor.took("advance"):
        line.alone()
        variable = cursor.name("a counter")
        cursor.take("by")
        return Advance(variable, quotient(cursor), line=place)
    if cursor.took(BEGIN_BEHIND):
        line.alone()
        return GridRelease(line=place)
    if cursor.took("wait for the grids ahead"):
        line.alone()
        return GridWait(line=place)
    covers = _covers(line)
    return _between_blocks(cursor, covers, place) or _covering(cursor, covers, place)


def _between_blocks(cursor: Cursor, covers: tuple[Covered, ...], place: SourceLine) -> Synchronisation | None:
    if cursor.took("arrive at the cluster's barrier"):
        return ClusterArrive(covers, line=place)
    if cursor.took("wait for the cluster's barrier"):
        return ClusterWait(covers, line=place)
    if cursor.took("acquire"):
        flags, tile = _flag_of(cursor)
        cursor.take("at")
        return Acquire(flags, affine(cursor), covers, tile, line=place)
    if cursor.took("release"):
        flags, tile = _flag_of(cursor)
        cursor.take("as")
        return Release(flags, affine(cursor), covers, tile, line=place)
    return None


def _covering(cursor: Cursor, covers: tuple[Covered, ...], place: SourceLine) -> Synchronisation | None:
    if cursor.took("meet"):
        barrier = cursor.integer("the number of a barrier")
        cursor.took(", covers nothing")
        return Meet(barrier, covers, line=place)
    if cursor.took("retire"):
        return _retire(cursor, covers, place)
    if cursor.took("register fence"):
        return RegisterFence(covers, line=place)
    if cursor.took("proxy fence"):
        return ProxyFence(covers, line=place)
    if cursor.took("wait"):
        ring, rank = _tile_of(cursor)
        return Wait(ring, cursor.chosen(SIDES, "a side"), rank, covers, line=place)
    if cursor.took("arrive"):
        ring, rank = _tile_of(cursor)
        cursor.take("empty,")
        by = cursor.chosen(ARRIVING, "who arrives")
        return Arrive(ring, rank, by, covers, blocks(cursor), line=place)
    if cursor.took("expect"):
        ring, rank = _tile_of(cursor)
        cursor.take("full,")
        count = cursor.integer("bytes")
        cursor.take("bytes")
        return Expect(ring, rank, count, covers, line=place)
    return None


def _retire(cursor: Cursor, covers: tuple[Covered, ...], place: SourceLine) -> Retire:
    kind = cursor.chosen(GROUPS, "a kind of group")
    reads = cursor.took("reads")
    cursor.take(", pending")
    pending = cursor.integer("how many groups may be open")
    cursor.took(", covers nothing")
    return Retire(kind, pending, covers, reads, line=place)


def _flag_of(cursor: Cursor) -> tuple[str, Affine]:
    """`AB_sums_turns{block - 1}`; without a number the flag of the block's own tile."""
    name = cursor.name("the array of flags")
    if not cursor.took("{"):
        return name, OWN_TILE
    tile = affine(cursor)
    cursor.take("}")
    return name, tile


def _tile_of(cursor: Cursor) -> tuple[str, Affine]:
    """`A.shared+B.shared{t + 1}`."""
    name = cursor.label("a ring")
    cursor.take("{")
    rank = affine(cursor)
    cursor.take("}")
    return name, rank


def _covers(line: Line) -> tuple[Covered, ...]:
    found: list[Covered] = []
    for below in line.below:
        below.alone()
        cursor = below.cursor()
        cursor.take("covers")
        kind = cursor.chosen(REQUIREMENTS, "a kind of requirement")
        source, sources = _op(cursor)
        cursor.take("->")
        sink, sinks = _op(cursor)
        cursor.take("(")
        buffer = cursor.name("a buffer")
        cursor.take(", distance")
        distance = cursor.integer("steps")
        cursor.take(")")
        cursor.end()
        for first in sources:
            for second in sinks:
                ends = with_instance(source, first), with_instance(sink, second)
                found.append(Covered(kind, *ends, distance, buffer))
    return tuple(found)


def _op(cursor: Cursor) -> tuple[str, list[str]]:
    """An op and its instances: `A`, `A[1]`, `A[0..3]`, `A[0,1; 2,1]`."""
    name = cursor.match(OP, "the name of an op")
    if not cursor.rest.startswith("["):
        return name, [""]
    text = cursor.match(INSTANCES, "instances in brackets")[1:-1]
    first, dots, last = text.partition("..")
    if dots and first.isdecimal() and last.isdecimal():
        return name, [str(number) for number in range(int(first), int(last) + 1)]
    return name, text.split("; ")
