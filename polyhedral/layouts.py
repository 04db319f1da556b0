"""Affine index expressions as bit matrices and back, where the two say the same."""

from __future__ import annotations

from collections.abc import Mapping

from polyhedral.affine import Affine, as_affine
from polyhedral.bits import BitMatrix


def bits_of_affine(affine: Affine | int, widths: Mapping[str, int], height: int) -> BitMatrix:
    """The matrix of an expression whose variables are less than 2**width each, as `height` output bits.

    Input bits are those of the first variable of `widths`, lowest first, then those of the next. It exists where
    the sum never carries and has no constant; ValueError names what is in the way.
    """
    expression = as_affine(affine)
    unknown = [n for n in expression.names if n not in widths]
    if unknown:
        raise ValueError(f"the number of bits of {unknown[0]} in {expression} is not given")
    if expression.constant:
        raise ValueError(f"{expression} is not linear over bits: it has the constant {expression.constant}")
    columns: list[int] = []
    taken = 0
    for name, width in widths.items():
        coefficient = expression.coefficient(name)
        if coefficient < 0:
            raise ValueError(f"{expression} is not linear over bits: the coefficient of {name} is negative")
        for bit in range(width):
            column = coefficient << bit
            if column & taken:
                raise ValueError(f"{expression} is not linear over bits: bit {bit} of {name} may carry into another")
            taken |= column
            columns.append(column)
    if taken >> height:
        raise ValueError(f"{expression} needs {taken.bit_length()} bits, more than {height}")
    return BitMatrix(height, tuple(columns))


def affine_of_bits(matrix: BitMatrix, widths: Mapping[str, int]) -> Affine:
    """The expression that gives what the matrix gives, for variables of so many bits each; as `bits_of_affine`.

    It exists where no two input bits share an output bit and the bits of a variable keep their distances; a
    swizzle, which adds bits without carry, has none: ValueError names the bit.
    """
    if sum(widths.values()) != matrix.width:
        raise ValueError(f"{dict(widths)} are {sum(widths.values())} bits, but the matrix takes {matrix.width}")
    coefficients: dict[str, int] = {}
    taken, place = 0, 0
    for name, width in widths.items():
        for bit in range(width):
            column = matrix.columns[place + bit]
            if bit == 0:
                coefficients[name] = column
            if column & taken or column != coefficients[name] << bit:
                raise ValueError(f"the matrix is no affine expression: bit {bit} of {name} is changed by exclusive or")
            taken |= column
        place += width
    return Affine.of(coefficients)
