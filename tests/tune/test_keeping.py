"""What is kept: by exact shape, by what the arguments allow, by the device's own name; replaced by what was quicker."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import ptxgen
import ptxgen.tune
from ptxgen.kernels import MatmulTiling
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching import store
from ptxgen.kernels.launching.views import View, outline
from ptxgen.kernels.matmul import Matmul
from ptxgen.plan import Fact, grouped, sms
from ptxgen.tune import Best, Kept, Tuner, Tuning
from ptxgen.tune.calibration import facts_for
from ptxgen.tune.keeping import NOT_ASKED, class_of
from ptxgen.tune.measuring import shapes_of
from ptxgen.tune.versions import driver_here, released
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver
from tests.tune.spoiled import SPEC, TARGET, device
from tests.tune.test_tuner import SHAPES, Clock, home, threads, tuned, unmade  # noqa: F401

SHAPE = SHAPES[0]
GOOD = MatmulTiling(64, 64, 64, warps=4, depth=5, isolate=False, raster=grouped(4), workers=sms)


def facts(sizes: Sizes = SHAPE) -> tuple[Fact, ...]:
    return facts_for(SPEC, sizes, GOOD, TARGET)


def keep(kept: Kept, tiling: MatmulTiling, micro: float, sizes: Sizes = SHAPE) -> None:
    kept.keep(SPEC, TARGET, Best(sizes, tiling, micro), facts(sizes))


def test_the_best_is_kept_and_given_to_whoever_asks(threads: Executor, home: Path) -> None:  # noqa: F811
    kept = Kept("NVIDIA H200", "CUDA 12.4")
    for found in tuned(threads, kept):
        assert found.best is not None
        again, known = Kept("NVIDIA H200", "CUDA 12.4"), facts(found.sizes)
        assert again.tiling(SPEC, TARGET, found.sizes, known) == found.best.tiling
        assert again.tiling(SPEC, TARGET, evolve(found.sizes, m=7777), known) is None
        assert again.tiling(evolve(SPEC, epilogue=()), TARGET, found.sizes, known) is None
        for other in (Kept("NVIDIA H100 80GB HBM3", "CUDA 12.4"), Kept("NVIDIA H200", "CUDA 12.8")):
            assert other.tiling(SPEC, TARGET, found.sizes, known) is None
    assert kept.tiling(SPEC, "sm_90", SHAPE, facts()) is None


def test_an_answer_stays_whatever_is_kept_later(home: Path) -> None:  # noqa: F811
    kept = Kept("H200")
    keep(kept, GOOD, 1.0)
    assert kept.tiling(SPEC, TARGET, SHAPE, facts()) == GOOD
    keep(Kept("H200"), evolve(GOOD, depth=3), 0.5)
    assert kept.tiling(SPEC, TARGET, SHAPE, facts()) == GOOD
    assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) == evolve(GOOD, depth=3)


SPOILT: dict[str, tuple[str, str]] = {
    "another format": ('"format": 2', '"format": 0'),
    "no choice": ('"i"', '"ii"'),
    "a word for a number": ('"i": 64', '"i": "64"'),
    "half a row": ('"i": 64', '"i": 64.5'),
    "more slabs than there is room for": ('"depth": 5', '"depth": 400'),
    "a product that the target has not": ('"k": 64', '"k": 7'),
    "nothing to multiply": ("[2048, ", "[0, "),
    "less than nothing": ("[2048, ", "[-2048, "),
    "a size in words": ("[2048, ", '["many", '),
    "no time": ('"us": 1.0', '"us": NaN'),
    "three sizes": ("2048, 1]", "2048]"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_file_that_is_not_whole_counts_as_absent_and_gives_way(name: str, home: Path) -> None:  # noqa: F811
    keep(Kept("H200"), GOOD, 1.0)
    (path,) = home.rglob("*.json")
    text = path.read_text()
    assert Kept("H200").find(SPEC, TARGET, SHAPE, facts()) is not None
    assert text.count(SPOILT[name][0]) == 1
    path.write_text(text.replace(*SPOILT[name]))
    assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) is None
    assert Kept("H200").exact(SPEC, TARGET, SHAPE, facts()) is None
    keep(Kept("H200"), GOOD, 1.0)
    assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) == GOOD


@pytest.mark.parametrize("content", (b"", b"[]", b"3", b"null", b"\xff\xfe\x00", b"[" * 100_000, b'{"format": 2}'))
def test_what_is_no_record_counts_as_absent(content: bytes, home: Path) -> None:  # noqa: F811
    keep(Kept("H200"), GOOD, 1.0)
    (path,) = home.rglob("*.json")
    path.write_bytes(content)
    assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) is None


def test_what_cannot_be_kept_is_not_kept_and_leaves_nothing_behind(
    home: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(scratch: Path, target: Path) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        keep(Kept("H200"), GOOD, 1.0)
    assert [path for path in home.rglob("*") if path.is_file()] == []
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    keep(Kept("H200"), GOOD, 1.0)
    assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) is None


def test_whoever_reads_while_others_write_finds_one_of_them_whole(home: Path) -> None:  # noqa: F811
    written = [evolve(GOOD, depth=depth) for depth in (2, 3, 4, 5)]

    def write(tiling: MatmulTiling) -> None:
        for _ in range(50):
            keep(Kept("H200"), tiling, 1.0)

    keep(Kept("H200"), GOOD, 1.0)
    with ThreadPoolExecutor(len(written)) as pool:
        done = [pool.submit(write, each) for each in written]
        while not all(each.done() for each in done):
            assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) in written
    assert len([path for path in home.rglob("*") if path.is_file()]) == 1


def test_sources_that_launch_and_judge_make_what_was_found_stale() -> None:
    found = {Path(each).name for root in ptxgen.__path__ for each in store._sources(root, NOT_ASKED)}
    assert {"gate.py", "loading.py", "pace.py"} <= found
    assert not {"progress.py", "scheduler.py"} & found


def test_shapes_of_a_class_are_alike() -> None:
    assert class_of(Sizes(4096, 4096, 4096)) == class_of(Sizes(3968, 4096, 3968))
    assert class_of(Sizes(4096, 4096, 4096)) != class_of(Sizes(4096, 4096, 2048))
    assert class_of(Sizes(4096, 4096, 4096)) != class_of(Sizes(4096, 4096, 4090))
    assert class_of(Sizes(16, 16, 16)) != class_of(Sizes(16, 16, 16, 2))


def test_a_shape_has_its_own_best_and_others_of_its_class_the_nearest() -> None:
    shapes = (Sizes(3968, 4096, 4096), Sizes(4096, 4096, 4096), Sizes(4096, 4096, 3968))
    assert len({class_of(sizes) for sizes in shapes}) == 1
    kept = Kept("NVIDIA H200", "a shape of its own")
    for depth, sizes in zip((3, 4), shapes, strict=False):
        keep(kept, evolve(GOOD, depth=depth), 1.0, sizes)
    found = [kept.tiling(SPEC, TARGET, sizes, facts(sizes)) for sizes in shapes]
    assert [each.depth for each in found if each is not None] == [3, 4, 4]


def test_a_quicker_plan_stays_until_it_is_beaten_beside_it(threads: Executor, home: Path) -> None:  # noqa: F811
    """Of a search that cannot have measured it nothing is kept; one that has takes it in, though no menu offers it."""
    kept, odd = Kept("H200"), evolve(GOOD, depth=2)
    keep(kept, odd, 1.0)

    def search(quicker: Any, count: int) -> Tuning:
        tuner = Tuner(device(), Clock(quicker=quicker), threads, threads, Kept("H200"), count, make=unmade)
        (found,) = tuner.tune(SPEC, TARGET, (SHAPE,))
        return found

    search(lambda tiling: True, 1)
    assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) == odd
    found = search(lambda tiling: False, 12)
    assert odd in {trial.tiling for trial in found.trials}
    assert found.best is not None
    assert found.best.tiling != odd
    assert Kept("H200").tiling(SPEC, TARGET, SHAPE, facts()) == found.best.tiling


def apart(array: View, *, ahead: int = 0, pitch: int = 0) -> View:
    return evolve(array, address=array.address + ahead, strides=(array.strides[0] + pitch, *array.strides[1:]))


def test_a_product_takes_what_was_tuned_only_where_it_is_given(home: Path) -> None:  # noqa: F811
    keep(Kept("H200"), GOOD, 1.0)
    arrays = {name: outline(dtype, shape) for name, (shape, dtype) in shapes_of(SPEC, SHAPE).items()}
    assert Matmul(SPEC, TARGET).fitted(arrays).tiling != GOOD
    assert Matmul(SPEC, TARGET, tuned=Kept("H200")).fitted(arrays).tiling == GOOD
    own = evolve(GOOD, depth=3)
    assert Matmul(SPEC, TARGET, own, tuned=Kept("H200")).fitted(arrays).tiling == own


@pytest.mark.parametrize("name, ahead, pitch", (("A", 2, 0), ("A", 2, 1), ("B", 0, 1), ("D", 0, 4), ("bias", 2, 0)))
def test_where_arguments_allow_less_the_model_chooses(home: Path, name: str, ahead: int, pitch: int) -> None:  # noqa: F811
    keep(Kept("H200"), GOOD, 1.0)
    arrays = {each: outline(dtype, shape) for each, (shape, dtype) in shapes_of(SPEC, SHAPE).items()}
    given = {**arrays, name: apart(arrays[name], ahead=ahead, pitch=pitch)}
    assert Matmul(SPEC, TARGET, tuned=Kept("H200")).fitted(given).tiling == Matmul(SPEC, TARGET).fitted(given).tiling
    wider = {**arrays, "A": apart(arrays["A"], pitch=8)}
    assert Matmul(SPEC, TARGET, tuned=Kept("H200")).fitted(wider).tiling == GOOD


def test_the_best_of_the_device_that_is_there(driver: FakeDriver, home: Path) -> None:  # noqa: F811
    ptxgen.tune._on.cache_clear()
    driver.name = "NVIDIA H100 80GB HBM3"
    found = ptxgen.tune.best(0)
    assert isinstance(found, Kept)
    assert (found.device, found.driver) == ("NVIDIA H100 80GB HBM3", driver_here())
    assert found.driver.startswith("CUDA 12.4")
    assert found is ptxgen.tune.best(0)
    assert ptxgen.tune.best() is ptxgen.tune.best()
    ptxgen.tune._on.cache_clear()


@pytest.mark.parametrize("device", (1.5, True, b"NVIDIA H200"))
def test_what_is_no_device_is_named(device: Any) -> None:
    with pytest.raises(TypeError, match="best: device is the number or the name of a GPU, or None, got "):
        ptxgen.tune.best(device)


def test_a_release_of_the_driver(tmp_path: Path) -> None:
    path = tmp_path / "version"
    assert released(path) == ""
    path.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC 12\n")
    assert released(path) == "550.54.15"
    path.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n")
    assert released(path) == "580.95.05"
