"""The runtime against the real driver: hand-written PTX, judged by numpy."""

from typing import Any

import numpy as np
import pytest

from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError, DriverError, LaunchError
from ptxgen.ir import Origin
from ptxgen.runtime import (
    Cubin,
    DeviceArray,
    LoadedKernel,
    assemble,
    compute_capability,
    device_count,
    elapsed_ms,
    find_assembler,
    load,
)

ADD = """\
.version 6.4
.target sm_70
.address_size 64
.visible .entry add(
    .param .u64 .ptr .global .align 4 a,
    .param .u64 .ptr .global .align 4 b,
    .param .u64 .ptr .global .align 4 c,
    .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd1, %rd4;
    add.u64 %rd6, %rd2, %rd4;
    add.u64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
done:
    ret;
}
"""

MIXED = """\
.version 6.4
.target sm_70
.address_size 64
.visible .entry mixed(
    .param .u8 flag, .param .f64 scale, .param .u16 count,
    .param .align 8 .b8 map[12], .param .f16 half, .param .u64 out)
{
    .reg .b16 %h<4>;
    .reg .b32 %r<4>;
    .reg .f64 %d<2>;
    .reg .b64 %rd<2>;
    ld.param.u8 %h1, [flag];
    ld.param.f64 %d1, [scale];
    ld.param.u16 %h2, [count];
    ld.param.u32 %r1, [map+8];
    ld.param.b16 %h3, [half];
    ld.param.u64 %rd1, [out];
    st.global.u8 [%rd1], %h1;
    st.global.f64 [%rd1+8], %d1;
    st.global.u16 [%rd1+16], %h2;
    st.global.u32 [%rd1+20], %r1;
    st.global.b16 [%rd1+24], %h3;
    ret;
}
"""

SHARED = """\
.version 7.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared(.param .u64 out, .param .u32 last)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [last];
    mov.u32 %r2, dynamic;
    add.u32 %r2, %r2, %r1;
    mov.u32 %r3, %cluster_nctaid.x;
    st.shared.u32 [%r2], %r3;
    ld.shared.u32 %r4, [%r2];
    mov.u32 %r3, %ctaid.x;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""

COUNT = 1000
GRID, BLOCK = 8, 128


@pytest.fixture(scope="module")
def add() -> LoadedKernel:
    return load(ADD)["add"]


@pytest.fixture
def ab() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.standard_normal(COUNT, np.float32), rng.standard_normal(COUNT, np.float32)


def test_numpy_arrays(add: LoadedKernel, ab: tuple[Any, Any]) -> None:
    a, b = ab
    c = np.full(COUNT + 24, np.nan, np.float32)
    add(a, b, c, COUNT, grid=GRID, block=BLOCK)
    assert np.array_equal(c[:COUNT], a + b)
    assert np.isnan(c[COUNT:]).all()


def test_device_arrays(add: LoadedKernel, ab: tuple[Any, Any]) -> None:
    a, b = map(DeviceArray.from_numpy, ab)
    c = DeviceArray.empty(COUNT)
    c.fill(0xFF)
    assert np.isnan(c.to_numpy()).all()
    add(a, b, c.address, COUNT, grid=GRID, block=BLOCK)
    assert np.array_equal(c.to_numpy(), ab[0] + ab[1])


def test_parameters_of_every_size_arrive() -> None:
    out = np.zeros(32, np.uint8)
    load(MIXED)["mixed"](200, 0.1, 40000, bytes(range(12)), 1.5, out, grid=1, block=1)
    assert out[0] == 200
    assert out[8:16].view(np.float64)[0] == 0.1
    assert out[16:18].view(np.uint16)[0] == 40000
    assert out[20:24].tolist() == [8, 9, 10, 11]
    assert out[24:26].view(np.float16)[0] == 1.5


def test_a_jit_error_stands_on_its_line() -> None:
    text = ADD.replace("add.rn.f32 %f3", "add.rn.f33 %f3")
    (line,) = (number for number, words in enumerate(text.splitlines(), 1) if "f33" in words)
    with pytest.raises(DriverError, match=f"PTX line {line}") as caught:
        load(text)
    assert line in {finding.ptx_line for finding in caught.value.findings}
    origins = tuple(Origin("mine.py", 1000 + number, "f") for number in range(1, text.count("\n") + 2))
    with pytest.raises(DriverError, match=f"mine.py:{1000 + line}: "):
        load(Listing(text, origins))


def assembled(text: str, target: str) -> Cubin:
    """A cubin from whatever ptxas the machine has for the target."""
    try:
        find_assembler(target, (6, 4))
    except AssemblerError as error:
        pytest.skip(str(error))
    return assemble(text, target=target)


def test_a_cubin(ab: tuple[Any, Any]) -> None:
    major, minor = compute_capability()
    cubin = assembled(ADD, f"sm_{major}{minor}")
    kernel = load(cubin)["add"]
    assert kernel.registers == cubin.registers
    c = np.zeros(COUNT, np.float32)
    kernel(*ab, c, COUNT, grid=GRID, block=BLOCK)
    assert np.array_equal(c, ab[0] + ab[1])


def test_a_cubin_for_another_device_is_refused() -> None:
    other = "sm_90" if compute_capability()[0] == 8 else "sm_80"
    with pytest.raises(DriverError, match="the driver refuses the module on device 0: CUDA_ERROR_NO_BINARY_FOR_GPU"):
        load(assembled(ADD, other))


def test_torch_tensors(add: LoadedKernel) -> None:
    torch = pytest.importorskip("torch")
    a, b = torch.randn(COUNT, device="cuda"), torch.randn(COUNT, device="cuda")
    c = torch.zeros(COUNT, device="cuda")
    add(a, b, c, COUNT, grid=GRID, block=BLOCK)
    assert torch.equal(c, a + b)


class OnlyDlpack:
    """A tensor that is known by DLPack alone."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __dlpack__(self, *, stream: int) -> Any:
        return self.tensor.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


def test_dlpack_tensors_on_a_stream(add: LoadedKernel) -> None:
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    whole = torch.randn(COUNT + 2, device="cuda")
    b, c = torch.randn(COUNT, device="cuda"), torch.zeros(COUNT, device="cuda")
    add(*map(OnlyDlpack, (whole[2:], b, c)), COUNT, grid=GRID, block=BLOCK, stream=stream)
    stream.synchronize()
    assert torch.equal(c, whole[2:] + b)


def test_a_host_tensor_is_refused(add: LoadedKernel) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(LaunchError, match="is in host memory"):
        add(torch.zeros(4), 0, 0, 4, grid=1, block=1)


def test_cupy_arrays(add: LoadedKernel) -> None:
    cupy = pytest.importorskip("cupy")
    a, b, c = cupy.random.rand(COUNT, dtype="f"), cupy.random.rand(COUNT, dtype="f"), cupy.zeros(COUNT, "f")
    add(a, b, c, COUNT, grid=GRID, block=BLOCK)
    assert cupy.array_equal(c, a + b)
    ours = DeviceArray.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert cupy.asnumpy(cupy.asarray(ours)).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_timing(add: LoadedKernel) -> None:
    arrays = [DeviceArray.empty(1 << 24) for _ in range(3)]
    launch = add.prepare(*arrays, 1 << 24, grid=1 << 17, block=BLOCK)
    large = elapsed_ms(launch, repeats=5)
    small = elapsed_ms(add.prepare(*arrays, COUNT, grid=GRID, block=BLOCK), repeats=5)
    assert len(large) == len(small) == 5
    bytes_moved = 3 * 4 * (1 << 24)
    assert 0 < bytes_moved / (min(large) * 1e-3) < 20e12, "no device moves 20 TB/s"
    assert min(small) < min(large)


def test_large_dynamic_shared_memory_and_a_cluster() -> None:
    if compute_capability() < (9, 0):
        pytest.skip("clusters need sm_90")
    out, size = np.zeros(4, np.uint32), 200 * 1024
    load(SHARED)["shared"](out, size - 4, grid=4, block=1, cluster=2, shared_bytes=size)
    assert out.tolist() == [2, 2, 2, 2]
    with pytest.raises(LaunchError, match="are more than the device has"):
        load(SHARED)["shared"](out, 0, grid=4, block=1, shared_bytes=1 << 20)


def test_what_the_kernel_cannot_take_is_refused(add: LoadedKernel) -> None:
    with pytest.raises(LaunchError, match="takes 4 arguments"):
        add(0, 0, 0, grid=1, block=1)
    with pytest.raises(LaunchError, match="the most are 1024"):
        add(0, 0, 0, 0, grid=1, block=2048)


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(DriverError, match=f"there is no device {device_count()}"):
        load(ADD, device=device_count())
