"""check, format, python and explain, as a person types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptxgen.cli import main
from ptxgen.parse import parse

GOOD = """// a header
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) // the kernel
{
  .reg .u32 a; .reg .u64 p;
  ld.param.u64 p, [x]; mov.u32 a, 5; // five
  st.global.u32 [p], a;
  ret;
}
"""
BAD = GOOD.replace("mov.u32 a, 5;", "add.u33 a, a, 5; mov.f32 a, 1.0;").replace("ret;", "cp.async.wait_all;\n  ret;")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptx"
    path.write_text(GOOD)
    return path


def test_a_legal_file(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(written)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"{written}: no findings\n"


def test_findings_are_told_by_line(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written.write_text(BAD)
    assert main(["check", str(written)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[2] for line in lines] == ["8", "8"]
    assert lines[0].endswith("[instruction.unknown] (PTX line 8)")
    assert lines[1].startswith(f"error: {written}:8: mov.f32: operand d wants an f32 register, got u32 register a")


def test_another_target(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written.write_text(GOOD.replace("ret;", "cp.async.wait_all; ret;"))
    assert main(["check", str(written)]) == 0
    assert main(["check", "--target", "sm_70", str(written)]) == 1
    assert "cp.async.wait_all exists since PTX 7.0 on sm_80 and later" in capsys.readouterr().out
    assert main(["check", "--target", "sm_1", str(written)]) == 2


def test_findings_as_json_and_sarif(written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written.write_text(BAD)
    log = tmp_path / "log.sarif"
    assert main(["check", "--json", "--sarif", str(log), str(written)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["readable"]) == (str(written), True)
    assert [each["code"] for each in told["findings"]] == ["instruction.unknown", "type.mismatch"]
    assert {each["line"] for each in told["findings"]} == {8}
    sarif = json.loads(log.read_text())
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] == "error"
        assert result["message"]["text"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["region"] == {"startLine": 8}


def test_what_cannot_be_read_is_in_json_and_sarif_too(
    written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written.write_text(GOOD.replace("mov.u32 a, 5", "mov.u32 a 5"))
    log = tmp_path / "log.sarif"
    assert main(["check", "--json", "--sarif", str(log), str(written)]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["readable"] is False
    (finding,) = told["findings"]
    assert (finding["code"], finding["line"]) == ("ptx.syntax", 8)
    assert finding["message"] == "unexpected '5'; wanted ',' or ';'"
    (result,) = json.loads(log.read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("ptx.syntax", "error")


def test_related_places_are_told(written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    divided = ".reg .pred q; mov.u32 a, %tid.x;\n  setp.eq.u32 q, a, 0;\n  @q bra out;\n  bar.sync 0;\nout: ret;"
    written.write_text(GOOD.replace("ret;", divided))
    log = tmp_path / "log.sarif"
    assert main(["check", "--json", "--sarif", str(log), str(written)]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    (result,) = json.loads(log.read_text())["runs"][0]["results"]
    (related,) = finding["related"]
    assert (finding["code"], finding["line"], related["line"]) == ("convergence.guard", 13, 12)
    (place,) = result["relatedLocations"]
    assert place["physicalLocation"]["region"] == {"startLine": 12}
    assert place["message"]["text"] == related["message"]


def test_a_log_that_cannot_be_written(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--sarif", "none/log.sarif", str(written)]) == 2
    assert "none/log.sarif cannot be written: No such file or directory" in capsys.readouterr().err


def test_a_comment_allows_a_finding(written: Path) -> None:
    line = "add.u33 a, a, 5; // ptxgen: allow instruction.unknown\n  mov.u32 a, 1;"
    written.write_text(GOOD.replace("mov.u32 a, 5;", line))
    assert main(["check", str(written)]) == 0


def test_what_cannot_be_read_is_shown(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written.write_text(GOOD.replace("mov.u32 a, 5", "mov.u32 a 5"))
    for command in ("check", "format", "python"):
        assert main([command, str(written)]) == 2
        place, line, caret = capsys.readouterr().err.splitlines()
        assert place == f"{written}:8:34: unexpected '5'; wanted ',' or ';'"
        assert line.index("5; // five") == caret.index("^")


def test_format_keeps_comments_and_the_module(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["format", str(written)]) == 0
    text = capsys.readouterr().out
    for comment in ("// a header\n", "// the kernel\n", "mov.u32 a, 5;  // five\n"):
        assert comment in text
    assert parse(text).items[-1] == parse(GOOD).items[-1]
    assert main(["format", "--write", str(written)]) == 0
    assert written.read_text() == text
    assert main(["format", str(written)]) == 0
    assert capsys.readouterr().out == text


def test_the_program_builds_the_module(written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "k.py"
    assert main(["python", "--out", str(out), str(written)]) == 0
    assert main(["python", str(written)]) == 0
    assert capsys.readouterr().out == out.read_text()
    named: dict[str, object] = {}
    exec(out.read_text(), named)
    assert named["module"] == parse(GOOD)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["check", "missing.ptx"], "missing.ptx cannot be read"),
        (["explain", "mad.lo.u33"], "'u33' cannot stand behind mad.lo; perhaps: mad.lo.u32"),
        (["explain", "%nothing"], "no special register is called %nothing"),
        (["format", "--write", "-"], "--write wants a file"),
        (["check"], "the following arguments are required: FILE"),
    ],
)
def test_unusable_input(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert len(said.err.splitlines()) == 1


def test_the_standard_input_and_a_fresh_process_without_numpy() -> None:
    code = "import sys; from ptxgen.cli import main; print(main(['check', '-']), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], input=GOOD, capture_output=True, text=True, check=True)
    assert done.stdout == "0 False\n"
