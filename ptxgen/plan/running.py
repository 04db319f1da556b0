"""Where statements and ops run: in which loops, from the outermost in, as the steps so far have it."""

from __future__ import annotations

from ptxgen.compute import ArrayKind, Compute, Statement
from ptxgen.plan.nest import piece_loop, placement, tile_levels
from ptxgen.plan.steps import Drain, Stage, Step
from ptxgen.plan.transports import Transport
from ptxgen.plan.words import IntoFragments, Onto

Path = tuple[str, ...]


def rolled(steps: tuple[Step, ...], statement: Statement) -> Path:
    """The loops of a length that is known at the launch around `statement`: the outermost tiles of its dims, but for
    those that blocks take; and inside them the loop over the pieces in which it is finished."""
    own = {dim.name for dim in statement.dims}
    found: list[str] = []
    seen: set[str] = set()
    for tile in tile_levels(steps):
        place = placement(steps, tile.level)
        for dim in tile.sizes:
            on_blocks = place is not None and place.onto is Onto.BLOCKS and dim in place.dims
            if dim in own and dim not in seen and not on_blocks:
                found.append(f"{tile.level}.{dim}")
            seen.add(dim)
    pieces = piece_loop(steps, statement)
    return (*found, pieces.name) if pieces else tuple(found)


def around_reduction(steps: tuple[Step, ...], statement: Statement) -> Path:
    """The loops around the whole of a statement's reduction: where its result starts, and where it is stored."""
    path = rolled(steps, statement)
    reduced = [place for place, loop in enumerate(path) if loop.partition(".")[2] in statement.reduced]
    return path[: reduced[0]] if reduced else path


def stage_paths(compute: Compute, steps: tuple[Step, ...], stage: Stage) -> list[Path]:
    """The loops in which the op of a stage runs, once for each statement that reads the array."""
    return [
        _inside(steps, rolled(steps, statement), stage)
        for statement in compute.statements
        if any(access.array == stage.array for access in statement.reads)
    ]


def _inside(steps: tuple[Step, ...], path: Path, stage: Stage) -> Path:
    if isinstance(stage.into, IntoFragments):
        return path
    if stage.at in path:
        return path[: path.index(stage.at) + 1]
    levels = [tile.level for tile in tile_levels(steps)]
    level, dot, _ = stage.at.partition(".")
    outside = levels[: levels.index(level) + (1 if dot else 0)]
    return tuple(loop for loop in path if loop.partition(".")[0] in outside)


def shiftable(compute: Compute, steps: tuple[Step, ...], stage: Stage) -> tuple[str, ...]:
    """The loops that the op of a stage may run ahead in: those around it, and for fragments the unrolled loop too."""
    loops = [loop for path in stage_paths(compute, steps, stage) for loop in path]
    if isinstance(stage.into, IntoFragments) and "." in stage.at:
        loops.append(stage.at)
    return tuple(dict.fromkeys(loops))


def bodies(compute: Compute, steps: tuple[Step, ...]) -> dict[str, tuple[str, ...]]:
    """For each op by name the loops in whose bodies it stands directly; "" is the top level, outside all loops."""
    found: dict[str, list[Path]] = {}
    for step in steps:
        if isinstance(step, Stage):
            found.setdefault(step.op, []).extend(stage_paths(compute, steps, step))
    for statement in compute.statements:
        found.setdefault(statement.name, []).append(rolled(steps, statement))
        outer = around_reduction(steps, statement)
        if statement.reduction:
            found.setdefault(f"{statement.name}.fill", []).append(outer)
        if compute.array(statement.target.array).kind is ArrayKind.OUTPUT:
            found.setdefault(f"{statement.target.array}.global", []).append(outer)
    for step in (step for step in steps if isinstance(step, Drain) and step.through):
        for op in (step.op, step.rows) if step.by.transport is Transport.ST else (step.op,):
            found.setdefault(op, []).extend(found[f"{step.array}.global"])
    return {op: tuple(dict.fromkeys(path[-1] if path else "" for path in paths)) for op, paths in found.items()}
