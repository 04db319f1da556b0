"""Tensor maps: how shared tiles lie that go by them, and what their arrays' addresses and strides are multiples of."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.errors import Finding, Severity
from ptxgen.prove.declarations.multiples import Known
from ptxgen.tile import Buffer, Carrier, Copy, Program, Space, TensorBox
from ptxgen.tile.trees import ends_of

UNIT_BYTES, ROW_SHIFT, FIRST_ROW_BIT = 16, 3, 7


def map_faults(program: Program) -> Iterator[Finding]:
    """Maps whose swizzle is not the layout of the tiles that they bring or store, and arrays whose address or strides
    are not known to be multiples of 16 bytes (PTX ISA, tensors; CUDA driver API, cuTensorMapEncodeTiled)."""
    if not program.boxes:
        return
    leaves = (node for role in program.roles for node in ends_of(role.body))
    copies = {node.op: node for node in leaves if isinstance(node, Copy) and node.carrier is Carrier.TENSOR}
    known = Known(program)
    for box in program.boxes:
        copy = copies.get(box.op)
        if copy is None:
            text = f"{box.name} is for {box.op}, wanted one of the copies in boxes: {', '.join(copies) or 'none'}"
            yield Finding("declaration.map", Severity.ERROR, text, box.line)
            continue
        tile, memory = copy.destination.buffer, copy.source.buffer
        if memory.space is Space.SHARED:
            tile, memory = memory, tile
        yield from _swizzle_faults(box, tile)
        moved = [d for d in box.order[1:] if copy.distribution.shape[d] > 1]
        yield from known.faults(memory, UNIT_BYTES, moved, (f"{box.name}, a tensor map", copy.line))


def _swizzle_faults(box: TensorBox, tile: Buffer) -> Iterator[Finding]:
    """Rows of a span, of which 16-byte units are XORed with bits of their address (PTX ISA, swizzling modes)."""
    width = tile.element.byte_count
    row = tile.layout.row_elements(box.order[0]) * width
    if row != box.span:
        text = f"{box.name} swizzles over {box.span} bytes, but rows of {tile.name} lie together over {row} bytes"
    elif box.extents[0] * width != box.span:
        text = f"{box.name} has rows of {box.extents[0] * width} bytes in a box, wanted the {box.span} of its swizzle"
    else:
        wrong = next((i for images in tile.layout.offsets for i in images if i != _swizzled(i, width, box.span)), None)
        if wrong is None:
            return
        wanted = _swizzled(wrong, width, box.span)
        text = f"{tile.name} has the offset {wrong}, where the {box.span} bytes of {box.name} want {wanted}"
    yield Finding("declaration.swizzle", Severity.ERROR, text, box.line)


def _swizzled(image: int, width: int, span: int) -> int:
    """The offset of the coordinate bit that is the highest bit of `image`, in elements of `width` bytes."""
    if not image:
        return 0
    place = 1 << image.bit_length() - 1
    own, first = place * width, 1 << FIRST_ROW_BIT
    flipped = own >> ROW_SHIFT if first <= own < first * span // UNIT_BYTES else 0
    return place | flipped // width
