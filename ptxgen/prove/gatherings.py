"""Barriers of a cluster inside roles: every block comes to them, and no thread that ends only later holds them up."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Set
from ptxgen.errors import Finding
from ptxgen.order.atoms import Arrive, ClusterArrive, ClusterWait, Expect, Side, Wait
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.prove.constants import finding


def stranded(synchronised: Synchronised) -> Iterator[Finding]:
    """A barrier of the cluster that some blocks may pass by; and roles that do not meet there, whose threads must end
    before it is complete, but wait for what stands behind it (code `synchronisation.gathering`)."""
    atoms = [a for a in synchronised.atoms if isinstance(a.atom, ClusterArrive | ClusterWait)]
    for atom in atoms:
        if atom.time.loops or not (Set.of(()) - atom.domain).is_empty():
            yield finding("gathering", f"{atom.atom} of {atom.role} stands where not every block comes once")
    first: dict[str, int] = {}
    for atom in atoms:
        if isinstance(atom.atom, ClusterWait):
            first[atom.role] = min(first.get(atom.role, atom.time.place[0]), atom.time.place[0])
    for wait in synchronised.atoms:
        if isinstance(wait.atom, Wait) and wait.role not in first:
            for role, place in first.items():
                if _awaited_behind(synchronised, wait.atom, role, place):
                    text = f"{role} does behind the cluster's barrier, which is complete when {wait.role} has ended"
                    yield finding("gathering", f"the {wait.atom} of {wait.role} waits for what {text}")


def _awaited_behind(synchronised: Synchronised, wait: Wait, role: str, place: int) -> bool:
    """Whether a role completes what is waited for at a place behind that one."""
    items: tuple[Synchronisation | Op, ...] = (*synchronised.atoms, *synchronised.ops)
    behind = (item for item in items if item.role == role and item.time.place[0] > place)
    return any(_completes(synchronised, item, wait) for item in behind)


def _completes(synchronised: Synchronised, item: Synchronisation | Op, wait: Wait) -> bool:
    match item:
        case Synchronisation(atom=Arrive(ring=wait.ring, side=wait.side)):
            return True
        case Synchronisation(atom=Expect(ring=wait.ring)):
            return wait.side is Side.FULL
        case Op(touches=touches):
            filled = {t.buffer.name for t in touches if t.kind is TouchKind.WRITE}
            buffers = {b.name for use in synchronised.rings if use.name == wait.ring for b in use.buffers}
            return wait.side is Side.FULL and not filled.isdisjoint(buffers)
        case _:
            return False
