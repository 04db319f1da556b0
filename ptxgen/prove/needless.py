"""Atoms that serve no requirement: without any one of them nothing would be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, chain

from attrs import evolve

from ptxgen.errors import Finding
from ptxgen.order.atoms import (
    Acquire,
    Atom,
    AtomProgram,
    Commit,
    Fence,
    Issue,
    Join,
    Obligation,
    PassTurn,
    Release,
    Retire,
    RoleBody,
    TakeTurn,
    Wait,
    is_synchronisation,
)
from ptxgen.prove.clusters import cluster_faults
from ptxgen.prove.constants import constant_faults, finding
from ptxgen.prove.events import without
from ptxgen.prove.questions import Question, Way, failing, is_refilled, questions_of


def needless_atoms(program: AtomProgram, questions: tuple[Question, ...]) -> Iterator[Finding]:
    """The atoms of a program without fault that could be left out, each by itself; `questions` are all that its graphs
    were asked.

    An atom that only adds edges to the graphs is left out there: what the others say of order stays as it is, so the
    answers that do not stand on it are known, and the others are asked again.
    """
    for place, entering in enumerate(program.enter):
        rest = program.enter[:place] + program.enter[place + 1 :]
        if not _is_wrong(evolve(program, enter=rest)):
            yield finding("needless", f"{entering} serves no requirement")
    standing = [(question, way, question.used(way)) for question in questions for way in question.ways]
    starts = accumulate((len(role.atoms) for role in program.roles), initial=0)
    for role, start in zip(program.roles, starts, strict=False):
        seen: Counter[str] = Counter()
        for place, placed in enumerate(role.atoms):
            if is_synchronisation(placed.atom) and not _judged_apart(placed.atom):
                seen[str(placed.atom)] += 1
                asked = ((question, way) for question, way, used in standing if used >> start + place & 1)
                if not _is_wanted(program, role, place, asked, 1 << start + place):
                    text = f"{placed.atom} of {role.name} (number {seen[str(placed.atom)]}) serves no requirement"
                    yield finding("needless", text, placed.line)


def _is_wanted(
    program: AtomProgram, role: RoleBody, place: int, asked: Iterator[tuple[Question, Way]], atom: int
) -> bool:
    """Whether something is wrong without an atom; only `asked` may be, of what the graphs answer, where it only adds
    edges to them."""
    removed = role.atoms[place].atom
    fewer = without(program, role, place)
    rest = fewer if _passes_on(removed) else _in_every_step(fewer)
    if any(True for _ in chain(constant_faults(rest), cluster_faults(rest))):
        return True
    if rest is fewer and _only_adds(program, rest, role, removed):
        return any(question.length(way, atom) > question.limit for question, way in asked)
    nearest = without(_nearest_first(program, role, place), role, place)
    return _is_wrong(nearest if _passes_on(removed) else _in_every_step(nearest))


def _passes_on(atom: Atom) -> bool:
    return isinstance(atom, Acquire | Release) or (isinstance(atom, Join) and atom.for_passing)


def _in_every_step(program: AtomProgram) -> AtomProgram:
    """The program without what is done only where a tile is passed on: nothing else may count on that."""
    if not any(obligation.passed for obligation in program.obligations):
        return program
    roles = tuple(evolve(r, body=tuple(p for p in r.body if not _passes_on(p.atom))) for r in program.roles)
    return evolve(program, roles=roles, obligations=tuple(o for o in program.obligations if not o.passed))


def _only_adds(program: AtomProgram, rest: AtomProgram, role: RoleBody, atom: Atom) -> bool:
    """Whether the graphs without an atom are those with it, less the edges that are there because of it: not so where
    it closes groups, as others do too, which changes what all waits for groups see."""
    match atom:
        case Wait(ring=ring):
            return is_refilled(program, ring) == is_refilled(rest, ring)
        case Commit(kind=kind):
            return sum(isinstance(p.atom, Commit) and p.atom.kind is kind for p in role.body) < 2
        case Retire() | Join() | Fence() | Acquire():
            return True
        case _:
            return False


def _is_wrong(program: AtomProgram) -> bool:
    faults = chain(constant_faults(program), cluster_faults(program), failing(questions_of(program)))
    return any(True for _ in faults)


def _nearest_first(program: AtomProgram, role: RoleBody, place: int) -> AtomProgram:
    """The program with the obligations of the ops around an atom first: what is lost without it shows soonest there."""
    size = len(role.atoms)
    issued = {p.atom.op: n for n, p in enumerate(role.atoms) if isinstance(p.atom, Issue)}

    def away(obligation: Obligation) -> int:
        behind = (issued[obligation.sink] - place) % size if obligation.sink in issued else size
        before = (place - issued[obligation.source]) % size if obligation.source in issued else size
        return behind + before

    return evolve(program, obligations=tuple(sorted(program.obligations, key=away)))


def _judged_apart(atom: Atom) -> bool:
    """Whether what an atom is for lies behind the loop, or is the order of turns alone."""
    for_outside = (isinstance(atom, Commit) and atom.for_outside) or (isinstance(atom, Release) and atom.last)
    return for_outside or isinstance(atom, TakeTurn | PassTurn)
