"""Flags in memory by which blocks pass the tiles of a workspace on."""

from __future__ import annotations

from polyhedral import Affine
from ptxgen.build import Value
from ptxgen.lower.bases import pointer
from ptxgen.lower.context import Context
from ptxgen.lower.groups import first_thread
from ptxgen.tile import Acquire, Release

FLAG_BYTES = 4


def flag(context: Context, flags: str, tile: Affine) -> Value:
    """The address of the flag of a tile."""
    place = context.resolved(tile * FLAG_BYTES)

    def start() -> Value:
        return context.wide.value(context.wide.add(pointer(context, flags), context.wide_integer(place)))

    return context.once(("flag", flags, place), start)


def lower_acquire(context: Context, node: Acquire) -> None:
    """The first thread reads the flag until it has the value (PTX ISA, ld.acquire): what its block does behind the
    next meeting sees what came before the release."""
    k, value = context.k, context.integer(context.resolved(node.value))
    where = flag(context, node.flags, node.tile)
    with k.when(first_thread(context)), context.frame(), k.loop() as tries:
        found = k.ld.acquire.gpu.global_.b32(where)
        tries.while_(k.setp.ne.s32(found, value))


def lower_release(context: Context, node: Release) -> None:
    """The first thread sets the flag (PTX ISA, st.release): it has met the role, so that all stores of the role are
    seen by who acquires."""
    k, value = context.k, context.integer(context.resolved(node.value))
    where = flag(context, node.flags, node.tile)
    with k.guard(first_thread(context)):
        k.st.release.gpu.global_.b32(where, value)
