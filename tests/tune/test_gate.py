"""The gate lets good candidates through and refuses every kind of bad one at the stage that it is bad at."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import bf16, e4m3, f32, s8
from ptxgen.kernels import Layout, MatmulSpec, MatmulTiling
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching.binding import arrays_in_memory, bind
from ptxgen.kernels.matmul import Matmul
from ptxgen.kernels.products.epilogue import Bias, Residual
from ptxgen.plan import Fact, aligned, multiple
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.cases import Case, guarded, sizes_around
from ptxgen.tune.gate import Gate, Refusal, Stage, Timing
from ptxgen.tune.making import Wanted, make
from ptxgen.tune.subjects import OnSimulator
from tests.tune.spoiled import (
    DIRECT,
    FACTS,
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
    cases = tuple(Case(SPEC, TARGET, sizes, good(DIRECT).orders, FACTS) for sizes in SIZES)
    return Gate(SPEC, cases, device())


@pytest.mark.parametrize("tiling", (DIRECT, STAYING), ids=str)
def test_what_is_good_passes(tiling) -> None:
    assert gate().judge(OnSimulator(good(tiling))) is None


HONEST = (
    (MatmulSpec.of(e4m3, layout=Layout.NT), "sm_90a", Sizes(512, 512, 512), evolve(DIRECT, k=32)),
    (MatmulSpec.of(s8, layout=Layout.NT), "sm_90a", Sizes(512, 512, 512), evolve(DIRECT, k=32)),
    (MatmulSpec.of(bf16, layout=Layout.TN, batched=True), "sm_90a", Sizes(512, 512, 512, 3), evolve(DIRECT, j=64)),
    (MatmulSpec.of(bf16, epilogue=(Bias(element=f32), Residual())), "sm_90a", Sizes(511, 510, 509), None),
    (MatmulSpec(Layout.TT, output=f32), "sm_80", Sizes(510, 511, 508), None),
    (MatmulSpec(), "sm_70", Sizes(511, 511, 511), None),
)


@pytest.mark.slow
@pytest.mark.parametrize("spec, target, sizes, tiling", HONEST, ids=lambda each: str(each)[:40])
def test_what_is_good_passes_however_its_arguments_lie(
    spec: MatmulSpec, target: str, sizes: Sizes, tiling: MatmulTiling | None
) -> None:
    """Of the facts of a shape, odd ones too, in every case that a device would be asked for."""
    chosen = tiling or MatmulTiling(i=64, j=32, k=32, warps=4, depth=2, isolate=False)
    made = make(Wanted(spec, target, chosen, facts_for(spec, sizes, chosen, target)))
    assert not made.reason
    around = sizes_around(chosen, made.wanted.facts, 2 if spec.batched else 1)
    cases = tuple(Case(spec, target, each, made.orders, made.wanted.facts) for each in around)
    assert Gate(spec, cases, device()).judge(OnSimulator(made)) is None


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


@pytest.mark.parametrize("shape, strides", (((5,), ()), ((3, 5), (8,)), ((2, 3, 5), (29, 8))))
def test_guards_lie_before_between_and_behind_the_rows(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    held = guarded(shape, np.dtype(np.float16), strides, 8)
    held.poison(0xFF)
    assert np.isnan(held.window).all()
    assert held.touched() == 0
    held.window[...] = 1
    assert held.touched() == 0
    assert held.window.ctypes.data % 16 == 8
    assert held.window.shape == shape
    assert held.window.strides == tuple(2 * each for each in (*strides, 1))
    for place in np.flatnonzero(held.outside):
        held.memory[place] ^= 1
        assert held.touched() == 1
        held.memory[place] ^= 1
    held.hold(np.zeros(shape, np.float16))
    assert not held.window.any()
    assert (held.memory[held.outside] == 0xFF).all()


BATCHED = MatmulSpec(Layout.TN, batched=True, epilogue=(Residual(element=f32),))


@pytest.mark.parametrize("factor", (1, 2, 8))
@pytest.mark.parametrize("spec", (SPEC, BATCHED), ids=("vector", "batched"))
def test_arrays_lie_as_badly_as_facts_allow(spec: MatmulSpec, factor: int) -> None:
    """Judged by the facts that a launch would find: those that were asked for and no more."""
    stated = Matmul(spec).stated
    arrays = arrays_in_memory(stated)
    names = {name for array in arrays for stride in array.strides for name in stride.names}
    known: tuple[Fact, ...] = (*(multiple(name, factor) for name in names), *aligned(*arrays, bytes=2 * factor))
    facts = known if factor > 1 else ()
    case = Case(spec, TARGET, Sizes(24, 40, 8, 2 if spec.batched else 1), (), facts)
    placed = {name: each.window for name, each in case.placed().items()}
    bound = bind(arrays, placed)
    assert {name: view.shape for name, view in bound.views.items()} == {n: w.shape for n, w in placed.items()}
    for name in names:
        assert bound.sizes[name] % factor == 0
        assert bound.sizes[name] % (2 * factor)
    assert len({bound.sizes[name] for name in names}) == len(names)
    for view in bound.views.values():
        least = max(view.dtype.itemsize, 2 * factor)
        assert view.address % least == 0
        assert view.address % (2 * least)


def test_cases_are_whole_ragged_and_small() -> None:
    whole, beyond, short, small = sizes_around(DIRECT, FACTS)
    assert (whole.m % DIRECT.i, whole.n % DIRECT.j) == (0, 0)
    assert whole.k > DIRECT.k * DIRECT.depth
    assert (beyond.m % DIRECT.i, beyond.n % DIRECT.j, beyond.k % DIRECT.k) == (1, 8, 8)
    assert (-short.m % DIRECT.i, -short.n % DIRECT.j, -short.k % DIRECT.k) == (1, 8, 8)
    assert small.m < DIRECT.i


@pytest.mark.parametrize("factor", (1, 2, 4, 8))
def test_sizes_are_multiples_of_what_facts_say_and_of_no_more(factor: int) -> None:
    facts = tuple(multiple(name, factor) for name in ("M", "N", "K"))
    found = [size for each in sizes_around(DIRECT, facts)[1:] for size in (each.m, each.n, each.k)]
    assert all(size % factor == 0 for size in found)
    assert all(size % (2 * factor) for size in found)
