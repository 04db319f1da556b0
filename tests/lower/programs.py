"""Building blocks of the hand-written tile programs of these tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from polyhedral import Affine, const, var
from ptxgen.compute import Element, SourceLine
from ptxgen.emit import emit
from ptxgen.ir import Module
from ptxgen.lower import dynamic_shared_bytes, lower
from ptxgen.simulate import Report, simulate
from ptxgen.tile import (
    Buffer,
    Copy,
    Distribution,
    GlobalPlacement,
    Grid,
    GridDim,
    Node,
    Outside,
    Parameter,
    ParameterKind,
    Program,
    Quotient,
    Raster,
    Region,
    Role,
    SharedLayout,
    Space,
)

LINE = SourceLine("plan.py", 7, "plan")
Coordinate = tuple[int, ...]


def affine(value: Affine | int | str) -> Affine:
    """A name, a number or an expression."""
    return var(value) if isinstance(value, str) else const(value) if isinstance(value, int) else value


def array(name: str, element: Element, extents: tuple, strides: tuple) -> Buffer:
    """A whole array in global memory."""
    placement = GlobalPlacement(tuple(map(affine, extents)), tuple(map(affine, strides)))
    return Buffer(name, name, element, Space.GLOBAL, (), 1, placement)


def registers(name: str, element: Element, held: Distribution, depth: int = 1) -> Buffer:
    """A tile in registers."""
    return Buffer(name, name.split(".")[0], element, Space.REGISTERS, held.shape, depth, held)


def shared(name: str, element: Element, layout: SharedLayout, depth: int = 1) -> Buffer:
    """A tile in shared memory."""
    return Buffer(name, name.split(".")[0], element, Space.SHARED, layout.shape, depth, layout)


def at(buffer: Buffer, *origin: Affine | int | str, rank: Affine | int = 0) -> Region:
    """The box of a buffer that starts at `origin`; at its corner where none is given."""
    places = origin or (0,) * (len(buffer.shape) or len(buffer.in_memory.extents))
    return Region(buffer, affine(rank), tuple(map(affine, places)))


def spread(shape: Coordinate, order: list[tuple[int, int]], values: int, warps: int = 1) -> Distribution:
    """The bits `order`, pairs (dimension, extent of the step), dealt to values first, then lanes, then warps."""
    images = [tuple(step if d == dimension else 0 for d in range(len(shape))) for dimension, step in order]
    log_warps = warps.bit_length() - 1
    assert len(images) == values + 5 + log_warps
    return Distribution(shape, tuple(images[:values]), tuple(images[values : values + 5]), tuple(images[values + 5 :]))


def row_major(shape: tuple[int, int], vector: int, warps: int = 1) -> Distribution:
    """Vectors along dimension 1; threads along it, then along dimension 0; further vectors of a thread below."""
    bits = [(1, 1 << b) for b in range(shape[1].bit_length() - 1)] + [
        (0, 1 << b) for b in range(shape[0].bit_length() - 1)
    ]
    threads = 5 + warps.bit_length() - 1
    own = vector.bit_length() - 1
    order = bits[:own] + bits[own + threads :] + bits[own : own + threads]
    return spread(shape, order, own + len(bits) - own - threads, warps)


def copy(
    source: Region, destination: Region, held: Distribution, vector: int = 1, guarded: tuple[int, ...] = (),
    outside: Outside = Outside.NEVER,
) -> Copy:  # fmt: skip
    """A copy on the line of these tests."""
    return Copy(f"{destination.buffer.name}", source, destination, held, vector, guarded, outside, LINE)


def parameters(
    *buffers: Buffer, written: tuple[str, ...] = (), alignment: int = 16, scalars: tuple[str, ...] = ()
) -> tuple[Parameter, ...]:
    """Pointers of the arrays, their strides and sizes, and scalars, each once."""
    pointers = [Parameter(b.array, ParameterKind.POINTER, b.element, alignment, b.array in written) for b in buffers]
    strides = dict.fromkeys(n for b in buffers for s in b.in_memory.strides for n in s.names)
    sizes = dict.fromkeys(n for b in buffers for e in b.in_memory.extents for n in e.names)
    return (
        *pointers,
        *(Parameter(name, ParameterKind.SIZE) for name in sizes),
        *(Parameter(name, ParameterKind.STRIDE) for name in strides if name not in sizes),
        *(Parameter(name, ParameterKind.SCALAR) for name in scalars),
    )


def tiles(**sizes: tuple[str | int, int]) -> tuple[GridDim, ...]:
    """Grid dims `cta.i` with ceil(size / extent) tiles: `i=("M", 32)`."""
    return tuple(
        GridDim(f"cta.{name}", Quotient(affine(size) + (extent - 1), extent)) for name, (size, extent) in sizes.items()
    )


def program(
    arrays: tuple[Buffer, ...], grid: tuple[GridDim, ...], body: Node, *buffers: Buffer, warps: int = 1, group: int = 1,
    written: tuple[str, ...] = ("D",), alignment: int = 16, scalars: tuple[str, ...] = (),
) -> Program:  # fmt: skip
    """A program of one role for sm_70."""
    return Program(
        "kernel", "sm_70", parameters(*arrays, written=written, alignment=alignment, scalars=scalars), (),
        Grid(grid, Raster(group)), (*arrays, *buffers), (Role("all", warps, body),),
    )  # fmt: skip


def blocks_of(made: Program, sizes: Mapping[str, int]) -> int:
    """The blocks of a launch."""
    counts = [dim.count.numerator.evaluate(sizes) // dim.count.divisor for dim in made.grid.dims]
    return reduce(lambda a, b: a * b, counts, 1)


def run(made: Program, arguments: Mapping[str, Any], module: Module | None = None, seed: int | None = None) -> Report:
    """Lowers and simulates a program; written arrays are given as they are. Any finding fails the test."""
    module = module or lower(made)
    sizes = {name: int(value) for name, value in arguments.items() if isinstance(value, int)}
    args = [arguments[each.name] for each in made.parameters]
    report = simulate(
        module, grid=blocks_of(made, sizes), block=made.warps * 32, args=args,
        shared_bytes=dynamic_shared_bytes(made), seed=seed,
    )  # fmt: skip
    report.raise_findings()
    return report


def text(made: Program) -> str:
    """The PTX of a program."""
    return str(emit(lower(made)))
