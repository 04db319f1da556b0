"""Products of the tensor cores in whole numbers, sum by sum, from the published description alone."""

from collections.abc import Sequence

import numpy as np

# fraction bits, bias, greatest exponent field of a number; e4m3 has numbers there too
FORMATS = {"f16": (10, 15, 30), "bf16": (7, 127, 254), "f32": (23, 127, 254), "e4m3": (3, 7, 15), "e5m2": (2, 15, 30)}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "e4m3": 8, "e5m2": 8}
NAN, INFINITE = "nan", "infinite"
Value = tuple[int, int, int] | str  # whole number s, exponent e, fraction bits f: s * 2**(e - f)


def value_of(bits: int, element: str) -> tuple[Value, int]:
    """A number and its sign; NaN and infinity by name."""
    if element == "tf32":
        bits, element = bits & ~0x1FFF, "f32"
    fraction, bias, greatest = FORMATS[element]
    sign = -1 if bits >> (BITS[element] - 1) else 1
    field, rest = bits >> fraction & (1 << BITS[element] - 1 - fraction) - 1, bits & (1 << fraction) - 1
    if element == "e4m3" and bits & 0x7F == 0x7F:
        return NAN, sign
    if field > greatest:
        return (NAN if rest else INFINITE), sign
    if not field:
        return (sign * rest, 1 - bias, fraction), sign
    return (sign * (rest | 1 << fraction), field - bias, fraction), sign


def product_of(a: tuple[Value, int], b: tuple[Value, int]) -> tuple[Value, int]:
    (x, sx), (y, sy) = a, b
    if isinstance(x, str) or isinstance(y, str):
        zero = any(not isinstance(each, str) and each[0] == 0 for each in (x, y))
        return (NAN if NAN in (x, y) or zero else INFINITE), sx * sy
    return (x[0] * y[0], x[1] + y[1], x[2] + y[2]), sx * sy


def truncated(whole: int, shift: int) -> int:
    """whole * 2**shift without its fraction."""
    size = abs(whole) << shift if shift >= 0 else abs(whole) >> -shift
    return size if whole >= 0 else -size


def block(a: Sequence[int], b: Sequence[int], c: int, types: tuple[str, str, str, str], bits: int) -> int:
    """c + the sum of a * b as one block does it, `types` of a, b, c and the result; `bits` of fraction are kept below
    the largest exponent. Results in f32 are truncated (`f32/13` to 13 bits of fraction), in f16 rounded to even.
    """
    terms = [product_of(value_of(x, types[0]), value_of(y, types[1])) for x, y in zip(a, b, strict=True)]
    terms.append(value_of(c, types[2]))
    named = [(value, sign) for value, sign in terms if isinstance(value, str)]
    half = types[3] == "f16"
    if named:
        if any(value == NAN for value, _ in named) or len({sign for _, sign in named}) == 2:
            return 0x7FFF if half else 0x7FFFFFFF
        return (0x7C00 if half else 0x7F800000) | (0 if named[0][1] > 0 else 1 << (15 if half else 31))
    numbers = [value for value, _ in terms if not isinstance(value, str) and value[0]]
    if not numbers:
        return 0
    top = max(exponent for _, exponent, _ in numbers)
    total = sum(truncated(whole, bits + exponent - fraction - top) for whole, exponent, fraction in numbers)
    return rounded(total, top - bits, types[3]) if total else 0


def rounded(total: int, unit: int, into: str) -> int:
    """total * 2**unit in f32, `f32/13` or f16; what rounds to zero is the positive zero."""
    kept, least, width = {"f32": (23, -149, 32), "f32/13": (13, -139, 32), "f16": (10, -24, 16)}[into]
    size, sign = abs(total), (1 << width - 1) if total < 0 else 0
    last = max(unit + size.bit_length() - 1 - kept, least)
    cut = truncated(size, unit - last)
    if into == "f16" and last > unit:
        rest, half = size - (cut << last - unit), 1 << last - unit - 1
        cut += rest > half or (rest == half and cut & 1)
    return sign | encoded(cut, last, "f16" if into == "f16" else "f32") if cut else 0


def encoded(size: int, last: int, element: str) -> int:
    """The bits of size * 2**last, which the format has, or infinity."""
    fraction, bias, greatest = FORMATS[element]
    least = 1 - bias - fraction
    size, last = (size << last - least, least) if last > least and size < 1 << fraction else (size, last)
    field = 0 if size < 1 << fraction else last + size.bit_length() - 1 + bias
    if size >= 1 << fraction:
        size >>= size.bit_length() - 1 - fraction
    if field > greatest:
        return greatest + 1 << fraction
    return field << fraction | size & (1 << fraction) - 1


def multiplied(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, types: tuple[str, str, str], length: int, bits: int, into: str = ""
) -> np.ndarray:
    """D [n, rows, columns] of A [n, rows, k] and B [n, rows, columns, k], blocks of `length` in ascending k."""
    made = c.copy()
    for n, row, column in np.ndindex(*c.shape):
        so_far = int(c[n, row, column])
        left, right = a[n, row].tolist(), b[n, row, column].tolist()
        for start in range(0, len(left), length):
            part = slice(start, start + length)
            so_far = block(left[part], right[part], so_far, (*types, into or types[2]), bits)
        made[n, row, column] = so_far
    return made
