"""Which kernel a launch takes is told, and why it is no wider one."""

from __future__ import annotations

import numpy as np
import pytest

from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling, Variant
from ptxgen.plan import Transport
from tests.kernels.cases import random_inputs

GROUPS = MatmulTiling(i=64, j=64, k=64, warps=4, depth=2, isolate=False)


def variant(size: tuple[int, int, int], target: str = "sm_90a", **others: object) -> Variant:
    product = Matmul(MatmulSpec(Layout.NT), target, others.get("tiling", GROUPS))  # type: ignore[arg-type]
    return product.variant(random_inputs(product.compute, dict(zip("MNK", size, strict=True))))


def test_the_widest_is_taken_and_nothing_holds_it() -> None:
    found = variant((64, 64, 64))
    assert found.instruction.warpgroup
    assert found.carriers == (("A", Transport.TENSOR), ("B", Transport.TENSOR))
    assert [(reach.array, reach.byte_count, reach.limits) for reach in found.reaches] == [
        ("A", 16, ()), ("B", 16, ()), ("D", 16, ()),
    ]  # fmt: skip
    assert found.reasons[0] == "wgmma(n=64, accumulate=f32, input=f16), A by tensor and B by tensor"


@pytest.mark.parametrize(
    "size, reach, why",
    [
        ((64, 64, 68), 8, "A begins and steps by multiples of 8 bytes, not a multiple of 16 bytes for a tensor map"),
        ((64, 64, 63), 2, "A begins and steps by multiples of 2 bytes, not a multiple of 16 bytes for a tensor map"),
    ],
)
def test_strides_that_no_tensor_map_has(size: tuple[int, int, int], reach: int, why: str) -> None:
    found = variant(size)
    assert not found.instruction.warpgroup
    assert why in found.narrower
    assert found.reaches[0].byte_count == reach
    assert f"lda = {size[2]}" in found.reaches[0].limits
    assert f"not by warpgroups: {found.narrower}" in found.reasons[0]
    assert f"A {reach} bytes an access, held by lda = {size[2]}" in found.reasons[1]


def test_words_by_cp_async_and_less_through_registers() -> None:
    tiling = MatmulTiling(i=64, j=64, depth=2)
    assert variant((64, 64, 66), "sm_80", tiling=tiling).carriers[0] == ("A", Transport.CP_ASYNC)
    assert variant((64, 64, 63), "sm_80", tiling=tiling).carriers[0] == ("A", Transport.LD)
    assert variant((64, 64, 63), "sm_80", tiling=tiling).narrower == ""


def test_an_address_that_holds_accesses() -> None:
    product = Matmul(MatmulSpec(Layout.NT), "sm_80", MatmulTiling(i=64, j=64, depth=2))
    arrays = random_inputs(product.compute, {"M": 64, "N": 64, "K": 64})
    raw = np.zeros(64 * 64 * 2 + 64, np.uint8)
    start = -raw.ctypes.data % 64 + 4
    arrays["B"] = raw[start : start + 64 * 64 * 2].view(np.float16).reshape(64, 64)
    found = product.variant(arrays)
    assert found.reaches[1].byte_count == 4
    assert found.reaches[1].limits[0].startswith("an address of 0x")


@pytest.mark.parametrize(
    "tiling, why",
    [
        (MatmulTiling(i=128, j=64, k=64, warps=4), "a tile of 128x64 on 4 warps is none of 64 rows for each four"),
        (MatmulTiling(i=64, j=64, k=8, warps=4), "a tile of 8 along k is less than the 16 of wgmma"),
    ],
)
def test_tiles_that_no_warpgroup_takes(tiling: MatmulTiling, why: str) -> None:
    from ptxgen.kernels.products.by_warpgroups import by_warpgroups
    from ptxgen.plan import Plan

    spec = MatmulSpec(Layout.NT)
    told = by_warpgroups(Plan(Matmul(spec, "sm_90a").compute, "sm_90a"), spec, tiling)
    assert isinstance(told, str)
    assert why in told
