"""From a tile program to a module with one kernel."""

from __future__ import annotations

from contextlib import nullcontext
from typing import assert_never

from isa.limits import limits
from isa.targets import target
from isa.tensor_maps import MAP_ALIGNMENT, MAP_BYTES
from isa.types import Type, b8, bits_type, f32, f64, s32, s64
from ptxgen import ir
from ptxgen.build import Kernel, Module, PointerType, Symbol, Value, pointer
from ptxgen.build.parameters import array
from ptxgen.compute import Element, SourceLine
from ptxgen.errors import UnsupportedError
from ptxgen.lower.bases import pointer as global_pointer
from ptxgen.lower.caching import fetch_maps, prepare_policies
from ptxgen.lower.clusters import prepare_clusters
from ptxgen.lower.context import Context, RoleThreads, origin_of
from ptxgen.lower.initial import early_reads
from ptxgen.lower.nodes import lower_node
from ptxgen.lower.pool import SharedPool, pooled
from ptxgen.lower.rings import start_barriers
from ptxgen.lower.segments import own_tile
from ptxgen.tile import (
    LANE_BITS,
    Counter,
    ForEachItem,
    Let,
    Loop,
    Node,
    Ordering,
    Parameter,
    ParameterKind,
    Program,
    Role,
    Sequence,
    When,
)

ALL_LANES = 0xFFFFFFFF
REGISTERS_OF_SM = 65536
_POINTEES: dict[Element, Type] = {Element.F32: f32, Element.F64: f64, Element.S32: s32}


def lower(program: Program) -> ir.Module:
    """The module with the kernel `program.name`: parameters in launch order, blocks in one dimension, one thread block
    of 32 threads a warp.

    UnsupportedError names what no code here does. The result is verified; equal programs give equal modules.
    """
    module = Module(program.target)
    wanted = {each.name: _parameter_type(each) for each in program.parameters}
    maps = {box.name: array(b8, MAP_BYTES, align=MAP_ALIGNMENT) for box in program.boxes}
    with module.kernel(program.name, **wanted, **maps) as k:
        k.reqntid(program.warps << LANE_BITS)
        if any(role.registers is not None for role in program.roles):
            k.minnctapersm(1)
        if program.grid.cluster > 1:
            k.directive("reqnctapercluster", program.grid.cluster, 1, 1)
        pool = pooled(program)
        shared = _shared(k, program, pool)
        first_warp = 0
        if program.rings or program.enter:
            everybody = RoleThreads(0, program.warps, alone=True)
            with k.attributed(origin_of(_first(program))):
                start = Context(k, program, pool, shared, everybody)
                fetch_maps(start)
                if program.rings:
                    start_barriers(start)
                for node in program.enter:
                    lower_node(start, node)
        for role in program.roles:
            threads = RoleThreads(first_warp, role.warps, len(program.roles) == 1)
            _lower_role(Context(k, program, pool, shared, threads), role, is_last=role is program.roles[-1])
            first_warp += role.warps
        lines = [line for role in program.roles for line in [first_line(role.body)] if line is not None]
        with k.attributed(origin_of(lines[0])) if lines else nullcontext():
            k.ret()
    return module.build()


def dynamic_shared_bytes(program: Program) -> int:
    """The shared bytes that the launch must give; 0 where the kernel declares its pool itself."""
    size = pooled(program).size_bytes
    return size if size > limits(target(program.target)).shared_static_bytes else 0


def _shared(k: Kernel, program: Program, pool: SharedPool) -> Symbol | None:
    if pool.size_bytes == 0:
        return None
    if dynamic_shared_bytes(program):
        return k.dynamic_shared(pool.align)
    return k.shared(b8, pool.size_bytes, align=pool.align)


def _parameter_type(parameter: Parameter) -> Type | PointerType:
    match parameter.kind:
        case ParameterKind.POINTER | ParameterKind.WORKSPACE:
            if parameter.element is None:
                raise UnsupportedError(f"pointer parameter {parameter.name} has no element type")
            pointee = _POINTEES.get(parameter.element, bits_type(parameter.element.bits))
            return pointer(pointee, align=max(parameter.alignment, parameter.element.byte_count))
        case ParameterKind.SIZE:
            return s32
        case ParameterKind.STRIDE:
            return s64
        case ParameterKind.SCALAR:
            return f32
        case _:
            assert_never(parameter.kind)


def _lower_role(context: Context, role: Role, *, is_last: bool) -> None:
    """The code of a role, for its warps alone. They end there: where several roles met again, assemblers would take the
    warps of the next one for divergent, and its products' descriptors from registers of each thread."""
    line = first_line(role.body)
    if line is None:
        return
    with context.attributed(line):
        if context.threads.alone:
            _lower_body(context, role)
            return
        warp = context.k.shr.u32(context.k.tid.x, LANE_BITS)
        first = context.threads.first_warp
        inside = context.k.setp.lt.u32(context.k.sub.u32(warp, first), context.threads.warps)
        with context.k.when(inside), context.frame():
            if role.registers is not None:
                _change_registers(context, role)
            if role.elected:
                _lower_elected(context, role, warp)
            else:
                _lower_body(context, role)
            if not is_last:
                context.k.ret()


def _lower_elected(context: Context, role: Role, warp: Value) -> None:
    with context.k.when(context.k.setp.eq.u32(warp, context.threads.first_warp)), context.frame():
        _, chosen = context.k.elect.sync(ALL_LANES)
        with context.k.when(chosen), context.frame():
            _lower_body(context, role)


def _change_registers(context: Context, role: Role) -> None:
    """Gives registers back, or takes some, for as long as the role runs (PTX ISA, setmaxnreg)."""
    start = REGISTERS_OF_SM // (context.program.warps << LANE_BITS) // 8 * 8
    assert role.registers is not None
    change = context.k.setmaxnreg.dec if role.registers < start else context.k.setmaxnreg.inc
    change.sync.aligned.u32(role.registers)


def _first(program: Program) -> SourceLine:
    return next(line for role in program.roles for line in [first_line(role.body)] if line is not None)


def _lower_body(context: Context, role: Role) -> None:
    for parameter in context.program.parameters:
        if parameter.kind in (ParameterKind.POINTER, ParameterKind.WORKSPACE):
            global_pointer(context, parameter.name)
    for (_, slot), buffer in early_reads(role.body).items():
        for register in context.tiles.slot(buffer, slot):
            context.k.function(f"mov.b{register.type.bits}")(0, into=register)
    prepare_clusters(context, role.body)
    prepare_policies(context, role.body)
    with nullcontext() if context.program.grid.work_list else own_tile(context):
        lower_node(context, role.body)


def first_line(node: Node) -> SourceLine | None:
    """The user's line of the first leaf below a node."""
    match node:
        case Sequence(children):
            return next((line for line in map(first_line, children) if line is not None), None)
        case Loop(body=body) | Let(body=body) | ForEachItem(body=body) | Counter(body=body):
            return first_line(body)
        case When(_, then, otherwise):
            return first_line(then) or (first_line(otherwise) if otherwise is not None else None)
        case Ordering():
            return None
        case _:
            return node.line
