"""nvJitLink inside this process, against the ptxas program: verdicts, messages and figures."""

from pathlib import Path

import pytest

from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError, PtxgenError
from ptxgen.ir import Origin
from ptxgen.runtime import Assembler, AssemblerKind, assemble, find_assembler, in_process_assembler
from ptxgen.runtime.entries import read_headers
from ptxgen.runtime.ptxas import assembler_paths, describe_assembler
from tests.runtime import test_assembler

GOOD = test_assembler.GOOD.replace("6.4", "7.0").replace("sm_70", "sm_80")
BAD = test_assembler.BAD.replace("6.4", "7.0").replace("sm_70", "sm_80")
MODULES = sorted((Path(__file__).parents[1] / "parse").rglob("*.ptx"))
# Linking needs the calling convention, with its one result.
NEVER_ALIKE = ("several_results.ptx",)
UNDEFINED = ".extern .func helper(.param .b32 a);\n.extern .global .b32 elsewhere;\n.visible .entry nothing"


@pytest.fixture(scope="module")
def inside() -> Assembler:
    found = in_process_assembler()
    if found is None:
        pytest.skip("needs nvJitLink: pip install 'ptxgen[nvjitlink]'")
    return found


@pytest.fixture
def outside(inside: Assembler) -> Assembler:
    known = [describe_assembler(path) for path in assembler_paths()]
    found = [each for each in known if each.release.startswith(inside.release + ".")]
    if not found:
        pytest.skip("needs ptxas and nvJitLink of one release")
    return found[0]


def test_it_knows_what_ptxas_of_its_release_knows(inside: Assembler, outside: Assembler) -> None:
    assert inside.newest_version == outside.newest_version
    assert inside.targets == outside.targets
    assert inside.name == f"nvJitLink {inside.release}"


def test_it_says_what_a_kernel_takes(inside: Assembler, outside: Assembler) -> None:
    within, without = assemble(GOOD, assembler=inside), assemble(GOOD, assembler=outside)
    assert within.image.startswith(b"\x7fELF")
    assert within.assembler.kind is AssemblerKind.NVJITLINK
    assert within.resources == without.resources


def verdict(text: str, assembler: Assembler) -> tuple[bool, list[tuple[str, int | None]]]:
    try:
        return True, [(each.message, each.ptx_line) for each in assemble(text, assembler=assembler).warnings]
    except AssemblerError as error:
        return False, [(each.message, each.ptx_line) for each in error.findings]


def test_both_judge_alike(inside: Assembler, outside: Assembler) -> None:
    judged = []
    for path in MODULES:
        text = path.read_text()
        try:
            headers = read_headers(text)
        except PtxgenError:
            continue
        fits = inside.knows(headers.target, headers.version) and ".attribute" not in text
        if fits and path.name not in NEVER_ALIKE:
            judged.append((path.name, verdict(text, inside)[0], verdict(text, outside)[0]))
    assert [name for name, first, second in judged if first is not second] == []
    assert len(judged) > 30


@pytest.mark.parametrize(
    "text",
    [BAD, GOOD.replace("tile[1024]", "tile[60000]"), GOOD.replace("7.0", "99.1"), GOOD.replace("ret;", "ret")],
)
def test_both_complain_alike(text: str, inside: Assembler, outside: Assembler) -> None:
    accepted, said = verdict(text, inside)
    assert not accepted
    assert (accepted, said) == verdict(text, outside)


def test_what_it_refuses_stands_on_the_user_line(inside: Assembler) -> None:
    origins = tuple(Origin("kernel.py", 100 + line, "k") for line in range(BAD.count("\n") + 1))
    with pytest.raises(AssemblerError, match=r"nvJitLink .* refuses the text for sm_80:\nkernel.py:111: ") as caught:
        assemble(Listing(BAD, origins), assembler=inside)
    assert {finding.ptx_line for finding in caught.value.findings} == {12, 13}


def test_names_that_nobody_defines_are_refused(inside: Assembler) -> None:
    accepted, said = verdict(GOOD.replace(".visible .entry nothing", UNDEFINED), inside)
    assert not accepted
    assert [message for message, _ in said] == [
        "Unresolved extern function 'helper'",
        "Unresolved extern variable 'elsewhere'",
    ]
    assert [line for _, line in said] == [19, 20]


def test_attributes_of_variables_are_refused_by_name(inside: Assembler) -> None:
    managed = ".visible .global .attribute(.managed) .b32 shared_with_host;\n.visible .entry nothing"
    with pytest.raises(AssemblerError, match=r"nvJitLink takes no \.attribute; assemble this text with ptxas"):
        assemble(GOOD.replace(".visible .entry nothing", managed), assembler=inside)


@pytest.mark.usefixtures("no_cuda_toolkit")
def test_it_is_taken_where_no_ptxas_fits(inside: Assembler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxgen.runtime.ptxas.WHEELS", ())
    assert find_assembler("sm_80", (7, 0)) is inside
    with pytest.raises(AssemblerError, match=r"no ptxas here knows sm_80 with PTX 99.0:\n.*nvJitLink.*\n.*pip install"):
        find_assembler("sm_80", (99, 0))


def test_words_for_ptxas_are_handed_on(inside: Assembler) -> None:
    (warning,) = assemble(GOOD, assembler=inside, options=("-maxrregcount", "999")).warnings
    assert warning.message.startswith("Too big maxrregcount value specified 999")
