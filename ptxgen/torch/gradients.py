"""The product that torch programs call, and its gradients: two more products, in the layouts that they come to."""

from __future__ import annotations

from typing import Any

import torch

from ptxgen.errors import LaunchError
from ptxgen.torch.operators import KEEPING, LIBRARY, PRODUCT, keeping, product

DIFFERENTIABLE = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def matmul(
    a: Any,
    b: Any,
    bias: Any = None,
    activation: str | None = None,
    *,
    residual: Any = None,
    dtype: Any = None,
    input: str | None = None,
    accumulate: str | None = None,
    promote: int | None = None,
) -> Any:
    """`activation(a @ b + bias) + residual` of tensors, as `ptxgen.matmul` has it, for eager and compiled programs.

    The result is in `dtype`, a type of torch. Operands that lie together along neither dimension are copied first.
    Gradients go to a, b, bias and residual where a and b are f16, bf16, f64, or f32 multiplied as tf32: da = dz @ b.T
    and db = a.T @ dz are products of the same kind, dz rounded to the type of a, their sums in f32 (f64) whatever
    `accumulate` says of the product itself. Where dz needs what went into the activation, that is kept, in `dtype`;
    RELU without a residual needs the result alone. Tensors on the CPU run as arrays of numpy do. LaunchError for what
    does not fit, tensors of other types that want a gradient among them; under torch.compile RuntimeError for shapes.
    """
    for name, each in (("a", a), ("b", b), ("bias", bias), ("residual", residual)):
        if not isinstance(each, torch.Tensor) and (each is not None or name in ("a", "b")):
            raise LaunchError(f"{name} must be a tensor of torch, got {type(each).__name__}")
    if torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in (a, b, bias, residual)):
        _check_differentiable(a, b)
    wishes = {"dtype": dtype, "input": input, "accumulate": accumulate, "promote": promote}
    if activation is not None and _wants_more_than_the_result(a, b, bias, residual, activation):
        return keeping(a, b, bias, residual, activation, **wishes)[0]
    return product(a, b, bias, residual, activation, **wishes)


def _wants_more_than_the_result(a: Any, b: Any, bias: Any, residual: Any, activation: str) -> bool:
    if activation == "relu" and residual is None:
        return False
    return torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in (a, b, bias))


def _check_differentiable(*factors: Any) -> None:
    """LaunchError for a factor of a type that has no gradient."""
    for each in factors:
        if each.dtype not in DIFFERENTIABLE:
            known = ", ".join(map(str, DIFFERENTIABLE))
            raise LaunchError(f"a product of {each.dtype} has no gradient; those of {known} have")


def _remember(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    """Keeps the operands and what the activation's slope is asked of: what went into it, or RELU's result."""
    a, b, bias, residual, activation = inputs
    known = output[1] if isinstance(output, tuple) else output if activation == "relu" and residual is None else None
    ctx.save_for_backward(a, b, bias, known if activation is not None else None)
    ctx.activation, ctx.wishes = activation, dict(keyword_only_inputs)
    ctx.residual = None if residual is None else residual.dtype
    ctx.set_materialize_grads(False)


def _backward(ctx: Any, of_result: Any, of_kept: Any = None) -> tuple[Any, ...]:
    """The gradients of a, b, bias and residual; None for the activation."""
    a, b, bias, known = ctx.saved_tensors
    _check_differentiable(a, b)
    wanted = (*ctx.needs_input_grad, False, False, False)
    of_sum = _of_sum(ctx, a, b, bias, known, of_result)
    if of_kept is not None:
        of_sum = of_kept if of_sum is None else of_sum + of_kept
    of_residual = of_result.to(ctx.residual) if wanted[3] and of_result is not None else None
    if of_sum is None:
        return None, None, None, of_residual, None
    wishes = {name: ctx.wishes[name] for name in ("input", "promote")}
    factor = of_sum.to(a.dtype)
    return (
        product(factor, b.mT, dtype=a.dtype, **wishes) if wanted[0] else None,
        product(a.mT, factor, dtype=b.dtype, **wishes) if wanted[1] else None,
        _column_sum(of_sum, bias.dtype) if wanted[2] else None,
        of_residual,
        None,
    )


def _of_sum(ctx: Any, a: Any, b: Any, bias: Any, known: Any, of_result: Any) -> Any:
    """The gradient of what goes into the activation."""
    if of_result is None or ctx.activation is None:
        return of_result
    if known is None:
        known = product(a, b, bias, **ctx.wishes)
    match ctx.activation:
        case "relu":
            return torch.ops.aten.threshold_backward(of_result, known, 0)
        case "gelu":
            return torch.ops.aten.gelu_backward(of_result, known, approximate="tanh")
        case "silu":
            return torch.ops.aten.silu_backward(of_result, known)
        case unknown:
            raise LaunchError(f"activation {unknown!r} has no gradient")


def _column_sum(of_sum: Any, kind: Any) -> Any:
    """The sum over all but the last dimension, in f32 at least."""
    wide = torch.promote_types(of_sum.dtype, torch.float32)
    return of_sum.sum(tuple(range(of_sum.dim() - 1)), dtype=wide).to(kind)


for _name in (PRODUCT, KEEPING):
    torch.library.register_autograd(_name, _backward, setup_context=_remember, lib=LIBRARY)
