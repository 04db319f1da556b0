"""`ptxgen cache`: what is kept of kernels and tuned plans, each deleted by its own word."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxgen.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "ptxgen" / "tuned" / "a product").mkdir(parents=True)
    for name in ("one.kernel", "tuned/a product/a.json", "tuned/a product/b.json"):
        (tmp_path / "ptxgen" / name).write_text("")
    return tmp_path / "ptxgen"


def test_what_is_kept_is_told(kept: Path, capsys: Capture) -> None:
    assert main(["cache"]) == 0
    said = capsys.readouterr().out
    assert "1 kernels, 0 KiB" in said
    assert f"2 shapes with a tuned plan, in {kept / 'tuned'}" in said


def test_kernels_and_plans_are_deleted_each_by_its_own_word(kept: Path, capsys: Capture) -> None:
    assert main(["cache", "--clear"]) == 0
    assert sorted(path.name for path in kept.rglob("*") if path.is_file()) == ["a.json", "b.json"]
    assert main(["cache", "--clear-tuned"]) == 0
    assert [path.name for path in kept.rglob("*")] == ["tuned"]
    assert "2 tuned plans deleted" in capsys.readouterr().out


def test_what_cannot_be_deleted_is_named(kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def refused(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refused)
    assert main(["cache", "--clear"]) == 2
    assert f"{kept / 'one.kernel'} cannot be deleted: Permission denied" in capsys.readouterr().err
