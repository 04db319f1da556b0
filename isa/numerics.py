"""How the tensor cores round: one record per target and matrix instruction.

The algorithm (one output element, one block of `block` products plus the accumulator): every term becomes an integer
truncated towards zero at `fraction_bits` below the largest exponent of the non-zero terms, the integers are added
exactly, the sum is normalised and rounded once. Longer K chains blocks in ascending k, rounding in between.
The records reproduce outputs recorded on eight GPUs.

What random outputs do not tell, asked of an sm_90 (`tests/device/test_tensor_core_questions.py`): a product with zero
has no exponent, whatever the other factor; there is no floor under the exponents; a zero result is positive, also where
a negative sum rounds to it; every NaN is the canonical one, and infinities of both signs, or zero times infinity, give
it; `wgmma` and `mma` of one type agree.

With a sparse A the products of the elements that it keeps stand in blocks as those of a dense A half as deep do, so the
record is that of the dense instruction with half the k (`tests/device/test_sparse_products.py` asks which products make
a block). The sparse fp8 `mma` of sm_90 is unpacked as the dense one is: SASS of ptxas.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from isa.targets import Target


class Rounding(Enum):
    """How the sum becomes an output."""

    TOWARDS_ZERO = "rz"
    TOWARDS_ZERO_13 = "rz to 13 fraction bits"
    NEAREST_EVEN = "rn"

    __hash__ = object.__hash__


@frozen
class Numerics:
    """`block` products are added at once (L), cut at `fraction_bits` (F) below the largest exponent.

    `f32` and `f16` are the rounding of an output of that type; None where the instruction has no such output.
    """

    block: int
    fraction_bits: int
    f32: Rounding
    f16: Rounding | None


class UnsettledNumerics(LookupError):
    """No record says how this target computes this instruction."""


_RZ, _RZ13, _RN = Rounding.TOWARDS_ZERO, Rounding.TOWARDS_ZERO_13, Rounding.NEAREST_EVEN
_HALVES, _BYTES, _TF32 = ("f16", "bf16"), ("e4m3", "e5m2"), ("tf32",)
_AMPERE, _HOPPER, _BLACKWELL = (80, 86, 87, 89), (90,), (100,)
_MMA, _WGMMA, _TCGEN05 = "mma", "wgmma", "tcgen05.mma"

# opcode, targets, shapes (none: any), input types, record
_RECORDS: tuple[tuple[str, tuple[int, ...], tuple[str, ...], tuple[str, ...], Numerics], ...] = (
    (_MMA, (70, 72), ("m8n8k4",), ("f16",), Numerics(4, 23, _RZ, _RN)),
    (_MMA, _AMPERE, ("m16n8k8", "m16n8k16"), _HALVES, Numerics(8, 24, _RZ, _RN)),
    (_MMA, _AMPERE, ("m16n8k4", "m16n8k8"), _TF32, Numerics(4, 24, _RZ, None)),
    (_MMA, (89,), ("m16n8k16", "m16n8k32"), _BYTES, Numerics(16, 13, _RZ13, _RN)),
    (_MMA, _HOPPER, ("m16n8k8", "m16n8k16"), _HALVES, Numerics(16, 25, _RZ, _RN)),
    (_MMA, _HOPPER, ("m16n8k4", "m16n8k8"), _TF32, Numerics(8, 25, _RZ, None)),
    (_WGMMA, _HOPPER, (), _HALVES, Numerics(16, 25, _RZ, _RN)),
    (_WGMMA, _HOPPER, (), _TF32, Numerics(8, 25, _RZ, None)),
    (_WGMMA, _HOPPER, (), _BYTES, Numerics(32, 13, _RZ13, _RN)),
    (_MMA, _BLACKWELL, ("m16n8k16",), _HALVES, Numerics(16, 25, _RZ, _RN)),
    (_TCGEN05, _BLACKWELL, (), _HALVES, Numerics(16, 25, _RZ, _RN)),
)  # fmt: skip

_UNSETTLED: tuple[tuple[str, tuple[int, ...], str, tuple[str, ...], str], ...] = (
    (_MMA, (75,), "", _HALVES, "sources disagree whether a block has 8 or 4 products"),
    (_MMA, _AMPERE + _HOPPER + _BLACKWELL, "m8n8k4", ("f16",), "ptxas replaces it by a routine of ordinary FMAs"),
    (_MMA, _HOPPER, "", _BYTES, "ptxas unpacks it to f16 products and adds C apart"),
)


def numerics(on: Target, opcode: str, shape: str, input_type: str) -> Numerics:
    """The record of `opcode` (`"mma"`, `"wgmma"`) with that shape and type of A on a target.

    UnsettledNumerics says why where there is none. f64 is a chain of FMAs in k order and integers are exact: they
    need no record.
    """
    for family, numbers, shapes, types, record in _RECORDS:
        if family == opcode and on.number in numbers and input_type in types and (not shapes or shape in shapes):
            return record
    for family, numbers, only, types, reason in _UNSETTLED:
        if family == opcode and on.number in numbers and input_type in types and only in ("", shape):
            raise UnsettledNumerics(f"{opcode} {shape} of {input_type} on {on.name}: {reason}")
    raise UnsettledNumerics(f"{opcode} {shape} of {input_type} on {on.name}: no recorded outputs")
