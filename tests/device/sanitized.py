"""A product launched by itself, for compute-sanitizer to look at: `python -m tests.device.sanitized PLAN [FAULT]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ptxgen.kernels import Layout, Machine, Matmul, MatmulSpec, MatmulTiling, parse_epilogue
from ptxgen.plan import sms
from ptxgen.runtime import load

SIZES = {"M": 72, "N": 136, "K": 200}
PLANS = {
    "warps": ("sm_90", MatmulTiling(i=64, j=64, depth=3, isolate=False)),
    "registers": ("sm_70", MatmulTiling(i=64, j=64)),
    "drained warps": ("sm_90", MatmulTiling(i=64, j=64, depth=3, isolate=False, drain=32)),
    "warpgroups": ("sm_90a", MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False)),
    "staying": ("sm_90a", MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, workers=sms, drain=64)),
    "clusters": ("sm_90a", MatmulTiling(i=64, j=64, k=64, warps=4, depth=3, isolate=False, cluster=(2, 1))),
}


def beyond(text: str) -> str:
    """Every store to global memory without its guard."""
    return re.sub(r"@%\w+ (st\.global)", r"\1", text)


def unmet(text: str) -> str:
    """No meeting of the threads of a block."""
    return re.sub(r"(?m)^\s*bar\.sync.*\n|^\s*barrier\.sync.*\n", "", text)


def uncopied(text: str) -> str:
    """No copy to shared memory through cp.async."""
    return re.sub(r"(?m)^.*cp\.async\.c[ag]\..*\n", "", text)


def askew(text: str) -> str:
    """The first store to global memory two bytes further."""
    return re.sub(r"(st\.global\S* \[%\w+)(?:\+(\d+))?\]", lambda m: f"{m[1]}+{int(m[2] or 0) + 2}]", text, count=1)


FAULTS: dict[str, Callable[[str], str]] = {"beyond": beyond, "unmet": unmet, "uncopied": uncopied, "askew": askew}


def main(plan: str, fault: str | None = None) -> None:
    """Runs the product as it is, or with a fault; its result is held against numpy where it has none."""
    target, tiling = PLANS[plan]
    product = Matmul(MatmulSpec(Layout.NT, epilogue=parse_epilogue("bias,relu")), target, tiling)
    rng = np.random.default_rng(1)
    arrays: dict[str, Any] = {
        "A": rng.standard_normal((SIZES["M"], SIZES["K"])).astype(np.float16),
        "B": rng.standard_normal((SIZES["N"], SIZES["K"])).astype(np.float16),
        "bias": rng.standard_normal(SIZES["N"]).astype(np.float32),
    }
    if fault is None:
        found = product(arrays, on=Machine.GPU).arrays["D"]
        a, b = arrays["A"].astype(np.float64), arrays["B"].astype(np.float64)
        assert np.allclose(found, np.maximum(a @ b.T + arrays["bias"], 0), rtol=1e-2, atol=1e-2)
        return
    whole = product.with_outputs(arrays)
    kernel = product.kernel_for(whole)
    text = FAULTS[fault](kernel.listing.text)
    assert text != kernel.listing.text, f"{plan} has nowhere for the fault {fault}"
    kernel.prepare(whole).once(load(text)[kernel.entry.name])


if __name__ == "__main__":
    main(*sys.argv[1:])
