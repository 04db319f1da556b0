"""Operands that only asynchronous copies and barriers have: tensor coordinates, destinations that are always `_`."""

from __future__ import annotations

import pytest

from isa.targets import target
from isa.types import b64, f32, u32
from ptxgen import KernelError, Module, emit, pointer
from ptxgen.build import Kernel
from tests.oracles.ptxas import verdict

LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"


def kernel() -> tuple[Module, Kernel]:
    module = Module("sm_90a")
    return module, module.kernel("copy", tensor=pointer(u32))


def said(module: Module) -> str:
    return str(emit(module.build()))


def test_tensor_coordinates_and_silent_destinations_assemble():
    module, made = kernel()
    with made as k:
        barrier, tile = k.shared(b64, (1,)), k.shared(f32, (64,), align=128)
        row = k.mov.b32(3)
        k.mbarrier.init.shared.b64(barrier, 1)
        k.emit(LOAD, tile, (k.args.tensor, (row, 5)), barrier)
        k.emit("mbarrier.arrive.shared::cluster.b64", barrier)
        k.emit("mbarrier.arrive.expect_tx.shared::cluster.b64", barrier, 256)
        k.emit("tensormap.replace.tile.elemtype.global.b1024.b32", k.args.tensor, 12)
        k.ret()
    text = said(module)
    assert f"{LOAD} [shared2], [%ud0, {{%r0, 5}}], [shared1];" in text
    assert "mbarrier.arrive.shared::cluster.b64 _, [shared1];" in text
    judged = verdict(text, target("sm_90a"))
    assert judged.ok, judged.messages


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda k, at: (at, (0, 1, 2)), "wants 2 coordinates, got 3"),
        (lambda k, at: at, r"wants \(map, \(c0, ...\)\)"),
        (lambda k, at: (4, (0, 1)), "wants a register or a variable as its handle"),
        (lambda k, at: (at, (k.mov.b64(1), 2)), "wants s32 coordinates, got b64 register"),
    ],
)
def test_wrong_coordinates_are_told(given, words):
    _, k = kernel()
    barrier, tile, coordinates = k.shared(b64, (1,)), k.shared(f32, (64,)), given(k, k.args.tensor)
    with pytest.raises(KernelError, match=words):
        k.emit(LOAD, tile, coordinates, barrier)


def test_a_silent_destination_takes_no_register():
    _, k = kernel()
    barrier, state = k.shared(b64, (1,)), k.mov.b64(1)
    with pytest.raises(KernelError, match=r"takes '_, \[a\]' or '_, \[a\], count'"):
        k.emit("mbarrier.arrive.shared::cluster.b64", barrier, into=state)
