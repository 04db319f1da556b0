"""Products in flight over the end of a loop's body: what ptxas keeps asynchronous."""

from __future__ import annotations

from collections.abc import Iterator

from isa.mechanisms import Group, GroupKind
from ptxgen.errors import Finding, Severity
from ptxgen.order.atoms import Retire
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.synchronisation import Synchronised


def escaping(synchronised: Synchronised) -> Iterator[Finding]:
    """Products that may be in flight over the end of a loop in which something else uses their sums: ptxas then waits
    for every product (C7514), however they are retired (code `synchronisation.window`). A window that closes in the
    loop's own body, by a wait for all products behind the product, does not cross its end, nor that of a loop around.
    """
    for op in synchronised.ops:
        if not _is_product(op):
            continue
        for depth in range(len(op.time.loops), 0, -1):
            if _closes(synchronised, op, depth):
                break
            for other in synchronised.ops:
                if not _is_product(other) and _inside(op, other, depth) and _sums(op) & _touched(other):
                    text = (
                        f"{op} may be in flight over the end of {op.time.loops[depth - 1]}, where {other} uses its "
                        f"sums; close the window inside the body"
                    )
                    related = ((str(other), other.line),)
                    yield Finding("synchronisation.window", Severity.ERROR, text, op.line, related=related)


def _is_product(op: Op) -> bool:
    completes = op.mechanism.completes
    return isinstance(completes, Group) and completes.kind is GroupKind.WGMMA


def _closes(synchronised: Synchronised, op: Op, depth: int) -> bool:
    """Whether all products are awaited behind the op in the body at this depth."""
    prefix = op.time.place[:depth]
    return any(
        atom.role == op.role
        and atom.atom == Retire(GroupKind.WGMMA, 0)
        and not any(atom.time.ahead)
        and len(atom.time.loops) == depth
        and atom.time.place[:depth] == prefix
        and atom.time.place[depth] > op.time.place[depth]
        for atom in synchronised.atoms
    )


def _inside(op: Op, other: Op, depth: int) -> bool:
    return (
        other.role == op.role and other.time.place[:depth] == op.time.place[:depth] and len(other.time.loops) >= depth
    )


def _sums(op: Op) -> set[str]:
    return {t.buffer.name for t in op.touches if t.kind is TouchKind.WRITE}


def _touched(op: Op) -> set[str]:
    return {t.buffer.name for t in op.touches}
