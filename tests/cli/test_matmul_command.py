"""`ptxgen matmul` from its arguments to files and exit status, run in this process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ptxgen.cli import main
from ptxgen.runtime import device_count

SMALL = ["matmul", "--m", "32", "--n", "24", "--k", "16", "--warps", "8", "--run", "cpu"]
Printed = pytest.CaptureFixture[str]


def test_a_random_product_is_run_and_checked(capsys: Printed) -> None:
    assert main([*SMALL, "--epilogue", "bias,relu"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    words = ("128x128x32 on 8 warps", "A 2, B 2", "registers", "32768 bytes", "CPU simulator", "error      good")
    assert all(word in out for word in words)


def test_results_leave_through_shared_memory_where_asked(capsys: Printed) -> None:
    sizes = ["matmul", "--m", "40", "--n", "24", "--k", "16", "--run", "cpu"]
    assert main([*sizes, "--target", "sm_90a", "--drain", "64", "--epilogue", "bias,relu"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(word in out for word in ("A 4, B 4, D 2 in shared memory", "229376 bytes", "error      good"))


def test_files_in_and_out(tmp_path: Path, capsys: Printed) -> None:
    chance = np.random.default_rng(3)
    a, b = chance.standard_normal((33, 16)).astype(np.float16), chance.standard_normal((24, 16)).astype(np.float16)
    bias = chance.standard_normal(24).astype(np.float32)
    for name, array in (("a", a), ("b", np.asfortranarray(b)), ("bias", bias)):
        np.save(tmp_path / f"{name}.npy", array)
    files = [word for name in ("a", "b", "bias") for word in (f"--{name}", str(tmp_path / f"{name}.npy"))]
    out, ptx = tmp_path / "d", tmp_path / "k.ptx"
    command = ["matmul", "--layout", "nt", "--epilogue", "bias,relu", "--run", "cpu", "--output-type", "f32"]
    assert main([*command, *files, "--out", str(out), "--emit", str(ptx)]) == 0
    expected = np.maximum(a.astype(np.float64) @ b.T.astype(np.float64) + bias, 0)
    result = np.load(out)
    assert result.dtype == np.float32
    assert np.allclose(result, expected, rtol=1e-5, atol=1e-5)
    assert ".visible .entry matmul" in ptx.read_text()
    assert f"wrote      {out}" in capsys.readouterr().out


def test_the_text_depends_on_sizes_alone(tmp_path: Path) -> None:
    a, texts = np.zeros((40 * 24 + 3), np.float16), []
    sizes = ["--m", "40", "--n", "16", "--k", "24"]
    np.save(tmp_path / "a.npy", a[3:].reshape(40, 24))
    for number, given in enumerate(([], ["--a", str(tmp_path / "a.npy")])):
        for where in ("none", "cpu"):
            path = tmp_path / f"{number}{where}.ptx"
            assert main(["matmul", *sizes, *given, "--run", where, "--emit", str(path)]) == 0
            texts.append(path.read_text())
    assert len(set(texts)) == 1
    assert "ld.global.v4" in texts[0]


def test_a_kernel_for_arrays_that_no_machine_holds(capsys: Printed) -> None:
    assert main(["matmul", "--m", "1000000", "--n", "1000000", "--k", "1", "--run", "none"]) == 0
    assert "not at all" in capsys.readouterr().out


def test_every_option_together(tmp_path: Path, capsys: Printed) -> None:
    np.save(tmp_path / "c.npy", np.ones((2, 24, 16), np.float32))
    command = ["matmul", "--m", "24", "--n", "16", "--k", "8", "--batch", "2", "--layout", "tt", "--accumulate", "f16"]
    command += ["--epilogue", "alpha,beta,row_bias,keep,clamp,residual"]
    command += ["--alpha", "0.5", "--beta", "-1", "--low", "-2"]
    command += ["--c", str(tmp_path / "c.npy"), "--second-out", str(tmp_path / "e.npy"), "--seed", "5", "--run", "cpu"]
    assert main(command) == 0
    assert np.load(tmp_path / "e.npy").shape == (2, 24, 16)
    assert "0 bank conflicts, no findings" in capsys.readouterr().out


def test_explain_shows_every_stage(capsys: Printed) -> None:
    assert main(["matmul", "--m", "64", "--n", "64", "--k", "64", "--run", "none", "--explain"]) == 0
    out = capsys.readouterr().out
    stages = ["statements", "schedule", "ops of full", "requirements of full", "synchronisation of full"]
    stages += ["tile program", "loops of", "PTX"]
    places = [out.index(f"== {stage}") for stage in stages]
    assert places == sorted(places)
    assert "AB[i, j] = sum[k] (A[i, k] * B[k, j])" in out
    assert "stage(A, at=cta.k, into=shared(depth=2, layout=crosswise), by=st(vector=16))" in out
    assert "flow A.shared -> A.fragments[1] (A.shared, distance 0)" in out
    assert "AB: i<M, j<N, k<K  ->  cta.i, cta.j, cta.k, i<128, j<128, k<32" in out
    ptx = out[places[-1] :].splitlines()
    assert any(line.strip().startswith("mma.sync") and "by_warps.py:" in line for line in ptx)


def test_explain_names_the_dependences_of_every_barrier(capsys: Printed) -> None:
    assert main(["matmul", "--m", "64", "--n", "64", "--k", "64", "--run", "none", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    meets = [place for place, line in enumerate(lines) if line.strip().startswith("meet ")]
    assert meets
    assert all(lines[place + 1].strip().startswith("covers ") for place in meets)


@pytest.mark.skipif(device_count() > 0, reason="there is a GPU")
def test_auto_takes_the_simulator_where_there_is_no_gpu(capsys: Printed) -> None:
    assert main(["matmul", "--m", "8", "--n", "8", "--k", "8"]) == 0
    assert "on the CPU simulator" in capsys.readouterr().out


def test_empty_results_and_empty_sums(capsys: Printed) -> None:
    assert main(["matmul", "--m", "0", "--n", "8", "--k", "8", "--run", "cpu"]) == 0
    assert "ran        nothing" in capsys.readouterr().out
    assert main(["matmul", "--m", "8", "--n", "8", "--k", "0", "--epilogue", "bias", "--run", "cpu"]) == 0


def test_python_m_ptxgen() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptxgen", "matmul", "--m", "8", "--n", "8", "--k", "8", "--run", "none"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not at all" in done.stdout


def test_help_lists_the_pieces(capsys: Printed) -> None:
    assert main(["matmul", "--help"]) == 0
    assert "row_bias" in capsys.readouterr().out


def test_blocks_that_stay(capsys: Printed) -> None:
    assert main([*SMALL, "--target", "sm_80", "--m", "200", "--workers", "1"]) == 0
    out, _ = capsys.readouterr()
    assert "on 8 warps, 1 blocks that stay in grouped(8)" in out
    assert "1 blocks, " in out
    command = ["matmul", "--m", "256", "--n", "512", "--k", "64", "--target", "sm_90a", "--run", "none", "--explain"]
    assert main([*command, "--workers", "sms"]) == 0
    out, _ = capsys.readouterr()
    assert "as many blocks as run at once that stay in grouped(16)" in out
    assert "persist(cta, raster=grouped(16), workers=sms, dims=(i, j))" in out
    assert "math: advance cta.k.past by floor((K + 63)/64), in item" in out
    assert "    for each item, number t0:" in out
    assert out.count("for each item\n") == 2


@pytest.mark.parametrize("count", ["0", "-1", "some", "1.5", ""])
def test_a_count_of_blocks_that_is_none(count: str, capsys: Printed) -> None:
    assert main([*SMALL, f"--workers={count}"]) == 2
    assert f"wants sms or a count of blocks, got {count!r}" in capsys.readouterr().err


def test_blocks_of_clusters(capsys: Printed) -> None:
    sizes = ["--m", "136", "--n", "264", "--k", "64", "--target", "sm_90a"]
    assert main(["matmul", *sizes, "--cluster", "2x1", "--run", "cpu"]) == 0
    assert "CPU simulator" in capsys.readouterr().out
    assert main(["matmul", *sizes, "--cluster", "1x2", "--run", "none", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "clusters of 2" in out
    assert "all threads, before their roles: wait for the cluster's barrier" in out
    refused = {
        ("sm_80", "2x1"): "--cluster 2x1: only warpgroups do that, but sm_80 has no products of warpgroups for f16",
        ("sm_90a", "3x3"): "a cluster has at most 8 blocks, this one 9",
        ("sm_90a", "two"): "argument --cluster: two whole numbers such as 2x1, got 'two'",
    }
    for (target, cluster), words in refused.items():
        assert main(["matmul", *sizes[:6], "--target", target, "--cluster", cluster, "--run", "none"]) == 2
        assert words in capsys.readouterr().err


TYPED = {
    "s8": (["--input-type", "s8", "--target", "sm_80"], "nt, s8, sums in s32, result s32"),
    "scaled": (
        ["--input-type", "u8", "--target", "sm_80", "--output-type", "bf16", "--epilogue", "alpha"],
        "result bf16",
    ),
    "bf16": (["--input-type", "bf16", "--target", "sm_80"], "nt, bf16, sums in f32, result bf16"),
    "tf32": (["--input-type", "tf32", "--target", "sm_90a"], "nt, tf32, sums in f32, result f32"),
    "f64": (["--input-type", "f64", "--target", "sm_80"], "nt, f64, sums in f64, result f64"),
    "mixed": (["--input-type", "e4m3,e5m2", "--target", "sm_89"], "nt, e4m3 by e5m2, sums in f32, result f16"),
    "hybrid": (
        ["--accumulate", "f16", "--promote", "32", "--output-type", "f32", "--target", "sm_80"],
        "sums in f16, in chains of 32 joined in f32, result f32",
    ),
}


@pytest.mark.parametrize("case", TYPED)
def test_products_of_every_type(case: str, capsys: Printed) -> None:
    words, told = TYPED[case]
    assert main(["matmul", "--layout", "nt", "--m", "40", "--n", "24", "--k", "48", "--run", "cpu", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert told in out
    assert "error      good" in out


def test_the_variant_and_why_it_was_taken(capsys: Printed) -> None:
    words = ["--layout", "nt", "--m", "256", "--n", "256", "--target", "sm_90a", "--run", "none", "--warps", "8"]
    assert main(["matmul", *words, "--k", "256"]) == 0
    assert (
        "variant    wgmma(n=256, accumulate=f32, input=f16), A by tensor and B by tensor\n" in capsys.readouterr().out
    )
    assert main(["matmul", *words, "--k", "255"]) == 0
    out = capsys.readouterr().out
    assert "variant    m16n8k16(accumulate=f32, input=f16), A by ld and B by ld; not by warpgroups: A begins and" in out
    assert "           A 2 bytes an access, held by lda = 255 and K = 255\n" in out


def test_explain_tells_of_synchronisation_alone(capsys: Printed) -> None:
    """The table of a ring of four slots with one step in flight, written out by hand."""
    words = ["--m", "64", "--n", "64", "--k", "64", "--target", "sm_90a", "--run", "none", "--explain", "sync"]
    assert main(["matmul", *words, "--warps", "8"]) == 0
    out, _ = capsys.readouterr()
    assert "== PTX ==" not in out
    assert "load: wait empty of A.shared+B.shared" in out
    rows = [" ".join(line.split()) for line in out.splitlines()]
    start = rows.index("filling slot phase load waits empty math waits full released")
    assert rows[start + 1 : start + 8] == [
        "0 0 0 parity 1, fresh parity 0 in step 1, or behind the loop",
        "1 1 0 parity 1, fresh parity 0 in step 2, or behind the loop",
        "2 2 0 parity 1, fresh parity 0 in step 3, or behind the loop",
        "3 3 0 parity 1, fresh parity 0 in step 4, or behind the loop",
        "4 0 1 parity 0, release of 0 parity 1 in step 5, or behind the loop",
        "5 1 1 parity 0, release of 1 parity 1 in step 6, or behind the loop",
        "6 2 1 parity 0, release of 2 parity 1 in step 7, or behind the loop",
    ]


def test_explain_prints_the_order_of_sums(capsys: Printed) -> None:
    words = ["--m", "64", "--n", "64", "--k", "64", "--target", "sm_80", "--run", "none", "--explain"]
    assert main(["matmul", *words, "--accumulate", "f16", "--promote", "32"]) == 0
    out = capsys.readouterr().out
    assert "== order of sums: equal signatures give equal bits ==\nAB: f16 * f16 summed in f16 by blocks of 8" in out
    assert "chains of 32 from zero, each added to f32 (rn) in ascending k; not split" in out
    assert "rewrite(hybrid(AB, every=32))" in out


def test_files_of_bits_for_types_that_numpy_lacks(tmp_path: Path, capsys: Printed) -> None:
    chance = np.random.default_rng(3)
    arrays = [chance.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((40, 48), (24, 48))]
    for name, array in zip("ab", arrays, strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    files = [word for name in "ab" for word in (f"--{name}", str(tmp_path / f"{name}.npy"))]
    words = ["--layout", "nt", "--input-type", "bf16", "--output-type", "f32", "--target", "sm_80", "--run", "cpu"]
    assert main(["matmul", *words, *files, "--out", str(tmp_path / "d.npy")]) == 0
    exact = arrays[0].astype(float) @ arrays[1].astype(float).T
    assert np.allclose(np.load(tmp_path / "d.npy"), exact, rtol=1e-5, atol=1e-4)
    assert "error      good" in capsys.readouterr().out
