"""The operators of torch on the CPU, where they run in the simulator: judged by float64 and by torch's own checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ptxgen import LaunchError

torch = pytest.importorskip("torch")

from ptxgen.kernels.calling.libraries import library_of  # noqa: E402
from ptxgen.torch import matmul  # noqa: E402
from tests.torch.gradients import ACTIVATIONS, check, drawn  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")
LAYOUTS = ((False, False), (False, True), (True, False), (True, True))


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxgen.kernels.calling.call.device_count", lambda: 0)


# Type of the operands, wishes, type of the result, and its rounding.
FORWARD: list[tuple[str, dict[str, Any], str, float]] = [
    ("float16", {}, "float16", 2**-11),
    ("float16", {"dtype": torch.float32}, "float32", 2**-20),
    ("bfloat16", {}, "bfloat16", 2**-8),
    ("float32", {"input": "tf32"}, "float32", 2**-9),
    ("float64", {}, "float64", 2**-50),
    ("int8", {}, "int32", 0),
    ("float8_e4m3fn", {"promote": 32}, "float16", 2**-11),
    ("float8_e5m2", {"dtype": torch.bfloat16}, "bfloat16", 2**-8),
]


@pytest.mark.parametrize("kind, wishes, result, step", FORWARD, ids=str)
def test_types(kind: str, wishes: dict[str, Any], result: str, step: float) -> None:
    torch.manual_seed(1)
    a, b = ((8 * torch.randn(shape)).to(getattr(torch, kind)) for shape in ((24, 32), (40, 32)))
    found = matmul(a, b.mT, **wishes)
    exact = a.double() @ b.double().mT
    assert (found.dtype, tuple(found.shape)) == (getattr(torch, result), (24, 40))
    magnitude = a.double().abs() @ b.double().abs().mT
    assert bool(((found.double() - exact).abs() <= step * magnitude).all())


def test_operands_that_lie_together_nowhere_are_copied() -> None:
    a, b = torch.randn(16, 64).half()[:, ::2], torch.randn(32, 1).half().expand(32, 24)
    residual, bias = torch.randn(24, 16).half().mT, torch.randn(48).half()[::2]
    wanted = a.double() @ b.double() + bias + residual
    assert float((matmul(a, b, bias, residual=residual).double() - wanted).abs().max()) < 5e-2


@pytest.mark.parametrize("activation, residual", [(None, True), ("relu", False), ("relu", True), ("gelu", False)])
@pytest.mark.parametrize("kind", (torch.float16, torch.bfloat16), ids=str)
def test_gradients(kind: Any, activation: str | None, residual: bool) -> None:
    given = drawn(kind, (24, 40, 32), residual=residual)
    check(given, activation, lambda **all: matmul(**all, activation=activation))


@pytest.mark.parametrize("turned", LAYOUTS, ids=str)
def test_gradients_of_operands_that_lie_either_way(turned: tuple[bool, bool]) -> None:
    given = drawn(torch.float16, (24, 40, 16), turned=turned)
    check(given, "silu", lambda **all: matmul(**all, activation="silu"))


def test_gradients_of_batches() -> None:
    check(drawn(torch.bfloat16, (3, 16, 24, 16)), "gelu", lambda **all: matmul(**all, activation="gelu"))


@pytest.mark.parametrize("activation", ("relu", "gelu", "silu"))
def test_slopes_where_nothing_is_rounded_to_halves(activation: str) -> None:
    """One row, sums, bias and result in f32: the gradient of the bias is the slope."""
    a, b, bias = torch.randn(1, 16).half(), torch.randn(16, 64).half(), torch.randn(64, requires_grad=True)
    matmul(a, b, bias, activation, dtype=torch.float32).sum().backward()
    before = (a.double() @ b.double() + bias.detach()).requires_grad_()
    (wanted,) = torch.autograd.grad(ACTIVATIONS[activation](before).sum(), before)
    assert float((bias.grad - wanted[0]).abs().max()) < 1e-5


@pytest.mark.parametrize("activation", ("relu", "gelu"))
def test_the_operator_alone_makes_again_what_it_did_not_keep(activation: str) -> None:
    op = torch.ops.ptxgen.matmul.default
    given = drawn(torch.float16, (16, 24, 16))
    check(given, activation, lambda a, b, bias, residual: op(a, b, bias, residual, activation))


def test_parameters_and_tensors_are_of_one_library() -> None:
    assert library_of("a", torch.nn.Parameter(torch.ones(2))) is library_of("b", torch.ones(2))
    weight = torch.nn.Parameter(torch.randn(24, 16).half())
    matmul(torch.ones(8, 16).half(), weight.mT).sum().backward()
    assert torch.equal(weight.grad, torch.full((24, 16), 8.0).half())


def operators_of(work: Callable[[], Any]) -> list[str]:
    """The names of the operators that run."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as recorded:
        work()
    return [event.name for event in recorded.events()]


def test_the_products_of_the_gradients_are_ours_and_copy_nothing() -> None:
    given = drawn(torch.float16, (16, 24, 32))
    result = matmul(given["a"], given["b"])
    names = operators_of(lambda: torch.autograd.grad(result, [given["a"], given["b"]], torch.ones_like(result)))
    assert names.count("ptxgen::matmul") == 2
    assert not {"aten::mm", "aten::bmm", "aten::addmm", "aten::clone", "aten::copy_"} & set(names)


@pytest.mark.parametrize("activation", ("relu", "gelu"))
def test_no_product_is_made_again_for_a_slope(activation: str) -> None:
    given = drawn(torch.float16, (16, 24, 32))
    result = matmul(**given, activation=activation)
    names = operators_of(lambda: torch.autograd.grad(result, [given["a"], given["b"]], torch.ones_like(result)))
    assert names.count("ptxgen::matmul") == 2


def test_what_rounding_does_not_hide_is_right_to_the_second_derivative() -> None:
    """In float64, against differences of the results themselves."""
    given = drawn(torch.float64, (3, 4, 5))

    def work(a: Any, b: Any, bias: Any, residual: Any) -> Any:
        return matmul(a, b, bias, "relu", residual=residual)

    assert torch.autograd.gradcheck(work, tuple(given.values()), fast_mode=True)
    assert torch.autograd.gradgradcheck(work, tuple(given.values()), fast_mode=True)


def test_a_gradient_through_what_was_kept() -> None:
    given = drawn(torch.float64, (3, 4, 5), residual=False)

    def work(a: Any, b: Any, bias: Any) -> Any:
        result, kept = torch.ops.ptxgen.matmul_keeping.default(a, b, bias, None, "relu")
        return result + 3 * kept

    assert torch.autograd.gradcheck(work, tuple(given.values()), fast_mode=True)


CHECKED = [("matmul", True, "relu", {"dtype": torch.float32}), ("matmul", False, None, {}),
           ("matmul_keeping", True, "silu", {})]  # fmt: skip


@pytest.mark.parametrize("name, full, activation, wishes", CHECKED, ids=str)
def test_torch_finds_nothing_wrong(name: str, full: bool, activation: str | None, wishes: dict[str, Any]) -> None:
    a, b, bias, residual = drawn(torch.float16, (16, 16, 16)).values()
    op = getattr(torch.ops.ptxgen, name).default
    torch.library.opcheck(op, (a, b, *((bias, residual, activation) if full else ())), wishes)


def test_a_compiled_program_is_one_graph() -> None:
    @torch.compile(fullgraph=True, backend="aot_eager")
    def work(a: Any, b: Any, bias: Any, residual: Any) -> Any:
        return matmul(a, b, bias, "gelu", residual=residual)

    check(drawn(torch.bfloat16, (16, 24, 16), turned=(False, True)), "gelu", work)


def test_a_compiled_program_takes_any_size() -> None:
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    work = torch.compile(lambda a, b: matmul(a, b) * 2, fullgraph=True, dynamic=True, backend=backend)
    for size in (20, 24, 32):
        a, b = torch.randn(size, 16).half(), torch.randn(16, size).half()
        assert float((work(a, b).double() - 2 * (a.double() @ b.double())).abs().max()) < 5e-2
    assert len(graphs) == 1


def halves(*shape: int) -> Any:
    return torch.randn(shape).half()


REFUSED: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((halves(4, 8), halves(4, 8)), {}, r"b must have the shape \(8, 8\)"),
    ((halves(4, 8), halves(8, 4), None, "tanh"), {}, "activation must be one of relu, gelu, silu or None, got 'tanh'"),
    ((torch.randn(4, 8), torch.randn(8, 4)), {}, "a is f32, which tensor cores multiply as tf32"),
    ((halves(4, 8), halves(8, 4).bfloat16()), {}, "a by b, f16 by bf16: f16 is multiplied by f16"),
    ((halves(4, 8), halves(8, 4)), {"dtype": torch.complex64}, "dtype must be of a type among .*, got torch.complex64"),
    ((halves(4, 8).cfloat(), halves(8, 4).cfloat()), {}, "a must be of a type among .*, got torch.complex64"),
    ((halves(4, 8).numpy(), halves(8, 4)), {}, "a must be a tensor of torch, got ndarray"),
    ((halves(4, 8), None), {}, "b must be a tensor of torch, got NoneType"),
    ((halves(4, 8), halves(8, 4), 1.0), {}, "bias must be a tensor of torch, got float"),
    ((halves(4, 8), halves(8)), {}, r"a and b must both have two dimensions, or three, got shapes \(4, 8\) and \(8,\)"),
    ((halves(4), halves(4, 4)), {}, "a and b must both have two dimensions, or three"),
    ((halves(4, 8), halves(8, 4), halves()), {}, r"bias must have the shape \(4,\) beside .*, got \(\)"),
]


@pytest.mark.parametrize("given, wishes, wanted", REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_fit_is_refused(given: tuple[Any, ...], wishes: dict[str, Any], wanted: str) -> None:
    with pytest.raises(LaunchError, match=wanted):
        matmul(*given, **wishes)


def test_shapes_that_do_not_meet_are_refused_before_a_program_is_compiled() -> None:
    with pytest.raises(RuntimeError, match=r"a of \(4, 8\) does not meet b of \(4, 8\)"):
        matmul(halves(4, 8).to("meta"), halves(4, 8).to("meta"))


UNMET: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((halves(2, 4, 8), halves(3, 8, 4)), {}, r"a of \(2, 4, 8\) does not meet b of \(3, 8, 4\)"),
    ((halves(4, 8), halves(8, 4), halves(5)), {}, r"bias must have the shape \(4,\), got \(5,\)"),
    ((halves(4, 8), halves(8, 4)), {"residual": halves(4, 5)}, r"residual must have the shape \(4, 4\), got \(4, 5\)"),
    ((halves(4, 8), halves(8, 4)), {"residual": halves(4)}, r"residual must have the shape \(4, 4\), got \(4,\)"),
]


@pytest.mark.parametrize("given, wishes, wanted", UNMET, ids=range(len(UNMET)))
def test_no_shape_that_does_not_meet_is_compiled(given: Any, wishes: dict[str, Any], wanted: str) -> None:
    with pytest.raises(RuntimeError, match=wanted):
        matmul(*(each.to("meta") for each in given), **{name: each.to("meta") for name, each in wishes.items()})


@pytest.mark.parametrize("wanting", ("a", "bias", "residual"))
def test_bytes_have_no_gradient_which_is_told_before_anything_runs(wanting: str) -> None:
    a = torch.randn(16, 16).to(torch.float8_e4m3fn)
    given = {"a": a, "b": a.detach(), "bias": torch.randn(16), "residual": torch.randn(16, 16)}
    given[wanting].requires_grad_()

    def work() -> None:
        with pytest.raises(LaunchError, match=r"a product of torch.float8_e4m3fn has no gradient; those of torch.f"):
            matmul(**given, dtype=torch.float32)

    names = operators_of(work)
    assert "ptxgen::matmul" not in names
    with torch.no_grad():
        matmul(**given, dtype=torch.float32)


def test_one_matrix_for_all_of_a_batch_is_not_copied() -> None:
    a, b = halves(3, 16, 32).requires_grad_(), halves(32, 24).requires_grad_()
    names = operators_of(lambda: matmul(a, b.expand(3, 32, 24)))
    assert not {"aten::clone", "aten::copy_", "aten::contiguous"} & set(names)
    found = matmul(a, b.expand(3, 32, 24))
    assert float((found.double() - a.double() @ b.double()).detach().abs().max()) < 5e-2
    found.sum().backward()
    assert float((b.grad.double() - a.double().sum((0, 1))[:, None]).detach().abs().max()) < 5e-2


def test_gradients_are_summed_in_f32_whatever_the_product_is() -> None:
    """2048 and 1 are 2048 in f16: the gradient of b is a sum over rows, 16 of which have 1 together."""
    a = torch.full((1040, 16), 1 / 16).half()
    a[0] = 2048
    b = torch.zeros(16, 16).half().requires_grad_()
    matmul(a, b, accumulate="f16").sum().backward()
    assert torch.equal(b.grad, torch.full((16, 16), 2048 + 1039 / 16).half())
