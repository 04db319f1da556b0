"""The gate lets good candidates through and refuses every kind of bad one at the stage that it is bad at."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from ptxgen.tune.cases import Case, guarded, sizes_around
from ptxgen.tune.gate import Gate, Refusal, Stage, Timing
from ptxgen.tune.subjects import OnSimulator
from tests.tune.spoiled import (
    DIRECT,
    LARGE,
    SIZES,
    SPEC,
    STAYING,
    TARGET,
    Kind,
    clocked,
    device,
    good,
    kinds,
    refused_by_the_assembler,
)

KINDS = tuple(kinds())


@cache
def gate() -> Gate:
    cases = tuple(Case(SPEC, TARGET, sizes, good(DIRECT).orders) for sizes in SIZES)
    return Gate(SPEC, cases, device())


@pytest.mark.parametrize("tiling", (DIRECT, STAYING), ids=str)
def test_what_is_good_passes(tiling) -> None:
    assert gate().judge(OnSimulator(good(tiling))) is None


def test_an_honest_time_passes() -> None:
    found = gate().judge(clocked(190.0, 19200.0)())
    assert isinstance(found, Timing)
    assert (found.sizes, found.microseconds) == (LARGE, 190.0)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_is_bad_is_refused_at_its_stage(kind: Kind, request: pytest.FixtureRequest) -> None:
    if kind.needs_ptxas:
        request.getfixturevalue("ptxas")
    found = gate().judge(kind.make())
    assert isinstance(found, Refusal), f"{kind} was let through"
    assert found.stage is kind.stage, f"{kind}: {found}"
    assert found.reason


def test_there_are_forty_kinds_and_some_for_every_stage() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 40
    assert set(Counter(kind.stage for kind in KINDS)) == set(Stage)


def test_a_refusal_of_the_assembler_is_one_of_the_build() -> None:
    found = gate().judge(refused_by_the_assembler())
    assert found == Refusal(Stage.BUILD, "ptxas says no")
    assert str(found) == "build: ptxas says no"


def test_guards_lie_before_between_and_behind_the_rows() -> None:
    import numpy as np

    held = guarded((3, 5), np.dtype(np.float16))
    held.poison(0xFF)
    assert np.isnan(held.window).all()
    assert held.touched() == 0
    held.window[...] = 1
    assert held.touched() == 0
    assert held.window.ctypes.data % 16 == 0
    for place in np.flatnonzero(held.outside):
        held.memory[place] ^= 1
        assert held.touched() == 1
        held.memory[place] ^= 1


def test_cases_are_whole_ragged_and_small() -> None:
    whole, ragged, small = sizes_around(DIRECT)
    assert (whole.m % DIRECT.i, whole.n % DIRECT.j) == (0, 0)
    assert whole.k > DIRECT.k * DIRECT.depth
    assert ragged.m % DIRECT.i
    assert ragged.n % DIRECT.j
    assert ragged.k % DIRECT.k
    assert small.m < DIRECT.i
