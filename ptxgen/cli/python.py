"""`ptxgen python`: a PTX file as a Python program that builds it."""

from __future__ import annotations

from ptxgen.build import python
from ptxgen.cli.texts import PythonOptions, read_text
from ptxgen.parse import parse


def run_python(options: PythonOptions) -> int:
    """Prints the program of a file, or writes it to a file."""
    text, name = read_text(options.file)
    program = python(parse(text, file=name))
    if options.out is not None:
        options.out.write_text(program, encoding="utf-8")
    else:
        print(program, end="")
    return 0
