"""Slots that readers in flight release: at every index the wait for their group, and the groups it counts, exist."""

from __future__ import annotations

from collections.abc import Iterator

from isa.mechanisms import Group, GroupKind, IssuedBy
from polyhedral import Set, var
from ptxgen.errors import Finding, Severity
from ptxgen.order.atoms import Arrive, Commit, Retire
from ptxgen.order.ops import TouchKind
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.prove.parts import Key, Part, path_of
from ptxgen.prove.programs import rings_of


def released_early(synchronised: Synchronised, part: Part) -> Iterator[Finding]:
    """Arrivals that some index has without the wait before them, or without the closed groups that the wait counts on:
    the event graph of the steady state takes both for granted (code `synchronisation.ends`)."""
    for ring, buffers in rings_of(synchronised, part).items():
        for key in part.keys:
            for (kind, nested), last in _readers(synchronised, key, buffers).items():
                commits = [a.domain for a in part.atoms[key] if isinstance(a.atom, Commit) and a.atom.kind is kind]
                for atom in (atom for atom in part.atoms[key] if _is_release(atom, ring)):
                    waits = _waits_before(atom, part.atoms[key], kind, last)
                    if not _behind_wait(atom, waits, None if nested else commits):
                        yield _finding(ring, atom)
                    elif nested and not _by_each_warp(atom):
                        yield _unvouched(ring, atom)
                for atom in part.tails[key]:
                    if _is_release(atom, ring) and not _behind_last_wait(atom, part.tails[key], commits, kind):
                        yield _finding(ring, atom)


def _readers(synchronised: Synchronised, key: Key, buffers: tuple[str, ...]) -> dict[tuple[GroupKind, bool], int]:
    """The kinds of group in which readers of these buffers in this body complete, and whether a loop nested there
    closes them; with the place of the last of those readers."""
    found: dict[tuple[GroupKind, bool], int] = {}
    depth = len(key[1])
    for op in synchronised.ops:
        reads = any(touch.kind is TouchKind.READ and touch.buffer.name in buffers for touch in op.touches)
        completes = op.mechanism.completes
        if reads and isinstance(completes, Group) and (op.role, path_of(op, depth)) == key:
            kind = completes.kind, len(op.time.loops) > depth
            found[kind] = max(op.time.place[depth], found.get(kind, 0))
    return found


def _by_each_warp(atom: Synchronisation) -> bool:
    return isinstance(atom.atom, Arrive) and atom.atom.by is IssuedBy.WARP


def _unvouched(ring: str, atom: Synchronisation) -> Finding:
    text = f"ring {ring}: {atom.atom} by {atom.role} is one thread's: where the loop before it runs no step, no product"
    return Finding("synchronisation.ends", Severity.ERROR, f"{text} tells it how far the other warps are")


def _is_release(atom: Synchronisation, ring: str) -> bool:
    return isinstance(atom.atom, Arrive) and atom.atom.ring == ring


def _waits_before(
    release: Synchronisation, body: tuple[Synchronisation, ...], kind: GroupKind, last: int
) -> list[Synchronisation]:
    """The waits before a release in its body: those behind the last reader, on which it counts where there are some."""
    waits = [a for a in body if isinstance(a.atom, Retire) and a.atom.kind is kind]
    before = [wait for wait in waits if wait.time.place < release.time.place]
    return [wait for wait in before if wait.time.place[-1] > last] or before


def _behind_wait(release: Synchronisation, waits: list[Synchronisation], commits: list[Set] | None) -> bool:
    """Whether a wait of the same step stands before the release at every index, and the groups of that index and of all
    steps up to the wait's are closed. A nested loop closes its own, so that only a wait for all of them will do."""
    lag = -release.time.ahead[-1]
    for wait in waits:
        if wait.time.ahead == release.time.ahead and release.domain.is_subset(wait.domain):
            if commits is None and isinstance(wait.atom, Retire) and not wait.atom.pending:
                return True
            if commits and all(_closed(release.domain, commits, step) for step in range(lag + 1)):
                return True
    return False


def _behind_last_wait(
    release: Synchronisation, tail: tuple[Synchronisation, ...], commits: list[Set], kind: GroupKind
) -> bool:
    for atom in tail:
        if atom.atom == Retire(kind, 0) and atom.time.place < release.time.place:
            loops = atom.time.loops
            if release.domain.project_onto(*loops).is_subset(atom.domain) and _closed(release.domain, commits, 0):
                return True
    return False


def _closed(domain: Set, commits: list[Set], later: int) -> bool:
    """Whether a group is closed `later` steps behind every index."""
    shift = {domain.dims[-1]: var(domain.dims[-1]) + later}
    return any(domain.is_subset(Set(own.dims, tuple(p.substitute(shift) for p in own.pieces))) for own in commits)


def _finding(ring: str, atom: Synchronisation) -> Finding:
    text = f"ring {ring}: {atom.atom} by {atom.role} frees a slot at an index without a wait for what reads it"
    return Finding("synchronisation.ends", Severity.ERROR, text)
