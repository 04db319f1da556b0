"""Tensor maps that kernels make and change; registers of warpgroups."""

import numpy as np
import pytest
from attrs import evolve

from isa.descriptors import Swizzle
from isa.tensor_maps import decode, tiled
from tests.simulate.asynchronous.kernels import codes, run

BASE = tiled("f16", (40, 64), (8, 32))
CHANGES = [
    ("global_dim", "b32", 0, 100, {"dims": (100, 40)}),
    ("global_dim", "b32", 1, 7, {"dims": (64, 7)}),
    ("global_stride", "b64", 0, 1 << 39 | 4096, {"strides": (1 << 39 | 4096,)}),
    ("box_dim", "b32", 0, 64, {"box": (64, 8)}),
    ("box_dim", "b32", 1, 256, {"box": (32, 256)}),
    ("element_stride", "b32", 1, 8, {"element_strides": (1, 8)}),
    ("elemtype", "b32", None, 10, {"element": "bf16"}),
    ("swizzle_mode", "b32", None, 2, {"swizzle": Swizzle.BYTES_64}),
    ("fill_mode", "b32", None, 1, {"nan_fill": True}),
]  # fmt: skip
PUBLISH = """
mov.u32 %r2, map; mov.u32 %r3, 0;
ld.param.u64 %rd1, [in0]; ld.param.u64 %rd2, [in1];
mad.wide.u32 %rd3, %t, 4, %rd1; ld.global.u32 %r4, [%rd3]; mad.lo.u32 %r5, %t, 4, %r2; st.shared.u32 [%r5], %r4;
bar.warp.sync -1;
setp.ne.u32 %p1, %t, 0; @%p1 bra CHANGED;
cvt.u64.u32 %rd4, %r2;
{change}
CHANGED:
bar.warp.sync -1;
cvt.u64.u32 %rd4, %r2;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%rd4], 128;
fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
"""


@pytest.mark.parametrize("name, size, ordinal, value, changed", CHANGES)
def test_fields_are_changed_and_the_map_published(name, size, ordinal, value, changed):
    given = "" if ordinal is None else f"{ordinal}, "
    operand = str(value) if name in ("elemtype", "swizzle_mode", "fill_mode") else "%rd9" if size == "b64" else "%r9"
    change = f"mov.b32 %r9, {value & 0xFFFFFFFF}; mov.b64 %rd9, {value};\n"
    change += f"tensormap.replace.tile.{name}.shared::cta.b1024.{size} [%rd4], {given}{operand};"
    before, after = np.frombuffer(BASE.encode(4096), np.uint8).copy(), np.zeros(128, np.uint8)
    variables = ".shared .align 128 .b8 map[128];"
    run(PUBLISH.format(change=change), variables, args=(before, after), out=np.zeros(32, np.uint32)).raise_findings()
    assert decode(after.tobytes()) == (evolve(BASE, **changed), 4096)


def test_a_map_that_is_none_is_told():
    body = """
    ld.param.u64 %rd1, [in0];
    setp.ne.u32 %p1, %t, 0; @%p1 bra END;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {0, 0}];
    END:
    """
    out = np.zeros(32, np.uint32)
    for content in (np.full(128, 255, np.uint8), np.frombuffer(tiled("f16", (64,), (32,)).encode(0), np.uint8).copy()):
        report = run(body, args=(content,), out=out)
        assert codes(report) == [("tensor.map", "cp.async.bulk.prefetch.tensor.2d.L2.global.tile")]
    run(body, args=(np.frombuffer(BASE.encode(0), np.uint8).copy(),), out=out).raise_findings()


def test_registers_are_given_back_and_taken():
    body = "setmaxnreg.dec.sync.aligned.u32 40;\nsetmaxnreg.inc.sync.aligned.u32 {more};\n"
    options = {"out": np.zeros(256, np.uint32), "block": 256, "directives": ".maxnreg 128"}
    run(body.format(more=232), **options).raise_findings()
    wrong = "setmaxnreg.inc.sync.aligned.u32 128;\nsetmaxnreg.dec.sync.aligned.u32 232;"
    assert codes(run(wrong, judged=False, **options)) == [("setmaxnreg.direction", "setmaxnreg.dec.sync.aligned.u32")]
    options = {"out": np.zeros(512, np.uint32), "block": 512, "directives": ".maxnreg 128"}
    assert codes(run(body.format(more=232), **options)) == [("deadlock", "setmaxnreg.inc.sync.aligned.u32")]


def test_dependent_grids_and_priorities_change_nothing():
    out = np.zeros(32, np.uint32)
    body = """
    griddepcontrol.wait;
    ld.param.u64 %rd1, [in0]; prefetch.tensormap [%rd1];
    st.global.u32 [%out], %t;
    griddepcontrol.launch_dependents;
    """
    run(body, args=(np.frombuffer(BASE.encode(0), np.uint8).copy(),), out=out).raise_findings()
    assert out.tolist() == list(range(32))
