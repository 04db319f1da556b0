"""A device's row of the cost model, fitted to launches timed on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from isa.targets import UnknownTarget
from isa.targets import target as target_named
from ptxgen.errors import DriverError, LaunchError
from ptxgen.kernels.choosing.cost import estimate
from ptxgen.kernels.choosing.menu import Sizes, menu_for
from ptxgen.kernels.choosing.processors import FITTED, FITTED_OF_BOXED, FITTED_OF_WARPS, Processor
from ptxgen.kernels.launching.binding import bind, facts_of
from ptxgen.kernels.launching.views import outline
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.generations import has_warpgroups
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import Fact
from ptxgen.tune.making import Made, Wanted, make
from ptxgen.tune.measuring import bench, shapes_of, turns
from ptxgen.tune.tilings import plain, tiling_of

TURNS, GRAPHS_AT_ONCE = 7, 16
WORTH = 4.0
ANCHORS = ((128, 256), (128, 128), (64, 128))
NEAR = 1.5
STEPS, TRIES, NUDGE, HUBER, HELD = 40, 12, 1e-3, 0.08, 1e-2


@frozen
class Measurement:
    """The microseconds of one launch of a product by a tiling on a target."""

    target: str
    sizes: Sizes
    tiling: MatmulTiling
    microseconds: float


def written(found: Measurement) -> str:
    """A measurement as a line of JSON."""
    sizes = [found.sizes.m, found.sizes.n, found.sizes.k, found.sizes.batches]
    told = {"target": found.target, "sizes": sizes, "us": round(found.microseconds, 3), "tiling": plain(found.tiling)}
    return json.dumps(told, separators=(",", ":"))


def read_measurements(path: Path) -> tuple[Measurement, ...]:
    """The measurements of a file; lines that do not begin as one are passed over, ValueError names those that do and
    are none."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith('{"target"'):
            try:
                found.append(_measurement(json.loads(line)))
            except (ValueError, KeyError, TypeError, UnknownTarget) as error:
                raise ValueError(f"line {number}: {type(error).__name__}: {error}") from None
    return tuple(found)


def _measurement(told: dict[str, Any]) -> Measurement:
    sizes, micro = Sizes(*told["sizes"]), float(told["us"])
    if min(sizes.m, sizes.n, sizes.k, sizes.batches) < 1 or not 0 < micro < inf:
        raise ValueError(f"{told['sizes']} in {micro} us")
    return Measurement(target_named(told["target"]).name, sizes, tiling_of(told["tiling"]), micro)


def spread(spec: MatmulSpec, target: str, shapes: Iterable[Sizes]) -> tuple[MatmulTiling, ...]:
    """Tilings that tell the parts of the model apart: one of each block's extents, and of some blocks all that differ
    from it in one choice."""
    offered = dict.fromkeys(tiling for sizes in shapes for tiling in menu_for(spec, target, sizes))
    first: dict[tuple[int, int, int, int], MatmulTiling] = {}
    for tiling in offered:
        first.setdefault((tiling.i, tiling.j, tiling.k, tiling.warps), tiling)
    found = dict.fromkeys(first.values())
    for base in first.values():
        if (base.i, base.j) in ANCHORS:
            found.update(dict.fromkeys(tiling for tiling in offered if _differences(base, tiling) == 1))
    return tuple(found)


def _differences(one: MatmulTiling, other: MatmulTiling) -> int:
    """In how many choices two tilings differ; a cluster instead of staying blocks is one."""
    told, against = plain(one), plain(other)
    differing = {name for name in told if told[name] != against[name]} - {"prefetch", "isolate", "fragment_depth"}
    if {"workers", "cluster"} <= differing or {"workers", "raster"} <= differing:
        differing -= {"workers", "raster"}
    return len(differing) or (1 if one != other else 0)


def facts_for(spec: MatmulSpec, sizes: Sizes, tiling: MatmulTiling, target: str) -> tuple[Fact, ...]:
    """What holds of new arrays of these sizes."""
    product = Matmul(spec, target, tiling)
    arrays = {name: outline(dtype, shape) for name, (shape, dtype) in shapes_of(spec, sizes).items()}
    return facts_of(product.compute, bind([array for array in product.compute.arrays if array.name in arrays], arrays))


def measure(
    spec: MatmulSpec,
    target: str,
    shapes: Sequence[Sizes],
    processor: Processor,
    executor: Executor,
    tell: Callable[[str], None] = lambda line: None,
) -> Iterator[Measurement]:
    """Times a spread of tilings at these shapes on device 0, those left out of which the row so far expects more than
    WORTH times the best. Kernels are made by the executor; `tell` hears of those that could not be."""
    tilings = spread(spec, target, shapes)
    asked: dict[tuple[MatmulTiling, tuple[Fact, ...]], Made] = {}
    wanted = {
        (sizes, tiling): Wanted(spec, target, tiling, facts_for(spec, sizes, tiling, target))
        for sizes in shapes for tiling in tilings
    }  # fmt: skip
    distinct = tuple(dict.fromkeys(wanted.values()))
    for made in executor.map(make, distinct):
        asked[made.wanted.tiling, made.wanted.facts] = made
        if made.reason:
            tell(f"not made: {made.wanted.tiling}: {made.reason.splitlines()[0]}")
    kernels = {}
    for key, made in asked.items():
        if made.kept is not None and not made.reason:
            kernels[key] = made.kernel
    for sizes in shapes:
        here = bench(spec, sizes)
        expected = {t: estimate(spec, target, sizes, t, processor).microseconds for t in tilings}
        best = min(expected.values())
        names = [t for t in tilings if expected[t] <= WORTH * best and (t, wanted[sizes, t].facts) in kernels]
        for start in range(0, len(names), GRAPHS_AT_ONCE):
            graphs = {}
            for tiling in names[start : start + GRAPHS_AT_ONCE]:
                try:
                    graphs[tiling] = here.graph(kernels[tiling, wanted[sizes, tiling].facts])
                except (DriverError, LaunchError) as error:
                    tell(f"not launched: {tiling}: {str(error).splitlines()[0]}")
            for tiling, micro in zip(graphs, turns(tuple(graphs.values()), TURNS, len(here.sets)), strict=True):
                yield Measurement(target, sizes, tiling, micro)


@frozen
class Fit:
    """A row fitted, and how far its times are from those measured, as factors: the median, and that of nine in ten."""

    processor: Processor
    median: float
    nine_in_ten: float
    residuals: tuple[tuple[Measurement, float], ...] = field(repr=False)


KINDS: tuple[tuple[str, Callable[[MatmulTiling], bool]], ...] = (
    ("blocks that come and go", lambda tiling: tiling.workers is None),
    ("blocks that stay", lambda tiling: tiling.workers is not None and not tiling.turns),
    ("tiles in turn", lambda tiling: tiling.turns),
    ("clusters", lambda tiling: tiling.cluster != (1, 1)),
    ("factors swapped", lambda tiling: tiling.swap),
    ("results from registers", lambda tiling: not tiling.drain),
    ("boxes for warps", lambda tiling: tiling.boxed),
)


def by_kind(found: Fit) -> Iterator[tuple[str, int, float]]:
    """Of each kind of tiling how many were measured and the median of the factors: what the row tells too high or too
    low of a kind is what the model does not know of it."""
    for name, belongs in KINDS:
        factors = [factor for each, factor in found.residuals if belongs(each.tiling)]
        if factors:
            yield name, len(factors), float(np.median(factors))


def fit(spec: MatmulSpec, measured: Sequence[Measurement], start: Processor) -> Fit:
    """The row nearest to the measurements in the logarithm of the time, from `start` on; far ones count less (Huber),
    and those that take more than NEAR times the best of their shape not at all, since nobody would pick them.

    First what products of warpgroups tell, where there are any, then what is of warps alone, and of warps that have
    their slabs brought.
    """
    best: dict[tuple[str, Sizes], float] = {}
    for each in measured:
        key = (each.target, each.sizes)
        best[key] = min(best.get(key, each.microseconds), each.microseconds)
    near = [each for each in measured if each.microseconds <= NEAR * best[each.target, each.sizes]]
    boxed = [each for each in near if each.tiling.boxed]
    groups = [each for each in near if has_warpgroups(each.target) and not each.tiling.boxed]
    warps = [each for each in near if not has_warpgroups(each.target) and not each.tiling.boxed]
    row = evolve(start, measured=True)
    if groups:
        row = _fitted(spec, groups, row, FITTED)
    if warps:
        row = _fitted(spec, warps, row, FITTED_OF_WARPS if groups else (*FITTED, *FITTED_OF_WARPS))
    if boxed:
        row = _fitted(spec, boxed, row, FITTED_OF_BOXED)
    factors = [estimate(spec, e.target, e.sizes, e.tiling, row).microseconds / e.microseconds for e in near]
    sizes = sorted(max(factor, 1 / factor) for factor in factors)
    middle, most = sizes[len(sizes) // 2], sizes[int(0.9 * (len(sizes) - 1))]
    return Fit(row, middle, most, tuple(zip(near, factors, strict=True)))


def _fitted(spec: MatmulSpec, measured: Sequence[Measurement], start: Processor, names: tuple[str, ...]) -> Processor:
    """The row with those figures that come nearest: Levenberg and Marquardt's method over their logarithms."""

    def row(logs: NDArray[np.float64]) -> Processor:
        known = evolve(start, **dict(zip(names, map(float, np.exp(logs)), strict=True)))  # type: ignore[arg-type]
        return evolve(known, ghz=min(known.ghz, known.top_ghz))

    def residuals(logs: NDArray[np.float64]) -> NDArray[np.float64]:
        known = row(logs)
        told = [estimate(spec, each.target, each.sizes, each.tiling, known).microseconds for each in measured]
        found: NDArray[np.float64] = np.log(np.array(told) / wanted)
        return found

    wanted = np.array([each.microseconds for each in measured])
    return row(_nearest(residuals, np.log(np.array([getattr(start, name) for name in names]))))


def _nearest(
    residuals: Callable[[NDArray[np.float64]], NDArray[np.float64]], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The arguments with the least loss of residuals, found from `start`."""
    logs, found, damping = start, residuals(start), 1.0
    for _ in range(STEPS):
        jacobian = np.stack([(found - residuals(logs - step)) / NUDGE for step in NUDGE * np.eye(len(logs))], axis=1)
        weights = np.minimum(1.0, HUBER / np.maximum(np.abs(found), 1e-9))
        normal = jacobian.T @ (weights[:, None] * jacobian) + HELD * np.eye(len(logs))
        slope = jacobian.T @ (weights * found) + HELD * (logs - start)
        before = _loss(found)
        for _ in range(TRIES):
            moved = logs - np.linalg.solve(normal + damping * np.diag(np.diag(normal)), slope)
            tried = residuals(moved)
            if _loss(tried) < before:
                logs, found, damping = moved, tried, damping / 8.0
                break
            damping *= 4.0
        if before - _loss(found) < 1e-6 * before:
            break
    return logs


def _loss(residuals: NDArray[np.float64]) -> float:
    size = np.abs(residuals)
    return float(np.where(size < HUBER, size**2 / 2, HUBER * (size - HUBER / 2)).sum())
