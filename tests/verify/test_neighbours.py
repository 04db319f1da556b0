"""Statements next to legal ones: what ptxas refuses we refuse, and what it takes and the manual allows we take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import pytest

from tests.isa.disagreements import Question, known
from tests.oracles.ptxas import refused
from tests.verify.neighbours import Asked, Kind, neighbours, refused_by_us

SHARE = 0.99
STRICTER = (
    ("modifiers in wrong order", "the manual has an order"),
    ("cannot stand there", "the manual does not have the word there, or not twice"),
    ("needs more bits", "the high bits would be dropped"),
    ("does not fit in 64 bits", "the high bits would be dropped"),
    ("wants a part", "the manual selects a part of the destination where another value is merged in"),
    ("register, got the immediate", "the manual asks for a register"),
    ("wants a predicate, got the immediate", "the manual asks for a predicate"),
    ("register or immediate, got the", "the manual has a type there"),
    ("no such combination", "the manual has no such combination"),
    ("[immediate.domain]", "the manual bounds the number"),
    ("of it count", "the other bits are dropped"),
)


def _place(asked: Asked) -> tuple[str, str]:
    return str(asked.at), asked.target.name


def judged(kind: Kind, count: int) -> Iterator[tuple[Asked, str | None, str | None]]:
    """Each neighbour with the words of ptxas and with ours, None where it is taken."""
    for _, group in groupby(sorted(neighbours(kind, count), key=_place), key=_place):
        asked = list(group)
        texts = [each.text for each in asked]
        theirs = refused(texts, asked[0].at, asked[0].target)
        ours = refused_by_us(texts, asked[0].at, asked[0].target)
        for index, each in enumerate(asked):
            yield each, theirs.get(index), ours.get(index)


def judge(kind: Kind, count: int, least: int) -> None:
    """ptxas refuses at least `least` of `count` neighbours; we refuse nearly all of those, and others with a reason."""
    refusals, missed, stricter = 0, [], []
    for asked, theirs, ours in judged(kind, count):
        spelled = f"{asked.at} {asked.target} {asked.text}"
        refusals += theirs is not None
        if theirs is not None and ours is None and not known(Question.LEGAL, spelled):
            missed.append(f"{spelled} // {theirs}")
        if theirs is None and ours is not None and not _explained(spelled, ours):
            stricter.append(f"{spelled} // {ours}")
    assert refusals >= least
    assert len(missed) <= max(1, (1 - SHARE) * refusals), "\n".join(missed)
    assert not stricter, "\n".join(stricter)


def _explained(spelled: str, ours: str) -> bool:
    listed = (
        known(Question.TYPES_OUTSIDE, spelled) or known(Question.REFUSED, spelled) or known(Question.UNKNOWN, spelled)
    )
    return listed or any(words in ours for words, _ in STRICTER)


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_a_few_neighbours(kind: Kind) -> None:
    judge(kind, 60, 20)


@pytest.mark.slow
@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_many_neighbours(kind: Kind) -> None:
    judge(kind, 600, 200)
