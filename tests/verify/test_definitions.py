"""Reads before writes, judged by running every path of random programs with every value of the predicates."""

from hypothesis import given, settings
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
    accesses,
)
from ptxgen.verify.definitions import early_reads

REGISTERS = [Register(f"%r{index}", u32) for index in range(3)]
PREDICATES = [Register(f"%p{index}", pred) for index in range(2)]
ADD, MOV, BRA = resolve("add.u32")[0], resolve("mov.u32")[0], resolve("bra")[0]
SETP = resolve("setp.lt.u32")[0]
GUARDS = [None, *(Guard(p, negated) for p in PREDICATES for negated in (False, True))]


def function(statements: list[Statement]) -> Function:
    return Function(FunctionKind.ENTRY, "f", Linkage.VISIBLE, (), (), (), Scope(tuple(statements)))


@st.composite
def programs(draw: st.DrawFn) -> list[Statement]:
    """Predicates set first, then moves, sums, new predicates and branches forward, guarded or not."""
    made: list[Statement] = [Instruction(SETP, (p, Int(0), Int(1))) for p in PREDICATES]
    count = draw(st.integers(1, 4))
    for index in range(count):
        for _ in range(draw(st.integers(0, 3))):
            guard, register = draw(st.sampled_from(GUARDS)), draw(st.sampled_from(REGISTERS))
            kind = draw(st.sampled_from(["mov", "mov", "add", "setp"]))
            if kind == "mov":
                made.append(Instruction(MOV, (register, Int(1)), guard))
            elif kind == "add":
                made.append(Instruction(ADD, (register, draw(st.sampled_from(REGISTERS)), Int(1)), guard))
            else:
                made.append(Instruction(SETP, (draw(st.sampled_from(PREDICATES)), Int(0), Int(1)), guard))
        if draw(st.booleans()):
            target = LabelName(f"L{draw(st.integers(index, count - 1))}")
            made.append(Instruction(BRA, (target,), draw(st.sampled_from(GUARDS))))
        made.append(Label(LabelName(f"L{index}")))
    return made


def really_early(statements: list[Statement]) -> set[tuple[int, Register]]:
    """All reads of unwritten registers in any run, every `setp` giving either value; index into the statements."""
    places = {node.name: index for index, node in enumerate(statements) if isinstance(node, Label)}
    found: set[tuple[int, Register]] = set()
    seen = set()
    stack: list[tuple[int, frozenset[Register], tuple[tuple[Register, bool], ...]]] = [(0, frozenset(), ())]
    while stack:
        state = stack.pop()
        at, written, truths = state
        if state in seen or at == len(statements):
            continue
        seen.add(state)
        node = statements[at]
        if not isinstance(node, Instruction):
            stack.append((at + 1, written, truths))
            continue
        known = dict(truths)
        if node.guard is not None and known[node.guard.register] is node.guard.negated:
            stack.append((at + 1, written, truths))
            continue
        read, makes = accesses(node)
        found |= {(at, register) for register in read if register not in written}
        if node.form is BRA:
            stack.append((places[node.operands[0]], written, truths))  # type: ignore[index]
            continue
        for truth in (True, False) if node.form is SETP else (True,):
            after = {**known, makes[0]: truth} if node.form is SETP else known
            stack.append((at + 1, written | set(makes), tuple(sorted(after.items(), key=lambda each: each[0].name))))
    return found


@settings(max_examples=400)
@given(programs())
def test_no_early_read_is_missed(statements: list[Statement]) -> None:
    said = {read.register for read in early_reads(function(statements))}
    assert {register for _, register in really_early(statements)} <= said


def test_what_runs_show_is_what_is_said_where_one_guard_decides() -> None:
    p, r, s = PREDICATES[0], *REGISTERS[:2]
    setp = Instruction(SETP, (p, Int(0), Int(1)))
    write = [Instruction(MOV, (r, Int(1)), Guard(p, negated)) for negated in (False, True)]
    read = [Instruction(ADD, (s, r, Int(1)), guard) for guard in (None, Guard(p), Guard(p, True))]
    skip = [Instruction(BRA, (LabelName("L"),), Guard(p, negated)) for negated in (False, True)]
    plain = Instruction(MOV, (r, Int(1)))
    label = Label(LabelName("L"))
    bodies: list[list[Statement]] = [[setp, first, second] for first in (*write, plain) for second in read]
    bodies += [[setp, *write, second] for second in read]
    bodies += [[setp, branch, plain, label, second] for branch in skip for second in read]
    bodies += [[setp, first, setp, second] for first in write for second in read]
    for body in bodies:
        said = {read_.register for read_ in early_reads(function(body))}
        assert said == {register for _, register in really_early(body)}, [str(node) for node in body]


def test_a_register_of_a_loop_is_written_by_the_round_before() -> None:
    p, r, s = PREDICATES[0], *REGISTERS[:2]
    body: list[Statement] = [
        Instruction(SETP, (p, Int(0), Int(1))),
        Label(LabelName("top")),
        Instruction(ADD, (s, r, Int(1))),
        Instruction(MOV, (r, Int(1))),
        Instruction(BRA, (LabelName("top"),), Guard(p)),
    ]
    (early,) = early_reads(function(body))
    assert (early.register, early.instruction) == (r, body[2])
    assert not early_reads(function([Instruction(MOV, (r, Int(0))), *body]))
