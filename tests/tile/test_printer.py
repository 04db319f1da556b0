"""The text of a tile program: for people to read, and the same for equal programs."""

from polyhedral import const, var
from ptxgen.tile import Covered, Loop, Meet, Quotient, RequirementKind, Sequence, When
from ptxgen.tile.printing import show
from tests.tile.programs import Matmul, copying, softmax, transposing

COPYING = """\
program copying for sm_70: 2 warps, 0 shared bytes
parameters
  X    pointer  f32, aligned 16 bytes
  Y    pointer  f32, aligned 16 bytes
  M    size
  N    size
  ldx  stride
grid
  cta.i = 0 .. floor((M + 15)/16) - 1
  cta.j = 0 .. floor((N + 31)/32) - 1
  last dim fastest
buffers
  X            X in global     f32  [M, N] strides [ldx, 1]
  Y            Y in global     f32  [M, N] strides [N, 1]
  X.registers  X in registers  f32  16x32 x 1, 8 values a lane
    values (2,0) (4,0) (8,0); lanes (0,1) (0,2) (0,4) (0,8) (0,16); warps (1,0)
role all, 2 warps
  copy X.registers{0} <- X[16*cta.i, 32*cta.j], 16x32 by 1, any value outside d0, d1
  copy Y[16*cta.i, 32*cta.j] <- X.registers{0}, 16x32 by 1, nothing outside d0, d1"""


def test_a_whole_program() -> None:
    assert show(copying()) == COPYING


def test_equal_programs_have_equal_text() -> None:
    assert show(Matmul((32, 32, 8), (2, 2)).program()) == show(Matmul((32, 32, 8), (2, 2)).program())
    assert show(Matmul((32, 32, 8), (2, 2), depth=3).program()) != show(Matmul((32, 32, 8), (2, 2)).program())


def test_loops_tiles_and_corners_of_a_matmul() -> None:
    lines = show(Matmul((32, 32, 8), (2, 2)).program()).splitlines()
    assert "  when K >= 1:" in lines
    assert "    for t = 0 .. floor((K - 9)/8):" in lines
    assert "    let t = floor((K - 1)/8):" in lines
    assert "      copy A.fragments{2*t + 1} <- A.shared{t}[0, 4], 32x4 by 1" in lines
    assert "      multiply C{0} += A.fragments{2*t} * B.fragments{2*t}, 1x1x1 of m8n8k4.row.col f16 to f32" in lines
    assert "  fill C{0} with 0.0" not in lines
    assert "  C.start: fill C{0} with 0.0" in lines


def test_maps_and_reductions_name_their_elements() -> None:
    text = show(softmax())
    assert "reduce largest{0}[i] = max(largest{0}[i], X.registers{0}[i, j])" in text
    assert "    over i, j in 8x64 from [8*cta.i, 0] below [M, N], guarded i, j\n" in text
    assert "    over i, j in 8x64 from [8*cta.i, 0] below [M, N], guarded i, j, any value outside\n" in text
    assert "map Y.registers{0}[j, i] = X.shared{0}[i, j]" in show(transposing())


def test_a_meeting_says_what_it_covers() -> None:
    flow = Covered(RequirementKind.FLOW, "A.shared", "A.fragments", 0, "A.shared")
    assert show(Meet(1, (flow,))) == "meet 1\n  covers flow A.shared -> A.fragments (A.shared, distance 0)"


def test_instances_of_an_unrolled_op_share_a_line() -> None:
    flows = [Covered(RequirementKind.FLOW, "A.shared", f"A.fragments[{s}]", 0, "A.shared") for s in (1, 2, 3, 0)]
    reuses = [Covered(RequirementKind.REUSE, f"A.fragments[{s}]", "A.shared", 2, "A.shared") for s in ("0,1", "2,1")]
    assert show(Meet(0, (*flows[:2], *reuses, *flows[2:]))) == (
        "meet 0\n"
        "  covers flow A.shared -> A.fragments[0..3] (A.shared, distance 0)\n"
        "  covers reuse A.fragments[0,1; 2,1] -> A.shared (A.shared, distance 2)"
    )


def test_branches_and_bounds() -> None:
    lower, upper = (Quotient(const(0), 1), Quotient(var("M"), 1)), (Quotient(var("N"), 1), Quotient(const(7), 1))
    loop = Loop("t", lower, upper, 2, Meet(0, ()))
    assert show(loop) == "for t = max(0, M) .. min(N, 7) step 2:\n  meet 0, covers nothing"
    assert show(When((var("M") >= 4,), Sequence(()), Meet(0, ()))) == (
        "when M >= 4:\n  nothing\notherwise:\n  meet 0, covers nothing"
    )
