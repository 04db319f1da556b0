"""Assembling with a real ptxas; the texts are written by hand."""

import shutil
from pathlib import Path

import pytest

from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError
from ptxgen.ir import Origin
from ptxgen.runtime import assemble, find_assembler
from ptxgen.runtime.ptxas import assembler_paths, describe_assembler
from ptxgen.runtime.resources import read_resources

GOOD = """\
.version 6.4
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 .ptr .global .align 4 a, .param .f32 s)
{
    .reg .b64 %rd<2>;
    .reg .f32 %f<4>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %rd1, [a];
    ld.param.f32 %f1, [s];
    ld.global.f32 %f2, [%rd1];
    mul.f32 %f3, %f1, %f2;
    st.shared.f32 [tile], %f3;
    bar.sync 0;
    ld.shared.f32 %f3, [tile];
    st.global.f32 [%rd1], %f3;
    ret;
}
.visible .entry nothing() { ret; }
"""
BAD = GOOD.replace("mul.f32 %f3", "mul.f33 %f3").replace("[tile], %f3", "[tyle], %f3")


@pytest.fixture
def without_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxgen.runtime.ptxas.WHEELS", ())
    monkeypatch.setattr("ptxgen.runtime.assembler.in_process_assembler", lambda: None)


@pytest.mark.usefixtures("no_cuda_toolkit")
def test_cubin_says_what_each_kernel_takes(ptxas: Path) -> None:
    cubin = assemble(GOOD)
    assert cubin.image.startswith(b"\x7fELF")
    assert (cubin.target, cubin.assembler.path) == ("sm_70", ptxas.resolve())
    taken = {each.kernel: each for each in cubin.resources}
    assert taken.keys() == {"scale", "nothing"} == cubin.kernels.keys()
    assert (taken["scale"].shared_bytes, taken["scale"].barriers, taken["scale"].spills) == (1024, 1, 0)
    assert taken["scale"].registers == cubin.registers >= taken["nothing"].registers > 0
    assert (cubin.shared_bytes, cubin.spills) == (1024, 0)
    assert [each.name for each in cubin.kernels["scale"]] == ["a", "s"]


@pytest.mark.usefixtures("no_cuda_toolkit", "ptxas")
def test_the_same_text_gives_the_same_image() -> None:
    assert assemble(GOOD).image == assemble(GOOD).image


@pytest.mark.usefixtures("no_cuda_toolkit", "ptxas")
def test_spills_are_counted() -> None:
    values = range(40)
    loads = "\n".join(f"ld.volatile.global.f32 %f{i}, [%rd1+{4 * i}];" for i in values)
    stores = "\n".join(f"st.volatile.global.f32 [%rd1+{4 * i}], %f{i};" for i in values)
    text = f"""{GOOD.split(".visible")[0]}
.visible .entry k(.param .u64 a) .maxnreg 16
{{ .reg .b64 %rd<2>; .reg .f32 %f<{len(values)}>; ld.param.u64 %rd1, [a]; {loads} {stores} ret; }}
"""
    cubin = assemble(text, options=("-maxrregcount", "24"))
    assert cubin.registers <= 24
    assert cubin.spills == cubin.resources[0].spill_store_bytes + cubin.resources[0].spill_load_bytes > 0


def test_figures_are_read_from_the_log() -> None:
    log = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_70'
ptxas info    : Function properties for a
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 24 registers, used 2 barriers, 16 bytes cumulative stack size, 4096+0 bytes smem, 368 bytes cmem[0]
ptxas info    : Compiling entry function 'b' for 'sm_70'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers, 352 bytes cmem[0]
"""
    first, second = read_resources(log)
    assert (first.kernel, first.registers, first.stack_bytes, first.spills) == ("a", 24, 16, 20)
    assert (first.shared_bytes, first.barriers) == (4096, 2)
    assert (second.kernel, second.registers, second.spills, second.shared_bytes, second.barriers) == ("b", 4, 0, 0, 0)
    assert (first.local_bytes, second.local_bytes) == (16, 0)
    assert read_resources("ptxas info    : 0 bytes gmem") == ()


def test_figures_of_functions_are_not_taken_for_the_kernel_s() -> None:
    log = """ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for k
ptxas         .     32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers, 40 bytes cumulative stack size
"""
    (only,) = read_resources(log)
    assert (only.stack_bytes, only.spills, only.local_bytes) == (32, 0, 40)


@pytest.mark.usefixtures("no_cuda_toolkit", "ptxas")
def test_local_memory_is_counted() -> None:
    body = """{ .reg .b64 a, w; .reg .b32 x; .local .align 4 .b8 kept[256];
  ld.param.u64 w, [p]; mov.u32 x, %tid.x; mov.u64 a, kept; mad.wide.u32 a, x, 4, a;
  st.local.u32 [a], x; st.local.u32 [kept+4], 7; ld.local.u32 x, [a]; st.global.u32 [w], x; ret; }"""
    cubin = assemble(f"{GOOD.split('.visible')[0]}.visible .entry k(.param .u64 p)\n{body}\n")
    assert (cubin.local_bytes, cubin.spills) == (256, 0)


@pytest.mark.usefixtures("ptxas")
def test_what_ptxas_refuses_stands_on_the_ptx_line() -> None:
    with pytest.raises(AssemblerError) as caught:
        assemble(BAD)
    assert {finding.ptx_line for finding in caught.value.findings} == {12, 13}
    text = str(caught.value)
    assert "ptxas 12.9.86 refuses the text for sm_70" in text
    assert ".f33" in text
    assert "mul.f33 %f3, %f1, %f2;" in text
    assert "(PTX line 12)" in text
    assert "kernel.ptx, line 12" in caught.value.log


@pytest.mark.usefixtures("ptxas")
def test_what_ptxas_refuses_stands_on_the_user_line() -> None:
    origins = tuple(Origin("kernel.py", 100 + line, "k") for line in range(BAD.count("\n") + 1))
    with pytest.raises(AssemblerError, match=r"kernel.py:112: Unexpected instruction types|kernel.py:111: "):
        assemble(Listing(BAD, origins))


@pytest.mark.usefixtures("ptxas")
def test_a_message_about_a_kernel_stands_on_the_line_that_declares_it() -> None:
    text = GOOD.replace("tile[1024]", "tile[100000]")
    origins = tuple(Origin("kernel.py", 100 + line, "k") for line in range(text.count("\n") + 1))
    with pytest.raises(AssemblerError) as caught:
        assemble(Listing(text, origins))
    assert "kernel.py:103: Entry function 'scale' uses too much shared data (0x186a0 bytes, 0xc000 max)" in str(
        caught.value
    )
    (finding,) = caught.value.findings
    assert (finding.code, finding.ptx_line) == ("assembler.error", 4)


@pytest.mark.usefixtures("ptxas")
def test_a_message_without_a_place_is_told_too() -> None:
    with pytest.raises(AssemblerError, match=r"for sm_70:\nUnknown option 'bogus' \[assembler.error\]"):
        assemble(GOOD, options=("-bogus",))


@pytest.mark.usefixtures("no_cuda_toolkit", "ptxas")
def test_warnings_are_kept() -> None:
    assert assemble(GOOD).warnings == ()
    (warning,) = assemble(GOOD, options=("-maxrregcount", "999")).warnings
    assert (warning.code, warning.ptx_line) == ("assembler.warning", None)
    assert warning.message == "Too big maxrregcount value specified 999, will be ignored"


@pytest.mark.usefixtures("no_cuda_toolkit", "ptxas")
def test_a_newer_target_may_be_asked_for() -> None:
    assert assemble(GOOD, target="sm_90").target == "sm_90"


@pytest.mark.usefixtures("no_cuda_toolkit", "ptxas")
def test_no_assembler_that_knows_is_named_with_those_that_do_not() -> None:
    with pytest.raises(
        AssemblerError, match=r"no ptxas here knows sm_70 with PTX 99.0:\n.*release 12.9.86, PTX up to 8.8"
    ):
        find_assembler("sm_70", (99, 0))


@pytest.mark.usefixtures("no_cuda_toolkit", "without_wheels")
def test_no_assembler_at_all_says_how_to_get_one() -> None:
    with pytest.raises(AssemblerError, match=r"there is none: pip install 'ptxgen\[ptxas\]'"):
        assemble(GOOD)


def test_the_order_is_wheel_then_toolkit_then_path(
    ptxas: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("toolkit/bin", "path"):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(shutil.which("true") or "/bin/true", tmp_path / folder / "ptxas")
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr("ptxgen.runtime.ptxas.WHEELS", ("nvidia-cuda-nvcc-cu12",))
    wanted = (ptxas, tmp_path / "toolkit/bin/ptxas", tmp_path / "path/ptxas")
    assert assembler_paths() == tuple(path.resolve() for path in wanted)


def test_a_program_that_is_no_ptxas_is_named() -> None:
    with pytest.raises(AssemblerError, match=r"true does not answer like a ptxas; .*pip install 'ptxgen\[ptxas\]'"):
        describe_assembler(Path(shutil.which("true") or "/bin/true"))
    with pytest.raises(AssemblerError, match="/nowhere/ptxas cannot be started"):
        assemble(GOOD, assembler="/nowhere/ptxas")


def test_a_ptxas_that_dies_says_how(tmp_path: Path, ptxas: Path) -> None:
    dying = tmp_path / "ptxas"
    dying.write_text(f'#!/bin/sh\ncase "$*" in *kernel.ptx*) kill -11 $$;; *) exec {ptxas} "$@";; esac\n')
    dying.chmod(0o755)
    with pytest.raises(AssemblerError, match="ptxas said nothing: ended by signal 11"):
        assemble(GOOD, assembler=dying)


@pytest.mark.usefixtures("ptxas")
def test_targets_and_versions_are_those_recorded(shared_folder: Path) -> None:
    import json

    recorded = json.loads((shared_folder / "design" / "ptxas-targets.json").read_text())
    found = {each.release: each for each in map(describe_assembler, assembler_paths())}
    assert recorded.keys() & found.keys(), "no recorded release is installed"
    for release in recorded.keys() & found.keys():
        assert ".".join(map(str, found[release].newest_version)) == recorded[release]["newest_ptx"]
        assert found[release].targets == set(recorded[release]["targets_min_ptx"])
