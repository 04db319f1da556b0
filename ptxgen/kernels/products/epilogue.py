"""The pieces that may follow a matrix product, and what each does to the value of one element."""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from attrs import frozen

from ptxgen.compute import Element, f16, f32


class Axis(Enum):
    """ROWS: one number for each row. COLUMNS: one number for each column."""

    ROWS = "rows"
    COLUMNS = "columns"


class Activation(Enum):
    """A function of one number. GELU is its tanh form; RELU keeps NaN. GELU and SILU of minus infinity are NaN."""

    RELU = "relu"
    GELU = "gelu"
    SILU = "silu"


@frozen
class Alpha:
    """Times the launch scalar `alpha`."""

    def __str__(self) -> str:
        return "alpha"


@frozen
class Beta:
    """Plus `beta` times the element of the operand C; where beta is zero at the launch, C is not read."""

    element: Element = f16

    def __str__(self) -> str:
        return "beta"


@frozen
class Bias:
    """Plus an element of a vector, one for each row or column."""

    along: Axis = Axis.COLUMNS
    element: Element = f32

    def __str__(self) -> str:
        return "bias" if self.along is Axis.COLUMNS else "row_bias"


@frozen
class Residual:
    """Plus the element of a matrix of the result's shape."""

    element: Element = f16

    def __str__(self) -> str:
        return "residual"


@frozen
class Activate:
    """An activation function."""

    function: Activation

    def __str__(self) -> str:
        return self.function.value


@frozen
class Clamp:
    """Limited to the launch scalars `low` and `high`; NaN stays NaN, and a bound that is NaN does not limit."""

    def __str__(self) -> str:
        return "clamp"


@frozen
class Keep:
    """The value at this point is stored to a second output as well."""

    element: Element = f16

    def __str__(self) -> str:
        return "keep"


@frozen
class Total:
    """The sum of the values at this point, over the columns for each row or over the rows for each column, in f32.

    The kernel sums each tile's part; a second kernel adds the parts in ascending order, so the result does not depend
    on the order in which blocks run.
    """

    along: Axis

    def __str__(self) -> str:
        return "row_sum" if self.along is Axis.ROWS else "column_sum"

    @property
    def parts(self) -> str:
        """The array of partial sums."""
        return f"{self}_parts"


Piece = Alpha | Beta | Bias | Residual | Activate | Clamp | Keep | Total
Epilogue = tuple[Piece, ...]

PIECES: tuple[Piece, ...] = (
    Alpha(), Beta(), Bias(), Bias(Axis.ROWS), Residual(), *map(Activate, Activation), Clamp(), Keep(),
    Total(Axis.ROWS), Total(Axis.COLUMNS),
)  # fmt: skip


def parse_epilogue(text: str) -> Epilogue:
    """The pieces of a comma-separated list such as `bias,relu`; an empty text is no epilogue.

    ValueError names the word that is no piece and lists those that there are.
    """
    known = {str(piece): piece for piece in PIECES}
    if not isinstance(text, str):
        raise TypeError(f"an epilogue is a text such as 'bias,relu', got {text!r}")
    found: list[Piece] = []
    for word in (word.strip() for word in text.split(",") if text.strip()):
        if word not in known:
            raise ValueError(f"unknown epilogue {word!r}; there are {', '.join(known)}")
        found.append(known[word])
    for piece in found:
        if isinstance(piece, Total) and found.count(piece) > 1:
            raise ValueError(f"epilogue {text!r}: {piece} is there twice")
    return tuple(found)


def operand_names(epilogue: Epilogue) -> tuple[str | None, ...]:
    """The array that each piece reads or fills, None where it has none; a second piece of a kind is numbered."""
    seen: dict[str, int] = {}
    names: list[str | None] = []
    for piece in epilogue:
        stem = _stem(piece)
        if stem is None:
            names.append(None)
            continue
        seen[stem] = seen.get(stem, 0) + 1
        names.append(stem if seen[stem] == 1 else f"{stem}{seen[stem]}")
    return tuple(names)


def _stem(piece: Piece) -> str | None:
    match piece:
        case Bias():
            return str(piece)
        case Residual():
            return "R"
        case Beta():
            return "C"
        case Keep():
            return "E"
        case Total():
            return piece.parts
        case Alpha() | Activate() | Clamp():
            return None
        case _:
            assert_never(piece)
