"""`ptxgen.matmul` on arrays of torch, CuPy and JAX, on streams and in graphs, judged by float64."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import ptxgen
from ptxgen import LaunchError
from ptxgen.kernels import Matmul, MatmulSpec, MatmulTiling, generate, matmul_compute, matmul_plan
from ptxgen.kernels.calling.call import target_of

SPEC = MatmulSpec()
SIZES = ((1, 1, 1), (128, 256, 64), (257, 136, 72), (300, 77, 33), (512, 512, 1024))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_tensors_of_torch(turned: tuple[bool, bool], size: tuple[int, int, int]) -> None:
    torch = pytest.importorskip("torch")
    m, n, k = size
    a = torch.randn(*((k, m) if turned[0] else (m, k)), device="cuda", dtype=torch.float16)
    b = torch.randn(*((n, k) if turned[1] else (k, n)), device="cuda", dtype=torch.float16)
    bias = torch.randn(n, device="cuda")
    a, b = a.T if turned[0] else a, b.T if turned[1] else b
    wanted = torch.relu(a.double() @ b.double() + bias.double())
    for _ in range(2):
        found = ptxgen.matmul(a, b, bias, "relu")
        assert (found.dtype, found.device) == (torch.float16, a.device)
        assert float((found.double() - wanted).abs().max()) < 2e-3 * (1 + k**0.5)
    out = torch.full((m, n), float("nan"), device="cuda")
    assert ptxgen.matmul(a, b, bias, "relu", out) is out
    assert float((out.double() - wanted).abs().max()) < 1e-4 * (1 + k**0.5)


@pytest.mark.parametrize("size", SIZES[1:], ids=str)
def test_a_prepared_launch_at_other_tensors(size: tuple[int, int, int]) -> None:
    torch = pytest.importorskip("torch")
    m, n, k = size
    shapes = {"A": (m, k), "B": (k, n), "D": (m, n)}
    sets = [{x: torch.randn(*shape, device="cuda").half() for x, shape in shapes.items()} for _ in range(3)]
    launch = Matmul(SPEC, target_of(0)).kernel_for(sets[0]).prepared(sets[0], stream=torch.cuda.current_stream())
    for held in (*sets, *sets[::-1]):
        held["D"].fill_(float("nan"))
        launch.at([held[name].data_ptr() for name in launch.names])
        wanted = held["A"].double() @ held["B"].double()
        assert float((held["D"].double() - wanted).abs().max()) < 2e-3 * (1 + k**0.5)


TYPES = [
    ("float16", {}, "float16", 2**-10), ("bfloat16", {}, "bfloat16", 2**-8),
    ("float32", {"input": "tf32"}, "float32", 2**-9), ("float64", {}, "float64", 2**-48),
    ("int8", {}, "int32", 0), ("uint8", {}, "int32", 0),
    ("float8_e4m3fn", {}, "float16", 2**-10), ("float8_e5m2", {"promote": 128}, "float16", 2**-10),
    ("bfloat16", {"output": "f32"}, "float32", 2**-16), ("float16", {"output": "bf16"}, "bfloat16", 2**-8),
]  # fmt: skip


@pytest.mark.parametrize("turned", (False, True))
@pytest.mark.parametrize("kind, wishes, result, step", TYPES, ids=str)
def test_every_type_of_tensors(kind: str, wishes: dict[str, Any], result: str, step: float, turned: bool) -> None:
    torch = pytest.importorskip("torch")
    drawn = [8 * torch.randn(shape, device="cuda", dtype=torch.float64) for shape in ((272, 320), (320, 144))]
    if kind == "uint8":
        drawn = [each.abs() for each in drawn]
    a, b = (each.to(getattr(torch, kind)) for each in drawn)
    b = b.mT.contiguous().mT if turned else b
    for _ in range(2):
        found = ptxgen.matmul(a, b, **wishes)
        assert (found.dtype, found.shape) == (getattr(torch, result), (272, 144))
        magnitude = a.double().abs() @ b.double().abs()
        assert bool(((found.double() - a.double() @ b.double()).abs() <= step * magnitude).all())


def test_other_tensors_of_the_same_shape_take_the_same_launch() -> None:
    torch = pytest.importorskip("torch")
    for _ in range(5):
        a, b = (torch.randn(256, 256, device="cuda", dtype=torch.float16) for _ in range(2))
        assert float((ptxgen.matmul(a, b).double() - a.double() @ b.double()).abs().max()) < 5e-2


def test_a_tensor_that_wants_a_gradient_is_refused() -> None:
    torch = pytest.importorskip("torch")
    a = torch.randn(64, 64, device="cuda", dtype=torch.float16, requires_grad=True)
    with pytest.raises(LaunchError, match="a wants a gradient"):
        ptxgen.matmul(a, a)
    with torch.no_grad():
        ptxgen.matmul(a, a)


def test_a_parameter_beside_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    a, weight = torch.randn(64, 64, device="cuda").half(), torch.nn.Parameter(torch.randn(96, 64, device="cuda").half())
    with torch.no_grad():
        found = ptxgen.matmul(a, weight.T)
    assert float((found.double() - a.double() @ weight.detach().double().T).abs().max()) < 5e-2


def test_a_tensor_of_the_host_is_refused() -> None:
    torch = pytest.importorskip("torch")
    a = torch.randn(64, 64, dtype=torch.float16)
    with pytest.raises(LaunchError, match="a is a tensor on cpu"):
        ptxgen.matmul(a, a)


def test_a_graph_takes_the_call() -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
    out = torch.empty_like(a)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        ptxgen.matmul(a, b, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        ptxgen.matmul(a, b, out=out)
    for _ in range(3):
        a.copy_(torch.randn_like(a))
        out.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert float((out.double() - a.double() @ b.double()).abs().max()) < 1e-1


def test_a_graph_outlives_the_kernel_that_it_captured() -> None:
    torch = pytest.importorskip("torch")
    a, b, out = (torch.randn(264, 264, device="cuda", dtype=torch.float16) for _ in range(3))
    held = {"A": a, "B": b, "D": out}
    plan = matmul_plan(matmul_compute(SPEC), SPEC, (), MatmulTiling(i=32, j=32, warps=1), "sm_90")
    kernel = generate(plan)
    graph = torch.cuda.CUDAGraph()
    kernel.run(held)
    with torch.cuda.graph(graph):
        kernel.run(held, stream=torch.cuda.current_stream())
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
    out.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    assert float((out.double() - a.double() @ b.double()).abs().max()) < 1e-1


def test_arrays_of_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    a, b = (cupy.random.standard_normal((200, 200)).astype(cupy.float16) for _ in range(2))
    found = ptxgen.matmul(a, b.T)
    assert isinstance(found, cupy.ndarray)
    wanted = a.astype(float).get() @ b.astype(float).get().T
    assert np.abs(found.get().astype(float) - wanted).max() < 5e-2


def test_arrays_of_jax() -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    a = jax.random.normal(jax.random.key(0), (96, 64), "float16")
    b = jax.random.normal(jax.random.key(1), (64, 160), "float16")
    found = ptxgen.matmul(a, b)
    assert isinstance(found, jax.Array)
    wanted = np.asarray(a, float) @ np.asarray(b, float)
    assert np.abs(np.asarray(found, float) - wanted).max() < 5e-2
    with pytest.raises(LaunchError, match="which never changes"):
        ptxgen.matmul(a, b, out=found)


def test_arrays_of_numpy() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((100, 100)).astype(np.float16) for _ in range(2))
    assert np.abs(ptxgen.matmul(a, b) - a.astype(float) @ b).max() < 5e-2
    assert target_of(0).startswith("sm_")


def test_a_new_result_on_another_stream_takes_no_memory_in_use() -> None:
    """What is freed while the current stream still has to read it is not written by a kernel on another stream."""
    torch = pytest.importorskip("torch")
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
    side = torch.cuda.Stream()
    ptxgen.matmul(a, b, stream=side)
    torch.cuda.synchronize()
    for _ in range(5):
        held = torch.full((512, 512), 7.0, device="cuda", dtype=torch.float16)
        torch.cuda._sleep(20_000_000)
        copy = held.clone()
        del held
        found = ptxgen.matmul(a, b, stream=side)
        torch.cuda.synchronize()
        assert bool((copy == 7).all())
        assert float((found.double() - a.double() @ b.double()).abs().max()) < 1e-1


class Interface:
    """A tensor as an array interface alone, of a stream."""

    def __init__(self, tensor: Any, stream: Any) -> None:
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, "stream": stream.cuda_stream, "version": 3}


class Capsule:
    """A tensor as DLPack alone."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return self.tensor.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


def test_what_another_stream_still_writes_is_waited_for() -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
    ptxgen.matmul(Interface(a, torch.cuda.Stream()), Interface(b, torch.cuda.Stream()))
    writing, on = torch.cuda.Stream(), torch.cuda.Stream()
    for lend in (lambda tensor: Interface(tensor, writing), Capsule):
        late = torch.full_like(a, float("nan"))
        torch.cuda.synchronize()
        with torch.cuda.stream(writing):
            torch.cuda._sleep(20_000_000)
            late.copy_(a)
            found = ptxgen.matmul(lend(late), lend(b), stream=on)
        torch.cuda.synchronize()
        wanted = a.double() @ b.double()
        assert np.abs(found.to_numpy().astype(float) - wanted.cpu().numpy()).max() < 1e-1


def test_a_first_call_may_be_captured() -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.randn(328, 328, device="cuda", dtype=torch.float16) for _ in range(2))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = ptxgen.matmul(a, b)
    for _ in range(3):
        a.copy_(torch.randn_like(a))
        graph.replay()
        torch.cuda.synchronize()
        assert float((out.double() - a.double() @ b.double()).abs().max()) < 1e-1
