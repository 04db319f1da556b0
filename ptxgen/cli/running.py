"""What may be said to `ptxgen run`: options, and arguments of a kernel as text. Loads no numpy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

from isa.types import Type, type_named
from ptxgen.cli.texts import ABOUT, Parser
from ptxgen.cli.unusable import Unusable

RUN_COMMAND = "run"
ELEMENTS = ("f16", "bf16", "f32", "f64", *(f"{kind}{bits}" for kind in "sub" for bits in (8, 16, 32, 64)))
FILLS = ("random", "zeros", "ones", "range", "unwritten")
_ARRAY = re.compile(r"(?P<type>\w+)\[(?P<shape>\d+(?:x\d+)*)\](?::(?P<fill>.+))?$")
_NAMED = re.compile(r"(?P<name>[A-Za-z_$%][\w$]*)=(?P<rest>.+)$")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|\d+)$")
_HIGHEST_EXTENT = 1 << 31


@frozen
class ArrayArgument:
    """`f32[64x32]:random`: elements of a type, and what fills them: one of FILLS, a number, or a file."""

    element: Type
    shape: tuple[int, ...]
    fill: str | float | Path


@frozen
class FileArgument:
    """`data.npy`: an array as it stands in a file."""

    path: Path


Argument: TypeAlias = "ArrayArgument | FileArgument | int | float"


@frozen
class RunOptions:
    """`ptxgen run FILE KERNEL`: the launch, its arguments and their names (None: by place), what to show and write.

    `out` maps arguments, by name or place, to files. `listing` asks for what the simulator does not run, and no run.
    """

    file: str
    kernel: str | None
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] | None
    arguments: tuple[tuple[str | None, Argument], ...]
    shared_bytes: int
    target: str | None
    seed: int | None
    limit: int | None
    random_seed: int
    report: bool
    json: bool
    out: tuple[tuple[str, Path], ...]
    listing: bool


def parse_run_command(arguments: Sequence[str]) -> RunOptions | None:
    """The options behind `run`; None after `--help`. Unusable says what is wrong with them."""
    try:
        given = _parser().parse_args(arguments)
    except SystemExit:
        return None
    if given.limit is not None and given.limit < 1:
        raise Unusable(f"--limit must be 1 or more, got {given.limit}")
    if given.shared < 0 or given.random_seed < 0:
        raise Unusable("--shared and --random-seed must be 0 or more")
    parsed = tuple(parse_argument(each) for each in given.arg)
    if len({name is None for name, _ in parsed}) > 1:
        raise Unusable("either all arguments have names or none has")
    return RunOptions(
        given.file, given.kernel, _extents("--grid", given.grid), _extents("--block", given.block),
        None if given.cluster is None else _extents("--cluster", given.cluster), parsed, given.shared, given.target,
        given.seed, given.limit, given.random_seed, given.report, given.json,
        tuple(_output(each) for each in given.out), given.unsupported,
    )  # fmt: skip


def _parser() -> Parser:
    parser = Parser(
        prog=f"ptxgen {RUN_COMMAND}", description=f"Runs {ABOUT[RUN_COMMAND]}.", allow_abbrev=False,
        epilog="An argument is a number (1024, 0x10, 0.5), an array (f32[1024], s32[64x32]:random; fills: "
        f"{', '.join(FILLS)}, a number, a .npy file; without one the array counts as never written) or a .npy file, "
        "in the order of the parameters, or with their names (n=1024). "
        "Exit status: 0 good, 1 findings, 2 unusable input, among it instructions that the simulator does not run.",
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="the PTX file, - for the standard input")
    parser.add_argument("kernel", metavar="KERNEL", nargs="?", help="its kernel; the only one where it has one")
    parser.add_argument("--grid", default="1", metavar="X,Y,Z", help="CTAs (default: 1)")
    parser.add_argument("--block", default="1", metavar="X,Y,Z", help="threads of a CTA (default: 1)")
    parser.add_argument("--cluster", metavar="X,Y,Z", help="CTAs of a cluster (default: what the kernel demands)")
    parser.add_argument("--arg", action="append", default=[], metavar="VALUE", help="the next argument of the kernel")
    parser.add_argument("--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory")
    parser.add_argument("--target", metavar="NAME", help="the GPU whose numerics count (default: the module's)")
    parser.add_argument("--seed", type=int, metavar="NUMBER", help="an order of the warps drawn by this seed")
    parser.add_argument("--limit", type=int, metavar="COUNT", help="stop after so many warp-instructions")
    parser.add_argument("--random-seed", type=int, default=0, metavar="NUMBER", help="of random arrays (default: 0)")
    parser.add_argument("--report", action="store_true", help="print counts, bank conflicts and sectors too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--out",
        action="append",
        default=[],
        metavar="ARG=NPY",
        help="write an array argument, by place or name, to a file",
    )
    parser.add_argument(
        "--unsupported", action="store_true", help="list what the simulator does not run, and run nothing"
    )
    return parser


def _extents(option: str, text: str) -> tuple[int, ...]:
    parts = re.split(r"[,x]", text)
    if not 1 <= len(parts) <= 3 or not all(part.isdigit() and 0 < int(part) < _HIGHEST_EXTENT for part in parts):
        raise Unusable(f"{option} takes one to three positive numbers such as 4 or 16,2, got {text}")
    return tuple(map(int, parts))


def _output(text: str) -> tuple[str, Path]:
    name, separator, path = text.partition("=")
    if not (name and separator and path):
        raise Unusable(f"--out takes an argument and a file such as 1=result.npy, got {text}")
    return name, Path(path)


def parse_argument(text: str) -> tuple[str | None, Argument]:
    """The name before `=`, if there is one, and the argument behind it. Unusable says what is not understood."""
    named = _NAMED.match(text)
    return (named["name"], _argument(named["rest"])) if named else (None, _argument(text))


def _argument(text: str) -> Argument:
    array = _ARRAY.match(text)
    if array:
        shape = tuple(map(int, array["shape"].split("x")))
        return ArrayArgument(_element(array["type"]), shape, _fill(array["fill"]))
    if text.endswith(".npy"):
        return FileArgument(Path(text))
    return _number(text)


def _element(name: str) -> Type:
    if name not in ELEMENTS:
        raise Unusable(f"an array has elements of one of {', '.join(ELEMENTS)}, not {name}")
    return type_named(name)


def _fill(text: str | None) -> str | float | Path:
    if text is None or text in FILLS:
        return text or "unwritten"
    return Path(text) if text.endswith(".npy") else _number(text)


def _number(text: str) -> int | float:
    if _INTEGER.match(text):
        return int(text, 0) if "x" in text.lower() else int(text)
    try:
        return float(text)
    except ValueError:
        raise Unusable(f"{text} is no number, array or .npy file; see ptxgen {RUN_COMMAND} --help") from None
