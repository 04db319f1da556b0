"""`ptxgen matmul --explain tile` and `ptxgen build`: print a tile program, change it, build it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxgen.cli import main

Printed = pytest.CaptureFixture[str]
SIZES = ["matmul", "--m", "64", "--n", "64", "--k", "128", "--layout", "nt", "--target", "sm_90a", "--run", "none",
         "--warps", "8"]  # fmt: skip


@pytest.fixture
def text(capsys: Printed) -> str:
    assert main([*SIZES, "--explain", "tile"]) == 0
    return capsys.readouterr().out


def test_what_is_printed_is_built(text: str, tmp_path: Path, capsys: Printed) -> None:
    file, ptx, wanted = tmp_path / "f.tile", tmp_path / "f.ptx", tmp_path / "w.ptx"
    file.write_text(text)
    assert main([*SIZES, "--emit", str(wanted)]) == 0
    assert main(["build", str(file), "--emit", str(ptx)]) == 0
    assert f"wrote      {ptx}" in capsys.readouterr().out
    assert ptx.read_text() == wanted.read_text()
    assert main(["build", str(file)]) == 0
    assert capsys.readouterr().out == wanted.read_text()


def test_what_is_refused_is_told_with_requirement_and_line(text: str, tmp_path: Path, capsys: Printed) -> None:
    file, ptx = tmp_path / "f.tile", tmp_path / "f.ptx"
    changed = text.replace("wgmma, pending 1", "wgmma, pending 2")
    assert changed != text
    file.write_text(changed)
    assert main(["build", str(file), "--emit", str(ptx)]) == 1
    out = capsys.readouterr().out
    guilty = next(n for n, line in enumerate(text.splitlines(), start=1) if "copy A.shared" in line)
    assert f"{file}:{guilty}: reuse AB -> A.shared (A.shared, distance 4)" in out
    assert not ptx.exists()


def test_a_word_that_is_none_is_told_with_its_line(text: str, tmp_path: Path, capsys: Printed) -> None:
    file = tmp_path / "f.tile"
    file.write_text(text.replace("commit wgmma", "comit wgmma", 1))
    assert main(["build", str(file)]) == 2
    err = capsys.readouterr().err
    guilty = next(n for n, line in enumerate(text.splitlines(), start=1) if "commit wgmma" in line)
    assert f"{file}:{guilty}:" in err
    assert "wanted a copy, fill, multiply" in err


def test_other_targets(text: str, tmp_path: Path, capsys: Printed) -> None:
    file = tmp_path / "f.tile"
    file.write_text(text)
    assert main(["build", str(file), "--target", "sm_80"]) == 1
    assert "this module is for sm_80 [target.unsupported]" in capsys.readouterr().out
    assert main(["build", str(file), "--target", "sm_9"]) == 2
    assert main(["build", str(tmp_path / "none")]) == 2
    assert main(["build", "--help"]) == 0


STREAMED = [*SIZES, "--workers", "3", "--stream"]


def test_tiles_that_are_shared_slab_by_slab(tmp_path: Path, capsys: Printed) -> None:
    file, ptx, wanted = tmp_path / "f.tile", tmp_path / "f.ptx", tmp_path / "w.ptx"
    assert main([*STREAMED, "--explain", "tile", "--emit", str(wanted)]) == 0
    text = "".join(f"{line}\n" for line in capsys.readouterr().out.splitlines() if not line.startswith("wrote"))
    file.write_text(text)
    assert main(["build", str(file), "--emit", str(ptx)]) == 0
    assert ptx.read_text() == wanted.read_text()
    capsys.readouterr()
    for old, new, told in (
        ("acquire AB_sums_turns{block - 1}", "acquire AB_sums_turns{block}", "[synchronisation.deadlock]"),
        ("tiles of floor((K + 63)/64)", "tiles of floor((K + 31)/32)", "[declaration.slabs]"),
    ):
        assert old in text
        file.write_text(text.replace(old, new))
        assert main(["build", str(file)]) == 1
        guilty = next(n for n, line in enumerate(text.splitlines(), start=1) if old in line)
        assert f"{file}:{guilty}:" in (out := capsys.readouterr().out)
        assert told in out


def test_shared_slabs_want_blocks_that_stay(capsys: Printed) -> None:
    assert (
        main(["matmul", "--m", "64", "--n", "64", "--k", "64", "--target", "sm_80", "--run", "none", "--stream"]) == 2
    )
    assert "blocks that stay share the slabs of all tiles" in capsys.readouterr().err
