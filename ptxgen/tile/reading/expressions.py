"""What a map assigns: scalar expressions over elements of tiles."""

from __future__ import annotations

from attrs import define, field

from polyhedral import Affine, const
from ptxgen.compute import (
    Binary,
    BinaryOp,
    Comparison,
    Constant,
    Element,
    Expression,
    Operand,
    Round,
    Scalar,
    Select,
    Unary,
    UnaryOp,
)
from ptxgen.tile.buffers import Buffer, Region, Space
from ptxgen.tile.reading.cursor import Cursor
from ptxgen.tile.reading.quantities import affine, listed

ELEMENTS = {element.label: element for element in Element}
INFIX = {op.value: op for op in (BinaryOp.ADD, BinaryOp.SUBTRACT, BinaryOp.MULTIPLY, BinaryOp.DIVIDE)}
OF_TWO = {op.value: op for op in (BinaryOp.MINIMUM, BinaryOp.MAXIMUM)}
OF_ONE = {op.value: op for op in UnaryOp if op is not UnaryOp.NEGATE}
COMPARISONS = {op.value: op for op in Comparison}
Dims = tuple[int | None, ...]


@define
class Elements:
    """The elements that an expression reads, in the order in which it names them. `dims` are the iteration's."""

    buffers: dict[str, Buffer]
    dims: tuple[str, ...]
    found: list[tuple[Region, Dims]] = field(factory=list)

    def element(self, cursor: Cursor, name: str) -> tuple[Region, Dims]:
        """`X{n}[a + i, j]`: the tile's corner, and which dim of the iteration moves along each dimension."""
        found = tile(cursor, self.buffers, name)
        origins: list[Affine] = []
        dims: list[int | None] = []
        for index in listed(cursor):
            dim = next((place for place, own in enumerate(self.dims) if index.coefficient(own) == 1), None)
            dims.append(dim)
            origins.append(index if dim is None else index.substitute({self.dims[dim]: 0}))
        return Region(found.buffer, found.rank, tuple(origins)), tuple(dims)

    def operand(self, cursor: Cursor, name: str) -> Operand:
        """An element as operand, numbered in order."""
        read = self.element(cursor, name)
        if read not in self.found:
            self.found.append(read)
        return Operand(self.found.index(read))


def tile(cursor: Cursor, buffers: dict[str, Buffer], name: str) -> Region:
    """Tile number n of a buffer, `X{n}`, or an array in global memory, `X`, from its corner."""
    if name not in buffers:
        cursor.at -= len(name)
        raise cursor.failure(f"no buffer is called {name!r}", f"one of {', '.join(buffers)}")
    buffer, rank = buffers[name], const(0)
    if buffer.space is not Space.GLOBAL:
        cursor.take("{")
        rank = affine(cursor)
        cursor.take("}")
    return Region(buffer, rank, (const(0),) * len(buffer.shape))


def expression(cursor: Cursor, elements: Elements) -> Expression:
    """A number, scalar or element; a function of some; or, in parentheses, an operation or a choice."""
    cursor.skip()
    if cursor.rest[:1].isdigit() or _is_negative(cursor.rest):
        return Constant(cursor.number())
    if cursor.took("-"):
        return Unary(UnaryOp.NEGATE, expression(cursor, elements))
    if cursor.took("("):
        return _parenthesised(cursor, elements)
    name = cursor.name("a number, a name or '('")
    if cursor.sees("["):
        return elements.operand(cursor, name)
    if cursor.sees("{"):
        return elements.operand(cursor, name)
    if not cursor.took("("):
        return Constant(float(name)) if name in ("inf", "nan") else Scalar(name)
    return _function(cursor, elements, name)


def _is_negative(text: str) -> bool:
    return text[:1] == "-" and (text[1:2].isdigit() or text[1:4] == "inf")


def _function(cursor: Cursor, elements: Elements, name: str) -> Expression:
    values = [expression(cursor, elements) for _ in cursor.separated()]
    cursor.take(")")
    if name in OF_TWO and len(values) == 2:
        return Binary(OF_TWO[name], *values)
    if name in OF_ONE and len(values) == 1:
        return Unary(OF_ONE[name], *values)
    if name in ELEMENTS and len(values) == 1:
        return Round(values[0], ELEMENTS[name])
    known = ", ".join((*OF_TWO, *OF_ONE, *ELEMENTS))
    raise cursor.failure(f"no function {name} of {len(values)} numbers", f"one of {known}")


def _parenthesised(cursor: Cursor, elements: Elements) -> Expression:
    first = expression(cursor, elements)
    if cursor.took(")"):
        return first
    if cursor.took("if"):
        return _choice(cursor, elements, first)
    op = cursor.chosen(INFIX, "an operation")
    second = expression(cursor, elements)
    cursor.take(")")
    return Binary(op, first, second)


def _choice(cursor: Cursor, elements: Elements, then: Expression) -> Select:
    left = expression(cursor, elements)
    comparison = cursor.chosen(COMPARISONS, "a comparison")
    right = expression(cursor, elements)
    cursor.take("else")
    otherwise = expression(cursor, elements)
    cursor.take(")")
    return Select(comparison, left, right, then, otherwise)
