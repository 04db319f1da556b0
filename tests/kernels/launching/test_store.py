"""Kernels kept on disk: what is kept comes back, what is not whole does not, and another process finds it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling
from ptxgen.kernels.launching import store
from ptxgen.kernels.launching.entry import entry_of, from_json, to_json
from ptxgen.kernels.launching.generated import GeneratedKernel, stored
from ptxgen.plan import sms
from tests.kernels.test_registers import aligned_facts

PLANS = {
    "volta": Matmul(),
    "hopper": Matmul(MatmulSpec(), "sm_90a"),
    "clusters that stay": Matmul(
        MatmulSpec(), "sm_90a", MatmulTiling(64, 64, 64, 4, depth=3, isolate=False, cluster=(2, 1))
    ),
    "stays": Matmul(MatmulSpec(), "sm_90a", MatmulTiling(64, 64, 64, 4, depth=3, isolate=False, workers=sms)),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ptxgen"


@pytest.mark.parametrize("name", PLANS)
def test_entries_come_back_from_their_text(name: str) -> None:
    entry = entry_of(PLANS[name].kernel(aligned_facts(PLANS[name])).program)
    assert from_json(to_json(entry)) == entry


@pytest.mark.parametrize("text", ["", "[]", "1", '[["Entry"]]', '[["int"],"x"]', "[null,1]", '[["Element"],"F99"]'])
def test_other_texts_are_no_entry(text: str) -> None:
    with pytest.raises(ValueError, match=r"entry|Expecting|index"):
        from_json(text)


def made() -> GeneratedKernel:
    return PLANS["volta"].kernel()


def never() -> GeneratedKernel:
    raise AssertionError("it was kept")


def test_what_is_kept_is_not_made_again(folder: Path) -> None:
    first = stored("a product", made)
    second = stored("a product", never)
    assert (second.entry, second.listing.text) == (first.entry, first.listing.text)
    assert stored("another", made).kept is None
    assert len(list(folder.iterdir())) == 2


def test_a_kept_kernel_still_tells_what_it_came_from() -> None:
    stored("a product", made)
    kept = stored("a product", made)
    assert kept.kept is not None
    assert kept.program == made().program


@pytest.mark.parametrize("spoil", [
    lambda path: path.write_text(""),
    lambda path: path.write_text(path.read_text().replace("matmul", "matmal", 1)),
    lambda path: path.write_text(path.read_text()[:-40]),
    lambda path: path.write_bytes(b"\xff" * 100),
    lambda path: path.write_text(path.read_text().replace(store.FORMAT, "ptxgen kernel 0")),
], ids=["empty", "changed", "cut", "no text", "older"])  # fmt: skip
def test_a_file_that_is_not_whole_is_made_again(folder: Path, spoil: Callable[[Path], object]) -> None:
    stored("a product", made)
    (path,) = folder.iterdir()
    whole = path.read_text()
    spoil(path)
    assert stored("a product", made).kept is None
    assert path.read_text() == whole


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert stored("a product", made).kept is None
    assert stored("a product", made).kept is None
    assert store.held() == (0, 0)


def test_where_nobody_knows_of_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container that runs under a number without a name. A path that is not whole counts as none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert stored("a product", made).kept is None
    assert stored("a product", made).kept is None
    assert (store.held(), store.clear()) == ((0, 0), 0)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_take_its_place_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path, target: Path) -> Path:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", refused)
    assert stored("a product", made).kept is None
    assert list(folder.iterdir()) == []


def test_files_that_another_process_deletes_meanwhile_are_not_counted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored("a product", made)
    (kept,) = folder.iterdir()
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter([kept, kept.with_stem("deleted")]))
    assert store.held() == (1, kept.stat().st_size)


def test_the_sources_are_part_of_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    stored("a product", made)
    monkeypatch.setattr(store, "sources_stamp", lambda: "other sources")
    assert store.find("a product") is None


def test_what_was_used_least_lately_gives_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        stored(f"product {number}", made)
        os.utime(folder / store.name_of(f"product {number}"), (number, number))
    size = next(folder.iterdir()).stat().st_size
    monkeypatch.setattr(store, "MOST_BYTES", 3 * size + size // 2)
    stored("product 0", never)
    stored("product 3", made)
    assert [store.find(f"product {number}") is not None for number in range(4)] == [True, False, True, True]
    assert store.clear() == 3


PROGRAM = """
from ptxgen.kernels import Matmul
from ptxgen.kernels.launching.generated import stored
def make():
    print("made")
    return Matmul().kernel()
print(len(stored("a product", make).listing.text))
"""


def test_another_process_finds_it() -> None:
    said = [
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert said[0] == ["made", *said[1]]
