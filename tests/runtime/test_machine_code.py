"""The text of nvdisasm read by hand: dual issue, labels, guards, brackets, filling, lines."""

import pytest

from ptxgen.emit import Listing
from ptxgen.ir import Origin
from ptxgen.runtime import SassGuard, SassInstruction
from ptxgen.runtime.machine_code import read_functions

TEXT = """\
	.headerflags	@"EF_CUDA_SM50"

//--------------------- .text.sum             --------------------------
	.section	.text.sum,"ax",@progbits
	.align	128
sum:
.text.sum:
        /*0000*/                   MOV R1, c[0x0][0x20] ;
	//## File ".nv_debug_ptx_txt", line 3
.L_x_4:
        /*0010*/                   LDG.E.128 R4, desc[UR4][R2.64+0x10] ;
	//## File ".nv_debug_ptx_txt", line 4 inlined at ".nv_debug_ptx_txt", line 9
.L_x_1:
        /*0020*/         {    @!P0 FFMA R0, R2.reuse, R2, R0 ;
        /*0028*/              @UP1 BRA `(.L_x_1)         }
        /*0030*/                   BSSY B0, `(.L_x_4) ;
        /*0040*/               @P2 BRA `(.L_x_4) ;
        /*0050*/                   BRA `(.L_x_1) ;
        /*0060*/                   EXIT ;
.L_x_9:
        /*0070*/                   BRA `(.L_x_9);
        /*0080*/                   NOP;
.L_x_10:

//--------------------- .nv.shared.sum          --------------------------
	.section	.nv.shared.sum,"aw",@nobits
	.section	.text.begin,"ax",@progbits
        /*0000*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0 ;
        /*0010*/                   NOP ;
        /*0020*/                   EXIT ;
"""
LISTING = Listing("\n".join("abcdefghij"), tuple(Origin("kernel.py", 100 + line, "k") for line in range(10)))


def test_functions_are_found_by_their_sections() -> None:
    begin, summed = read_functions(TEXT, None)
    assert (begin.name, summed.name) == ("begin", "sum")
    assert begin.instructions[0] == SassInstruction(
        0, "HGMMA.64x128x16.F32", ("R24", "gdesc[UR4]", "R24", "gsb0"), ptx_line=None
    )
    assert [str(each) for each in begin.instructions[1:]] == ["NOP", "EXIT"]


def test_instructions_have_addresses_guards_and_operands() -> None:
    summed = read_functions(TEXT, None)[1]
    assert [each.address for each in summed.instructions] == [0, 16, 32, 40, 48, 64, 80, 96]
    assert summed.instructions[1].operands == ("R4", "desc[UR4][R2.64+0x10]")
    assert summed.instructions[2].guard == SassGuard("P0", negated=True)
    assert str(summed.instructions[2]) == "@!P0 FFMA R0, R2.reuse, R2, R0"
    assert summed.instructions[3].guard == SassGuard("UP1", negated=False)
    assert str(summed.instructions[-1]) == "EXIT", "the filling is no part of the function"


def test_lines_are_those_of_the_last_marker() -> None:
    summed = read_functions(TEXT, LISTING)[1]
    assert [each.ptx_line for each in summed.instructions] == [None, 3, 4, 4, 4, 4, 4, 4]
    assert [each.origin and each.origin.line for each in summed.instructions[:3]] == [None, 102, 103]


def test_loops_are_backward_branches() -> None:
    summed = read_functions(TEXT, None)[1]
    assert [each.target for each in summed.instructions] == [None, None, None, 32, 16, 16, 32, None]
    outer, inner = summed.loops()
    assert (outer.first, outer.last, inner.first, inner.last) == (16, 64, 32, 80)
    assert (outer.count("FFMA"), outer.count("LDG"), inner.count("LDG")) == (1, 1, 0)


@pytest.mark.parametrize("words, count", [("LDG", 1), ("LDG.E", 1), ("LDG.E.128", 1), ("LDG.128", 0), ("LD", 0)])
def test_opcodes_are_counted_by_their_first_words(words: str, count: int) -> None:
    summed = read_functions(TEXT, None)[1]
    assert summed.count(words) == count
    assert list(summed.opcodes().items())[:2] == [("BRA", 3), ("BSSY", 1)]


def test_an_inner_loop_is_told_from_an_outer_one() -> None:
    nested = TEXT.replace("/*0050*/                   BRA `(.L_x_1)", "/*0050*/                   BRA `(.L_x_4)")
    summed = read_functions(nested, None)[1]
    outer, inner = summed.loops()
    assert (outer.first, outer.last, inner.first, inner.last) == (16, 80, 32, 40)
    assert summed.innermost_loops() == (inner,)
    assert outer.holds(inner)
    assert not inner.holds(outer)
