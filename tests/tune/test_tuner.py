"""The search, with a measurer whose clock is the model's and lies about some: on threads, and on Dask's executor."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from attrs import evolve, frozen

from ptxgen.kernels import MatmulSpec, MatmulTiling, default_tiling
from ptxgen.kernels.choosing.choice import ranked
from ptxgen.kernels.choosing.cost import estimate
from ptxgen.kernels.choosing.menu import Sizes, menu_for
from ptxgen.plan import Eviction, grouped, sms
from ptxgen.tune import Best, Gate, Kept, Refusal, Stage, Timing, Tuner, Tuning
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.cases import Case, sizes_around
from ptxgen.tune.making import Made, Wanted
from ptxgen.tune.steps import differences
from ptxgen.tune.subjects import OnSimulator
from ptxgen.tune.tilings import plain, tiling_of
from ptxgen.tune.tuner import Verdict
from tests.tune.spoiled import DIRECT, FACTS, SPEC, TARGET, device, good

SHAPES = (Sizes(2048, 2048, 2048), Sizes(128, 4096, 4096))
THIRD, FOURTH = Sizes(512, 511, 512), Sizes(512, 512, 511)


@frozen
class Clock:
    """Times are the model's, each off by up to a fifth; `spoilt` tilings come out ten times too quick. With
    `quicker` they are not off, but those by a sixth that it says of."""

    spoilt: tuple[MatmulTiling, ...] = ()
    quicker: Callable[[MatmulTiling], bool] | None = None

    def measure(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Sequence[Made]) -> tuple[Verdict, ...]:
        found: list[Verdict] = []
        for each in made:
            if each.doubts:
                found.append(Refusal(Stage.PROOF, each.doubts[0]))
                continue
            tiling = each.wanted.tiling
            told = clock(spec, target, sizes, tiling) if self.quicker is None else by(self.quicker, sizes, tiling)
            micro = told / 10 if each.wanted.tiling in self.spoilt else told
            timing = Timing(sizes, micro, 10, 10 * told, 10 * told, cold=True)
            found.append(Gate(spec, (), device()).judge_time(timing) or timing)
        return tuple(found)


def clock(spec: MatmulSpec, target: str, sizes: Sizes, tiling: MatmulTiling) -> float:
    off = zlib.crc32(repr(plain(tiling)).encode()) % 1000 / 5000
    return estimate(spec, target, sizes, tiling, device()).microseconds * (1 + off)


def by(quicker: Callable[[MatmulTiling], bool], sizes: Sizes, tiling: MatmulTiling) -> float:
    return estimate(SPEC, TARGET, sizes, tiling, device()).microseconds * (5 / 6 if quicker(tiling) else 1.0)


def unmade(wanted: Wanted) -> Made:
    """A candidate that nobody made, for a clock that looks at none."""
    return Made(wanted, good(DIRECT).kept)


@pytest.fixture
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def tuned(pool: Executor, kept: Kept | None = None, measurer: Clock | None = None, count: int = 6) -> list[Tuning]:
    tuner = Tuner(device(), measurer or Clock(), pool, pool, kept, count, make=unmade)
    return sorted(tuner.tune(SPEC, TARGET, SHAPES), key=lambda found: SHAPES.index(found.sizes))


def test_the_best_is_the_quickest_of_what_was_measured(threads: Executor) -> None:
    heard: list[tuple[str, int]] = []

    def tell(what: str, sizes: Sizes, number: int) -> None:
        heard.append((what, number))

    tuner = Tuner(device(), Clock(), threads, threads, None, 6, tell, unmade)
    (found,) = tuner.tune(SPEC, TARGET, SHAPES[:1])
    assert found.best is not None
    assert found.best.microseconds == min(clock(SPEC, TARGET, SHAPES[0], trial.tiling) for trial in found.trials)
    assert found.pick.estimate.microseconds == min(trial.estimate.microseconds for trial in found.trials)
    assert default_tiling(SPEC, TARGET) in {trial.tiling for trial in found.trials}
    assert heard == [*[("made", 1)] * 4, ("measured", 4), *[("made", 1)] * 2, ("measured", 3)]
    assert len({trial.tiling for trial in found.trials}) == len(found.trials) == 6


def test_what_ends_a_search_leaves_what_it_found_and_nothing_to_do(home: Path) -> None:
    """A measurer that dies at the second shape, before candidates of the third are made, while others wait."""
    last: list[Wanted] = []
    died = Event()

    def make(wanted: Wanted) -> Made:
        if wanted.facts == facts_for(SPEC, THIRD, wanted.tiling, TARGET):
            died.wait(60.0)
        if wanted.facts == facts_for(SPEC, FOURTH, wanted.tiling, TARGET):
            last.append(wanted)
            time.sleep(0.3)
        return unmade(wanted)

    class Dying:
        def measure(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Sequence[Made]) -> tuple[Verdict, ...]:
            if sizes == SHAPES[1]:
                died.set()
                raise MemoryError("no room")
            return Clock().measure(spec, target, sizes, made)

    with ThreadPoolExecutor(1) as makers, ThreadPoolExecutor(1) as measurers:
        tuner = Tuner(device(), Dying(), makers, measurers, Kept("H200"), 30, lambda *told: None, make)
        with pytest.raises(MemoryError, match="no room"):
            list(tuner.tune(SPEC, TARGET, (*SHAPES, THIRD, FOURTH)))
    (best,) = Kept("H200").all(SPEC, TARGET)
    assert best.sizes == SHAPES[0]
    assert len(last) < 10


def test_what_is_no_shape_and_what_tells_too_little_is_named(threads: Executor) -> None:
    class Silent:
        def measure(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Sequence[Made]) -> tuple[Verdict, ...]:
            return ()

    tuner = Tuner(device(), Silent(), threads, threads, None, 3, make=unmade)
    with pytest.raises(ValueError, match=r"sizes of at least 1, got Sizes\(m=64, n=0, k=64, batches=1\)"):
        list(tuner.tune(SPEC, TARGET, (Sizes(64, 0, 64),)))
    with pytest.raises(ValueError, match=r"has 2 candidates, the measurer told of 0"):
        list(tuner.tune(SPEC, TARGET, SHAPES[:1]))


def test_what_a_clock_cannot_have_seen_is_refused(threads: Executor) -> None:
    sure = tuned(threads)[0].best
    assert sure is not None
    found = tuned(threads, measurer=Clock((sure.tiling,)))[0]
    verdict = next(trial.verdict for trial in found.trials if trial.tiling == sure.tiling)
    assert isinstance(verdict, Refusal)
    assert verdict.stage in (Stage.FLOOR, Stage.WORK)
    assert found.best is not None
    assert found.best.tiling != sure.tiling


def test_a_new_shape_starts_from_a_good_plan_and_its_neighbours(threads: Executor, home: Path) -> None:
    kept, odd = Kept("H200"), MatmulTiling(64, 32, 128, warps=4, depth=8, isolate=False, raster=grouped(4), drain=32)
    odd = evolve(odd, workers=sms, overlap=True)
    kept.keep(SPEC, TARGET, Best(evolve(SHAPES[0], m=1024), odd, 1.0), FACTS)
    order = ranked(SPEC, TARGET, SHAPES[0], device())
    without = Tuner(device(), Clock(), threads, threads, None, 24).candidates(SPEC, TARGET, SHAPES[0], order)
    within = Tuner(device(), Clock(), threads, threads, kept, 24).candidates(SPEC, TARGET, SHAPES[0], order)
    assert odd not in [each.tiling for each in without]
    assert odd in [each.tiling for each in within]
    near = [each.tiling for each in within if differences(odd, each.tiling) == 1]
    assert len(near) > len([each for each in without if differences(odd, each.tiling) == 1])
    assert len(within) == len(set(within)) <= 16


UNKNOWN: dict[str, Callable[[MatmulTiling], bool]] = {
    "192 columns": lambda tiling: tiling.j == 192,
    "192 x 192": lambda tiling: (tiling.i, tiling.j) == (192, 192),
    "long slabs": lambda tiling: tiling.k == 128,
    "in turns": lambda tiling: tiling.turns,
    "blocks that come and go": lambda tiling: tiling.workers is None,
    "bands of four": lambda tiling: tiling.raster.group == 4,
}
STEPPED = (Sizes(2560, 2560, 2560), Sizes(1024, 4096, 1024), Sizes(640, 1280, 2560))


@pytest.mark.parametrize("name", UNKNOWN)
def test_twenty_candidates_reach_what_the_model_takes_for_slower_than_it_is(threads: Executor, name: str) -> None:
    quicker = UNKNOWN[name]
    tuner = Tuner(device(), Clock(quicker=quicker), threads, threads, None, 20, make=unmade)
    for found in tuner.tune(SPEC, TARGET, STEPPED):
        assert found.best is not None
        assert found.best.microseconds is not None
        assert len({trial.tiling for trial in found.trials}) == len(found.trials) <= 20
        best = min(by(quicker, found.sizes, tiling) for tiling in menu_for(SPEC, TARGET, found.sizes))
        assert found.best.microseconds <= 1.03 * best, f"{found.sizes}: {found.best.tiling}"


def test_rings_half_as_long_that_the_menu_has_are_tried_once(threads: Executor) -> None:
    """In turns, where rings that leave room for a second block are half as long."""
    tuner = Tuner(device(), Clock(quicker=UNKNOWN["in turns"]), threads, threads, None, 60, make=unmade)
    (found,) = tuner.tune(SPEC, TARGET, STEPPED[1:2])
    assert found.best is not None
    half = evolve(found.best.tiling, depth=found.best.tiling.depth // 2)
    assert half in menu_for(SPEC, TARGET, STEPPED[1])
    assert [trial.tiling for trial in found.trials].count(half) == 1


@pytest.mark.parametrize("sizes", STEPPED[:2], ids=repr)
def test_no_block_is_tried_twice_before_others_were_tried_once(threads: Executor, sizes: Sizes) -> None:
    """Also not that of the default tiling, where the model expects it to be as quick as others."""
    order = ranked(SPEC, TARGET, sizes, device())
    found = Tuner(device(), Clock(), threads, threads, None, 20).candidates(SPEC, TARGET, sizes, order)
    tilings = [each.tiling for each in found]
    assert default_tiling(SPEC, TARGET) in tilings
    assert len({(each.i, each.j, each.k, each.swap, each.turns) for each in tilings}) == len(tilings) == 14


def test_what_a_step_is() -> None:
    good = MatmulTiling(128, 160, 64, warps=8, depth=5, isolate=False, raster=grouped(8), cluster=(2, 2), drain=32)
    steps = (
        evolve(good, j=128, depth=6, drain=64), evolve(good, i=192, j=192, warps=12, depth=4), evolve(good, depth=3),
        evolve(good, k=128, depth=2), evolve(good, workers=sms, raster=grouped(16)), evolve(good, drain=0, depth=6),
        evolve(good, cluster=(1, 1)), evolve(good, i=64, j=256, turns=True, workers=sms, depth=4, drain=64),
        evolve(good, workers=sms, raster=grouped(4), cluster=(1, 1), drain=0, depth=6),
    )  # fmt: skip
    assert [differences(good, each) for each in steps] == [1] * len(steps)
    assert differences(good, good) == 0
    assert differences(good, evolve(steps[0], k=128)) == 2
    assert differences(good, evolve(steps[4], k=128)) == 2
    assert differences(good, evolve(steps[6], drain=64)) == 2
    assert differences(good, evolve(steps[7], cluster=(1, 1))) == 2


EVICTING = MatmulTiling(evict=(None, Eviction.FIRST, Eviction.LAST))


@pytest.mark.parametrize(
    "tiling", (MatmulTiling(), MatmulTiling(workers=sms, cluster=(2, 1)), MatmulTiling(workers=7), EVICTING)
)
def test_tilings_as_json(tiling: MatmulTiling) -> None:
    import json

    assert tiling_of(json.loads(json.dumps(plain(tiling)))) == tiling


def test_what_is_no_tiling() -> None:
    with pytest.raises(ValueError, match="a tiling has no ij"):
        tiling_of({"ij": 3})
    with pytest.raises(ValueError, match="no tiling"):
        tiling_of({"cluster": 3})


def told(timing: Timing) -> Timing:
    return timing


@frozen
class Simulated:
    """Gates on the simulator, in the worker; times are the model's."""

    def measure(self, spec: MatmulSpec, target: str, sizes: Sizes, made: Sequence[Made]) -> tuple[Verdict, ...]:
        found: list[Verdict] = []
        for each in made:
            *_, small = sizes_around(each.wanted.tiling, each.wanted.facts)
            micro = clock(spec, target, sizes, each.wanted.tiling)
            timing = Timing(sizes, micro, 10, 10 * micro, 10 * micro, cold=True)
            gate = Gate(spec, (Case(spec, target, small, each.orders, each.wanted.facts),), device())
            verdict = gate.judge(OnSimulator(each, clock=partial(told, timing)))
            assert verdict is not None
            found.append(verdict)
        return tuple(found)


def test_on_the_executor_of_dask() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pool = client.get_executor()
        (found,) = Tuner(device(), Simulated(), pool, pool, None, 2).tune(SPEC, TARGET, SHAPES[1:])
    assert [trial.verdict for trial in found.trials if isinstance(trial.verdict, Refusal)] == []
    assert found.best is not None
