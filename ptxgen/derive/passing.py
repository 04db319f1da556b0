"""Sums whose parts are passed on through a workspace: each block adds its part to the sum of the parts before, and the
block of the last part has all of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, takewhile
from math import prod

from attrs import frozen

from isa.mechanisms import LOAD, REGISTERS, STORE
from polyhedral import Affine, Constraint, const, var
from ptxgen.compute import Binary, BinaryOp, Element, Operand, SourceLine
from ptxgen.derive.access import neighbours
from ptxgen.derive.draft import Draft, op, whole
from ptxgen.derive.items import ITEM
from ptxgen.derive.loops import Path
from ptxgen.derive.operands import Product
from ptxgen.derive.space import IndexSpace
from ptxgen.order.ops import Op, Touch, TouchKind
from ptxgen.tile import (
    BLOCK_COUNT,
    BLOCK_NUMBER,
    JOINING,
    LEAVING,
    TILE_COUNT,
    TILE_NUMBER,
    Buffer,
    Coordinate,
    Copy,
    Distribution,
    GlobalPlacement,
    Iteration,
    Map,
    MapOperand,
    Outside,
    Parameter,
    ParameterKind,
    Region,
    Space,
    Workspace,
    granule,
    is_power,
    turns_name,
)

ACCESS_BYTES = 16
PIECE_BITS, PIECES_HELD = 5, 2
WORKSPACE_ALIGNMENT = 256


def workspace_name(array: str) -> str:
    """The workspace through which the sums of an array are passed on."""
    return f"{array}_sums"


@frozen
class Chain:
    """How the blocks of a tile follow each other, as the plan's step says on `line`: where a block has a part behind
    others (`later`), before others (`earlier`), and the last one, so that it has the sum; `count` names how many tiles
    the workspace has, `found` and `left` are the numbers of those that a block reads and fills, `taken` and `given`
    those by which it knows whose turn it is."""

    line: SourceLine
    later: tuple[Constraint, ...]
    earlier: tuple[Constraint, ...]
    last: tuple[Constraint, ...]
    count: str
    found: Affine
    left: Affine
    taken: Affine
    given: Affine


def chain_of(space: IndexSpace) -> Chain | None:
    """The chain of a plan whose blocks pass sums on through memory. Of a split sum every tile has its own place, and
    all parts take their turns there; of a streamed one each block has a place for the one tile that it leaves to the
    next block, and finds the one that it joins in that of the block before."""
    if space.stream is not None:
        own, item = var(BLOCK_NUMBER), var(ITEM)
        before, first = own - prod(space.cluster_axes.values()), var(LEAVING)
        left = (item <= 0, first >= 1)
        joined = (item.equals(var(JOINING)),)
        return Chain(space.stream.line, joined, left, (item >= first,), BLOCK_COUNT, before, own, before, own)
    if space.split is None or space.split.together:
        return None
    part, tile, last = var(space.part_variable), var(TILE_NUMBER), space.split.parts - 1
    return Chain(
        space.split.line, (part >= 1,), (part < last,), (part >= last,), TILE_COUNT, tile, tile, part - 1, part
    )


def passing_bounds(space: IndexSpace) -> tuple[Constraint, ...]:
    """The parts that there are, where they are passed on: what some of them do is decided on sets of parts. Of streamed
    tiles a block leaves one at most."""
    if space.stream is not None:
        return (var(LEAVING) >= 0, var(LEAVING) <= 1)
    if space.split is None or space.split.together:
        return ()
    part = var(space.part_variable)
    return (part >= 0, part < space.split.parts)


def passed(draft: Draft, work: Product, chain: Chain, sums: Buffer, path: Path) -> None:
    """Adds what each part does behind the product's loop, piece by piece: it reads the sum of the parts before, adds
    its own and leaves the sum for the next part. What follows is the last part's."""
    memory = _memory(draft, work, chain, sums)
    piece, corners = _pieces(sums.distribution)
    depth = min(PIECES_HELD, len(corners))
    before = draft.add_buffer(
        Buffer(f"{sums.name}.before", work.c.array, sums.element, Space.REGISTERS, sums.shape, depth, piece)
    )
    adding: list[Op] = []
    leaving: list[Op] = []
    for number, corner in enumerate(corners):
        adding.append(_fetch(draft, chain, memory, before, path, corner, number))
        adding.append(_add(draft, work, chain, sums, before, path, corner, number))
        leaving.append(_leave(draft, chain, memory, sums, piece, path, corner, number))
    draft.append(path, [*adding, *leaving])
    draft.only = (*draft.only, *chain.last)


def _memory(draft: Draft, work: Product, chain: Chain, sums: Buffer) -> Buffer:
    """The workspace: tiles one behind the other, in each rows one behind the other."""
    strides = tuple(const(prod(sums.shape[place + 1 :])) for place in range(len(sums.shape)))
    extents = (var(chain.count) * sums.shape[0], *map(const, sums.shape[1:]))
    name = workspace_name(work.c.array)
    return draft.add_buffer(Buffer(name, name, sums.element, Space.GLOBAL, (), 1, GlobalPlacement(extents, strides)))


def _pieces(held: Distribution) -> tuple[Distribution, tuple[Coordinate, ...]]:
    """What each lane holds of a piece, and where the pieces start: so few values at once that registers last, and of
    extents that are no powers of two so few that each piece is inside or outside as a whole."""
    granules = tuple(granule(extent) if not is_power(extent) else extent for extent in held.shape)
    inside = takewhile(lambda image: all(at < most for at, most in zip(image, granules, strict=True)), held.values)
    kept = tuple(islice(inside, PIECE_BITS))
    numbering = held.values[len(kept) :]
    corners: list[Coordinate] = [(0,) * held.rank]
    for image in numbering:
        corners += [tuple(a | b for a, b in zip(corner, image, strict=True)) for corner in corners]
    there = (each for each in corners if all(at < extent for at, extent in zip(each, held.shape, strict=True)))
    return Distribution(held.shape, kept, held.lanes, held.warps), tuple(there)


def _region(memory: Buffer, tile: Affine, shape: tuple[int, ...], corner: Coordinate) -> Region:
    origin = (tile * shape[0] + corner[0], *map(const, corner[1:]))
    return Region(memory, const(0), origin)


def _vector(piece: Distribution, element_bytes: int) -> int:
    return min(neighbours(piece, piece.rank - 1), ACCESS_BYTES // element_bytes)


def _fetch(
    draft: Draft, chain: Chain, memory: Buffer, before: Buffer, path: Path, corner: Coordinate, number: int
) -> Op:
    """A piece of the sum of the parts before."""
    piece = before.distribution
    source = _region(memory, chain.found, before.shape, corner)
    vector = _vector(piece, memory.element.byte_count)
    node = Copy(before.name, source, whole(before, number), piece, vector, (), Outside.ANY, chain.line)
    touches = (Touch(memory, TouchKind.READ, chain.taken), Touch(before, TouchKind.WRITE, const(number)))
    return op(before.name, path, draft.domain(path, chain.later), LOAD, touches, node, chain.line, (), (number,))


def _add(
    draft: Draft,
    work: Product,
    chain: Chain,
    sums: Buffer,
    before: Buffer,
    path: Path,
    corner: Coordinate,
    number: int,
) -> Op:
    """That piece and the part's own, in f32 (f64 where they are)."""
    names = work.c.named
    ragged = draft.ragged(path, names)
    iteration = Iteration(
        names,
        tuple(draft.origin(path, name) + at for name, at in zip(names, corner, strict=True)),
        tuple(map(draft.space.extent, names)),
        before.distribution,
        tuple(place for place, name in enumerate(names) if name in ragged),
    )
    dims, own = tuple(range(len(names))), whole(sums, 0, corner)
    operands = (MapOperand(whole(before, number), dims, 1), MapOperand(own, dims, 1))
    name = f"{work.statement.name}.join"
    node = Map(name, iteration, own, dims, Binary(BinaryOp.ADD, Operand(0), Operand(1)), operands, chain.line)
    touches = (
        Touch(before, TouchKind.READ, const(number)),
        Touch(sums, TouchKind.READ, const(0)),
        Touch(sums, TouchKind.WRITE, const(0)),
    )
    return op(name, path, draft.domain(path, chain.later), REGISTERS, touches, node, chain.line, (), (number,))


def _leave(
    draft: Draft,
    chain: Chain,
    memory: Buffer,
    sums: Buffer,
    piece: Distribution,
    path: Path,
    corner: Coordinate,
    number: int,
) -> Op:
    """A piece of the sum so far for the next part."""
    target = _region(memory, chain.left, sums.shape, corner)
    vector = _vector(piece, memory.element.byte_count)
    node = Copy(memory.name, whole(sums, 0, corner), target, piece, vector, (), Outside.NEVER, chain.line)
    touches = (Touch(sums, TouchKind.READ, const(0)), Touch(memory, TouchKind.WRITE, chain.given))
    return op(memory.name, path, draft.domain(path, chain.earlier), STORE, touches, node, chain.line, (), (number,))


def workspaces(buffers: Iterable[Buffer]) -> tuple[Workspace, ...]:
    """The workspaces among the buffers of a program, each with the flags that tell whose turn it is at a tile."""
    found: list[Workspace] = []
    for buffer in buffers:
        counts = (TILE_COUNT, BLOCK_COUNT) if buffer.space is Space.GLOBAL else ()
        tiles = sum(buffer.in_memory.extents[0].coefficient(count) for count in counts)
        if tiles:
            elements = tiles * buffer.in_memory.strides[0].constant
            found += (
                Workspace(buffer.array, buffer.element, elements),
                Workspace(turns_name(buffer.array), Element.S32, 1, zeroed=True),
            )
    return tuple(found)


def workspace_parameters(found: Iterable[Workspace]) -> tuple[Parameter, ...]:
    """The kernel's parameters for its workspaces."""
    return tuple(
        Parameter(each.name, ParameterKind.WORKSPACE, each.element, WORKSPACE_ALIGNMENT, written=True) for each in found
    )
