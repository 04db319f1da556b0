"""A product with its gradients beside those that torch finds in float64, and how far rounding may take them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

ACTIVATIONS: dict[str | None, Callable[[Any], Any]] = {
    None: lambda x: x,
    "relu": torch.relu,
    "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}
SUM_LOSS = 2.0**-18


def drawn(
    kind: Any,
    sizes: tuple[int, ...],
    *,
    turned: tuple[bool, bool] = (False, False),
    residual: bool = True,
    device: str = "cpu",
) -> dict[str, Any]:
    """Leaves that want gradients, drawn from N(0, 1): sizes are M, N, K, ahead of them how many products; a and b where
    `turned` lie together along their last dimension but one."""
    *batch, m, n, k = sizes
    torch.manual_seed(sum(sizes))
    shapes = {"a": (*batch, m, k), "b": (*batch, k, n), "bias": (n,), "residual": (*batch, m, n)}
    found = {}
    for name, shape in shapes.items():
        turn = dict(zip("ab", turned, strict=True)).get(name, False)
        laid = (*shape[:-2], shape[-1], shape[-2]) if turn else shape
        tensor = torch.randn(laid, dtype=torch.float64).to(kind).to(device)
        found[name] = (tensor.mT if turn else tensor).requires_grad_()
    return found if residual else {name: each for name, each in found.items() if name != "residual"}


def check(given: dict[str, Any], activation: str | None, run: Callable[..., Any]) -> None:
    """The result of `run(**given)` and the gradients that it sends back are within rounding of float64's."""
    result = run(**given)
    sent = torch.randn(result.shape, dtype=torch.float64, device=result.device).to(result.dtype)
    found = torch.autograd.grad(result, list(given.values()), sent)
    exact = {name: each.detach().double().requires_grad_() for name, each in given.items()}
    before = exact["a"] @ exact["b"] + exact["bias"]
    wanted = ACTIVATIONS[activation](before) + exact.get("residual", 0)
    of_before, *gradients = torch.autograd.grad(wanted, [before, *exact.values()], sent.double())
    unit = torch.finfo(given["a"].dtype).eps / 2
    a, b, sums = exact["a"].detach().abs(), exact["b"].detach().abs(), before.detach().abs()
    loss = SUM_LOSS * (a @ b)
    slack = 4 * unit * (of_before.abs() + sent.double().abs() * (1 + sums)) + 2 * loss * sent.double().abs()
    rows = tuple(range(slack.dim() - 1))
    spread = {"a": slack @ b.mT, "b": a.mT @ slack, "bias": slack.sum(rows), "residual": unit * sent.double().abs()}
    near(result, wanted, 2 * unit * (wanted.abs() + sums) + 2 * loss)
    for (name, tensor), gradient, own in zip(given.items(), found, gradients, strict=True):
        assert (gradient.dtype, gradient.shape, gradient.device) == (tensor.dtype, tensor.shape, tensor.device), name
        near(gradient, own, spread[name] + 2 * unit * own.abs(), name)


def near(found: Any, wanted: Any, bound: Any, name: str = "result") -> None:
    excess = float(((found.detach().double() - wanted.detach()).abs() / (bound.detach() + 1e-30)).max())
    assert excess <= 1, f"{name} is {excess:.2f} times as far from float64 as rounding explains"
