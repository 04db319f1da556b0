"""Input that cannot be used: one line on stderr, exit status 2, nothing written. A wrong result is 1,
a lacking machine 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

import ptxgen.cli.matmul as command
from ptxgen.cli import main
from ptxgen.runtime import device_count
from ptxgen.testing import Bounded, bounded

SIZES = ["--m", "16", "--n", "8", "--k", "4", "--run", "cpu"]
Printed = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with files of several kinds of unfitness."""
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.ones((16, 4), np.float16))
    np.save("wide.npy", np.ones((16, 5), np.float16))
    np.save("a64.npy", np.ones((16, 4), np.float64))
    np.save("int.npy", np.ones(8, np.int32))
    np.save("cube.npy", np.ones((2, 16, 4), np.float16))
    np.save("objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez("several.npz", a=np.ones(3))
    np.save("complex.npy", np.ones((16, 4), np.complex64))
    np.save("words.npy", np.array([["a", ""]]))
    Path("text.npy").write_text("no numbers")
    Path("empty.npy").write_text("")
    return tmp_path


CASES = {
    "missing file": (["--a", "none.npy"], "none.npy cannot be read: No such file or directory"),
    "a folder": (["--a", "."], ". cannot be read: Is a directory"),
    "no array": (["--a", "text.npy"], "text.npy is no .npy file of numbers"),
    "empty file": (["--a", "empty.npy"], "empty.npy is no .npy file of numbers"),
    "objects": (["--a", "objects.npy"], "objects.npy is no .npy file of numbers"),
    "several arrays": (["--a", "several.npz"], "several.npz holds several arrays; a .npy file with one is wanted"),
    "wrong dtype": (["--a", "a64.npy"], "A must be float16, got float64"),
    "wrong dtype of a bias": (
        ["--epilogue", "bias", "--bias", "int.npy"],
        "bias must be float16, bfloat16, float32, float64, got int32",
    ),
    "shapes against sizes": (["--a", "wide.npy"], "A's extent 1 must be 4 (K = 4 by the sizes given), got 5"),
    "shapes against each other": (
        ["--epilogue", "residual", "--residual", "a.npy"],
        "R's extent 1 must be 8 (N = 8 by the sizes given), got 4",
    ),
    "dimensions": (["--a", "cube.npy"], "A must have 2 dimensions (M x K), got shape (2, 16, 4)"),
    "a type that there is not": (["--input-type", "f12"], "--input-type must be one of f16, bf16, tf32, f64, e4m3"),
    "three types": (["--input-type", "s8,u8,s8"], "or two of them for A and B, got s8,u8,s8"),
    "types that do not meet": (["--input-type", "s8,e4m3"], "input s8 by e4m3: s8 is multiplied by s8 or u8"),
    "sums of integers in f32": (["--input-type", "s8", "--accumulate", "f32"], "a product of s8 has s32"),
    "chains of three": (["--promote", "3"], "--promote must be a power of two, got 3"),
    "target without the instruction": (
        ["--target", "sm_60"],
        "sm_60 has no tensor cores that multiply f16 into f32: m8n8k4 needs",
    ),
    "unknown target": (["--target", "sm_71"], "unknown target 'sm_71'; known: sm_50"),
    "target that the CPU cannot follow": (["--target", "sm_75"], "take --run gpu, --run none or --target sm_70"),
    "unknown epilogue": (["--epilogue", "bias,rely"], "unknown epilogue 'rely'; there are alpha, beta, bias"),
    "unknown layout": (["--layout", "mn"], "argument --layout: invalid choice: 'mn'"),
    "unknown option": (["--bogus"], "unrecognized arguments: --bogus"),
    "no number": (["--seed", "x"], "argument --seed: invalid int value: 'x'"),
    "negative size": (["--m", "-1"], "--m must be 0 or more, got -1"),
    "unused file": (["--bias", "a.npy"], "--bias is given, but the epilogue does not read it"),
    "unused number": (["--alpha", "2"], "--alpha is given, but the epilogue does not use it"),
    "unused second output": (["--second-out", "e.npy"], "--second-out is given, but the epilogue keeps nothing"),
    "a piece of no power": (["--drain", "48"], "--drain must be 0 or a power of two, got 48"),
    "a cluster that nobody shares": (
        ["--cluster", "2x1", "--target", "sm_80"],
        "not carried out on sm_80: --cluster 2x1: only warpgroups do that, but sm_80 has no products of warpgroups",
    ),
    "choices of one reason": (
        ["--warps", "4", "--cluster", "2x1", "--drain", "4", "--target", "sm_90a"],
        "for each, and a multiple of 8 columns up to 256; --drain 4: a warp holds 8 rows in one step; take 8 or more",
    ),
    "negative seed": (["--seed", "-1"], "--seed must be 0 or more, got -1"),
    "absurd size": (["--m", "99999999999"], "--m must be at most 2146435072, got 99999999999"),
    "more than memory": (
        ["--m", "100000000", "--n", "100000000"],
        "takes some 111758718 GiB, this machine has ",
    ),
    "number beyond f32": (["--epilogue", "alpha", "--alpha", "1e300"], "alpha = 1e+300 is beyond the range of f32"),
    "a folder to write to": (["--out", "."], ". cannot be written: it is a folder"),
    "two results in one file": (["--out", "x", "--epilogue", "keep", "--second-out", "./x"], "x is given to --out and"),
    "result and kernel in one file": (["--out", "k.ptx"], "k.ptx is given to --out and to --emit"),
    "result over an input": (["--a", "a.npy", "--out", "./a.npy"], "a.npy is given to --a and to --out"),
    "a name that is too long": (["--out", "d" * 300], "cannot be written: File name too long"),
    "complex numbers": (["--a", "complex.npy"], "complex.npy is no .npy file of numbers"),
    "words": (["--a", "words.npy"], "words.npy is no .npy file of numbers"),
    "no folder to write to": (["--out", "none/d.npy"], "none/d.npy cannot be written: there is no folder none"),
}


@pytest.mark.parametrize("case", CASES)
def test_unusable_input(case: str, folder: Path, capsys: Printed) -> None:
    words, expected = CASES[case]
    before = sorted(folder.iterdir())
    writes = [] if "--out" in words else ["--out", "d.npy"]
    assert main(["matmul", *SIZES, *words, *writes, "--emit", "k.ptx"]) == 2
    out, err = capsys.readouterr()
    assert expected in err
    assert err.count("\n") == 1
    assert out == ""
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "expected"),
    (
        ([], "required: command"),
        (["matmul", "--m", "4", "--n", "4"], "the size K is not known: give --k"),
        (["bake"], "invalid choice: 'bake'"),
    ),
    ids=str,
)
def test_incomplete_input(words: list[str], expected: str, capsys: Printed) -> None:
    assert main(words) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.skipif(device_count() > 0, reason="there is a GPU")
def test_a_machine_without_a_gpu(folder: Path, capsys: Printed) -> None:
    before = sorted(folder.iterdir())
    sizes = ["--m", "8", "--n", "8", "--k", "8"]
    assert main(["matmul", *sizes, "--run", "gpu", "--out", "d.npy", "--emit", "k.ptx"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "NVIDIA driver" in err
    assert sorted(folder.iterdir()) == before


def test_memory_that_runs_out(folder: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*given: object, **options: object) -> Mapping[str, Bounded]:
        raise MemoryError

    monkeypatch.setattr(command, "bounded", exhausted)
    assert main(["matmul", *SIZES, "--out", "d.npy"]) == 2
    assert capsys.readouterr() == ("", "ptxgen: the arrays do not fit into the memory of this machine\n")
    assert not Path("d.npy").exists()


def test_a_wrong_result(folder: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(*given: object, **options: object) -> Mapping[str, Bounded]:
        return {name: evolve(each, value=each.value + 1.0) for name, each in bounded(*given, **options).items()}  # type: ignore[arg-type]

    monkeypatch.setattr(command, "bounded", elsewhere)
    assert main(["matmul", *SIZES, "--out", "d.npy"]) == 1
    assert "error      WRONG" in capsys.readouterr().out
    assert not Path("d.npy").exists()
