"""Code for the registers that addresses start from, each computed once where it is first needed."""

from __future__ import annotations

from attrs import evolve

from polyhedral import Affine, const
from ptxgen.build import Value
from ptxgen.errors import InternalError
from ptxgen.lower.addresses import GlobalForm, RemainingForm, SharedForm
from ptxgen.lower.arithmetic import Number
from ptxgen.lower.context import Context
from ptxgen.lower.ranks import by_rank
from ptxgen.lower.threads import ThreadMap


def pointer(context: Context, array: str) -> Value:
    """The address of an array in the global window, s64."""

    def convert() -> Value:
        converted: Value = context.k.cvta.to.global_.u64(context.k.args[array])
        return converted

    return context.once(("pointer", array), convert)


def coordinate(context: Context, origin: Affine, threads: ThreadMap) -> Number:
    """The s32 coordinate `origin + threads`."""
    return context.once(
        ("coordinate", origin, threads),
        lambda: context.narrow.add(context.integer(origin), context.thread_value(threads)),
    )


def global_base(context: Context, form: GlobalForm) -> Value:
    """The address of a form, s64."""
    return context.once(form, lambda: _global_base(context, form))


def _global_base(context: Context, form: GlobalForm) -> Value:
    if form.displacement != const(0):
        base = global_base(context, evolve(form, displacement=const(0)))
        return context.wide.value(context.wide.add(base, context.wide_integer(form.displacement)))
    total: Number = pointer(context, form.array)
    for stride, origin, threads in zip(form.strides, form.origin, form.threads, strict=True):
        total = _advanced(context, total, coordinate(context, origin, threads), stride)
    return context.wide.value(total)


def _advanced(context: Context, total: Number, position: Number, stride: Affine) -> Number:
    if isinstance(position, int):
        return context.wide.add(total, context.wide_integer(stride * position))
    if stride.is_constant:
        moved: Value = context.k.mad.wide.s32(position, stride.constant, total)
        return moved if stride.constant else total
    wide = context.once(("widened", position.node), lambda: context.widened(position))
    return context.wide.multiply_add(wide, context.wide_integer(stride), total)


def pool_start(context: Context) -> Value:
    """The address of the shared pool, u32; InternalError where the program has none."""
    shared = context.shared
    if shared is None:
        raise InternalError("an address in shared memory of a program without shared memory")

    shared = context.shared
    if shared is None:
        raise InternalError(f"{context.program.name} has no shared memory to point into")

    def start() -> Value:
        moved: Value = context.k.mov.u32(shared)
        return moved

    return context.once(("pool",), start)


def shared_thread_base(context: Context, threads: ThreadMap) -> Value:
    """The start of the pool plus a thread's bytes."""
    return context.once(
        ("shared", threads),
        lambda: context.narrow.value(context.narrow.add(pool_start(context), context.thread_value(threads))),
    )


def shared_start(context: Context, form: SharedForm) -> Value:
    """The start of the pool plus a thread's bytes and the slice's, in the block that the form reaches."""
    own = shared_thread_base(context, form.threads)
    if not form.part.terms and not form.blocks:
        return own
    return context.once(("shared", form.threads, form.part, form.blocks), lambda: _far_start(context, form, own))


def _far_start(context: Context, form: SharedForm, own: Value) -> Value:
    start = context.narrow.value(context.narrow.add(own, context.integer(form.part)))
    if not form.blocks:
        return start
    far: Value = context.k.mapa.shared__cluster.u32(start, by_rank(context, form.blocks))
    return far


def shared_base(context: Context, form: SharedForm, slot: int) -> Value:
    """The address of a form `slot` tiles further; of the ring's first slot where the rank has no terms."""
    start = shared_start(context, form)
    if form.rank.is_constant:
        return start
    return context.once(("slot", form, slot), lambda: _slot_base(context, form, slot, start))


def _slot_base(context: Context, form: SharedForm, slot: int, threads: Value) -> Value:
    number = context.once(
        ("slot number", form.rank + slot, form.depth),
        lambda: context.narrow.remainder(context.integer(form.rank + slot), form.depth),
    )
    return context.narrow.value(context.narrow.multiply_add(number, form.slot_bytes, threads))


def remaining(context: Context, form: RemainingForm) -> Number:
    """The elements from a thread's coordinate to the array's end, s32."""
    return context.once(
        form,
        lambda: context.narrow.subtract(context.integer(form.extent), context.thread_value(form.threads)),
    )


def first_replica(context: Context, mask: int) -> Value:
    """Whether a thread is the first of those that differ only in the thread bits of `mask`."""

    def compare() -> Value:
        copies = context.k.and_.b32(context.thread_number(), mask)
        result: Value = context.k.setp.eq.s32(copies, 0)
        return result

    return context.once(("replica", mask), compare)
