"""What may be said on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from ptxgen.cli.products import PIECES_TOLD, add_epilogue, add_layout, add_sizes, epilogue_of
from ptxgen.cli.texts import ABOUT, Parser, add_text_commands
from ptxgen.cli.types import ProductTypes, add_types, product_types
from ptxgen.cli.unusable import Unusable
from ptxgen.kernels.products.compute import Layout
from ptxgen.kernels.products.epilogue import Epilogue
from ptxgen.kernels.products.tiling import WARP_COUNTS
from ptxgen.plan import Workers, sms

FILES = {"A": "a", "B": "b", "bias": "bias", "row_bias": "row_bias", "R": "residual", "C": "c"}
SCALARS = {"alpha": 1.0, "beta": 1.0, "low": 0.0, "high": 6.0}
SIZES = {"M": "m", "N": "n", "K": "k", "batches": "batch"}


@frozen
class MatmulOptions:
    """`ptxgen matmul` as it was asked for. `sizes` holds those named, `files` and `scalars` what was given for
    arrays and numbers of the kernel by name."""

    sizes: dict[str, int]
    layout: Layout
    types: ProductTypes
    epilogue: Epilogue
    target: str
    warps: int | None
    workers: int | Workers | None
    cluster: tuple[int, int] | None
    stream: bool
    files: dict[str, Path]
    scalars: dict[str, float]
    seed: int
    out: Path | None
    second_out: Path | None
    emit: Path | None
    run: str
    explain: str | None
    drain: int


def parse(arguments: Sequence[str]) -> MatmulOptions | None:
    """The options of `matmul`; None after `--help`, which prints itself. Unusable says what is wrong with them."""
    try:
        given = _parser().parse_args(arguments)
    except SystemExit:
        return None
    epilogue = epilogue_of(given)
    sizes = {name: value for name, option in SIZES.items() if (value := getattr(given, option)) is not None}
    for name, value in sizes.items():
        if value < 0:
            raise Unusable(f"--{SIZES[name]} must be 0 or more, got {value}")
    if given.drain < 0 or given.drain & (given.drain - 1):
        raise Unusable(f"--drain must be 0 or a power of two, got {given.drain}")
    if given.seed < 0:
        raise Unusable(f"--seed must be 0 or more, got {given.seed}")
    files = {name: path for name, option in FILES.items() if (path := getattr(given, option)) is not None}
    scalars = {name: value for name in SCALARS if (value := getattr(given, name)) is not None}
    return MatmulOptions(
        sizes, Layout(given.layout), product_types(given), epilogue, given.target,
        given.warps, given.workers, given.cluster, given.stream, files, scalars, given.seed, given.out,
        given.second_out, given.emit, given.run, given.explain, given.drain,
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="ptxgen", description="Write, check, emit and run NVIDIA PTX.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command", parser_class=Parser)
    matmul = commands.add_parser(
        "matmul",
        help=ABOUT["matmul"],
        description="D = epilogue(A @ B). Arrays that no file gives are random numbers.",
        epilog=f"{PIECES_TOLD} "
        "Exit status: 0 good, 1 wrong result, 2 unusable input, 3 the machine lacks what is needed.",
        allow_abbrev=False,
    )
    add_text_commands(commands)
    commands.add_parser("run", help=ABOUT["run"], allow_abbrev=False)
    commands.add_parser("tune", help=ABOUT["tune"], allow_abbrev=False)
    commands.add_parser("build", help=ABOUT["build"], allow_abbrev=False)
    commands.add_parser("cache", help=ABOUT["cache"], allow_abbrev=False)
    _add_shape(matmul)
    _add_files(matmul)
    matmul.add_argument(
        "--run", choices=("auto", "cpu", "gpu", "none"), default="auto", help="where; auto: a GPU if there is one"
    )
    matmul.add_argument(
        "--explain",
        nargs="?",
        const="all",
        choices=("all", "sync", "tile"),
        help="print every stage down to PTX, with sync what waits for what, with tile what `build` reads",
    )
    return parser


def _add_shape(parser: argparse.ArgumentParser) -> None:
    add_sizes(parser)
    parser.add_argument("--batch", type=int, metavar="COUNT", help="so many products, arrays of three dimensions")
    add_layout(parser)
    add_types(parser)
    add_epilogue(parser)
    parser.add_argument("--target", default="sm_70", help="the GPU generation (default: sm_70)")
    parser.add_argument("--warps", type=int, choices=list(WARP_COUNTS), help="warps of a block (default: the plan's)")
    parser.add_argument(
        "--workers",
        type=_workers,
        metavar="COUNT",
        help="blocks that stay and walk the tiles, sms: as many as run at once",
    )
    parser.add_argument(
        "--cluster", type=_two_counts, metavar="ROWSxCOLUMNS", help="blocks that bring each other what they share: 2x1"
    )
    parser.add_argument("--stream", action="store_true", help="blocks that stay share the tiles slab by slab")
    parser.add_argument(
        "--drain", type=int, default=0, metavar="EXTENT", help="results leave by shared memory in pieces so large"
    )
    for name, value in SCALARS.items():
        parser.add_argument(f"--{name}", type=float, metavar="NUMBER", help=f"of the epilogue (default: {value:g})")


def _workers(text: str) -> int | Workers:
    if text == sms.value:
        return sms
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"wants sms or a count of blocks, got {text!r}")
    return int(text)


def _two_counts(text: str) -> tuple[int, int]:
    rows, _, columns = text.partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        raise argparse.ArgumentTypeError(f"two whole numbers such as 2x1, got {text!r}")
    return int(rows), int(columns)


def _add_files(parser: argparse.ArgumentParser) -> None:
    for name, option in FILES.items():
        parser.add_argument(f"--{option.replace('_', '-')}", type=Path, metavar="NPY", help=f"the array {name}")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--out", type=Path, metavar="NPY", help="write the result to this file")
    parser.add_argument("--second-out", type=Path, metavar="NPY", help="write what `keep` stores to this file")
    parser.add_argument("--emit", type=Path, metavar="PTX", help="write the kernel to this file")
