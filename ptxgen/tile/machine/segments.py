"""Groups of indices whose ends an array in memory tells."""

from __future__ import annotations

from polyhedral import Affine
from ptxgen.errors import LaunchError
from ptxgen.tile.buffers import GlobalPlacement
from ptxgen.tile.grid import Segmented
from ptxgen.tile.machine.state import Launch, Step, evaluate


def reach_of(step: Step, op: str, placed: GlobalPlacement) -> tuple[Affine, ...]:
    """Below what indices tensor copies stay: those of the array, or where their map is bounded those of the block."""
    boxes = step.warp.block.launch.program.boxes
    return placed.reach if any(box.op == op and box.bounded is not None for box in boxes) else placed.extents


def group_variables(launch: Launch, segments: Segmented) -> list[dict[str, int]]:
    """The variables of each group: its number, its first index, its end. LaunchError where memory does not have the end
    of each."""
    program, rows = launch.program, evaluate(segments.rows, launch.sizes)
    count = evaluate(program.grid.dims[0].count, launch.sizes)
    if segments.ends not in launch.memory or len(launch.memory[segments.ends].values) < count:
        raise LaunchError(f"{program.name}: {segments.ends} has the end of each of {count} groups")
    found: list[dict[str, int]] = []
    first = 0
    for number, end in enumerate(launch.memory[segments.ends].values[:count].tolist()):
        last = min(max(end, first), rows)
        found.append({segments.group: number, segments.first: first, segments.end: last})
        first = last
    return found
