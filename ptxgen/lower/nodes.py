"""One function per node of the tile program."""

from __future__ import annotations

from typing import assert_never

from isa.types import f16x2
from ptxgen.build.immediates import half_bits
from ptxgen.compute import Element
from ptxgen.errors import UnsupportedError
from ptxgen.lower.boxes import lower_box_copy, lower_box_store
from ptxgen.lower.by_hand import write_by_hand
from ptxgen.lower.conditions import lower_when
from ptxgen.lower.context import Context
from ptxgen.lower.copies import lower_copy
from ptxgen.lower.groups import lower_commit, lower_retire
from ptxgen.lower.items import lower_advance, lower_counter, lower_items
from ptxgen.lower.loops import floor_quotient, lower_loop
from ptxgen.lower.maps import lower_map, lower_reduce
from ptxgen.lower.multiply import lower_multiply
from ptxgen.lower.passing import lower_acquire, lower_release
from ptxgen.lower.registers import constant_slot
from ptxgen.lower.rings import lower_arrive, lower_expect, lower_wait
from ptxgen.lower.transfers import lower_lane_copy, lower_matrix_copy
from ptxgen.lower.warpgroups import lower_warpgroup_multiply
from ptxgen.tile import (
    LANE_BITS,
    Acquire,
    Advance,
    Arrive,
    Carrier,
    ClusterArrive,
    ClusterWait,
    Commit,
    Copy,
    Counter,
    Expect,
    Fill,
    ForEachItem,
    GridRelease,
    GridWait,
    HandWritten,
    Let,
    Loop,
    Map,
    Meet,
    Multiply,
    Node,
    ProxyFence,
    Reduce,
    RegisterFence,
    Release,
    Retire,
    Sequence,
    Space,
    Wait,
    When,
)


def lower_node(context: Context, node: Node) -> None:
    """Writes the code of a node and of all below it."""
    match node:
        case Sequence(children):
            for child in children:
                lower_node(context, child)
        case Loop():
            lower_loop(context, node, lower_node)
        case Let():
            _lower_let(context, node)
        case When():
            lower_when(context, node, lower_node)
        case ForEachItem():
            lower_items(context, node, lower_node)
        case Counter():
            lower_counter(context, node, lower_node)
        case Advance():
            lower_advance(context, node)
        case Meet():
            _lower_meet(context, node)
        case Commit(kind):
            lower_commit(context, kind)
        case Retire(kind, pending, reads_only=reads_only):
            lower_retire(context, kind, pending, reads_only=reads_only)
        case Wait():
            lower_wait(context, node)
        case Arrive():
            lower_arrive(context, node)
        case Expect():
            lower_expect(context, node)
        case ClusterArrive():
            context.k.barrier.cluster.arrive.release.aligned()
        case ClusterWait():
            context.k.barrier.cluster.wait.acquire.aligned()
        case GridRelease():
            context.k.griddepcontrol.launch_dependents()
        case GridWait():
            context.k.griddepcontrol.wait()
        case Acquire():
            lower_acquire(context, node)
        case Release():
            lower_release(context, node)
        case RegisterFence():
            context.k.wgmma.fence.sync.aligned()
        case ProxyFence():
            context.k.function("fence.proxy.async.shared::cta")()
        case HandWritten():
            write_by_hand(context, node)
        case _:
            with context.attributed(node.line):
                _lower_leaf(context, node)


def _lower_leaf(context: Context, node: Copy | Fill | Multiply | Map | Reduce) -> None:
    match node:
        case Copy(carrier=Carrier.LANE_COPY | Carrier.MATRIX, masks=masks) if masks:
            raise UnsupportedError(
                f"{node.op}: {node.carrier.value} reaches no other block of a cluster, only loads do"
            )
        case Copy(carrier=Carrier.LANE_COPY):
            lower_lane_copy(context, node)
        case Copy(carrier=Carrier.TENSOR) if node.source.buffer.space is Space.SHARED:
            lower_box_store(context, node)
        case Copy(carrier=Carrier.TENSOR):
            lower_box_copy(context, node)
        case Copy(carrier=Carrier.MATRIX):
            lower_matrix_copy(context, node)
        case Copy():
            lower_copy(context, node)
        case Fill():
            _lower_fill(context, node)
        case Multiply():
            if node.row.warpgroup:
                lower_warpgroup_multiply(context, node)
            else:
                lower_multiply(context, node)
        case Map():
            lower_map(context, node)
        case Reduce():
            lower_reduce(context, node)
        case _:
            assert_never(node)


def _lower_let(context: Context, node: Let) -> None:
    value = context.resolved(node.value.numerator)
    if node.value.divisor != 1:
        value = context.expression(floor_quotient(context, value, node.value.divisor), node.variable)
    with context.bound(node.variable, value):
        lower_node(context, node.body)


def _lower_meet(context: Context, node: Meet) -> None:
    if context.threads.alone:
        context.k.bar.sync(node.barrier)
    else:
        context.k.bar.sync(node.barrier, context.threads.warps << LANE_BITS)


def _lower_fill(context: Context, node: Fill) -> None:
    buffer = node.destination.buffer
    for register in context.tiles.slot(buffer, constant_slot(node.destination, context.bindings)):
        context.k.function(f"mov.{register.type}")(_filling(buffer.element, node.value), into=register)


def _filling(element: Element, value: float) -> float | int:
    """What a register is filled with so that all its elements have a value."""
    match element:
        case Element.F32 | Element.F64:
            return float(value)
        case Element.F16:
            return half_bits(value, f16x2)
        case _ if value == 0 or element is Element.S32:
            return int(value)
        case _:
            raise UnsupportedError(f"registers of {element} are filled with zero, not with {value}")
