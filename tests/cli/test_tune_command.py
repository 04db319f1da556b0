"""`ptxgen tune` where there is no GPU: what the model tells, a fit, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from ptxgen.cli import main
from ptxgen.cli.tune import spec_of
from ptxgen.cli.tuning import parse_tune_command, shapes_in
from ptxgen.compute import Element
from ptxgen.kernels.calling.asked import Wish, asked
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.launching.views import DTYPES, view_of
from ptxgen.tune.calibration import Measurement, written
from tests.kernels.choosing.measured import TARGET, measured
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver

Capture = pytest.CaptureFixture[str]


def test_explain_prints_the_pick_and_what_bounds_it(capsys: Capture) -> None:
    words = "tune --m 4096 --n 4096 --k 4096 --layout nt --epilogue bias,relu --explain --target sm_90a"
    assert main(words.split()) == 0
    said = capsys.readouterr().out
    assert "us by 64x256x64" in said
    assert "1024 tiles, 264 at once, 4 rounds" in said


def test_a_file_of_shapes(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "shapes.txt"
    path.write_text("64 64 64   # small\n\n128x256x512\n8 8 8 3\n")
    assert shapes_in(path) == (Sizes(64, 64, 64), Sizes(128, 256, 512), Sizes(8, 8, 8, 3))
    assert main(["tune", "--shapes", str(path), "--explain"]) == 0
    assert len([line for line in capsys.readouterr().out.splitlines() if " us by " in line]) == 3


@pytest.mark.parametrize(
    "content, why",
    (
        (b"-64 64 64", ":1: a shape is M N K, or M N K and a count of batches, got '-64 64 64'"),
        (b"64 64 64\n6.4 64 64", ":2: a shape is M N K"),
        (b"64 64", ":1: a shape is M N K"),
        (b"64 64 64 64 64", ":1: a shape is M N K"),
        (b"64 64 k", ":1: a shape is M N K"),
        (b"\xff\xfe", " is no text"),
        (b"# nothing", " has no shapes"),
    ),
)
def test_what_is_no_shape(content: bytes, why: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "shapes.txt"
    path.write_bytes(content)
    assert main(["tune", "--shapes", str(path), "--explain"]) == 2
    assert f"{path}{why}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line, why",
    (
        ('{"target":3}', "line 2: KeyError: 'sizes'"),
        ('{"target":"sm_90a","sizes":[1,2],"us":3,"tiling":{}}', "line 2: TypeError"),
        ('{"target":"sm_90a","sizes":[64,64,64,1],"us":"x","tiling":{}}', "line 2: ValueError: could not convert"),
        (
            '{"target":"sm_90a","sizes":[64,64,64,1],"us":-3,"tiling":{}}',
            "line 2: ValueError: [64, 64, 64, 1] in -3.0",
        ),
        ('{"target":"sm_90a","sizes":[64,64,0,1],"us":3,"tiling":{}}', "line 2: ValueError: [64, 64, 0, 1] in 3.0 us"),
        ('{"target":"sm_90a","sizes":[64,64,64,1],"us":3,"tiling":{"i":"x"}}', "line 2: ValueError: no tiling"),
        ('{"target":"sm_9","sizes":[64,64,64,1],"us":3,"tiling":{}}', "line 2: UnknownTarget: unknown target 'sm_9'"),
        ('{"target"', "line 2: JSONDecodeError"),
    ),
)
def test_what_is_no_measurement(line: str, why: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "times.txt"
    path.write_text(f"not made: something\n{line}\n")
    assert main(["tune", "--fit", str(path)]) == 2
    assert f"{path} holds no measurements: {why}" in capsys.readouterr().err


def test_a_fit_prints_a_row(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "times.txt"
    lines = [written(Measurement(TARGET, sizes, tiling, micro))
             for sizes, found in measured().items() for tiling, micro in tuple(found.items())[::12]]  # fmt: skip
    path.write_text("\n".join(lines))
    assert main(["tune", "--fit", str(path), "--layout", "nt", "--epilogue", "bias,relu"]) == 0
    said = capsys.readouterr().out
    assert f"{len(lines)} measurements" in said
    assert "ghz=1." in said


@pytest.mark.parametrize(
    "words, why",
    (
        ("--m 5 --n 5", "--m, --n and --k are wanted together"),
        ("", "--m, --n and --k are wanted together"),
        ("--m 5 --n 5 --k 0 --explain", "a shape has sizes from 1 to"),
        ("--m 99999999999 --n 5 --k 5 --explain", "a shape has sizes from 1 to 2146435072, got 99999999999 x 5 x 5"),
        ("--m 5 --n 5 --k 5 --explain --out f", "--out is of what is measured, --explain measures nothing"),
        ("--m 5 --n 5 --k 5 --processes 0", "--processes must be 1 or more, got 0"),
        ("--m 5 --n 5 --k 5 --shapes f", "not both"),
        ("--shapes absent.txt --explain", "absent.txt cannot be read"),
        ("--m 5 --n 5 --k 5 --epilogue nonsense", "unknown epilogue 'nonsense'"),
        ("--m 5 --n 5 --k 5 --calibrate --explain", "three commands"),
        ("--m 5 --n 5 --k 5 --candidates 0", "--candidates must be 1 or more"),
        ("--m 5 --n 5 --k 5 --deadline 0", "--deadline must be above 0 and at most 86400, got 0"),
        ("--m 5 --n 5 --k 5 --deadline inf", "--deadline must be above 0 and at most 86400, got inf"),
        ("--m 5 --n 5 --k 5 --epilogue row_sum --explain", "sums over rows or columns follow the default tile"),
        ("--m 5 --n 5 --k 5 --explain --target sm_90a,", "unknown target ''"),
        ("--m 5 --n 5 --k 5 --explain --device T4", "there are rows for H200"),
        ("--fit absent.txt", "holds no measurements"),
    ),
)
def test_what_is_unusable(words: str, why: str, capsys: Capture) -> None:
    assert main(["tune", *words.split()]) == 2
    assert why in capsys.readouterr().err


def test_a_machine_without_a_gpu_lacks_something(capsys: Capture) -> None:
    from ptxgen.runtime import device_count

    if device_count():
        pytest.skip("there is a GPU")
    for more in ("", " --calibrate"):
        assert main(f"tune --m 512 --n 512 --k 512{more}".split()) == 3
        assert "NVIDIA driver" in capsys.readouterr().err


TYPES = (
    "--input-type bf16 --output-type f32",
    "--input-type e4m3 --layout nt",
    "--input-type e4m3,e5m2 --layout nt --promote 128 --output-type bf16",
    "--input-type f16 --accumulate f16",
    "--input-type s8 --layout nt",
)


@pytest.mark.parametrize("words", TYPES)
def test_the_product_that_is_tuned_is_the_one_that_a_call_asks_for(words: str, capsys: Capture) -> None:
    """The spec is the key of what is kept: `ptxgen.matmul` of such arrays must come to the same."""
    pytest.importorskip("ml_dtypes")
    options = parse_tune_command(f"--m 64 --n 64 --k 64 {words} --explain".split())
    assert options is not None
    said = dict(zip(words.split()[::2], words.split()[1::2], strict=True))
    names = said["--input-type"].split(",")
    kinds = [DTYPES[{element.label: element for element in Element}[name]] for name in (names[0], names[-1])]
    a, b = (np.zeros((64, 64), kind) for kind in kinds)
    turned = b.T if said.get("--layout") == "nt" else b
    wish = Wish(
        accumulate=said.get("--accumulate"),
        promote=int(said["--promote"]) if "--promote" in said else None,
        output=said.get("--output-type"),
    )
    spec, _ = asked({"A": view_of("a", a), "B": view_of("b", turned)}, wish)
    assert spec_of(options) == spec
    assert repr(spec_of(options)) == repr(spec)
    assert main(["tune", *f"--m 512 --n 512 --k 512 {words} --explain".split()]) == 0
    assert " us by " in capsys.readouterr().out


def test_types_that_do_not_meet_are_unusable(capsys: Capture) -> None:
    for words, why in (
        ("--input-type half", "--input-type must be one of f16"),
        ("--promote 3", "--promote must be a power of two"),
        ("--input-type s8 --accumulate f32", "accumulator f32: a product of s8 has s32"),
    ):
        assert main(["tune", *f"--m 512 --n 512 --k 512 {words} --explain".split()]) == 2
        assert why in capsys.readouterr().err


@frozen(eq=False)
class Recorder:
    """A search that finds nothing, and what it was given."""

    given: list[Any]

    def __call__(self, *arguments: Any) -> Any:
        self.given[:] = arguments
        return self

    def tune(self, *arguments: Any) -> Iterator[Any]:
        return iter(())


def test_what_is_found_is_kept_under_the_name_of_the_device(
    driver: FakeDriver,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    """Whatever row the model takes; a device without a row of its own wants one to be named."""
    given: list[Any] = []
    monkeypatch.setattr("ptxgen.cli.tune.Tuner", Recorder(given))
    driver.name, driver.multiprocessors = "NVIDIA H100 80GB HBM3", 132
    assert main(["tune", "--m", "512", "--n", "512", "--k", "512", "--device", "H200", "--deadline", "7"]) == 0
    row, measurer, _, _, kept, *_ = given
    assert (row.name, kept.device, measurer.deadline) == ("H200", "NVIDIA H100 80GB HBM3", 7.0)
    assert kept.driver.startswith("CUDA 12.4")
    driver.name = "NVIDIA GH200 480GB"
    assert main(["tune", "--m", "512", "--n", "512", "--k", "512"]) == 2
    assert "no row of the cost model for NVIDIA GH200 480GB with 132 multiprocessors" in capsys.readouterr().err
