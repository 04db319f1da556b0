"""Affine expressions, quotients, conditions, and who holds what."""

from __future__ import annotations

from polyhedral import Affine, Constraint, const, var
from ptxgen.tile.cropping import Coordinate, CroppingError, coordinate_bits
from ptxgen.tile.distribution import Distribution, SharedLayout
from ptxgen.tile.quotient import Quotient
from ptxgen.tile.reading.cursor import INTEGER, Cursor

EXPRESSION = "an affine expression as 2*t + 1"


def affine(cursor: Cursor) -> Affine:
    """A sum of multiples of names and a number."""
    total = _term(cursor, -1 if cursor.took("-") else 1)
    while True:
        if cursor.took("+"):
            total = total + _term(cursor, 1)
        elif cursor.sees("-") and cursor.took("-"):
            total = total - _term(cursor, 1)
        else:
            return total


def _term(cursor: Cursor, sign: int) -> Affine:
    cursor.skip()
    if not cursor.rest[:1].isdigit():
        return var(cursor.name(EXPRESSION)) * sign
    factor = int(cursor.match(INTEGER, EXPRESSION)) * sign
    return var(cursor.name("a name behind '*'")) * factor if cursor.took("*") else const(factor)


def quotient(cursor: Cursor) -> Quotient:
    """`floor((N + 7)/8)`, or an affine expression."""
    if not cursor.took("floor("):
        return Quotient(affine(cursor), 1)
    cursor.take("(")
    numerator = affine(cursor)
    cursor.take(")", "/")
    divisor = cursor.integer("what it is divided by")
    if divisor < 1:
        raise cursor.failure(f"a divisor of {divisor}", "a positive one")
    cursor.take(")")
    return Quotient(numerator, divisor)


def bounds(cursor: Cursor, join: str) -> tuple[Quotient, ...]:
    """One bound, or `max(...)` or `min(...)` of several."""
    if not cursor.took(join + "("):
        return (quotient(cursor),)
    found = [quotient(cursor) for _ in cursor.separated()]
    cursor.take(")")
    return tuple(found)


def condition(cursor: Cursor) -> Constraint:
    """`N >= 4`, or `N == 4`."""
    left = affine(cursor)
    if cursor.took(">="):
        return Constraint(left - affine(cursor))
    cursor.take("==")
    return Constraint(left - affine(cursor), equality=True)


def listed(cursor: Cursor) -> tuple[Affine, ...]:
    """`[a, b]`."""
    cursor.take("[")
    if cursor.took("]"):
        return ()
    found = [affine(cursor) for _ in cursor.separated()]
    cursor.take("]")
    return tuple(found)


def distribution(cursor: Cursor, shape: tuple[int, ...]) -> Distribution:
    """`values (0,1) (8,0); lanes (0,2) ...; warps -` over a tile of `shape`."""
    parts: list[tuple[Coordinate, ...]] = []
    for word in ("values", "lanes", "warps"):
        if parts:
            cursor.take(";")
        cursor.take(word)
        parts.append(_images(cursor, len(shape)))
    cursor.end()
    try:
        return Distribution(shape, *parts)
    except CroppingError as error:
        raise cursor.failure(str(error), "another distribution") from None


def _images(cursor: Cursor, rank: int) -> tuple[Coordinate, ...]:
    if cursor.took("-"):
        return ()
    found: list[Coordinate] = []
    while cursor.took("("):
        image: list[int] = []
        if not cursor.took(")"):
            image = [cursor.integer("a coordinate") for _ in cursor.separated()]
            cursor.take(")")
        if len(image) != rank:
            raise cursor.failure(
                f"a coordinate of {len(image)} numbers in a tile of {rank} dimensions", f"{rank} numbers"
            )
        found.append(tuple(image))
    if not found:
        raise cursor.failure(cursor.found(), "coordinates as (0,1) (8,0), or -")
    return tuple(found)


def layout(cursor: Cursor, shape: tuple[int, ...]) -> SharedLayout:
    """`offsets d0: 32 64; d1: 1 2 4` of a tile of `shape`: one offset for each bit of a coordinate."""
    cursor.take("offsets")
    offsets: list[tuple[int, ...]] = []
    for place, extent in enumerate(shape):
        if place:
            cursor.take(";")
        cursor.take(f"d{place}:")
        images: list[int] = []
        while not cursor.took("-") and cursor.rest.lstrip(" ")[:1].isdigit():
            images.append(cursor.integer())
        if len(images) != coordinate_bits(extent):
            raise cursor.failure(
                f"{len(images)} offsets along d{place} of extent {extent}", f"{coordinate_bits(extent)} offsets"
            )
        offsets.append(tuple(images))
    cursor.end()
    try:
        return SharedLayout(shape, tuple(offsets))
    except CroppingError as error:
        raise cursor.failure(str(error), "another layout") from None
