"""Blocks that reach each other in their cluster: masks that name blocks which are there, and its barrier, at which each
thread arrives and waits in turn."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Place, Severity
from ptxgen.order.clusters import ranks_in
from ptxgen.prove.trees.execution import Execution
from ptxgen.tile import Arrive, ClusterArrive, ClusterWait, Copy, Program, Space
from ptxgen.tile.trees import ends_of


def reach_faults(program: Program) -> Iterator[Finding]:
    """Masks of another number of blocks than a cluster has, and copies that read the tiles of several blocks at once or
    of none (code `synchronisation.reach`)."""
    size = program.grid.cluster
    for node in (node for role in program.roles for node in ends_of(role.body)):
        match node:
            case Arrive(to=masks) | Copy(masks=masks) if masks:
                if len(masks) != size or any(mask >> size for mask in masks):
                    ranks = sorted({rank for mask in masks for rank in ranks_in(mask)})
                    text = f"{len(masks)} blocks reach those of ranks {ranks}, in a cluster of {size}"
                    yield _finding("reach", text, node.line)
                elif isinstance(node, Copy) and node.source.buffer.space is Space.SHARED:
                    yield from _of_one_block(node)
            case _:
                pass


def _of_one_block(copy: Copy) -> Iterator[Finding]:
    for rank, mask in enumerate(copy.masks):
        if len(ranks_in(mask)) != 1:
            text = f"{copy.op} reads the tile of one block, in block {rank} of {len(ranks_in(mask))}"
            yield _finding("reach", text, copy.line)


def gathering_faults(run: Execution) -> Iterator[Finding]:
    """Threads that arrive at the cluster's barrier twice before they wait there, or wait and have not arrived (code
    `synchronisation.gathering`)."""
    for (role, block), steps in run.steps.items():
        arrived = False
        for node in (*run.program.enter, *(step.node for step in steps)):
            if isinstance(node, ClusterArrive | ClusterWait):
                if arrived is isinstance(node, ClusterArrive):
                    how = "arrives at the cluster's barrier twice before it waits there"
                    text = how if arrived else "waits for the cluster's barrier and has not arrived there"
                    yield _finding("gathering", f"{role}{run.where(block)} {text}", node.line)
                    return
                arrived = not arrived


def _finding(code: str, text: str, line: Place | None) -> Finding:
    return Finding(f"synchronisation.{code}", Severity.ERROR, text, line)
