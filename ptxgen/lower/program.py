"""From a tile program to a module with one kernel."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
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
from ptxgen.lower.alike import told_once
from ptxgen.lower.bases import pointer as global_pointer
from ptxgen.lower.caching import fetch_maps, prepare_policies
from ptxgen.lower.clusters import prepare_clusters
from ptxgen.lower.context import Context, RoleThreads, origin_of
from ptxgen.lower.initial import early_reads
from ptxgen.lower.nodes import lower_node
from ptxgen.lower.pool import SharedPool, pooled
from ptxgen.lower.proxies import APART, keeps_proxies_apart
from ptxgen.lower.rings import name_warpgroup, start_barriers, tells_warpgroups
from ptxgen.lower.segments import own_tile
from ptxgen.lower.streaming import told_of_items
from ptxgen.lower.tickets import take_ticket
from ptxgen.lower.unrolling import written_out
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
WARPGROUP_WARPS = 4
_POINTEES: dict[Element, Type] = {Element.F32: f32, Element.F64: f64, Element.S32: s32}


def lower(program: Program) -> ir.Module:
    """The module with the kernel `program.name`: parameters in launch order, blocks in one dimension, one thread block
    of 32 threads a warp.

    UnsupportedError names what no code here does. The result is verified; equal programs give equal modules.
    """
    program = told_once(written_out(program))
    module = Module(program.target)
    if keeps_proxies_apart(program):
        module.comment(APART, heading=True)
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
        first_warp, ticket = 0, None
        if program.rings or program.enter or program.grid.tickets:
            everybody = RoleThreads(0, program.warps, alone=True)
            with k.attributed(origin_of(_first(program))):
                start = Context(k, program, pool, shared, everybody)
                fetch_maps(start)
                if program.rings:
                    start_barriers(start)
                for node in program.enter:
                    lower_node(start, node)
                if program.grid.tickets:
                    ticket = take_ticket(start)
        for roles in by_warpgroups(program.roles):
            warps = sum(role.warps for role in roles)
            contexts = []
            for role in roles:
                threads = RoleThreads(first_warp, role.warps, len(program.roles) == 1)
                contexts.append(Context(k, program, pool, shared, threads, ticket))
                first_warp += role.warps
            _lower_roles(contexts, roles, warps, is_last=roles[-1] is program.roles[-1])
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


def by_warpgroups(roles: tuple[Role, ...]) -> tuple[tuple[Role, ...], ...]:
    """The roles in order, those together whose warps share a warpgroup. UnsupportedError where such roles want other
    registers each: a warpgroup changes its registers as one (PTX ISA, setmaxnreg)."""
    found: list[tuple[Role, ...]] = []
    first_warp = 0
    for role in roles:
        shares = found and first_warp % WARPGROUP_WARPS and any(r.registers is not None for r in (role, found[-1][-1]))
        if shares and role.registers != found[-1][-1].registers:
            raise UnsupportedError(
                f"the roles {found[-1][-1].name} and {role.name} share a warpgroup, which has one count of registers a "
                f"thread, not {found[-1][-1].registers} and {role.registers}"
            )
        found[-1:] = [(*found[-1], role)] if shares else [*found[-1:], (role,)]
        first_warp += role.warps
    return tuple(found)


def _lower_roles(contexts: list[Context], roles: tuple[Role, ...], warps: int, *, is_last: bool) -> None:
    """The code of roles that share their warpgroups, or of one alone, each for its warps. They end there: where several
    roles met again, assemblers would take the warps of the next one for divergent, and its products' descriptors from
    registers of each thread."""
    lines = [first_line(role.body) for role in roles]
    with_code = [(context, role, line) for context, role, line in zip(contexts, roles, lines, strict=True) if line]
    if not with_code:
        return
    context, role, line = with_code[0]
    with context.attributed(line):
        if context.threads.alone:
            _lower_body(context, role)
            return
        warp = context.k.shr.u32(context.k.tid.x, LANE_BITS)
        with context.k.when(_is_inside(contexts[0], warp, warps)), context.frame():
            if role.registers is not None:
                _change_registers(context, role)
            for own, each, at in with_code:
                with own.attributed(at):
                    _lower_role(own, each, warp, shares=len(with_code) > 1)
            if not is_last:
                context.k.ret()


def _lower_role(context: Context, role: Role, warp: Value, *, shares: bool) -> None:
    if role.elected:
        _lower_elected(context, role, warp)
    elif shares:
        with context.k.when(_is_inside(context, warp, role.warps)), context.frame():
            _lower_body(context, role)
    else:
        _lower_body(context, role)


def _is_inside(context: Context, warp: Value, warps: int) -> Value:
    found: Value = context.k.setp.lt.u32(context.k.sub.u32(warp, context.threads.first_warp), warps)
    return found


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
    if tells_warpgroups(role.body):
        name_warpgroup(context)
    with _told(context):
        lower_node(context, role.body)


def _told(context: Context) -> AbstractContextManager[None]:
    """Inside, what the grid tells a block: its tile, or which of its items it shares with others."""
    work_list = context.program.grid.work_list
    if work_list is None:
        return own_tile(context)
    return nullcontext() if work_list.slabs is None else told_of_items(context, work_list.slabs)


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
