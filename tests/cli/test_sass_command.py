"""sass, as a person types it, with the real programs where there are some."""

import json
from pathlib import Path

import pytest

from ptxgen.cli import main
from ptxgen.errors import AssemblerError
from ptxgen.runtime import find_disassembler
from tests.runtime.test_sass import OLD, SUM

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def written(tmp_path: Path, ptxas: Path) -> Path:
    path = tmp_path / "sum.ptx"
    path.write_text(SUM)
    return path


@pytest.fixture
def reader() -> None:
    try:
        find_disassembler("sm_80")
    except AssemblerError:
        pytest.skip("needs nvdisasm: pip install 'ptxgen[sass]'")


@pytest.mark.usefixtures("reader")
def test_the_machine_code_stands_beside_the_lines(written: Path, capsys: Printed) -> None:
    assert main(["sass", str(written)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("// sum: ")
    assert lines[0].endswith(" registers, 0 bytes spilled, 0 shared, 0 local")
    assert lines[1].startswith("// loop 0x")
    assert lines[2].startswith("sum:  // sm_80, ")
    assert any(line.strip() == "// 18: fma.rn.f32 %f1, %f2, %f2, %f1;" for line in lines)


@pytest.mark.usefixtures("reader")
def test_the_machine_code_as_json_for_another_target(written: Path, ptxas: Path, capsys: Printed) -> None:
    written.write_text(SUM.replace("7.0", "7.8"))
    words = ["--json", "--target", "sm_90", "--kernel", "sum", "--ptxas", str(ptxas)]
    assert main(["sass", str(written), *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["target"], told["assembler"]) == ("sm_90", "ptxas 12.9.86")
    (function,) = told["functions"]
    assert function["spills"] == 0
    (loop,) = function["loops"]
    inside = [each for each in function["instructions"] if loop["first"] <= each["address"] <= loop["last"]]
    assert [each["line"] for each in inside if each["opcode"].startswith("LDG")] == [17]
    assert inside[-1]["target"] == loop["first"]


@pytest.mark.usefixtures("reader")
def test_a_kernel_that_there_is_not(written: Path, capsys: Printed) -> None:
    assert main(["sass", str(written), "--kernel", "product"]) == 2
    assert capsys.readouterr().err == "ptxgen: the machine code has no function 'product'; it has: sum\n"


def test_what_ptxas_refuses_stands_on_the_line_of_the_file(written: Path, capsys: Printed) -> None:
    written.write_text(SUM.replace("fma.rn.f32", "fma.rn.f33"))
    assert main(["sass", str(written)]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"error: {written}:18: ")
    assert first.endswith("[assembler.error]")


def test_what_is_missing_is_told_with_where_to_get_it(
    written: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, no_cuda_toolkit: None
) -> None:
    written.write_text(OLD)
    monkeypatch.setattr("ptxgen.runtime.disassembler.WHEELS", ())
    assert main(["sass", str(written)]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("ptxgen: reading the machine code of sm_70 needs nvdisasm, and there is none: ")
    assert "CUDA 12.9 or earlier reads sm_70; install that toolkit and set CUDA_HOME" in said.err


def test_text_without_headers_is_unusable(written: Path, capsys: Printed) -> None:
    written.write_text("hello")
    assert main(["sass", str(written)]) == 2
    assert "the text has no .version line" in capsys.readouterr().err
