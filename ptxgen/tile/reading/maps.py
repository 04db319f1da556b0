"""Maps and reductions: an assignment, and below it the iteration."""

from __future__ import annotations

from ptxgen.compute import ReductionOp
from ptxgen.tile.buffers import Buffer, Region, Space
from ptxgen.tile.leaves import Iteration, Map, MapOperand, Outside, Reduce
from ptxgen.tile.reading.cursor import Cursor, Line
from ptxgen.tile.reading.expressions import Elements, expression
from ptxgen.tile.reading.quantities import distribution, listed
from ptxgen.tile.reading.regions import Buffers
from ptxgen.tile.usual import EFFECTS

OUTSIDES = {word: outside for outside, word in EFFECTS.items()}
JOINS = {join.label: join for join in ReductionOp}


def mapped(cursor: Cursor, buffers: Buffers) -> Map:
    """`map X{0}[i, j] = expression`, below it the iteration."""
    below, dims = _iterated(cursor)
    elements = Elements(buffers, dims)
    target, target_dims = elements.element(cursor, cursor.name("a buffer"))
    cursor.take("=")
    value = expression(cursor, elements)
    cursor.end()
    iteration, operands = _iteration(cursor.line, below, dims, elements, target)
    outside = Outside.ANY
    if below.took(","):
        outside = below.chosen(OUTSIDES, "what holds outside")
        below.take("outside")
    below.end()
    name = target.buffer.name
    return Map(name, iteration, target, target_dims, value, operands, cursor.line.place, outside)


def reduced(cursor: Cursor, buffers: Buffers) -> Reduce:
    """`reduce X{0}[i] = max(X{0}[i], expression)`, below it the iteration."""
    below, dims = _iterated(cursor)
    elements = Elements(buffers, dims)
    target, target_dims = elements.element(cursor, cursor.name("a buffer"))
    cursor.take("=")
    join = cursor.chosen(JOINS, "how to join")
    cursor.take("(")
    if elements.element(cursor, cursor.name("a buffer")) != (target, target_dims):
        raise cursor.failure("what is joined with is not what is filled", "the same element as before '='")
    cursor.take(",")
    value = expression(cursor, elements)
    cursor.take(")")
    cursor.end()
    if None in target_dims:
        raise cursor.failure("each index of the target is that of a dim", "the names of dims of the iteration")
    iteration, operands = _iteration(cursor.line, below, dims, elements, target)
    below.end()
    places = tuple(place for place in target_dims if place is not None)
    return Reduce(target.buffer.name, join, iteration, target, places, value, operands, cursor.line.place)


def _iterated(cursor: Cursor) -> tuple[Cursor, tuple[str, ...]]:
    """The line below, behind the dims of the iteration."""
    if not cursor.line.below:
        raise cursor.failure("the iteration is not told", "a line below: over i, j in 16x32 from [...] below [...]")
    below = cursor.line.below[0].cursor()
    below.take("over")
    return below, tuple(below.name("a dim") for _ in below.separated())


def _iteration(
    line: Line, below: Cursor, dims: tuple[str, ...], elements: Elements, target: Region
) -> tuple[Iteration, tuple[MapOperand, ...]]:
    below.take("in")
    shape = below.box()
    below.take("from")
    origin = listed(below)
    below.take("below")
    extents = listed(below)
    guarded = _guarded(below, dims)
    operands = tuple(MapOperand(region, places, _vector(below, region.buffer)) for region, places in elements.found)
    if len(line.below) == 2:
        line.below[1].alone()
        cursor = line.below[1].cursor()
        cursor.take("as")
        held = distribution(cursor, shape)
    elif len(line.below) == 1 and target.buffer.space is Space.REGISTERS and target.buffer.shape == shape:
        held = target.buffer.distribution
    else:
        raise below.failure("who computes what is not told", "one line more: as values ...; lanes ...; warps ...")
    return Iteration(dims, origin, extents, held, guarded), operands


def _guarded(below: Cursor, dims: tuple[str, ...]) -> tuple[int, ...]:
    found: list[int] = []
    if below.took(", guarded"):
        for dim in _several(below, dims):
            found.append(dims.index(dim))
    return tuple(found)


def _several(below: Cursor, dims: tuple[str, ...]) -> list[str]:
    """Names of dims with commas between; what follows the last one may begin with a comma too."""
    found = [below.chosen({dim: dim for dim in dims}, "a dim of the iteration")]
    while any(below.sees(f", {dim}") and not below.sees(f", {dim} by") for dim in dims):
        below.take(",")
        found.append(below.chosen({dim: dim for dim in dims}, "a dim of the iteration"))
    return found


def _vector(below: Cursor, buffer: Buffer) -> int:
    if buffer.space is Space.REGISTERS and not below.sees(f", {buffer.name} by"):
        return 1
    below.take(f", {buffer.name} by")
    return below.integer("elements of one access")
