"""The operators of torch on the GPU: gradients judged by float64, in compiled programs, in graphs, in training."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from ptxgen.torch import matmul  # noqa: E402
from tests.torch.gradients import check, drawn  # noqa: E402

SIZES = ((64, 64, 64), (257, 136, 72), (300, 77, 33), (512, 1024, 768))
LAYOUTS = ((False, False), (False, True), (True, False), (True, True))
ACTIVATIONS = (None, "relu", "gelu", "silu")
KINDS = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gradients(kind: Any, activation: str | None, size: tuple[int, ...]) -> None:
    given = drawn(kind, size, residual=size[0] != 257, device="cuda")
    check(given, activation, lambda **all: matmul(**all, activation=activation))


@pytest.mark.parametrize("turned", LAYOUTS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gradients_of_operands_that_lie_either_way(kind: Any, turned: tuple[bool, bool]) -> None:
    given = drawn(kind, (256, 384, 512), turned=turned, device="cuda")
    check(given, "gelu", lambda **all: matmul(**all, activation="gelu"))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gradients_of_batches(kind: Any) -> None:
    check(drawn(kind, (5, 136, 72, 200), device="cuda"), "silu", lambda **all: matmul(**all, activation="silu"))


def test_gradients_in_float64() -> None:
    given = drawn(torch.float64, (20, 24, 16), device="cuda")

    def work(a: Any, b: Any, bias: Any, residual: Any) -> Any:
        return matmul(a, b, bias, "relu", residual=residual)

    assert torch.autograd.gradcheck(work, tuple(given.values()))


@pytest.mark.parametrize("name, activation", [("matmul", "relu"), ("matmul_keeping", "gelu")])
def test_torch_finds_nothing_wrong(name: str, activation: str) -> None:
    given = drawn(torch.float16, (64, 64, 64), device="cuda")
    torch.library.opcheck(getattr(torch.ops.ptxgen, name).default, (*given.values(), activation), {})


@pytest.mark.parametrize("mode", (None, "reduce-overhead"))
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_compiled_program_is_one_graph(kind: Any, mode: str | None) -> None:
    torch.compiler.reset()

    @torch.compile(fullgraph=True, mode=mode)
    def work(a: Any, b: Any, bias: Any, residual: Any) -> Any:
        return matmul(a, b, bias, "gelu", residual=residual)

    for _ in range(4):
        check(drawn(kind, (256, 384, 128), turned=(False, True), device="cuda"), "gelu", work)


def test_a_compiled_program_takes_any_size() -> None:
    torch.compiler.reset()
    work = torch.compile(lambda a, b: torch.relu(matmul(a, b) - 1), fullgraph=True, dynamic=True)
    for size in (72, 200, 333):
        a, b = (torch.randn(shape, device="cuda").half() for shape in ((size, 128), (128, size)))
        wanted = torch.relu(a.double() @ b.double() - 1)
        assert float((work(a, b).double() - wanted).abs().max()) < 5e-2


def test_a_graph_takes_a_step_with_its_gradients() -> None:
    """Also on a stream that no launch was prepared for before the capture."""
    given = drawn(torch.bfloat16, (256, 384, 128), device="cuda")
    leaves = list(given.values())

    def step() -> Any:
        result = matmul(given["a"], given["b"], given["bias"], "silu", residual=given["residual"])
        return result, torch.autograd.grad(result, leaves, torch.ones_like(result))

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result, gradients = step()
    for _ in range(3):
        with torch.no_grad():
            for leaf in leaves:
                leaf.copy_(torch.randn_like(leaf))
            for each in (result, *gradients):
                each.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        wanted, own = step()
        assert torch.equal(result, wanted)
        assert all(torch.equal(one, other) for one, other in zip(gradients, own, strict=True))


@pytest.mark.parametrize("compiled", (False, True))
def test_training_goes_down_like_torch_itself(compiled: bool) -> None:
    """Two layers fitted to a product: the loss after some steps is that of the same layers by torch."""
    torch.compiler.reset()

    def losses(first: Any, second: Any) -> list[float]:
        torch.manual_seed(0)
        x = torch.randn(512, 64, device="cuda").bfloat16()
        y = torch.randn(512, 32, device="cuda").bfloat16()
        shapes = ((128, 64), (128,), (32, 128), (32,))
        weights = [(torch.randn(shape, device="cuda") / 8).bfloat16().requires_grad_() for shape in shapes]
        found = []
        for _ in range(20):
            out = second(first(x, weights[0], weights[1]), weights[2], weights[3])
            loss = (out.float() - y.float()).square().mean()
            found.append(float(loss))
            with torch.no_grad():
                for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                    weight -= 0.2 * gradient
        return found

    ours: Any = lambda x, w, b: matmul(x, w.mT, b, "gelu")  # noqa: E731
    plain: Any = lambda x, w, b: matmul(x, w.mT, b)  # noqa: E731
    if compiled:
        ours, plain = (torch.compile(each, fullgraph=True) for each in (ours, plain))
    linear = torch.nn.functional.linear
    theirs = losses(lambda *all: torch.nn.functional.gelu(linear(*all), approximate="tanh"), linear)
    found = losses(ours, plain)
    assert found[-1] < 0.9 * found[0]
    assert max(abs(one - other) / other for one, other in zip(found, theirs, strict=True)) < 0.02
