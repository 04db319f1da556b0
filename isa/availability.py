"""Where something exists: PTX versions times targets."""

from __future__ import annotations

from typing import NamedTuple

from attrs import frozen

from isa.targets import ALL_TARGETS, PtxVersion, Target, at_least, named_in, targets_named, version

FIRST = PtxVersion(1, 0)
LAST = PtxVersion(99, 9)


class Term(NamedTuple):
    """Exists from PTX `first` through `last` on every target of the mask."""

    first: PtxVersion
    last: PtxVersion
    targets: int


@frozen(eq=False)
class Availability:
    """A disjunction of terms. `a & b` is where both exist, `a | b` where one does; equal ones are one object."""

    terms: tuple[Term, ...]

    @property
    def targets(self) -> int:
        """The mask of the targets that have it in some version."""
        mask = 0
        for term in self.terms:
            mask |= term.targets
        return mask

    def holds(self, at: PtxVersion, on: Target) -> bool:
        """True if PTX `at` has it for target `on` (and knows the target at all)."""
        return at >= on.first_version and any(
            term.targets & on.bit and term.first <= at <= term.last for term in self.terms
        )

    def least_version(self, on: Target) -> PtxVersion | None:
        """The least PTX version that has it for this target; None if no version has."""
        able = [max(term.first, on.first_version) for term in self.terms if term.targets & on.bit]
        able = [first for first in able if self.holds(first, on)]
        return min(able, default=None)

    def __and__(self, other: Availability) -> Availability:
        if self is other or other is ALWAYS:
            return self
        if self is ALWAYS:
            return other
        key = (self, other)
        if key not in _JOINED:
            _JOINED[key] = _interned(
                Term(max(a.first, b.first), min(a.last, b.last), a.targets & b.targets)
                for a in self.terms
                for b in other.terms
            )
        return _JOINED[key]

    def __or__(self, other: Availability) -> Availability:
        return self if self is other else _interned((*self.terms, *other.terms))

    def __str__(self) -> str:
        return " or ".join(_told(term) for term in self.terms) or "nowhere"


_INTERNED: dict[tuple[Term, ...], Availability] = {}
_JOINED: dict[tuple[Availability, Availability], Availability] = {}


def _covers(large: Term, small: Term) -> bool:
    return large.first <= small.first and small.last <= large.last and small.targets & ~large.targets == 0


def _interned(terms: object) -> Availability:
    kept: list[Term] = []
    for term in terms:  # type: ignore[attr-defined]
        if not term.targets or term.first > term.last or any(_covers(each, term) for each in kept):
            continue
        kept = [each for each in kept if not _covers(term, each)]
        kept.append(term)
    key = tuple(sorted(kept))
    return _INTERNED.setdefault(key, Availability(key))


def _told(term: Term) -> str:
    names = [each.name for each in named_in(term.targets)]
    text = f"PTX {term.first}"
    if term.last < LAST:
        text += f" to {term.last}"
    if term.targets == ALL_TARGETS:
        return text
    lowest = named_in(term.targets)[0]
    open_ended = term.targets == at_least(lowest.number)
    return f"{text} on {lowest.name} and later" if open_ended else f"{text} on {', '.join(names)}"


def since(first: str, *on: int | str) -> Availability:
    """Exists since PTX `first`; an int means that compute capability and later, strings name single targets.

    `since("7.0", 80)`, `since("8.0", "sm_90a")`. A string may name several targets, separated by spaces.
    """
    mask = 0
    for each in on:
        mask |= at_least(each) if isinstance(each, int) else targets_named(*each.split())
    return _interned([Term(version(first), LAST, mask if on else ALL_TARGETS)])


def until(last: str, *on: int) -> Availability:
    """Exists through PTX `last` on compute capability `on` and later, and without end on earlier ones."""
    ended = at_least(on[0]) if on else ALL_TARGETS
    return _interned([Term(FIRST, LAST, ALL_TARGETS & ~ended), Term(FIRST, version(last), ended)])


ALWAYS = _interned([Term(FIRST, LAST, ALL_TARGETS)])
