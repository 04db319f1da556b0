"""What `vprintf` prints: the format of C's printf, with arguments as the compiler laid them out in memory."""

from __future__ import annotations

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
            return (style + "d") % struct.unpack_from(f"<{_INTEGERS[size]}", data)
        case "u":
            return (style + "d") % struct.unpack_from(f"<{_INTEGERS[size].upper()}", data)
        case "o" | "x" | "X":
            return _based(style, kind, struct.unpack_from(f"<{_INTEGERS[size].upper()}", data)[0])
        case "c":
            return f"%{found['flags'].replace('0', '')}{found['width']}s" % chr(data[0])
        case "s":
            return (style + "s") % text_at(int.from_bytes(data, "little"))
        case "p":
            address = int.from_bytes(data, "little")
            return f"%{found['flags']}{found['width']}s" % (hex(address) if address else "(nil)")
        case "a" | "A":
            text: str = struct.unpack("<d", data)[0].hex()
            return text.upper() if kind == "A" else text
        case "e" | "E" | "f" | "F" | "g" | "G":
            return (style + kind) % struct.unpack("<d", data)
        case _:
            return found[0]


def _based(style: str, kind: str, number: int) -> str:
    """An octal or hexadecimal number; with `#` C writes 0, not 0o, before octals, and nothing before zero."""
    if "#" not in style or (number and kind != "o"):
        return (style + kind) % number
    plain = style.replace("#", "") + ("s" if kind == "o" and number else kind)
    return plain % (f"0{number:o}" if kind == "o" and number else number)
