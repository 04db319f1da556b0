"""`ptxgen build`: PTX from the text of a tile program, judged before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, frozen

from isa.targets import target as target_named
from ptxgen.cli.outputs import write_text
from ptxgen.cli.terminal import show
from ptxgen.cli.texts import ABOUT, Parser, read_text
from ptxgen.errors import KernelError
from ptxgen.kernels.launching.generated import build
from ptxgen.tile.reading import read

BUILD_COMMAND = "build"


@frozen
class BuildOptions:
    """`ptxgen build FILE`: for which target (None: the program's own), and where the PTX goes (None: printed)."""

    file: str
    target: str | None
    emit: Path | None


def parse_build_command(arguments: Sequence[str]) -> BuildOptions | None:
    """The options behind `build`; None after `--help`. Unusable says what is wrong with them."""
    parser = Parser(
        prog=f"ptxgen {BUILD_COMMAND}", description=f"Makes {ABOUT[BUILD_COMMAND]}.", allow_abbrev=False,
        epilog="`ptxgen matmul ... --explain tile` prints such a text. Lines that begin with # are passed over, and so "
        "are the lines 'covers ...' where it comes to judging. Exit status: 0 good, 1 refused, 2 unreadable.",
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="the text, - for the standard input")
    parser.add_argument("--target", metavar="NAME", help="another target than the program's own")
    parser.add_argument("--emit", type=Path, metavar="PTX", help="write the kernel to this file")
    try:
        given = parser.parse_args(arguments)
    except SystemExit:
        return None
    return BuildOptions(given.file, given.target, given.emit)


def run_build(options: BuildOptions) -> int:
    """Carries out the command: findings, or the kernel. PtxSyntaxError for a text that cannot be read."""
    text, name = read_text(options.file)
    program = read(text, name)
    if options.target is not None:
        program = evolve(program, target=str(target_named(options.target)))
    try:
        kernel = build(program)
    except KernelError as error:
        print(error)
        return 1
    if options.emit is None:
        show(str(kernel.listing).removesuffix("\n"))
        return 0
    print(write_text(options.emit, str(kernel.listing)))
    return 0
