"""What the report says, to programs and to people."""

from pathlib import Path

import numpy as np
import pytest

from isa.types import b32, u32
from ptxgen.build import Module, pointer
from ptxgen.emit import emit
from ptxgen.errors import KernelError
from ptxgen.simulate import simulate
from ptxgen.simulate.report import instruction_lines

ROUNDS, WARPS = 7, 3


def counted() -> Module:
    """A loop of fixed length with one shared load in it, around another loop with none."""
    module = Module("sm_70")
    with module.kernel("counted", out=pointer(u32)) as k:
        tile = k.mov.u32(k.shared(b32, 96))
        mine = k.mad.lo.u32(k.tid.x, 4, tile)
        k.st.shared.b32(mine, k.tid.x)
        total = k.register(u32, 0)
        with k.range(0, ROUNDS):
            k.add.u32(total, k.ld.shared.u32(mine), into=total)
            with k.range(0, 2):
                k.xor.b32(total, 1, into=total)
        k.st.global_.u32(k.add.s64(k.args.out, k.mul.wide.u32(k.tid.x, 4)), total)
    return module


def test_counts_by_loop_block_and_opcode():
    report = simulate(counted().build(), grid=1, block=32 * WARPS, args=(np.zeros(96, np.uint32),)).raise_findings()
    outer, inner = sorted(report.loops, key=lambda loop: -len(loop.statements))
    assert outer.counts["ld.shared.u32"].warps == ROUNDS * WARPS
    assert outer.counts["ld.shared.u32"].lanes == ROUNDS * WARPS * 32
    assert inner.counts["xor.b32"].warps == 2 * ROUNDS * WARPS
    assert "ld.shared.u32" not in inner.counts
    assert outer.total.warps == sum(count.warps for count in outer.counts.values())
    assert outer.share("ld") == ROUNDS * WARPS / outer.total.warps
    assert report.total.warps == sum(block.total.warps for block in report.blocks)
    assert report.counts["st.global.u32"].warps == WARPS
    assert report.main_loop is not None


def test_the_page_and_the_lines():
    module = counted().build()
    out = np.zeros(95, np.uint32)
    report = simulate(module, grid=1, block=96, args=(out,))
    text = str(emit(module))
    placed = report.with_text(text)
    (fault,) = placed.findings
    assert fault.ptx_line is not None
    assert "st.global.u32" in text.splitlines()[fault.ptx_line - 1]
    assert fault.origin is not None
    guilty = Path(__file__).read_text().splitlines()[fault.origin.line - 1]
    assert "k.st.global_.u32" in guilty
    page = str(placed)
    for words in ("warp-instructions", "bank conflicts", "sectors each", "[memory.bounds]", "thread (95, 0, 0)"):
        assert words in page
    with pytest.raises(KernelError, match=r"counted: 1 finding in(.|\n)*memory\.bounds"):
        placed.raise_findings()


def test_every_instruction_finds_its_line():
    module = counted().build()
    report = simulate(module, grid=1, block=96, args=(np.zeros(96, np.uint32),))
    lines = str(emit(module)).splitlines()
    found = [lines[number - 1].strip() for number in instruction_lines("\n".join(lines), "counted")]
    assert found == [str(each.instruction) for each in report.statements]


def test_the_same_run_gives_the_same_page():
    module = counted().build()
    pages = {str(simulate(module, grid=2, block=96, args=(np.zeros(96, np.uint32),), seed=5)) for _ in range(3)}
    assert len(pages) == 1
