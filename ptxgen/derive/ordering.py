"""The order of a product's ops in its loop: loads first, stores to shared memory as late as their readers allow."""

from __future__ import annotations

from ptxgen.derive.draft import Draft
from ptxgen.derive.loops import Path, below, names
from ptxgen.derive.operands import Operand
from ptxgen.order.ops import Op, TouchKind


def lay_out(draft: Draft, path: Path, operands: tuple[Operand, ...], multiplications: list[list[Op]]) -> None:
    """Puts the ops of a product into the loops: loads first, at each step the fragments that run then and its
    multiplications, stores to shared memory as late as their first reader allows."""
    body: list[Op] = []
    total = len(multiplications)
    for number in range(-1, total):
        for operand in operands:
            body += [f for f in operand.fragments if step_time(f, operand.ahead, total, bool(path)) == number]
        if number >= 0:
            body += multiplications[number]
    loads = [load for operand in operands for load in operand.registers]
    stores = [store for operand in operands for store in operand.shared]
    inside = [store for store in stores if store.time.loops == names(path)]
    place = min((_first_reader(body, store) for store in inside), default=0)
    body[place:place] = inside
    for op in (*loads, *stores):
        if op.time.loops != names(path):
            depth = len(op.time.loops)
            draft.before_loop(path[:depth], below(path, depth), [op])
    draft.append(path, [*(load for load in loads if load.time.loops == names(path)), *body])


def step_time(fragment: Op, ahead: int, total: int, rolled: bool) -> int:
    """The unrolled step at which a fragment op runs; -1 is before the first one of a body without a loop."""
    at = fragment.instance[0] - ahead
    return at % total if rolled else max(at, -1)


def _first_reader(body: list[Op], store: Op) -> int:
    ring = next(touch.buffer for touch in store.touches if touch.kind is TouchKind.WRITE)
    for place, found in enumerate(body):
        reads = any(touch.buffer == ring and touch.kind is TouchKind.READ for touch in found.touches)
        if reads and found.time.ahead == store.time.ahead:
            return place
    return len(body)
