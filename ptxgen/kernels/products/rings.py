"""What tiles of A and B take in shared memory, and how their rows lie there."""

from __future__ import annotations

from attrs import evolve

from isa.limits import limits
from isa.targets import target as target_named
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.kernels.products.drain import BARRIERS_BYTES
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.tile import granule

SLAB_BYTES = 64
LEAST_SPAN_BYTES, MOST_SPAN_BYTES = 32, 128


def ring_bytes(spec: MatmulSpec, tiling: MatmulTiling) -> tuple[int, int]:
    """The bytes of A's ring, and of A's and B's."""
    of_a, of_b = (tiling.depth * tiling.k * element.byte_count for element in spec.inputs)
    return of_a * tiling.i, of_a * tiling.i + of_b * tiling.j


def row_spans(spec: MatmulSpec, tiling: MatmulTiling) -> dict[str, int]:
    """The bytes over which the rows of A's and B's tiles are swizzled: a row, or as much of it as divides it, 128 at
    most."""
    rows = {
        "A": tiling.i if spec.layout.a_transposed else tiling.k,
        "B": tiling.k if spec.layout.b_transposed else tiling.j,
    }
    widths = dict(zip(("A", "B"), spec.inputs, strict=True))
    return {name: min(MOST_SPAN_BYTES, granule(row * widths[name].byte_count)) for name, row in rows.items()}


def least_span(spec: MatmulSpec, tiling: MatmulTiling) -> int:
    return min(row_spans(spec, tiling).values())


def has_room_for_two(tiling: MatmulTiling, spec: MatmulSpec, target: str) -> bool:
    """Whether a multiprocessor holds the rings of two blocks that have half the columns of a tiling."""
    _, rings = ring_bytes(spec, evolve(tiling, j=tiling.j // 2, k=SLAB_BYTES // spec.input.byte_count))
    return 2 * (rings + BARRIERS_BYTES) <= limits(target_named(target)).shared_bytes_per_sm
