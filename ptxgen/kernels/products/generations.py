"""Generations of tensor cores: the instruction for each type, and how it is fed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from attrs import frozen

from isa.forms import UnknownInstruction, resolve
from isa.targets import target as target_named
from ptxgen.compute import Element, f16, f32
from ptxgen.errors import PlanError
from ptxgen.plan import (
    By,
    MatrixInstruction,
    ld,
    ldmatrix,
    m8n8k4,
    m8n8k16,
    m16n8k8,
    m16n8k16,
    m16n8k32,
    wgmma,
)

KEEPING = (12,)
_INTEGERS = (Element.S8, Element.U8)
_BYTES = (Element.E4M3, Element.E5M2)
_CANDIDATES: dict[Element, tuple[Callable[..., MatrixInstruction], ...]] = {
    Element.F16: (m16n8k16, m16n8k8, m8n8k4),
    Element.BF16: (m16n8k16,),
    Element.TF32: (m16n8k8,),
    Element.F64: (m16n8k16, m8n8k4),
    **dict.fromkeys(_INTEGERS, (m16n8k32, m8n8k16)),
    **dict.fromkeys(_BYTES, (m16n8k32,)),
}


@frozen
class Generation:
    """The widest `instruction` of a warp; `fragments` loads its operands from shared memory where they lie together
    along k, or are of 16 bits; `past_registers`: `cp.async` fills shared memory."""

    instruction: MatrixInstruction
    fragments: By
    past_registers: bool

    @property
    def step(self) -> int:
        """The instruction's extent along k."""
        return self.instruction.k


@cache
def generation_of(
    target: str, input: Element = f16, accumulate: Element = f32, b_input: Element | None = None
) -> Generation:
    """The newest instruction that a target has for these types, and how it is fed; PlanError where it has none."""
    other = input if b_input is None else b_input
    for instruction in _of_warps(input, accumulate, other):
        if has(target, instruction):
            matrices = has_form(target, "ldmatrix.sync.aligned.m8n8.x4.shared.b16") and not instruction.orders
            loaded = ldmatrix(4) if matrices and input.bits <= 32 else ld(16)
            return Generation(instruction, loaded, has_form(target, "cp.async.cg.shared.global"))
    types = str(input) if other is input else f"{input} by {other}"
    *_, oldest = _of_warps(input, accumulate, other)
    needed = f"{oldest.name} needs {resolve(name_of(oldest)).availability}"
    raise PlanError(f"{target} has no tensor cores that multiply {types} into {accumulate}: {needed}")


def _of_warps(input: Element, accumulate: Element, other: Element) -> Iterator[MatrixInstruction]:
    if input not in _CANDIDATES:
        raise PlanError(f"no tensor core multiplies {input}; they do {', '.join(map(str, _CANDIDATES))}")
    for make in _CANDIDATES[input]:
        if other is input:
            yield make(accumulate, input)
        else:
            yield make(accumulate, input, other)


@cache
def warpgroup_product(
    target: str, columns: int, input: Element, accumulate: Element, b_input: Element | None = None
) -> MatrixInstruction | None:
    """The product of a warpgroup that a target has for these types; None where it has none."""
    if input is Element.F64:
        return None
    found = wgmma(columns, accumulate, input, b_input)
    return found if has(target, found) else None


def has(target: str, instruction: MatrixInstruction) -> bool:
    """Whether a target has a matrix instruction."""
    return has_form(target, name_of(instruction))


def name_of(instruction: MatrixInstruction) -> str:
    """The dotted name of a matrix instruction, operands in rows and columns."""
    types = f"{instruction.accumulate}.{instruction.input}.{instruction.b_input}"
    if instruction.warpgroup:
        return f"wgmma.mma_async.sync.aligned.{instruction.name}.{types}"
    return f"mma.sync.aligned.{instruction.name}.row.col.{types}.{instruction.accumulate}"


def has_form(target: str, name: str) -> bool:
    """Whether a target has an instruction, by its dotted name."""
    try:
        return resolve(name).availability.least_version(target_named(target)) is not None
    except UnknownInstruction:
        return False


@cache
def has_warpgroups(target: str) -> bool:
    """Whether a target has products of warpgroups, which read what tensor copies bring."""
    return warpgroup_product(target, 128, f16, f32) is not None


@cache
def copies_tensors(target: str) -> bool:
    """Whether a target copies boxes of tensors into shared memory."""
    return has_form(target, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes")


@cache
def moves_registers(target: str) -> bool:
    """Whether warps of a target give registers to others of their block. ptxas 13.5 lets no thread of sm_12x have more
    than a launch gives it, though it takes the instruction."""
    return has_form(target, "setmaxnreg.inc.sync.aligned.u32") and target_named(target).number // 10 not in KEEPING


@cache
def has_overlapping_launches(target: str) -> bool:
    """Whether a kernel of a target may begin before those ahead of it have ended."""
    return has_form(target, "griddepcontrol.wait")
