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
class SassOptions:
    """`ptxgen sass FILE`: for which target, of which kernel (None: all), JSON instead of text, and with which programs
    (None: those that are found)."""

    file: str
    target: str | None
    kernel: str | None
    json: bool
    ptxas: Path | None
    nvdisasm: Path | None


@frozen
class ExplainOptions:
    """`ptxgen explain NAME`: what is asked about, on which target, JSON instead of text."""

    name: str
    target: str | None
    json: bool


TextOptions: TypeAlias = CheckOptions | FormatOptions | PythonOptions | SassOptions | ExplainOptions


TEXT_COMMANDS = ("check", "format", "python", "sass", "explain")
ABOUT = {
    "check": "what is wrong with a PTX file, line by line",
    "format": "a PTX file in one shape, comments kept",
    "python": "a PTX file as a Python program that builds it",
    "sass": "the machine code that a PTX file becomes, beside its lines",
    "explain": "what an instruction, register, directive or type is",
    "run": "a kernel of a PTX file on the CPU, and what is wrong with it",
    "matmul": "a matrix product, derived, run and checked against float64",
    "tune": "the fastest plan of a matrix product on this device",
    "build": "a kernel from the text of a tile program, printed by matmul and changed by hand",
    "cache": "the kernels that the plain call keeps on disk between processes, and the plans that tune has found",
}
HELP = """\
ptxgen: write, check, emit and run NVIDIA PTX in pure Python

PTX from a file or the standard input:
{text}

Kernels derived from a statement and a schedule:
{kernels}

  ptxgen check kernel.ptx --target sm_90a
  ptxgen explain mma.sync
  ptxgen sass kernel.ptx --target sm_80
  ptxgen run kernel.ptx axpy --grid 4 --block 256 --arg 2.0 --arg f32[1024]:random --arg f32[1024]:ones --arg 1024
  ptxgen matmul --m 256 --n 256 --k 128 --epilogue bias,relu --run cpu
  ptxgen matmul --target sm_90a --explain tile --run none > matmul.tile
  ptxgen build matmul.tile --emit matmul.ptx

ptxgen COMMAND --help tells what a command takes. Exit status: 0 good, 1 findings or
a wrong result, 2 unusable input, 3 the machine lacks what is needed."""


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are Unusable."""

    def error(self, message: str) -> NoReturn:
        raise Unusable(message)


def help_text() -> str:
    """What `ptxgen --help` prints."""
    told = {name: f"  {name:8} {about}" for name, about in ABOUT.items()}
    text = [told[name] for name in (*TEXT_COMMANDS, "run")]
    kernels = [line for line in told.values() if line not in text]
    return HELP.format(text="\n".join(text), kernels="\n".join(kernels))


def parse_text_command(arguments: Sequence[str]) -> TextOptions | None:
    """The options of a command about text; None after `--help`. Unusable says what is wrong with them."""
    parser = Parser(prog="ptxgen", allow_abbrev=False)
    add_text_commands(parser.add_subparsers(dest="command", required=True, metavar="command", parser_class=Parser))
    try:
        return _options(parser.parse_args(arguments))
    except SystemExit:
        return None


def add_text_commands(commands: _SubParsersAction[Parser]) -> None:
    """Adds the commands about text to the parser's commands."""
    check = _command(commands, "check", "Findings that a comment `// ptxgen: allow CODE` on a statement or at the head "
        "of the file allows are left out; `ptxgen explain CODE` says what a code means. "
        "Exit status: 0 legal, 1 findings, 2 unreadable.")  # fmt: skip
    check.add_argument("--target", metavar="NAME", help="judge it for this target instead of its own")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.add_argument("--sarif", type=Path, metavar="FILE", help="write a SARIF 2.1.0 log to this file too")
    shaped = _command(
        commands, "format", "The module stays the same; what cannot be read is shown, and nothing written."
    )
    shaped.add_argument("--write", action="store_true", help="write into the file itself")
    python = _command(commands, "python", "The program emits an equal module when it is run.")
    python.add_argument("--out", type=Path, metavar="FILE", help="write the program to this file")
    sass = _command(commands, "sass", "Needs ptxas (the extra `ptxas`) and nvdisasm (the extra `sass`), or a CUDA "
        "toolkit. A bar marks the innermost loops. Exit status: 1 where ptxas refuses the text.")  # fmt: skip
    sass.add_argument("--target", metavar="NAME", help="assemble for this target instead of its own")
    sass.add_argument("--kernel", metavar="NAME", help="only this kernel or function")
    sass.add_argument("--json", action="store_true", help="print JSON")
    sass.add_argument("--ptxas", type=Path, metavar="PATH", help="assemble with this program")
    sass.add_argument("--nvdisasm", type=Path, metavar="PATH", help="read the machine code with this program")
    explain = commands.add_parser("explain", help=ABOUT["explain"], description=f"Tells {ABOUT['explain']}.",
        epilog="Such as: mma.sync, ld.shared, mad.lo.u32, %%tid.x, .reqntid, .shared, .f16x2, type.mismatch.",
        allow_abbrev=False)  # fmt: skip
    explain.add_argument("name", metavar="NAME", help="a name or its beginning, or the code of a finding")
    explain.add_argument("--target", metavar="NAME", help="only what this target has, and since which PTX")
    explain.add_argument("--json", action="store_true", help="print JSON")


def _command(commands: _SubParsersAction[Parser], name: str, epilog: str) -> Parser:
    about = ABOUT[name]
    made = commands.add_parser(name, help=about, description=f"Prints {about}.", epilog=epilog, allow_abbrev=False)
    made.add_argument("file", metavar="FILE", help="the PTX file, - for the standard input")
    return made


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
        case "sass":
            return SassOptions(given.file, given.target, given.kernel, given.json, given.ptxas, given.nvdisasm)
        case "explain":
            return ExplainOptions(given.name, given.target, given.json)
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
