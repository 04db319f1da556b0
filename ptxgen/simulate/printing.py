"""What `vprintf` prints: the format of C's printf, with arguments as the compiler laid them out in memory."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>(?:\.\d*)?)(?P<size>hh|h|ll|l|)(?P<kind>.)", re.S
)
_INTEGERS = {"hh": "b", "h": "h", "": "i", "l": "q", "ll": "q"}
_INTEGER_BYTES = {"": 4, "hh": 4, "h": 4, "l": 8, "ll": 8}


def printed(form: str, arguments: Callable[[int, int], bytes], text_at: Callable[[int], str]) -> tuple[str, int]:
    """The text of a format, and how many arguments it took.

    `arguments(offset, size)` are bytes of the arguments, each aligned to its size: integers of 4 bytes (8 with `l`),
    doubles, addresses. `text_at` reads the string at an address.
    """
    offset = count = 0
    pieces: list[str] = []
    at = 0
    for found in _CONVERSION.finditer(form):
        pieces.append(form[at : found.start()])
        at = found.end()
        kind = found["kind"]
        if kind == "%":
            pieces.append("%")
            continue
        size = _INTEGER_BYTES[found["size"]] if kind in "dicuoxX" else 8
        offset = -(-offset // size) * size
        pieces.append(_converted(found, arguments(offset, size), text_at))
        offset, count = offset + size, count + 1
    return "".join([*pieces, form[at:]]), count


def _converted(found: re.Match[str], data: bytes, text_at: Callable[[int], str]) -> str:
    kind, size = found["kind"], found["size"]
    style = f"%{found['flags']}{found['width']}{found['precision']}"
    match kind:
        case "d" | "i":
            return _integer(found, struct.unpack_from(f"<{_INTEGERS[size]}", data)[0])
        case "u" | "o" | "x" | "X":
            return _integer(found, struct.unpack_from(f"<{_INTEGERS[size].upper()}", data)[0])
        case "c":
            return _padded(found, "", chr(data[0]), zeros=False)
        case "s":
            return (style.replace("#", "") + "s") % text_at(int.from_bytes(data, "little"))
        case "p":
            address = int.from_bytes(data, "little")
            return _padded(found, "", hex(address) if address else "(nil)", zeros=False)
        case "a" | "A":
            number = struct.unpack("<d", data)[0]
            text = re.sub(r"\.?0+p", "p", number.hex())
            return _padded(found, "", text.upper() if kind == "A" else text, zeros=False)
        case "e" | "E" | "f" | "F" | "g" | "G":
            number = struct.unpack("<d", data)[0]
            return _float(found, number)
        case _:
            return found[0]


_BASES = {"o": "o", "x": "x", "X": "X"}


def _integer(found: re.Match[str], number: int) -> str:
    """As C has it: signs for signed numbers alone, no filling zeros beside a precision, nothing for 0 with none."""
    kind, flags, precision = found["kind"], found["flags"], found["precision"]
    digits = format(abs(number), _BASES.get(kind, "d"))
    if precision:
        least = int(precision[1:] or 0)
        digits = digits.zfill(least) if number or least else ""
    if kind == "o" and "#" in flags and not digits.startswith("0"):
        digits = f"0{digits}"
    prefix = f"0{kind}" if kind in "xX" and "#" in flags and number else ""
    if kind in "di":
        prefix = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    return _padded(found, prefix, digits, zeros=not precision)


def _padded(found: re.Match[str], prefix: str, body: str, *, zeros: bool) -> str:
    width, flags = int(found["width"] or 0), found["flags"]
    if "-" in flags:
        return (prefix + body).ljust(width)
    if zeros and "0" in flags:
        return prefix + body.rjust(width - len(prefix), "0")
    return (prefix + body).rjust(width)


def _float(found: re.Match[str], number: float) -> str:
    """As C has it: infinities and NaN are filled with blanks."""
    flags = found["flags"] if math.isfinite(number) else found["flags"].replace("0", "")
    text: str = f"%{flags}{found['width']}{found['precision']}{found['kind']}" % number
    return text
