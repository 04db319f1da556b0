"""Sparse A: the metadata operand of a product, as the columns of the elements that A keeps."""

from __future__ import annotations

from attrs import frozen

from isa.metadata import Metadata, metadata
from ptxgen.simulate.batch import Batch
from ptxgen.simulate.group import Group
from ptxgen.simulate.site import Array, Site
from ptxgen.simulate.sparse import columns, meaningless, told

_SELECTORS = ("selector", "f")


@frozen(eq=False)
class Kept:
    """What A keeps, by the metadata operand of an instruction, which stands before the selector."""

    site: Site
    place: int
    of: Metadata
    selector: int
    ordered: bool

    def columns(self, registers: Array, group: Group, batch: Batch, rows: Array) -> Array:
        """The column of each kept element, [kept, 16, warps], for these rows of the group, whose metadata registers
        [rows, 32] are given. A finding where they have no meaning.
        """
        chunks = told(registers, self.of, self.selector)
        wrong = meaningless(chunks, self.of, self.ordered)
        if wrong.any():
            row = int(rows[int(wrong.argmax())])
            thread = batch.thread(group, row, int(group.lanes()[row].argmax()))
            batch.journal.fault("mma.metadata", self.site.index, _meaningless, thread=thread)
        return columns(chunks, self.of)


def _meaningless() -> str:
    return "has metadata that names no two places of a chunk in the order that the instruction demands"


def kept_of(site: Site) -> Kept | None:
    """What the sparse A of a product keeps; None for a dense one."""
    if not site.has("sp", "sp::ordered_metadata"):
        return None
    words = site.instruction.form.words
    place = next(place for place, slot in enumerate(site.slots) if slot.name in _SELECTORS)
    selector = int(getattr(site.operands[place], "value", 0))
    ordered = site.has("sp::ordered_metadata")
    return Kept(site, place - 1, metadata(str(words["shape"]), str(words["atype"])), selector, ordered)


def packed_shape(shape: str) -> str:
    """The shape of a dense product with as many products as a sparse one does."""
    head, _, depth = shape.partition("k")
    return f"{head}k{int(depth) // 2}"
