"""`ptxgen run`: a kernel of a PTX file on the CPU, and what is wrong with the run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa.types import Kind, Type
from ptxgen.cli.check import plain
from ptxgen.cli.outputs import check_writable, write_array
from ptxgen.cli.running import Argument, ArrayArgument, FileArgument, RunOptions
from ptxgen.cli.terminal import show
from ptxgen.cli.texts import read_text
from ptxgen.cli.unusable import Unusable
from ptxgen.ir import Function, Module
from ptxgen.parse import parse
from ptxgen.simulate import LimitReached, Report, simulate, unsupported, unwritten

Array: TypeAlias = NDArray[Any]
Progress: TypeAlias = "Callable[[int, int], None] | None"

_RANDOM_BELOW = 100


def run_kernel(options: RunOptions) -> int:
    """Carries out the command: 0 without findings, 1 with some, 2 where the simulator does not run the kernel, which is
    told instruction by instruction. Unusable where anything else does not fit.
    """
    text, name = read_text(options.file)
    module = parse(text, file=name)
    if options.listing:
        return _list(options, module, name)
    function = _kernel(module, options)
    for _, path in options.out:
        check_writable(path)
    refused = unsupported(module, function.name, target=options.target)
    if refused:
        for finding in refused:
            print(f"ptxgen: {finding}", file=sys.stderr)
        return 2
    made = [(given, value_of(value, options.random_seed + place)) for place, (given, value) in
            enumerate(options.arguments)]  # fmt: skip
    arrays = _arrays(function, made, options)
    report = _run(module, function, made, options)
    written = [write_array(path, array) for path, array in arrays]
    _tell(options, report, made, written)
    return 1 if report.findings else 0


def _list(options: RunOptions, module: Module, name: str) -> int:
    found = unsupported(module, options.kernel, target=options.target)
    if options.json:
        print(json.dumps({"file": name, "unsupported": [plain(each, name) for each in found]}, indent=2))
    else:
        for finding in found:
            show(str(finding))
    return 2 if found else 0


def _kernel(module: Module, options: RunOptions) -> Function:
    try:
        return module.function(options.kernel)
    except LookupError as error:
        raise Unusable(str(error)) from None


def _run(module: Module, function: Function, made: Sequence[tuple[str | None, Any]], options: RunOptions) -> Report:
    values = [unwritten(value) if isinstance(given, ArrayArgument) and given.fill == "unwritten" else value
              for (_, given), (_, value) in zip(options.arguments, made, strict=True)]  # fmt: skip
    names = [name for name, _ in made]
    args: Any = dict(zip(names, values, strict=True)) if names and names[0] is not None else values
    with _bar(function.name) as progress:
        try:
            return simulate(
                module, function.name, grid=options.grid, block=options.block, args=args, cluster=options.cluster,
                shared_bytes=options.shared_bytes, target=options.target, seed=options.seed, limit=options.limit,
                progress=progress,
            )  # fmt: skip
        except LimitReached as error:
            raise Unusable(str(error)) from None


@contextmanager
def _bar(name: str) -> Iterator[Progress]:
    """A bar on stderr where that is a terminal and rich is installed."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress as Bars
    except ImportError:
        yield None
        return
    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(name, total=None)
        yield lambda ended, total: bars.update(task, completed=ended, total=total)


def value_of(argument: Argument, seed: int) -> Array | int | float:
    """What a kernel is given for an argument: a number, or an array; random ones are drawn by the seed.

    Random floats are normal, integers from 0 to 99. bf16 arrays hold bits. Unusable names a file that is no array.
    """
    match argument:
        case ArrayArgument(element=element, shape=shape, fill=fill):
            return _filled(element, shape, fill, seed)
        case FileArgument(path=path):
            return _loaded(path)
        case _:
            return argument


def dtype_of(element: Type) -> np.dtype[Any]:
    """The numpy type of elements; bits for bf16."""
    letter = {Kind.FLOAT: "f", Kind.SIGNED: "i"}.get(element.kind, "u")
    return np.dtype(f"{'u' if element.name == 'bf16' else letter}{element.bits // 8}")


def _filled(element: Type, shape: tuple[int, ...], fill: str | float | Path, seed: int) -> Array:
    match fill:
        case "zeros" | "unwritten":
            values: Array = np.zeros(shape)
        case "ones":
            values = np.ones(shape)
        case "range":
            values = np.arange(int(np.prod(shape))).reshape(shape)
        case "random" if element.kind is Kind.FLOAT:
            values = np.random.default_rng(seed).standard_normal(shape)
        case "random":
            values = np.random.default_rng(seed).integers(0, _RANDOM_BELOW, shape)
        case Path():
            values = _loaded(fill)
            if values.size != int(np.prod(shape)):
                raise Unusable(f"{fill} holds {values.size} elements, {'x'.join(map(str, shape))} are wanted")
        case _:
            values = np.full(shape, fill)
    if element.name == "bf16":
        return _bf16(values)
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(values.reshape(shape).astype(dtype_of(element)))


def _bf16(values: Array) -> Array:
    """The nearest bf16 bits, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded: Array = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.ascontiguousarray(rounded.astype(np.uint16))


def _loaded(path: Path) -> Array:
    try:
        found = np.load(path, allow_pickle=False)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError):
        raise Unusable(f"{path} is no .npy file of numbers") from None
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
        raise Unusable(f"{path} is no .npy file of numbers")
    return np.array(found, order="C")


def _arrays(
    function: Function, made: Sequence[tuple[str | None, Any]], options: RunOptions
) -> list[tuple[Path, Array]]:
    """The arrays to write when all is done. Unusable for an argument that is none."""
    values = [value for _, value in made]
    by_name: Mapping[str, Any] = {str(place): value for place, value in enumerate(values)}
    parameters = [each.name for each in function.parameters]
    by_name = {**by_name, **dict(zip(parameters, values, strict=False))} if made and made[0][0] is None else {
        **by_name, **{str(name): value for name, value in made}}  # fmt: skip
    found: list[tuple[Path, Array]] = []
    for name, path in options.out:
        array = by_name.get(name)
        if not isinstance(array, np.ndarray):
            raise Unusable(f"--out {name}={path}: {name} is no array argument of {function.name}")
        found.append((path, array))
    return found


def _tell(options: RunOptions, report: Report, made: Sequence[tuple[str | None, Any]], written: Sequence[str]) -> None:
    if options.json:
        print(json.dumps(told(report, options.file), indent=2))
        return
    if report.printed:
        print(report.printed, end="" if report.printed.endswith("\n") else "\n")
    if options.report:
        show(str(report))
    else:
        show(_summary(report))
        for finding in report.findings:
            show(f"error: {finding}")
    for line in written:
        print(line)


def _summary(report: Report) -> str:
    count = len(report.findings)
    return (
        f"{report.kernel}: {report.total.warps} warp-instructions, {report.conflicts} bank conflicts, "
        f"{report.sectors} sectors of global memory, {count or 'no'} finding{'s' * (count != 1)}"
    )


def told(report: Report, file: str) -> dict[str, Any]:
    """A report as JSON: counts by instruction, what accesses cost, findings with their line and thread, what was
    printed."""
    return {
        "kernel": report.kernel, "grid": report.grid, "block": report.block,
        "warps": report.total.warps, "lanes": report.total.lanes,
        "conflicts": report.conflicts, "sectors": report.sectors,
        "instructions": {name: {"warps": each.warps, "lanes": each.lanes} for name, each in report.counts.items()},
        "findings": [
            {**plain(each, file), "statement": each.statement, "cta": each.cta, "thread": each.thread,
             "address": each.address, "count": each.count}
            for each in report.findings
        ],
        "printed": report.printed,
    }  # fmt: skip
