"""Notes on asynchronous work that an assembler takes back: texts by hand and a derived kernel spoilt by hand."""

import re

import pytest
from attrs import evolve

from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling
from ptxgen.runtime import assemble
from ptxgen.runtime.notes import slowing_notes
from tests.kernels.test_registers import aligned_facts

LOG = """\
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : (C7519) warpgroup.arrive is injected in around line 2 by compiler to allow use of registers in GMMA
ptxas info    : (C7519) warpgroup.arrive is injected in around line 2 by compiler to allow use of registers in GMMA
ptxas info    : (C7509) something else
ptxas info    : Used 154 registers, used 1 barriers
"""


def test_each_note_is_read_once_with_its_line() -> None:
    found = slowing_notes(Listing("a\nb\n", (None, None, None)), LOG)
    assert [(note.code, note.ptx_line) for note in found] == [("assembler.C7508", None), ("assembler.C7519", 2)]
    assert "setmaxnreg" in found[0].message


@pytest.fixture(scope="module")
def hopper():
    matmul = Matmul(MatmulSpec(), "sm_90a", MatmulTiling(j=64, k=64, warps=8, depth=3, isolate=False))
    return matmul.kernel(aligned_facts(matmul))


@pytest.mark.usefixtures("ptxas")
def test_what_is_derived_stays_asynchronous(hopper) -> None:
    assert hopper.assembled().notes == ()


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize(
    "pattern, code",
    [
        (r"\.(reqntid|minnctapersm)[^\n]*\n", "C7508"),
        (r"wgmma\.fence[^\n]*\n", "C7519"),
    ],
)
def test_what_is_taken_back_is_a_failed_build(hopper, pattern: str, code: str) -> None:
    spoilt = re.sub(pattern, "", hopper.listing.text)
    notes = assemble(spoilt).notes
    assert any(note.code == f"assembler.{code}" for note in notes)
    kernel = evolve(hopper)
    vars(kernel)["listing"] = Listing(spoilt, (None,) * (spoilt.count("\n") + 1))
    with pytest.raises(AssemblerError, match=code) as error:
        kernel.assembled()
    assert error.value.findings == notes
