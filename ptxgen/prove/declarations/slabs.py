"""Tiles whose slabs blocks share: as many as what takes them wants."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.prove.trees.accesses import accesses
from ptxgen.tile import ITEM_FIRST, Ordering, Program, Quotient, Region, Space
from ptxgen.tile.trees import ends_of


def slab_faults(program: Program) -> Iterator[Finding]:
    """Arrays along which an item begins so many elements further for each slab before it, where the slabs of a tile
    are not as many as those that the array has."""
    shared = program.grid.work_list
    if shared is None or shared.slabs is None:
        return
    for node in (node for role in program.roles for node in ends_of(role.body)):
        if isinstance(node, Ordering):
            continue
        for region in (access.region for access in accesses(node)):
            for place, wanted in _wanted(region):
                if wanted != shared.slabs:
                    text = f"tiles have {shared.slabs} slabs, but {node.op} takes those of {region.buffer.array} along "
                    text += f"d{place}: wanted {wanted}"
                    related = ((node.op, node.line),)
                    yield Finding("declaration.slabs", Severity.ERROR, text, shared.line or node.line, related=related)
                    return


def _wanted(region: Region) -> Iterator[tuple[int, Quotient]]:
    """The dimensions along which the item's first slab moves a region of an array, and how many slabs those have."""
    if region.buffer.space is not Space.GLOBAL:
        return
    for place, corner in enumerate(region.origin):
        length = corner.coefficient(ITEM_FIRST)
        if length > 0:
            yield place, Quotient(region.buffer.in_memory.extents[place] + (length - 1), length)
