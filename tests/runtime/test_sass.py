"""Machine code of real assemblers through a real nvdisasm, whose own JSON is the judge. Skipped where there is none."""

import json
import subprocess
from pathlib import Path

import pytest

from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError
from ptxgen.ir import Origin
from ptxgen.runtime import Cubin, Disassembler, Sass, SassInstruction, assemble, find_disassembler, sass
from ptxgen.runtime.disassembler import describe_disassembler
from ptxgen.runtime.machine_code import LABELLED
from ptxgen.runtime.programs import program_paths

SUM = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 a, .param .u64 d, .param .u32 n)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [d];
    ld.param.u32 %r1, [n];
    mov.f32 %f1, 0f00000000;
    mov.u32 %r2, 0;
again:
    .pragma "nounroll";
    ld.global.f32 %f2, [%rd1];
    fma.rn.f32 %f1, %f2, %f2, %f1;
    add.u64 %rd1, %rd1, 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra again;
    st.global.f32 [%rd2], %f1;
    ret;
}
"""
OLD = SUM.replace("7.0", "6.0").replace("sm_80", "sm_70")
NVDISASM = '#!/bin/sh\ncase "$1" in --version) echo V13.9.1;; --help) echo "{targets}";; *) exit 3;; esac\n'
MODULES = ("loops", "atomics", "matrix_dense", "register_functions", "branch_tables")


@pytest.fixture(scope="module")
def reader() -> Disassembler:
    try:
        return find_disassembler("sm_80")
    except AssemblerError:
        pytest.skip("needs nvdisasm: pip install 'ptxgen[sass]'")


@pytest.fixture(scope="module")
def code(ptxas: Path, reader: Disassembler) -> Sass:
    """The sum, with lines of a user behind those of the text."""
    origins = tuple(Origin("kernel.py", 100 + line, "k") for line in range(SUM.count("\n") + 1))
    return sass(Listing(SUM, origins), assembler=ptxas, disassembler=reader.path)


def test_the_loop_is_found_with_its_instructions_and_lines(code: Sass) -> None:
    (loop,) = code["sum"].loops()
    assert (loop.count("LDG"), loop.count("FFMA"), loop.count("STG")) == (1, 1, 0)
    assert code["sum"].count("STG") == 1
    (load,) = (each for each in loop.instructions if each.has_opcode("LDG"))
    assert load.ptx_line == 17
    assert load.origin is not None
    assert load.origin.line == 116
    assert code.cubin.registers > 0


def test_it_prints_the_ptx_before_the_machine_code(code: Sass) -> None:
    lines = [line.strip() for line in str(code).splitlines()]
    assert lines[0].startswith("sum:  // sm_80, ")
    place = lines.index("// 18: fma.rn.f32 %f1, %f2, %f2, %f1;")
    assert lines[place + 1].split()[1:3] == ["|", "FFMA"]
    (branch,) = (line for line in lines if "BRA" in line)
    assert branch.endswith(f"BRA {code['sum'].loops()[0].first:#06x}")


@pytest.mark.usefixtures("reader")
def test_a_cubin_is_read_as_it_is(code: Sass, ptxas: Path) -> None:
    plain = sass(assemble(SUM, assembler=ptxas))
    assert {each.ptx_line for each in plain["sum"].instructions} == {None}
    assert plain["sum"].count("FFMA") == code["sum"].count("FFMA")


def test_a_function_that_there_is_not(code: Sass) -> None:
    with pytest.raises(LookupError, match="the machine code has no function 'product'; it has: sum"):
        code["product"]


def without_separators(operands: str) -> str:
    return operands.replace(",", "").replace(" ", "")


def _target(instruction: SassInstruction) -> str:
    """A label as the JSON has it: the address of a place, the name of a function."""
    (label,) = (LABELLED.findall(" ".join(instruction.operands)) or [""])[:1]
    return label if not label.startswith(".L") else f"{instruction.target or 0:#x}"


def by_nvdisasm(cubin: Cubin, reader: Disassembler, folder: Path) -> dict[str, list[tuple[str, str, str]]]:
    """Guard, opcode and operands of each instruction of each function, in nvdisasm's JSON."""
    (folder / "k.cubin").write_bytes(cubin.image)
    command = [str(reader.path), "-json", "-ndf", "k.cubin"]
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return {
        function["function-name"]: [
            (each.get("predicate", ""), each["opcode"], each.get("operands", ""))
            for each in function["sass-instructions"]
        ]
        for function in json.loads(printed[printed.index("[") :])[1]
    }


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("name", MODULES)
def test_instructions_are_those_of_the_json_of_nvdisasm(name: str, reader: Disassembler, tmp_path: Path) -> None:
    code = sass((Path(__file__).parents[1] / "parse" / "written" / f"{name}.ptx").read_text())
    judged = by_nvdisasm(code.cubin, reader, tmp_path)
    assert judged.keys() == {function.name for function in code.functions}
    for function in code.functions:
        wanted = judged[function.name]
        for mine, (guard, opcode, operands) in zip(function.instructions, wanted, strict=False):
            assert (str(mine.guard or ""), mine.opcode) == (guard, opcode)
            spelled = LABELLED.sub(_target(mine), "".join(mine.operands))
            assert without_separators(spelled) == without_separators(operands)
        filling = {opcode for _, opcode, _ in wanted[len(function.instructions) :]}
        assert filling <= {"BRA", "NOP"}


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that is the PATH, on a machine with neither wheels of nvdisasm nor a toolkit."""
    monkeypatch.setattr("ptxgen.runtime.disassembler.WHEELS", ())
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def pretender(folder: Path, targets: str) -> Path:
    path = folder / "nvdisasm"
    path.write_text(NVDISASM.format(targets=targets))
    path.chmod(0o755)
    return path


@pytest.mark.usefixtures("ptxas", "only")
def test_no_disassembler_at_all_says_how_to_get_one() -> None:
    with pytest.raises(AssemblerError, match=r"sm_80 needs nvdisasm, and there is none: pip install 'ptxgen\[sass\]'"):
        sass(SUM)


@pytest.mark.usefixtures("ptxas")
def test_no_disassembler_for_an_old_target_says_where_one_is(only: Path) -> None:
    pretender(only, "'SM75','SM90a'.")
    with pytest.raises(AssemblerError) as caught:
        sass(OLD)
    first, rejected, advice = str(caught.value).splitlines()
    assert first == "no nvdisasm here reads the machine code of sm_70:"
    assert rejected.endswith("nvdisasm (release 13.9.1, sm_75 to sm_90)")
    assert "the nvdisasm of CUDA 12.9 or earlier reads sm_70; install that toolkit and set CUDA_HOME" in advice


@pytest.mark.usefixtures("ptxas")
def test_a_disassembler_that_fails_is_named(only: Path) -> None:
    path = pretender(only, "'SM80'")
    with pytest.raises(AssemblerError, match=r"nvdisasm 13.9.1 refuses the cubin: exit status 3"):
        sass(SUM, disassembler=path)
    path.write_text("#!/bin/sh\nexit 0\n")
    describe_disassembler.cache_clear()
    with pytest.raises(AssemblerError, match=r"does not answer like an nvdisasm; .*pip install 'ptxgen\[sass\]'"):
        sass(SUM, disassembler=path)
    with pytest.raises(AssemblerError, match="/nowhere/nvdisasm cannot be started"):
        sass(SUM, disassembler="/nowhere/nvdisasm")


@pytest.mark.usefixtures("ptxas")
def test_old_machine_code_where_something_reads_it() -> None:
    try:
        find_disassembler("sm_70")
    except AssemblerError:
        pytest.skip("needs the nvdisasm of CUDA 12.9 or earlier")
    (loop,) = sass(OLD)["sum"].loops()
    assert (loop.count("LDG"), loop.count("FFMA")) == (1, 1)


def test_disassemblers_are_found_once_each() -> None:
    paths = program_paths("nvdisasm", ("nvidia-cuda-nvdisasm", "nvidia-cuda-nvdisasm"))
    assert len(paths) == len(set(paths))
