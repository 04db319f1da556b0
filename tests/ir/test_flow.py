"""Blocks, dominators, loops and live registers, judged by walking paths of random programs."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isa.forms import resolve
from isa.types import pred, u32
from ptxgen.ir import (
    Function,
    FunctionKind,
    Guard,
    Instruction,
    Int,
    Label,
    LabelName,
    Linkage,
    Register,
    Scope,
    Statement,
    reads,
    writes,
)
from ptxgen.ir.flow import Flow, flow_of, immediate_dominators, natural_loops, reverse_post_order
from ptxgen.ir.liveness import liveness
from ptxgen.parse import parse

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
REGISTERS = [Register(f"%r{index}", u32) for index in range(4)]
PREDICATE = Register("%p0", pred)
ADD, BRA, RET = resolve("add.u32")[0], resolve("bra")[0], resolve("ret")[0]


CALLED = """.version 8.0
.target sm_80
.address_size 64
.func fatal .noreturn { trap; }
.func (.reg .u32 out) twice(.reg .u32 value) { add.u32 out, value, value; ret; }
.entry k(.param .u64 to)
{
    .reg .u32 %r<5>; .reg .u64 %rd<3>; .reg .pred p;
    ld.param.u64 %rd1, [to];
    mov.u64 %rd2, twice;
    mov.u32 %r1, %tid.x;
    setp.eq.u32 p, %r1, 0;
    call (%r2), twice, (%r1);
f: .calltargets twice;
    @p call (%r3), %rd2, (%r2), f;
    @!p call fatal;
    @p bra over;
    call fatal;
over:
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


def test_calls_stand_in_a_flow_and_read_and_write_their_registers() -> None:
    module = parse(CALLED)
    flow = flow_of(module.function("k"), endless={"fatal"})
    assert sorted(flow.calls) == [4, 5, 6, 8]
    assert [str(each) for each in flow.calls.values()] == [
        "call (%r2), twice, (%r1);", "@p call (%r3), %rd2, (%r2), f;", "@!p call fatal;", "call fatal;",
    ]  # fmt: skip
    names = [([each.name for each in reads(call)], [each.name for each in writes(call)])
             for call in (flow.instructions[index] for index in flow.calls)]  # fmt: skip
    assert names == [(["%r1"], ["%r2"]), (["%rd2", "%r2", "p"], ["%r3"]), (["p"], []), ([], [])]
    assert [block.successors for block in flow.blocks] == [(1,), (2, 3), (), ()]
    assert not flow.falls_off
    live = liveness(flow)
    assert {each.name for each in live.entering[0]} == {"%r3"}
    assert flow_of(module.function("k")).blocks[-2].successors == (2,)


def function(statements: list[Statement]) -> Function:
    return Function(FunctionKind.ENTRY, "f", Linkage.VISIBLE, (), (), (), Scope(tuple(statements)))


@st.composite
def programs(draw: st.DrawFn) -> Function:
    """Sums of a few registers and guarded or plain branches and returns among labels."""
    count = draw(st.integers(1, 5))
    statements: list[Statement] = []
    for index in range(count):
        statements.append(Label(LabelName(f"L{index}")))
        for _ in range(draw(st.integers(0, 2))):
            operands = [draw(st.sampled_from(REGISTERS)) for _ in range(3)]
            guard = draw(st.sampled_from([None, None, Guard(PREDICATE)]))
            statements.append(Instruction(ADD, tuple(operands), guard))
        guard = draw(st.sampled_from([None, Guard(PREDICATE), Guard(PREDICATE, True)]))
        kind = draw(st.sampled_from(["bra", "ret", "fall"]))
        if kind == "bra":
            target = LabelName(f"L{draw(st.integers(0, count - 1))}")
            statements.append(Instruction(BRA, (target,), guard))
        elif kind == "ret":
            statements.append(Instruction(RET, (), guard))
    return function(statements)


def successors_one_by_one(given: Function) -> list[set[int]]:
    """For each instruction those that may run next, read off the statements; the count of instructions is the end."""
    assert given.body is not None
    places: dict[LabelName, int] = {}
    instructions: list[Instruction] = []
    for statement in given.body.statements:
        if isinstance(statement, Label):
            places[statement.name] = len(instructions)
        elif isinstance(statement, Instruction):
            instructions.append(statement)
    found = []
    for index, instruction in enumerate(instructions):
        after = {index + 1} if instruction.form.opcode == "add" or instruction.guard else set()
        if instruction.form.opcode == "bra":
            after.add(places[instruction.operands[0]])  # type: ignore[index]
        found.append(after)
    return found


@UNHURRIED
@given(programs())
def test_blocks_have_the_edges_of_the_instructions(given: Function) -> None:
    flow = flow_of(given)
    expected = successors_one_by_one(given)
    starts = {block.start: index for index, block in enumerate(flow.blocks)}
    covered = [index for block in flow.blocks for index in range(block.start, block.stop)]
    assert covered == list(range(len(expected)))
    for index, block in enumerate(flow.blocks):
        for inner in range(block.start, block.stop - 1):
            assert expected[inner] == {inner + 1}
        after = expected[block.stop - 1]
        assert set(block.successors) == {starts[each] for each in after if each < len(expected)}
        assert (len(expected) in after) == (index in flow.falls_off)
        assert all(index in flow.blocks[each].predecessors for each in block.successors)
        assert all(flow.block_of(each) == index for each in range(block.start, block.stop))


def reachable(flow: Flow, without: int | None = None) -> set[int]:
    seen: set[int] = set()
    stack = [0] if flow.blocks and without != 0 else []
    while stack:
        block = stack.pop()
        if block not in seen and block != without:
            seen.add(block)
            stack.extend(flow.blocks[block].successors)
    return seen


@UNHURRIED
@given(programs())
def test_dominators_cut_every_path(given: Function) -> None:
    flow = flow_of(given)
    everything = reachable(flow)
    nearest = immediate_dominators(flow)
    assert set(reverse_post_order(flow)) == everything
    cut_by = {above: everything - reachable(flow, above) for above in everything}
    for block in everything - {0}:
        chain = set()
        above = nearest[block]
        while above is not None:
            chain.add(above)
            above = nearest[above]
        assert chain == {other for other in everything if other != block and block in cut_by[other]}


@UNHURRIED
@given(programs())
def test_natural_loops_are_entered_by_their_header_only(given: Function) -> None:
    flow = flow_of(given)
    everything = reachable(flow)
    for loop in natural_loops(flow):
        assert loop.header in loop.blocks
        for block in loop.blocks & everything - {loop.header}:
            assert set(flow.blocks[block].predecessors) & everything <= loop.blocks


@UNHURRIED
@given(programs())
def test_a_register_is_live_where_some_path_reads_it_first(given: Function) -> None:
    flow = flow_of(given)
    live = liveness(flow)
    after = successors_one_by_one(given)

    def read_first(start: int, register: Register) -> bool:
        stack, seen = [start], set()
        while stack:
            at = stack.pop()
            if at in seen or at == len(after):
                continue
            seen.add(at)
            instruction = flow.instructions[at]
            if register in reads(instruction):
                return True
            if register not in writes(instruction) or instruction.guard is not None:
                stack.extend(after[at])
        return False

    for index in reachable(flow):
        block = flow.blocks[index]
        for register in [*REGISTERS, PREDICATE]:
            assert (register in live.entering[index]) == read_first(block.start, register)
            expected = any(read_first(each, register) for each in after[block.stop - 1])
            assert (register in live.leaving[index]) == expected


def test_unknown_labels_are_told() -> None:
    flow = flow_of(function([Instruction(BRA, (LabelName("nowhere"),)), Instruction(ADD, (*REGISTERS[:2], Int(1)))]))
    assert flow.unknown == ((0, LabelName("nowhere")),)
    assert flow.falls_off == (1,)


def test_an_indirect_branch_goes_to_every_label_of_its_list() -> None:
    text = """.version 7.0
.target sm_80
.visible .entry k(.param .u32 n)
{
    .reg .u32 i, x;
    ld.param.u32 i, [n];
    list: .branchtargets first, second;
    brx.idx i, list;
    mov.u32 x, 0;
first:
    mov.u32 x, 1;
    ret;
second:
    mov.u32 x, 2;
    ret;
}
"""
    flow = flow_of(parse(text).function("k"))
    assert [block.successors for block in flow.blocks] == [(2, 3), (2,), (), ()]
