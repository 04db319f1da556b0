"""`ptxgen run`: what it prints and writes, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ptxgen.cli import main
from ptxgen.cli.run import value_of
from ptxgen.cli.running import parse_argument

Printed = pytest.CaptureFixture[str]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
AXPY = (
    HEAD
    + """
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .b32 %i, %t, %c, %n; .reg .b64 %x, %y, %o; .reg .f32 %a, %u, %v; .reg .pred %p;
    ld.param.f32 %a, [a]; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [n];
    mov.u32 %i, %ctaid.x; mov.u32 %c, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %c, %t;
    setp.ge.u32 %p, %i, %n;
    @%p ret;
    mul.wide.u32 %o, %i, 4; add.s64 %x, %x, %o; add.s64 %y, %y, %o;
    ld.global.f32 %u, [%x]; ld.global.f32 %v, [%y]; fma.rn.f32 %v, %a, %u, %v;
    st.global.f32 [%y], %v;
    ret;
}
"""
)
SCALAR = ["--grid", "4", "--block", "256", "--arg", "2.0"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with PTX and arrays."""
    monkeypatch.chdir(tmp_path)
    Path("axpy.ptx").write_text(AXPY)
    Path("two.ptx").write_text(AXPY + AXPY[len(HEAD) :].replace("axpy", "other"))
    fetch = "tex.1d.v4.f32.s32 {%f, %f, %f, %f}, [%h, {%r}]; ret;"
    registers = ".reg .f32 %f; .reg .b64 %h; .reg .b32 %r; mov.u64 %h, 0; mov.u32 %r, 0;"
    Path("texture.ptx").write_text(f"{HEAD}.visible .entry fetch()\n{{ {registers}\n{fetch}\n}}\n")
    Path("broken.ptx").write_text(HEAD + ".visible .entry k( {")
    np.save("x.npy", np.arange(1000, dtype=np.float32))
    np.save("several.npy", np.array(["a"]))
    return tmp_path


def test_a_good_run(folder: Path, capsys: Printed):
    given = ["--arg", "x.npy", "--arg", "f32[1000]:ones", "--arg", "1000"]
    assert main(["run", "axpy.ptx", "axpy", *SCALAR, *given, "--out", "y=y.npy"]) == 0
    assert (np.load("y.npy") == 2 * np.arange(1000) + 1).all()
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("axpy: 576 warp-instructions, 0 bank conflicts, 375 sectors")
    assert "no findings" in out
    assert err == ""


def test_arguments_by_name_and_the_only_kernel(folder: Path, capsys: Printed):
    given = ["--arg", "n=1000", "--arg", "y=f32[1000]:range", "--arg", "x=f32[10x100]:0.5", "--arg", "a=4"]
    assert main(["run", "axpy.ptx", "--grid", "4", "--block", "16x16", *given, "--out", "y=y.npy"]) == 1
    assert main(["run", "axpy.ptx", "--grid", "4", "--block", "256", *given, "--out", "y=y.npy", "--seed", "3"]) == 0
    assert (np.load("y.npy") == 2 + np.arange(1000)).all()


def test_findings(folder: Path, capsys: Printed):
    given = ["--arg", "f32[1000]:random", "--arg", "f32[900]", "--arg", "1000"]
    assert main(["run", "axpy.ptx", *SCALAR, *given]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("3 findings")
    assert any("axpy.ptx:13: ld.global.f32 %v, [%y]; touches 4 bytes outside" in line for line in lines[1:])
    assert any(line.endswith("[uninitialised.global]") for line in lines[1:])


def test_json(folder: Path, capsys: Printed):
    given = ["--arg", "f32[1000]:random", "--arg", "f32[1000]", "--arg", "1000"]
    assert main(["run", "axpy.ptx", *SCALAR, *given, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["kernel"], told["grid"], told["block"]) == ("axpy", [4, 1, 1], [256, 1, 1])
    assert told["instructions"]["fma.rn.f32"] == {"warps": 32, "lanes": 1000}
    (finding,) = told["findings"]
    assert (finding["code"], finding["line"], finding["count"]) == ("uninitialised.global", 13, 1000)
    assert (finding["cta"], finding["thread"]) == ([0, 0, 0], [0, 0, 0])


def test_the_report(folder: Path, capsys: Printed):
    given = ["--arg", "x.npy", "--arg", "f32[1000]:zeros", "--arg", "1000"]
    assert main(["run", "axpy.ptx", *SCALAR, *given, "--report"]) == 0
    out = capsys.readouterr().out
    assert "fma.rn.f32" in out
    assert "sectors each" in out


def test_what_is_not_supported_never_passes(folder: Path, capsys: Printed):
    assert main(["run", "texture.ptx"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "texture.ptx:6: tex.1d.v4.f32.s32" in err
    assert "the simulator has no textures" in err
    assert main(["run", "texture.ptx", "--unsupported"]) == 2
    assert "texture.ptx:6" in capsys.readouterr().out
    assert main(["run", "texture.ptx", "--unsupported", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["unsupported"][0]["code"] == "simulate.unsupported"
    assert main(["run", "two.ptx", "--unsupported"]) == 0
    assert capsys.readouterr().out == ""


GOOD = [*SCALAR, "--arg", "x.npy", "--arg", "x.npy", "--arg", "10"]
UNUSABLE = {
    "no file": (["none.ptx"], "none.ptx cannot be read: No such file or directory"),
    "no PTX": (["broken.ptx"], "broken.ptx:4:"),
    "no such kernel": (["axpy.ptx", "nope", *GOOD], "wanted a function named nope; the module has: axpy"),
    "which kernel": (["two.ptx", *GOOD], "axpy, other"),
    "too few": (["axpy.ptx", *SCALAR], "axpy takes 4 arguments (a, x, y, n), got 1"),
    "no argument": (["axpy.ptx", "--arg", "many"], "many is no number, array or .npy file"),
    "no type": (["axpy.ptx", "--arg", "f33[4]"], "elements of one of f16, bf16, f32"),
    "no fill": (["axpy.ptx", "--arg", "f32[4]:full"], "full is no number"),
    "an array for a number": (["axpy.ptx", *GOOD[:-1], "x.npy"], "argument n of axpy has type .u32"),
    "a fraction for an integer": (["axpy.ptx", *GOOD[:-1], "0.5"], "argument n of axpy is a .u32, got 0.5"),
    "names and none": (["axpy.ptx", *SCALAR, "--arg", "n=4"], "either all arguments have names or none has"),
    "no name": (["axpy.ptx", "--arg", "m=4"], "missing ['a', 'n', 'x', 'y'], unknown ['m']"),
    "grid": (["axpy.ptx", "--grid", "4,0"], "--grid takes one to three positive numbers such as 4 or 16,2, got 4,0"),
    "block": (["axpy.ptx", *GOOD, "--block", "2048"], "a block has at most 1024 threads"),
    "no array file": (["axpy.ptx", *SCALAR, "--arg", "several.npy"], "several.npy is no .npy file of numbers"),
    "array file of another size": (["axpy.ptx", "--arg", "f32[3]:x.npy"], "x.npy holds 1000 elements, 3 are wanted"),
    "output of a number": (["axpy.ptx", *GOOD, "--out", "n=n.npy"], "n is no array argument of axpy"),
    "output nowhere": (["axpy.ptx", *GOOD, "--out", "y=no/y.npy"], "no/y.npy cannot be written"),
    "limit": (["axpy.ptx", *GOOD, "--limit", "5"], "stopped after"),
    "option": (["axpy.ptx", "--blocks", "4"], "unrecognized arguments: --blocks 4"),
    "target": (["axpy.ptx", *GOOD, "--target", "sm_1"], "sm_1"),
}


@pytest.mark.parametrize("given, wanted", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_unusable(folder: Path, capsys: Printed, given: list[str], wanted: str):
    assert main(["run", *given]) == 2
    out, err = capsys.readouterr()
    assert wanted in err
    assert out == ""


def test_values_of_arguments():
    def value(text: str):
        return value_of(parse_argument(text)[1], 7)

    assert (value("0x10"), value("-3"), value("1e3"), value("07")) == (16, -3, 1000.0, 7)
    assert value("s16[2x3]:-5").tolist() == [[-5, -5, -5]] * 2
    assert value("bf16[2]:1.5").tolist() == [0x3FC0, 0x3FC0]
    assert value("f16[4]:range").dtype == np.float16
    assert value("b64[2]:ones").tolist() == [1, 1]
    assert (value("f32[100]:random") == value("f32[100]:random")).all()
    assert value("u8[100]:random").max() < 100
    assert parse_argument("n=f64[3]")[0] == "n"


def test_help_names_the_command(capsys: Printed):
    assert main(["run", "--help"]) == 0
    assert "--arg" in capsys.readouterr().out
    assert main(["--help"]) == 0
    assert "\n  run " in capsys.readouterr().out
