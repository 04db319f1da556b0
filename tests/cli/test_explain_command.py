"""explain and the help, as a person types them."""

import json
import subprocess
import sys

import pytest

from ptxgen.cli import main
from ptxgen.cli.texts import ABOUT

Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "name, words",
    [
        ("mad.lo.u32", "mad.lo.u32 d, a, b, c\n    exists  PTX 1.0\n    d       written: register of .u32"),
        ("ld.shared", "ld.shared{.<cop>}{.<vec>}.<type> d, [a]"),
        ("cvt", "\nmanual  Data Movement and Conversion Instructions: cvt".replace("\n", "\n  ")),
        ("%clock64", "%clock64: a value of type .u64, two reads by one thread may differ"),
        ("%tid.x", "each thread has its own"),
        (".reqntid", "written: .reqntid x, y, z"),
        (".shared", ".shared: memory of a CTA"),
        ("type.mismatch", "type.mismatch: a register of the wrong type"),
        ("assembler.error", "assembler.error: what ptxas"),
    ],
)
def test_explain(name: str, words: str, capsys: Printed) -> None:
    assert main(["explain", name]) == 0
    assert words in capsys.readouterr().out


def test_a_near_miss_of_a_finding(capsys: Printed) -> None:
    assert main(["explain", "type.mismatsch"]) == 2
    assert capsys.readouterr().err.endswith("; perhaps the finding type.mismatch\n")


def test_explain_for_a_target(capsys: Printed) -> None:
    assert main(["explain", "cp.async.wait_all", "--target", "sm_80"]) == 0
    assert capsys.readouterr().out.endswith("\nsm_80: since PTX 7.0\n")
    assert main(["explain", "cp.async.wait_all", "--target", "sm_70"]) == 0
    assert capsys.readouterr().out.endswith("\nsm_70: cp.async.wait_all is not for this target\n")
    assert main(["explain", "add", "--target", "sm_71"]) == 2
    assert capsys.readouterr().err.startswith("ptxgen: unknown target 'sm_71'; known: sm_50")


def test_explain_as_json(capsys: Printed) -> None:
    assert main(["explain", "ld.shared.v4", "--json", "--target", "sm_80"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["subject"], told["target"]) == (
        "ld.shared.v4",
        "instruction",
        {"name": "sm_80", "since": "7.0"},
    )
    (form,) = told["forms"]
    assert form["availability"] == "PTX 1.0"
    assert form["operands"][0] == {
        "name": "d",
        "role": "write",
        "kind": "register",
        "type": "<type>",
        "notes": ["4 elements", "may be wider", "may be _"],
    }
    assert main(["explain", "type.mismatch", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["subject"] == "finding"


def test_the_help_names_every_command(capsys: Printed) -> None:
    for words in (["--help"], ["-h"]):
        assert main(words) == 0
        out = capsys.readouterr().out
        assert out.startswith("ptxgen: write, check, emit and run NVIDIA PTX")
        assert all(f"  {name:8} {about}\n" in out for name, about in ABOUT.items())
        assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize("command", ["check", "format", "python", "sass", "explain"])
def test_each_command_has_a_help(command: str, capsys: Printed) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: ptxgen {command} [-h]")
    assert ABOUT[command] in out.replace("\n", " ")


def test_the_help_loads_no_kernels() -> None:
    code = (
        "import sys; from ptxgen.cli import main; main(['--help']); "
        "sys.exit(any(each in sys.modules for each in ('numpy', 'rich', 'ptxgen.kernels')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_the_version(capsys: Printed) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ptxgen ")


def test_a_reader_that_goes_away_is_no_mistake() -> None:
    command = [sys.executable, "-c", "from ptxgen.cli import main; raise SystemExit(main(['explain', 'cvt']))"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 0
