"""What the driver says of launches whose blocks run at once: which it refuses, in graphs, in clusters, and whether they
may overlap; and such launches beside others that fill the device."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

import ptxgen
from ptxgen.build import Module, pointer
from ptxgen.errors import DriverError
from ptxgen.kernels import Layout, Matmul, MatmulSpec, MatmulTiling
from ptxgen.plan import sms
from ptxgen.runtime import DeviceArray, LoadedKernel, compute_capability, load, record, resident_ctas
from ptxgen.runtime.arguments import pack
from ptxgen.runtime.driver import call, on_device
from ptxgen.runtime.loading import launch_config
from tests.device.repeated import check_beside_others

BLOCK = 1024


@pytest.fixture(autouse=True)
def hopper() -> None:
    if compute_capability()[0] != 9:
        pytest.skip("clusters, and launches that overlap, are for devices of capability 9")


@pytest.fixture(scope="module")
def empty() -> LoadedKernel:
    module = Module("sm_90")
    with module.kernel("clear", a=pointer(ptxgen.b32)):
        pass
    return load(str(ptxgen.emit(module.build())))["clear"]


@pytest.mark.parametrize("cluster", (1, 2, 4))
def test_what_is_resident_is_what_the_driver_takes(empty: LoadedKernel, cluster: int) -> None:
    memory = DeviceArray.empty(4)
    most = resident_ctas(empty, threads=BLOCK, cluster=cluster)
    launch = empty.prepare(memory, grid=most, block=BLOCK, cluster=cluster, cooperative=True)
    launch()
    record([launch])()
    with pytest.raises(DriverError, match="COOPERATIVE"):
        empty(memory, grid=4 * most, block=BLOCK, cluster=cluster, cooperative=True)
    memory.to_numpy()


def test_whether_they_may_overlap_is_told(empty: LoadedKernel, record_property: Any) -> None:
    """Nothing is asked of the answer: launches of ours do not ask for both."""
    with on_device(0) as api:
        config = launch_config(api, ((1, 1, 1), (32, 1, 1), (1, 1, 1)), 0, 0, overlapped=True, cooperative=True)
        memory = DeviceArray.empty(4)
        arguments = pack(empty.name, empty.parameters, (memory.address,))
        (status,) = api.cuLaunchKernelEx(config, empty.function, arguments.pointer, 0)
        call(api.cuCtxSynchronize)
    print(f"\ncooperative and overlapped: {status.name}")
    record_property("cooperative and overlapped", status.name)


@pytest.mark.parametrize("streamed", (False, True))
def test_sums_are_passed_on_beside_kernels_that_fill_the_device(streamed: bool) -> None:
    torch = pytest.importorskip("torch")
    tiling = MatmulTiling(i=128, j=128, k=64, warps=8, depth=4, isolate=False, split=3)
    if streamed:
        tiling = evolve(tiling, split=1, workers=sms, stream=True)
    product = Matmul(MatmulSpec(Layout.NT), "sm_90a", tiling)
    a, b = (torch.randn(rows, 4096, device="cuda").half() for rows in (512, 640))
    outs = [torch.empty(512, 640, device="cuda").half() for _ in range(3)]
    check_beside_others(product.kernel_for({"A": a, "B": b, "D": outs[0]}), a, b, outs)
