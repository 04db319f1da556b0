"""Results that leave through shared memory on the GPU: the bits of the drain from registers, and float64 as judge."""

from __future__ import annotations

from itertools import product as pairs

import numpy as np
import pytest
from attrs import evolve

from ptxgen.compute import Element, f16, f32
from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import Drain, Finish, grouped, sms
from tests.device.test_generations import runs_here
from tests.kernels.cases import bits, judge, random_inputs, scalars_of

PLANS = {
    "boxes": ("sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, isolate=False, drain=64)),
    "narrow boxes": ("sm_90a", MatmulTiling(i=128, j=64, k=64, warps=8, depth=3, drain=32)),
    "boxes over A": ("sm_90a", MatmulTiling(i=64, j=128, k=64, warps=4, depth=9, isolate=False, drain=64)),
    "walked boxes": ("sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, workers=3, drain=64)),
    "twelve warps": ("sm_90a", MatmulTiling(i=192, j=192, k=64, warps=12, depth=3, workers=sms, drain=32)),
    "large boxes": (
        "sm_90a",
        MatmulTiling(i=128, j=256, k=64, warps=8, depth=4, workers=sms, raster=grouped(16), drain=32, overlap=True),
    ),
    "boxes in turns": ("sm_90a", MatmulTiling(i=64, j=128, k=64, warps=8, depth=4, workers=sms, turns=True, drain=64)),
    "rows": ("sm_90", MatmulTiling(i=64, j=64, k=32, depth=4, drain=16)),
    "rows of eight warps": ("sm_80", MatmulTiling(i=128, j=128, k=32, warps=8, depth=4, isolate=False, drain=32)),
}
SIZES = [(1, 8, 8), (3, 16, 0), (72, 136, 200), (129, 264, 64), (500, 1000, 392), (1024, 768, 512)]


def on_gpu(
    spec: MatmulSpec, target: str, tiling: MatmulTiling, size: tuple[int, int, int], judged: bool = True
) -> dict[str, np.ndarray]:
    """The outputs of a product, judged against float64 unless the caller compares their bits; they begin as NaN."""
    made = Matmul(spec, target, tiling)
    inputs = random_inputs(made.compute, dict(zip("MNK", size, strict=True), batches=2), sum(size))
    whole = made.with_outputs(inputs)
    outputs = {name: array for name, array in whole.items() if name not in inputs}
    for array in outputs.values():
        array.fill(np.nan)
    scalars = scalars_of(made.compute)
    outcome = made(whole, scalars, on=Machine.GPU)
    through = [bool(s.through) for s in outcome.kernel.plan.steps if isinstance(s, Drain)]
    assert through == [bool(tiling.drain)] * len(through)
    if judged:
        judge(made.compute, outcome.arrays, scalars, exact=False, target="sm_90")
    return {name: np.asarray(outcome.arrays[name]) for name in outputs}


def fitting(tiling: MatmulTiling, output: Element) -> MatmulTiling:
    """The tiling with as many columns as a thread holds beside results of a type."""
    return evolve(tiling, j=128) if output is f32 and tiling.j == 256 else tiling


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("output", [f16, f32], ids=str)
@pytest.mark.parametrize("name", PLANS)
def test_the_bits_of_the_drain_from_registers(name: str, output: Element, size: tuple[int, int, int]) -> None:
    target, tiling = PLANS[name]
    if not runs_here(target):
        pytest.skip(f"the device does not run {target}")
    for layout, epilogue in pairs((Layout.TN, Layout.NN), ("bias,relu", "residual,keep,gelu")):
        spec = MatmulSpec(layout, output=output, epilogue=parse_epilogue(epilogue), batched=size[0] < 100)
        held = fitting(tiling, output)
        direct = on_gpu(spec, target, evolve(held, drain=0), size)
        through = on_gpu(spec, target, held, size, judged=False)
        for array in through:
            assert np.array_equal(bits(through[array]), bits(direct[array])), (layout, epilogue, array)


BOXED = [name for name, (target, _) in PLANS.items() if target == "sm_90a"]
WAYS = {"loaded": (0, 2), "brought": (2, 2), "brought far ahead": (4, 3), "one on its way": (1, 1)}


@pytest.mark.parametrize("size", [*SIZES, (2048, 2048, 512)], ids=str)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BOXED)
def test_the_bits_of_whole_tiles_in_pieces(name: str, way: str, size: tuple[int, int, int]) -> None:
    """Repeated, since what is brought ahead may come too late or too early only at times."""
    target, tiling = PLANS[name]
    if not runs_here(target):
        pytest.skip(f"the device does not run {target}")
    brought, depth = WAYS[way]
    for output, epilogue in pairs((f16, f32), ("bias,relu", "residual", "bias,residual,keep,gelu")):
        spec = MatmulSpec(Layout.NT, output=output, epilogue=parse_epilogue(epilogue), batched=size[0] < 100)
        ahead = brought if "residual" in epilogue else 0
        cut = evolve(tiling, piecewise=True, residual_depth=ahead, drain_depth=depth, depth=min(tiling.depth, 3))
        whole = on_gpu(spec, target, fitting(tiling, output), size)
        for _ in range(3):
            pieces = on_gpu(spec, target, fitting(cut, output), size, judged=False)
            for array in whole:
                assert np.array_equal(bits(pieces[array]), bits(whole[array])), (output, epilogue, array)


def test_pieces_are_finished_in_their_loop() -> None:
    target, tiling = PLANS["large boxes"]
    made = Matmul(MatmulSpec(epilogue=parse_epilogue("residual,keep")), target, evolve(tiling, piecewise=True))
    plan = made.kernel_for(made.with_outputs(random_inputs(made.compute, {"M": 64, "N": 64, "K": 64}))).plan
    assert {step.at for step in plan.steps if isinstance(step, Finish)} == {"piece.j"}


def test_a_result_in_the_middle_of_a_wider_array_is_clipped() -> None:
    if not runs_here("sm_90a"):
        pytest.skip("the device does not run sm_90a")
    torch = pytest.importorskip("torch")
    wide = torch.full((300, 512), 7.0, device="cuda", dtype=torch.float16)
    made = Matmul(MatmulSpec(), *PLANS["boxes"])
    inputs = random_inputs(made.compute, {"M": 300, "N": 200, "K": 72})
    on_device = {name: torch.from_numpy(array).cuda() for name, array in inputs.items()}
    made({**on_device, "D": wide[:, 64:264]}, on=Machine.GPU)
    torch.cuda.synchronize()
    whole = wide.cpu().numpy()
    judge(made.compute, {**inputs, "D": whole[:, 64:264]}, {}, exact=False, target="sm_90")
    assert (whole[:, :64] == 7).all()
    assert (whole[:, 264:] == 7).all()
