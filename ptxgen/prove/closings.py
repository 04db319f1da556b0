"""Groups that a loop closes for a wait behind it: each step closes its own, so that the last one is closed too."""

from __future__ import annotations

from collections.abc import Iterator

from isa.mechanisms import Group
from ptxgen.errors import Finding, Severity
from ptxgen.order.atoms import Commit
from ptxgen.order.ops import Op, time_domain
from ptxgen.order.requirement import Requirement
from ptxgen.order.synchronisation import Synchronisation, Synchronised


def unclosed(synchronised: Synchronised, requirements: tuple[Requirement, ...]) -> Iterator[Finding]:
    """Ops of a loop that something behind it waits for, whose groups their own step does not close."""
    for requirement, source in _awaited_outside(synchronised, requirements):
        if _closing(synchronised, source) is None:
            text = f"{requirement}: a step with {source} does not close its group, which is awaited behind the loop"
            yield Finding("synchronisation.ends", Severity.ERROR, text, source.line)


def closed_for_outside(
    synchronised: Synchronised, requirements: tuple[Requirement, ...]
) -> tuple[Synchronisation, ...]:
    """The closings that waits behind their loop count on."""
    found = (_closing(synchronised, source) for _, source in _awaited_outside(synchronised, requirements))
    return tuple({id(atom): atom for atom in found if atom is not None}.values())


def _awaited_outside(
    synchronised: Synchronised, requirements: tuple[Requirement, ...]
) -> Iterator[tuple[Requirement, Op]]:
    for requirement in requirements:
        source = synchronised.ops[requirement.source.number]
        if isinstance(source.mechanism.completes, Group) and len(source.time.loops) > len(requirement.loops):
            yield requirement, source


def _closing(synchronised: Synchronised, source: Op) -> Synchronisation | None:
    """The first closing of an op's kind of group behind it in its own body, where it runs whenever the op does."""
    completes, time = source.mechanism.completes, source.time
    assert isinstance(completes, Group)
    for atom in sorted(synchronised.atoms, key=lambda atom: atom.time.place):
        beside = (atom.role, atom.time.loops, atom.time.place[:-1]) == (source.role, time.loops, time.place[:-1])
        if beside and not atom.tail and atom.time.place > time.place and _closes(atom, completes):
            runs = time_domain(source.domain, time.ahead).is_subset(time_domain(atom.domain, atom.time.ahead))
            return atom if runs else None
    return None


def _closes(atom: Synchronisation, completes: Group) -> bool:
    return isinstance(atom.atom, Commit) and atom.atom.kind is completes.kind
