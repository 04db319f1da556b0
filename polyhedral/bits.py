"""Matrices over F2: linear maps of index bits, for swizzles, shared-memory layouts and fragments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import field, frozen


def _checked_columns(instance: BitMatrix, attribute: object, columns: tuple[int, ...]) -> None:
    for number, column in enumerate(columns):
        if not 0 <= column < 1 << instance.height:
            raise ValueError(f"column {number} is {column:#b}, which does not fit the {instance.height} output bits")


@frozen
class BitMatrix:
    """A linear map from `width` index bits to `height` index bits; bit 0 is the lowest.

    `columns[i]` is the image of input bit i, as an integer whose bits are the output bits.
    """

    height: int
    columns: tuple[int, ...] = field(validator=_checked_columns)

    @staticmethod
    def identity(width: int) -> BitMatrix:
        """The map of `width` bits that changes nothing."""
        return BitMatrix(width, tuple(1 << i for i in range(width)))

    @staticmethod
    def zero(height: int, width: int) -> BitMatrix:
        """The map that gives 0 everywhere."""
        return BitMatrix(height, (0,) * width)

    @staticmethod
    def from_rows(rows: Iterable[int], width: int) -> BitMatrix:
        """The map whose output bit j is the parity of the input bits in the mask rows[j]."""
        masks = tuple(rows)
        return BitMatrix(len(masks), tuple(sum(((m >> i) & 1) << j for j, m in enumerate(masks)) for i in range(width)))

    @staticmethod
    def from_function(function: Callable[[int], int], width: int, height: int, check: bool = True) -> BitMatrix:
        """The linear map that agrees with `function` on the single bits.

        With `check` it is compared on every input; ValueError names the first where `function` is not linear.
        """
        matrix = BitMatrix(height, tuple(function(1 << i) for i in range(width)))
        if check:
            for value in range(1 << width):
                if matrix.apply(value) != function(value):
                    raise ValueError(f"the function is not linear over bits: {value} gives {function(value)}")
        return matrix

    @property
    def width(self) -> int:
        """The number of input bits."""
        return len(self.columns)

    @property
    def rows(self) -> tuple[int, ...]:
        """For each output bit the mask of the input bits that it is the parity of."""
        return tuple(sum(((c >> j) & 1) << i for i, c in enumerate(self.columns)) for j in range(self.height))

    def apply(self, value: int) -> int:
        """The image of an index; ValueError where it has more bits than `width`."""
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"index {value} does not fit {self.width} bits")
        result = 0
        for column in self.columns:
            if value & 1:
                result ^= column
            value >>= 1
        return result

    def compose(self, other: BitMatrix) -> BitMatrix:
        """This map after `other`."""
        if other.height != self.width:
            raise ValueError(f"a map of {self.width} bits cannot follow one that gives {other.height} bits")
        return BitMatrix(self.height, tuple(self.apply(c) for c in other.columns))

    def __matmul__(self, other: BitMatrix) -> BitMatrix:
        return self.compose(other)

    def __add__(self, other: BitMatrix) -> BitMatrix:
        """The sum over F2: the exclusive or of the images."""
        if (self.height, self.width) != (other.height, other.width):
            raise ValueError(f"maps of {self.width} and {other.width} bits do not add")
        return BitMatrix(self.height, tuple(a ^ b for a, b in zip(self.columns, other.columns, strict=True)))

    def transpose(self) -> BitMatrix:
        """The matrix with rows and columns exchanged."""
        return BitMatrix(self.width, self.rows)

    def direct_sum(self, other: BitMatrix) -> BitMatrix:
        """The map of both side by side: this one on the low bits, `other` on the high ones."""
        high = tuple(c << self.height for c in other.columns)
        return BitMatrix(self.height + other.height, self.columns + high)

    def beside(self, other: BitMatrix) -> BitMatrix:
        """The map of more input bits into the same output bits: this one's bits low, those of `other` high."""
        if self.height != other.height:
            raise ValueError(f"maps into {self.height} and {other.height} bits do not stand side by side")
        return BitMatrix(self.height, self.columns + other.columns)

    def above(self, other: BitMatrix) -> BitMatrix:
        """The map of the same input bits into more output bits: this one's image low, that of `other` high."""
        if self.width != other.width:
            raise ValueError(f"maps of {self.width} and {other.width} bits do not stand above each other")
        joined = tuple(a | b << self.height for a, b in zip(self.columns, other.columns, strict=True))
        return BitMatrix(self.height + other.height, joined)

    def select(self, bits: Iterable[int]) -> BitMatrix:
        """The map that keeps only these output bits, in this order."""
        rows = self.rows
        return BitMatrix.from_rows((rows[b] for b in _within(bits, self.height, "output")), self.width)

    def restrict(self, bits: Iterable[int]) -> BitMatrix:
        """The map of only these input bits, in this order; the others are 0."""
        return BitMatrix(self.height, tuple(self.columns[b] for b in _within(bits, self.width, "input")))

    def rank(self) -> int:
        """The number of independent columns: the image has 2**rank elements."""
        return len(_reduced(self.columns))

    def is_invertible(self) -> bool:
        """Whether it is one-to-one and onto."""
        return self.width == self.height == self.rank()

    def kernel(self) -> tuple[int, ...]:
        """Independent inputs that generate all inputs whose image is 0."""
        pivots: dict[int, tuple[int, int]] = {}
        found = []
        for number, column in enumerate(self.columns):
            image, source = _cancel(column, 1 << number, pivots)
            if image:
                pivots[image.bit_length()] = (image, source)
            else:
                found.append(source)
        return tuple(found)

    def solve(self, image: int) -> int | None:
        """One input whose image is `image`, or None where there is none."""
        pivots: dict[int, tuple[int, int]] = {}
        for number, column in enumerate(self.columns):
            value, source = _cancel(column, 1 << number, pivots)
            if value:
                pivots[value.bit_length()] = (value, source)
        rest, source = _cancel(image, 0, pivots)
        return None if rest else source

    def invert(self) -> BitMatrix:
        """The inverse; ValueError where there is none."""
        if not self.is_invertible():
            raise ValueError(
                f"a map of {self.width} bits into {self.height} bits with rank {self.rank()} has no inverse"
            )
        solutions = [self.solve(1 << j) for j in range(self.height)]
        return BitMatrix(self.width, tuple(s for s in solutions if s is not None))

    def __str__(self) -> str:
        return "\n".join("".join(str(r >> i & 1) for i in range(self.width)) for r in self.rows)


def _within(bits: Iterable[int], most: int, kind: str) -> Iterator[int]:
    for bit in bits:
        if not 0 <= bit < most:
            raise ValueError(f"there is no {kind} bit {bit}: the matrix has {most} of them")
        yield bit


def _cancel(image: int, source: int, pivots: dict[int, tuple[int, int]]) -> tuple[int, int]:
    while image and image.bit_length() in pivots:
        other, origin = pivots[image.bit_length()]
        image, source = image ^ other, source ^ origin
    return image, source


def _reduced(columns: Iterable[int]) -> dict[int, int]:
    pivots: dict[int, int] = {}
    for column in columns:
        while column and column.bit_length() in pivots:
            column ^= pivots[column.bit_length()]
        if column:
            pivots[column.bit_length()] = column
    return pivots


def bank_conflict_degree(addresses: BitMatrix, lane_bits: int, bank_bits: range) -> int:
    """How many different words of one bank the lanes ask for at most: 1 is free of conflicts.

    `addresses` maps index bits, the lowest `lane_bits` of which number the lanes, to address bits.
    `bank_bits` are the address bits that choose the bank; those above choose the word in it. Lanes
    that ask for one word share it.
    """
    lanes = addresses.restrict(range(lane_bits))
    words = lanes.select(range(bank_bits.start, addresses.height)).rank()
    banks = lanes.select(bank_bits).rank()
    return 1 << (words - banks)
