"""The commands about PTX text: what may be said to them, and the file that they read."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from attrs import frozen

from ptxgen.cli.unusable import Unusable

if TYPE_CHECKING:
    from argparse import _SubParsersAction
    from collections.abc import Sequence


@frozen
class CheckOptions:
    """`ptxgen check FILE`: for which target, JSON instead of text, and where SARIF goes."""

    file: str
    target: str | None
    json: bool
    sarif: Path | None


@frozen
class FormatOptions:
    """`ptxgen format FILE`: to the standard output, or with `write` into the file itself."""

    file: str
    write: bool


@frozen
class PythonOptions:
    """`ptxgen python FILE`: to the standard output, or into the file `out`."""

    file: str
    out: Path | None


@frozen
class ExplainOptions:
    """`ptxgen explain NAME`: an instruction, a family, a special register or the code of a finding."""

    name: str
    target: str | None


TextOptions: TypeAlias = CheckOptions | FormatOptions | PythonOptions | ExplainOptions


TEXT_COMMANDS = ("check", "format", "python", "explain")


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are Unusable."""

    def error(self, message: str) -> NoReturn:
        raise Unusable(message)


def parse_text_command(arguments: Sequence[str]) -> TextOptions | None:
    """The options of a command about text; None after `--help`. Unusable says what is wrong with them."""
    parser = Parser(prog="ptxgen", allow_abbrev=False)
    add_text_commands(parser.add_subparsers(dest="command", required=True, metavar="command", parser_class=Parser))
    try:
        return _options(parser.parse_args(arguments))
    except SystemExit:
        return None


def add_text_commands(commands: _SubParsersAction[Parser]) -> None:
    """Adds `check`, `format`, `python` and `explain` to the parser's commands."""
    check = commands.add_parser("check", help="what is wrong with a PTX file", allow_abbrev=False,
        epilog="Exit status: 0 legal, 1 findings, 2 unreadable. `// ptxgen: allow CODE` on a statement silences one.",
    )  # fmt: skip
    check.add_argument("file", metavar="FILE", help="the PTX file, - for the standard input")
    check.add_argument("--target", metavar="NAME", help="judge it for this target instead of its own")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.add_argument("--sarif", type=Path, metavar="FILE", help="write a SARIF log to this file too")
    shaped = commands.add_parser("format", help="a PTX file in one shape, comments kept", allow_abbrev=False)
    shaped.add_argument("file", metavar="FILE", help="the PTX file, - for the standard input")
    shaped.add_argument("--write", action="store_true", help="write into the file itself")
    python = commands.add_parser("python", help="a PTX file as a Python program that builds it", allow_abbrev=False)
    python.add_argument("file", metavar="FILE", help="the PTX file, - for the standard input")
    python.add_argument("--out", type=Path, metavar="FILE", help="write the program to this file")
    explain = commands.add_parser("explain", help="what an instruction takes and where it exists", allow_abbrev=False)
    explain.add_argument("name", metavar="NAME", help="such as mma, mad.lo.u32, %%tid.x or the code of a finding")
    explain.add_argument("--target", metavar="NAME", help="say whether this target has it, and since which PTX")


def _options(given: argparse.Namespace) -> TextOptions | None:
    match given.command:
        case "check":
            return CheckOptions(given.file, given.target, given.json, given.sarif)
        case "format":
            if given.write and given.file == "-":
                raise Unusable("--write wants a file, not the standard input")
            return FormatOptions(given.file, given.write)
        case "python":
            return PythonOptions(given.file, given.out)
        case "explain":
            return ExplainOptions(given.name, given.target)
    return None


def read_text(file: str) -> tuple[str, str]:
    """The text of a file, or of the standard input for `-`, and its name; Unusable says why it cannot be read."""
    if file == "-":
        return sys.stdin.read(), "-"
    try:
        return Path(file).read_text(encoding="utf-8"), file
    except OSError as error:
        raise Unusable(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Unusable(f"{file} is no text") from None
