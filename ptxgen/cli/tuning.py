"""What may be said to `ptxgen tune`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, frozen

from isa.targets import target as target_named
from ptxgen.cli.products import PIECES_TOLD, add_epilogue, add_layout, add_sizes, epilogue_of
from ptxgen.cli.texts import ABOUT, Parser
from ptxgen.cli.types import ProductTypes, add_types, product_types
from ptxgen.cli.unusable import Unusable
from ptxgen.compute import Element, bf16, f16, f32
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching.binding import LARGEST_SIZE
from ptxgen.kernels.products.compute import Layout
from ptxgen.kernels.products.epilogue import Beta, Bias, Epilogue, Keep, Residual, Total

TUNE_COMMAND = "tune"
OPERANDS = {each.label: each for each in (f16, bf16, f32)}
DEADLINE = 30.0
MOST_SECONDS = 86_400.0
SHAPE = re.compile(r"\d+(?:[\sx,]+\d+){2,3}")


@frozen
class TuneOptions:
    """`ptxgen tune`: the shapes and the product; one of `calibrate` (time a spread of tilings), `fit` (a row from such
    times in a file) and `explain` (what the model tells, nothing run), else tune. `targets` are empty for the device's.
    """

    shapes: tuple[Sizes, ...]
    layout: Layout
    types: ProductTypes
    epilogue: Epilogue
    targets: tuple[str, ...]
    calibrate: bool
    fit: Path | None
    explain: bool
    candidates: int
    processes: int | None
    deadline: float
    device_name: str | None
    out: Path | None


def parse_tune_command(arguments: Sequence[str]) -> TuneOptions | None:
    """The options behind `tune`; None after `--help`. Unusable says what is wrong with them."""
    try:
        given = _parser().parse_args(arguments)
    except SystemExit:
        return None
    epilogue = epilogue_of(given)
    single = [value for value in (given.m, given.n, given.k) if value is not None]
    if given.shapes is not None and single:
        raise Unusable("give --shapes or --m, --n and --k, not both")
    if len(single) not in (0, 3) or (not single and given.shapes is None and given.fit is None):
        raise Unusable("--m, --n and --k are wanted together, or --shapes with a file of them")
    shapes = (
        shapes_in(given.shapes) if given.shapes else (Sizes(given.m, given.n, given.k, given.batch),) if single else ()
    )
    for sizes in shapes:
        told = (sizes.m, sizes.n, sizes.k, sizes.batches)
        if min(told) < 1 or max(told) > LARGEST_SIZE:
            got = f"{sizes.m} x {sizes.n} x {sizes.k}, {sizes.batches} of them"
            raise Unusable(f"a shape has sizes from 1 to {LARGEST_SIZE}, got {got}")
    if sum((given.calibrate, given.fit is not None, given.explain)) > 1:
        raise Unusable("--calibrate, --fit and --explain are three commands: take one")
    nothing = "--explain" if given.explain else "--fit" if given.fit is not None else ""
    for option in ("out", "processes"):
        if nothing and getattr(given, option) is not None:
            raise Unusable(f"--{option} is of what is measured, {nothing} measures nothing")
    if given.processes is not None and given.processes < 1:
        raise Unusable(f"--processes must be 1 or more, got {given.processes}")
    if given.candidates < 1:
        raise Unusable(f"--candidates must be 1 or more, got {given.candidates}")
    if not 0 < given.deadline <= MOST_SECONDS:
        raise Unusable(f"--deadline must be above 0 and at most {MOST_SECONDS:g}, got {given.deadline:g}")
    if any(isinstance(piece, Total) for piece in epilogue):
        raise Unusable("--epilogue: sums over rows or columns follow the default tile, so there is nothing to choose")
    targets = tuple(target_named(name.strip()).name for name in given.target.split(",")) if given.target else ()
    return TuneOptions(
        shapes, Layout(given.layout), product_types(given), _typed(epilogue, OPERANDS[given.operand_type]),
        tuple(dict.fromkeys(targets)), given.calibrate, given.fit, given.explain,
        given.candidates, given.processes, given.deadline, given.device, given.out,
    )  # fmt: skip


def shapes_in(path: Path) -> tuple[Sizes, ...]:
    """The shapes of a file, three numbers a line, or four where there are batches; what follows `#` is a remark."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Unusable(f"{path} is no text") from None
    for number, line in enumerate(lines, 1):
        told = line.split("#")[0].strip()
        if not told:
            continue
        if not SHAPE.fullmatch(told):
            raise Unusable(f"{path}:{number}: a shape is M N K, or M N K and a count of batches, got {line.strip()!r}")
        m, n, k, batches = (*map(int, re.findall(r"\d+", told)), 1)[:4]
        found.append(Sizes(m, n, k, batches))
    if not found:
        raise Unusable(f"{path} has no shapes")
    return tuple(found)


def _typed(epilogue: Epilogue, element: Element) -> Epilogue:
    """The epilogue with operands of one type."""
    held = (Bias, Residual, Beta, Keep)
    return tuple(evolve(piece, element=element) if isinstance(piece, held) else piece for piece in epilogue)


def _parser() -> Parser:
    parser = Parser(
        prog=f"ptxgen {TUNE_COMMAND}", description=f"Finds {ABOUT[TUNE_COMMAND]}.", allow_abbrev=False,
        epilog=f"{PIECES_TOLD} Needs a GPU, but for --fit and --explain. "
        "Exit status: 0 good, 1 no candidate was good, 2 unusable input, 3 the machine lacks what is needed, "
        "130 interrupted: what was measured before is kept.",
    )  # fmt: skip
    add_sizes(parser)
    parser.add_argument("--batch", type=int, default=1, metavar="COUNT", help="so many products (default: 1)")
    parser.add_argument("--shapes", type=Path, metavar="FILE", help="M N K in each line instead")
    add_layout(parser)
    add_types(parser)
    add_epilogue(parser)
    parser.add_argument(
        "--operand-type", choices=list(OPERANDS), default="f16", help="of the epilogue's operands (default: f16)"
    )
    parser.add_argument("--target", metavar="NAMES", help="GPU generations, sm_90a,sm_90 (default: all of the device)")
    parser.add_argument(
        "--candidates", type=int, default=24, metavar="COUNT", help="plans of a shape that are made (default: 24)"
    )
    parser.add_argument("--processes", type=int, metavar="COUNT", help="that make kernels (default: one a core)")
    parser.add_argument(
        "--deadline", type=float, default=DEADLINE, metavar="SECONDS",
        help=f"in which a plan must end what it is asked at a time (default: {DEADLINE:g})",
    )  # fmt: skip
    parser.add_argument("--device", metavar="NAME", help="whose row the model takes (default: this one's): H200")
    parser.add_argument("--calibrate", action="store_true", help="time a spread of plans at the shapes, a line each")
    parser.add_argument("--fit", type=Path, metavar="FILE", help="print the model's row for such lines")
    parser.add_argument("--explain", action="store_true", help="print what the model tells of its pick; runs nothing")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write what was found to this file, lines of JSON")
    return parser
