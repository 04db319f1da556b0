"""Processes of a search end with it: by an interrupt at once, by a death with a word, and what was found is told."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from ptxgen.cli import main
from ptxgen.cli.pools import cores, gpus, makers
from ptxgen.kernels.choosing.cost import estimate
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.products.defaults import default_tiling
from ptxgen.tune import Timing, Trial, Tuning
from ptxgen.tune.apart import Apart, Tell
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver

Capture = pytest.CaptureFixture[str]
SHAPE = "--m 512 --n 512 --k 512"
NAP, LONG, MOST = 0.2, 1000.0, 60.0


class Sleeping:
    """A candidate that never ends."""

    def answer(self, question: Any, tell: Tell) -> Any:
        Path(question).touch()
        time.sleep(LONG)


def measure(path: str) -> Any:
    return Apart(Sleeping).ask(path, LONG)


def test_an_interrupt_ends_what_measures_and_leaves_undone_what_was_not_begun(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptxgen.cli.pools.device_count", lambda: 1)
    begun = tmp_path / "begun"

    def interrupted() -> None:
        with makers(2) as pool, gpus() as measuring:
            for _ in range(1000):
                pool.submit(time.sleep, NAP)
            measuring.submit(measure, str(begun))
            while not begun.exists():
                time.sleep(NAP)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    since = time.time() - begun.stat().st_mtime
    assert since < MOST
    assert active_children() == []
    assert "Traceback" not in capfd.readouterr().err


def test_no_more_makers_than_this_process_has_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {3, 5}, raising=False)
    assert cores() == 2


@frozen(eq=False)
class Search:
    """A search of which a shape is found; then somebody ends it."""

    ending: BaseException | None
    given: list[Any]

    def __call__(self, *arguments: Any) -> Any:
        self.given[:] = arguments
        return self

    def tune(self, spec: Any, target: str, shapes: tuple[Sizes, ...]) -> Iterator[Tuning]:
        row, sizes = self.given[0], shapes[0]
        expected = estimate(spec, target, sizes, default_tiling(spec, target), row)
        yield Tuning(sizes, (Trial(expected, Timing(sizes, 7.5, 10, 75.0, 75.0, cold=True)),))
        if self.ending is not None:
            raise self.ending


@pytest.mark.parametrize(
    "ending, status, words",
    (
        (None, 0, ""),
        (KeyboardInterrupt(), 130, "ptxgen: interrupted"),
        (BrokenExecutor("a process was terminated abruptly"), 3, "ended by itself, perhaps for want of memory"),
    ),
    ids=("at its end", "interrupted", "a process died"),
)
def test_what_was_found_is_told_however_a_search_ends(
    driver: FakeDriver,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: Capture,
    ending: BaseException | None,
    status: int,
    words: str,
) -> None:
    monkeypatch.setattr("ptxgen.cli.tune.Tuner", Search(ending, []))
    out = tmp_path / "found.txt"
    assert main(f"tune {SHAPE} --device H200 --out {out}".split()) == status
    said = capsys.readouterr()
    assert "best        7.50 us" in said.out
    assert '"us":7.5' in out.read_text()
    assert words in said.err
    assert len(said.err.splitlines()) == bool(words)


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    driver: FakeDriver,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    def never(*arguments: Any) -> Executor:
        raise AssertionError("nothing is made")

    monkeypatch.setattr("ptxgen.cli.tune.makers", never)
    out = tmp_path / "absent" / "found.txt"
    for more in ("", "--calibrate"):
        assert main(f"tune {SHAPE} --device H200 --out {out} {more}".split()) == 2
        assert f"--out: {out} cannot be written: No such file or directory" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
