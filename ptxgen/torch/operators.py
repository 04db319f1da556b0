"""The operators that torch is told of: what they take, what they give, and how they run on each device."""

from __future__ import annotations

from typing import Any

import torch

from ptxgen.errors import LaunchError
from ptxgen.kernels.calling.asked import SPOKEN, Wish, element_named, usual_result
from ptxgen.kernels.calling.call import matmul as call
from ptxgen.kernels.calling.call import on_host
from ptxgen.kernels.calling.libraries import library_of, torch_types

TYPES = {element.label: kind for element, kind in torch_types().items()}
LABELS = {kind: label for label, kind in TYPES.items()}
LIBRARY = torch.library.Library("ptxgen", "DEF")
TAKEN = (
    "(Tensor a, Tensor b, Tensor? bias=None, Tensor? residual=None, str? activation=None, *, ScalarType? dtype=None, "
    "str? input=None, str? accumulate=None, int? promote=None)"
)
PRODUCT, KEEPING = "ptxgen::matmul", "ptxgen::matmul_keeping"
LIBRARY.define(f"matmul{TAKEN} -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
LIBRARY.define(f"matmul_keeping{TAKEN} -> (Tensor, Tensor)", tags=(torch.Tag.pt2_compliant_tag,))
product, keeping = torch.ops.ptxgen.matmul.default, torch.ops.ptxgen.matmul_keeping.default


def on_gpu(
    a: Any,
    b: Any,
    bias: Any = None,
    residual: Any = None,
    activation: str | None = None,
    *,
    dtype: Any = None,
    kept: Any = None,
    **wishes: Any,
) -> Any:
    """`activation(a @ b + bias) + residual` by the plain call; `kept` is filled with what the activation is given."""
    return call(
        lying(a),
        lying(b),
        bias if bias is None else in_rows(bias),
        activation,
        residual=residual if residual is None else in_rows(residual),
        pre_activation=kept,
        output=dtype if dtype is None else label_of("dtype", dtype),
        **wishes,
    )


def on_cpu(
    a: Any,
    b: Any,
    bias: Any = None,
    residual: Any = None,
    activation: str | None = None,
    *,
    dtype: Any = None,
    kept: Any = None,
    **wishes: Any,
) -> Any:
    """The same of tensors in host memory, as the plain call does with arrays of numpy."""
    out = result_of(a, b, bias, residual, activation, dtype=dtype, **wishes)
    given = {"A": lying(a), "B": lying(b), "E": kept, "D": out}
    given |= {name: in_rows(array) for name, array in (("bias", bias), ("R", residual)) if array is not None}
    library = library_of("a", a)
    views = {name: library.view(SPOKEN[name], array) for name, array in given.items() if array is not None}
    on_host(views, Wish(activation, **wishes))
    return out


def checked(
    a: Any, b: Any, bias: Any = None, residual: Any = None, activation: str | None = None, **wishes: Any
) -> Any:
    """The result of tensors that are but shapes and types; RuntimeError, as torch has it, where they do not meet."""
    torch._check(a.dim() == b.dim() and a.dim() in (2, 3), lambda: f"a is {a.dim()}-D and b {b.dim()}-D: 2-D or 3-D")
    for one, other in zip((a.shape[-1], *a.shape[:-2]), (b.shape[-2], *b.shape[:-2]), strict=True):
        torch._check(one == other, lambda: f"a of {tuple(a.shape)} does not meet b of {tuple(b.shape)}")
    _check_shape("bias", bias, (b.shape[-1],))
    _check_shape("residual", residual, (*a.shape[:-1], b.shape[-1]))
    return result_of(a, b, bias, residual, activation, **wishes)


def _check_shape(name: str, given: Any, wanted: tuple[Any, ...]) -> None:
    if given is None:
        return
    found = tuple(given.shape)
    torch._check(len(found) == len(wanted), lambda: f"{name} must have the shape {wanted}, got {found}")
    for one, other in zip(found, wanted, strict=True):
        torch._check(one == other, lambda: f"{name} must have the shape {wanted}, got {found}")


def result_of(
    a: Any,
    b: Any,
    bias: Any = None,
    residual: Any = None,
    activation: str | None = None,
    *,
    dtype: Any = None,
    input: str | None = None,
    **wishes: Any,
) -> Any:
    """A tensor like the result, not filled."""
    if dtype is not None:
        label_of("dtype", dtype)
    else:
        followed = any(each is not None for each in (bias, residual, activation))
        multiplied = element_named("input", input or label_of("a", a.dtype))
        dtype = TYPES[usual_result(multiplied, followed=followed).label]
    return a.new_empty((*a.shape[:-1], b.shape[-1]), dtype=dtype)


def label_of(name: str, kind: Any) -> str:
    """What PTX calls a type of torch; LaunchError for one that it has no name for."""
    if kind not in LABELS:
        raise LaunchError(f"{name} must be of a type among {', '.join(map(str, LABELS))}, got {kind}")
    return LABELS[kind]


def lying(matrix: Any) -> Any:
    """A matrix whose rows or columns lie together and each apart from the others: itself, else a copy. Matrices of a
    batch may all be the same one. What has no rows is left to whoever refuses it."""
    if matrix.dim() < 2:
        return matrix
    *_, down, across = matrix.stride()
    return matrix if (across == 1 or down == 1) and 0 not in (down, across) else matrix.contiguous()


def in_rows(array: Any) -> Any:
    """An array whose last dimension lies together and whose elements are apart: itself, else a copy."""
    strides = array.stride()
    return array if not strides or (strides[-1] == 1 and 0 not in strides) else array.contiguous()


def _keeping(run: Any) -> Any:
    def keep(*given: Any, **wishes: Any) -> Any:
        kept = result_of(*given, **wishes)
        return run(*given, **wishes, kept=kept), kept

    return keep


def _two_results(*given: Any, **wishes: Any) -> Any:
    return checked(*given, **wishes), checked(*given, **wishes)


for _device, _run in (("CUDA", on_gpu), ("CPU", on_cpu)):
    torch.library.impl(PRODUCT, _device, _run, lib=LIBRARY)
    torch.library.impl(KEEPING, _device, _keeping(_run), lib=LIBRARY)
torch.library.register_fake(PRODUCT, checked, lib=LIBRARY)
torch.library.register_fake(KEEPING, _two_results, lib=LIBRARY)
