"""`ptxgen format`: a PTX file in one shape."""

from __future__ import annotations

from pathlib import Path

from ptxgen.cli.texts import FormatOptions, read_text
from ptxgen.emit import emit
from ptxgen.parse import parse


def format_text(text: str, *, file: str = "<string>") -> str:
    """PTX text as ptxgen spells it, with its comments; the module stays the same. PtxSyntaxError where it is no PTX."""
    return str(emit(parse(text, file=file)))


def run_format(options: FormatOptions) -> int:
    """Prints the text of a file in shape, or writes it into the file."""
    text, name = read_text(options.file)
    shaped = format_text(text, file=name)
    if options.write:
        Path(options.file).write_text(shaped, encoding="utf-8")
    else:
        print(shaped, end="")
    return 0
