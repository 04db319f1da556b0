"""Which filling of a ring waits for which release, as a table: slots, phases, parities."""

from __future__ import annotations

from collections.abc import Iterator

from ptxgen.derive.part import Part
from ptxgen.order.synchronisation import RingUse

ROUNDS = 2
NUMBER, SLOT, PHASE = "filling", "slot", "phase"


def timelines(part: Part) -> Iterator[str]:
    """For each ring of a part the first fillings, two rounds of its slots and one more. Filling n uses slot n mod depth
    in phase n div depth; who fills waits for the parity opposite to the phase, which a fresh barrier passes, and who
    reads for the phase's own (PTX ISA, mbarrier.try_wait)."""
    for ring in part.synchronised.rings:
        filled_by, read_by = (
            ", ".join(dict.fromkeys(part.ops[number].role for number in numbers))
            for numbers in (ring.writers, ring.readers)
        )
        flight = f", {ring.window} in flight" if ring.window else ""
        slots = f"{ring.depth} slots of {ring.byte_count} bytes"
        yield f"ring {ring.name}: {slots}, filled by {filled_by}, read by {read_by}{flight}"
        heads = (NUMBER, SLOT, PHASE, f"{filled_by} waits empty", f"{read_by} waits full", "released")
        rows = [heads, *(_row(ring, number) for number in range(ROUNDS * ring.depth + 1))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _row(ring: RingUse, number: int) -> tuple[str, ...]:
    slot, phase = number % ring.depth, number // ring.depth
    parity = phase & 1
    after = "fresh" if number < ring.depth else f"release of {number - ring.depth}"
    later = f"in step {number + ring.window}, or behind the loop" if ring.window else f"in step {number}"
    return str(number), str(slot), str(phase), f"parity {parity ^ 1}, {after}", f"parity {parity}", later
