"""Slots that readers in flight release: at every index the wait for their group, and the groups it counts, exist."""

from __future__ import annotations

from collections.abc import Iterator

from isa.mechanisms import Group, GroupKind, IssuedBy
from polyhedral import Set, var
from ptxgen.errors import Finding, Severity
from ptxgen.order.atoms import Arrive, Commit, Retire
from ptxgen.order.ops import Op, TouchKind
from ptxgen.order.synchronisation import Synchronisation, Synchronised
from ptxgen.prove.parts import Key, Part, path_of
from ptxgen.prove.programs import rings_of


def released_early(synchronised: Synchronised, part: Part) -> Iterator[Finding]:
    """Arrivals that some index has without the wait before them, or without the closed groups that the wait counts on:
    the event graph of the steady state takes both for granted (code `synchronisation.ends`)."""
    for ring, buffers in rings_of(synchronised, part).items():
        for key in part.keys:
            for kind, nested in {k: None for op in synchronised.ops for k in _kinds(op, key, buffers)}:
                commits = [a.domain for a in part.atoms[key] if isinstance(a.atom, Commit) and a.atom.kind is kind]
                for atom in (atom for atom in part.atoms[key] if _is_release(atom, ring)):
                    if not _behind_wait(atom, part.atoms[key], None if nested else commits, kind):
                        yield _finding(ring, atom)
                    elif nested and not _by_each_warp(atom):
                        yield _unvouched(ring, atom)
                for atom in part.tails[key]:
                    if _is_release(atom, ring) and not _behind_last_wait(atom, part.tails[key], commits, kind):
                        yield _finding(ring, atom)


def _kinds(op: Op, key: Key, buffers: tuple[str, ...]) -> Iterator[tuple[GroupKind, bool]]:
    """The kind of group in which a reader of these buffers in this body completes, if it does, and whether a loop
    nested there closes it."""
    reads = any(touch.kind is TouchKind.READ and touch.buffer.name in buffers for touch in op.touches)
    if reads and isinstance(op.mechanism.completes, Group) and (op.role, path_of(op, len(key[1]))) == key:
        yield op.mechanism.completes.kind, len(op.time.loops) > len(key[1])


def _by_each_warp(atom: Synchronisation) -> bool:
    return isinstance(atom.atom, Arrive) and atom.atom.by is IssuedBy.WARP


def _unvouched(ring: str, atom: Synchronisation) -> Finding:
    text = f"ring {ring}: {atom.atom} by {atom.role} is one thread's: where the loop before it runs no step, no product"
    return Finding("synchronisation.ends", Severity.ERROR, f"{text} tells it how far the other warps are")


def _is_release(atom: Synchronisation, ring: str) -> bool:
    return isinstance(atom.atom, Arrive) and atom.atom.ring == ring


def _behind_wait(
    release: Synchronisation, body: tuple[Synchronisation, ...], commits: list[Set] | None, kind: GroupKind
) -> bool:
    """Whether a wait of the same step stands before the release at every index, and the groups of that index and of all
    steps up to the wait's are closed. A nested loop closes its own, so that only a wait for all of them will do."""
    lag = -release.time.ahead[-1]
    for atom in body:
        match atom.atom:
            case Retire(kind=own, pending=pending) if own is kind and atom.time.ahead == release.time.ahead:
                first = atom.time.place < release.time.place and release.domain.is_subset(atom.domain)
                if first and commits is None and not pending:
                    return True
                if first and commits and all(_closed(release.domain, commits, step) for step in range(lag + 1)):
                    return True
            case _:
                pass
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
