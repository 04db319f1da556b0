"""What `verify` says of IR that no builder made, and what ptxas says of the same."""

import pytest

from isa.forms import resolve
from isa.targets import target, version
from isa.types import b8, b32, f32, pred, s32, u32, u64
from ptxgen.emit import emit
from ptxgen.errors import KernelError
from ptxgen.ir import (
    Address,
    Component,
    Directive,
    DirectiveKind,
    Float,
    Function,
    FunctionKind,
    Guard,
    Instruction,
    Int,
    Label,
    LabelName,
    Linkage,
    Module,
    Negated,
    Operand,
    Register,
    Registers,
    Scope,
    Sink,
    Space,
    Special,
    Statement,
    SymbolAddress,
    TensorCoordinate,
    Variable,
)
from ptxgen.parse import parse
from ptxgen.verify import verified, verify
from tests.oracles.ptxas import verdict

R, S, F, D, P = (
    Register("%r0", u32), Register("%s0", s32), Register("%f0", f32), Register("%rd0", u64), Register("%p0", pred)
)  # fmt: skip
DECLARED = tuple(Registers(each.type, each.name[:-1], 4) for each in (R, S, F, D, P))
WRITTEN = tuple(
    Instruction(resolve(f"mov.{name}")[0], (each, value))
    for name, each, value in (("u32", R, Int(0)), ("s32", S, Int(0)), ("f32", F, Float(0, f32)), ("u64", D, Int(0)))
) + (Instruction(resolve("setp.lt.u32")[0], (P, Int(0), Int(1))),)


def module(
    *statements: Statement,
    at: str = "6.4",
    on: str = "sm_70",
    directives: tuple[Directive, ...] = (),
    variables: tuple[Variable, ...] = (),
) -> Module:
    body = Scope((*DECLARED, *WRITTEN, *statements, Instruction(resolve("ret")[0], ())))
    function = Function(FunctionKind.ENTRY, "k", Linkage.VISIBLE, (), (), directives, body)
    return Module(version(at), target(on), 64, (*variables, function))


def instruction(name: str, *operands: Operand, guard: Guard | None = None) -> Instruction:
    return Instruction(resolve(name)[0], operands, guard)


GOOD = [
    instruction("add.u32", R, S, Int(1)),
    instruction("add.u32", R, R, Int(-(1 << 31))),
    instruction("add.u32", R, R, Int((1 << 32) - 1)),
    instruction("mov.u32", R, Special("tid.x")),
    instruction("mov.b32", R, Float(0, f32)),
    instruction("selp.f32", F, F, Float(0, f32), P),
    instruction("ld.global.v2.f32", (F, Sink()), Address(D, -8)),
    instruction("st.global.v2.f32", Address(D), (F, F)),
    instruction("setp.lt.u32", P, Register("%p1", pred), R, R),
    instruction("setp.lt.and.u32", P, R, R, Negated(P)),
    instruction("cvt.rn.f32.u32", F, R),
    instruction("ld.global.u8", R, Address(D)),
    instruction("add.u32", R, R, Int(1), guard=Guard(P, True)),
]
BAD = [
    ("type.mismatch", instruction("add.u32", R, F, Int(1))),
    ("type.mismatch", instruction("add.u32", F, R, Int(1))),
    ("type.mismatch", instruction("ld.global.v2.f32", (F, R), Address(D))),
    ("type.mismatch", instruction("ld.global.f32", F, Address(F))),
    ("operand.count", instruction("add.u32", R, R)),
    ("operand.kind", instruction("add.u32", R, Address(D), R)),
    ("operand.kind", instruction("add.u32", Int(1), R, R)),
    ("operand.kind", instruction("add.u32", R, R, (R, R))),
    ("operand.kind", instruction("bra", R)),
    ("vector.size", instruction("ld.global.v2.f32", (F, F, F), Address(D))),
    ("immediate.type", instruction("add.u32", R, R, Float(0, f32))),
    ("immediate.domain", instruction("bar.sync", Int(16))),
    ("target.unsupported", instruction("tanh.approx.f32", F, F)),
    ("target.unsupported", instruction("mov.u32", R, Special("cluster_ctarank"))),
    ("register.undeclared", instruction("mov.u32", Register("%r4", u32), Int(0))),
    ("register.undeclared", instruction("mov.u32", Register("%other", u32), Int(0))),
    ("symbol.unknown", instruction("mov.u64", D, SymbolAddress("nowhere"))),
    ("symbol.unknown", instruction("ld.global.f32", F, Address(SymbolAddress("nowhere")))),
    ("label.unknown", instruction("bra", LabelName("nowhere"))),
    ("label.scope", instruction("bra", LabelName("elsewhere", 7))),
    ("type.mismatch", instruction("add.u32", R, R, R, guard=Guard(R))),
    ("register.undeclared", instruction("mov.u32", Register("%f1", u32), Int(0))),
    ("immediate.type", instruction("add.f32", F, F, Int(1))),
    ("operand.kind", instruction("add.u32", R, R, Special("tid.x"))),
    ("operand.part", instruction("add.u32", R, Component(R, "b0"), R)),
    ("operand.part", instruction("vadd.s32.s32.u32", S, Component(S, "b7"), R)),
]
NEWER = [
    ("vector.size", instruction("cp.async.bulk.prefetch.tensor.2d.L2.global", TensorCoordinate(D, (R,)))),
    ("type.mismatch", instruction("cp.async.bulk.prefetch.tensor.1d.L2.global", TensorCoordinate(D, (F,)))),
    ("operand.kind", instruction("cp.async.bulk.prefetch.tensor.1d.L2.global", TensorCoordinate(D, (Negated(P),)))),
    ("operand.kind", instruction("mbarrier.arrive.shared::cluster.b64", D, Address(R))),
    ("operand.kind", instruction("mbarrier.inval.shared.b64", Address(R, 0, True))),
]


@pytest.mark.parametrize("good", GOOD, ids=str)
def test_what_verify_passes_ptxas_takes(good: Instruction) -> None:
    assert verify(module(good)) == ()
    judged = verdict(str(emit(module(good))), target("sm_70"))
    assert judged.ok, judged.messages


@pytest.mark.parametrize("code, bad", BAD, ids=[f"{code}: {bad}" for code, bad in BAD])
def test_what_verify_refuses_ptxas_refuses(code: str, bad: Instruction) -> None:
    (finding,) = verify(module(bad))
    assert finding.code == code
    assert not verdict(str(emit(module(bad))), target("sm_70")).ok


@pytest.mark.parametrize("code, bad", NEWER, ids=[f"{code}: {bad}" for code, bad in NEWER])
def test_what_verify_refuses_of_a_newer_target_ptxas_refuses(code: str, bad: Instruction) -> None:
    given = module(bad, at="8.0", on="sm_90")
    assert [finding.code for finding in verify(given) if finding.code != "mbarrier.init"] == [code]
    assert not verdict(str(emit(given)), target("sm_90")).ok


STRICTER = [
    ("immediate.range", instruction("add.u32", R, R, Int(1 << 32))),  # ptxas drops the high bits
    ("immediate.range", instruction("add.u32", R, R, Int(-(1 << 31) - 1))),
    ("register.undeclared", instruction("mov.u32", Register("%r01", u32), Int(0))),  # ptxas takes it for %r1
    ("operand.part", Instruction(resolve("vadd.s32.s32.u32")[1], (S, S, R, S))),  # the manual merges into a part
    ("target.unsupported", instruction("ld.global.u32", R, Address(D, 0, True))),  # ptxas has no version for the mark
]


@pytest.mark.parametrize("code, bad", STRICTER, ids=[code for code, _ in STRICTER])
def test_where_verify_is_stricter_than_ptxas_on_purpose(code: str, bad: Instruction) -> None:
    (finding,) = verify(module(bad))
    assert finding.code == code
    assert verdict(str(emit(module(bad))), target("sm_70")).ok


def test_all_findings_are_collected_and_raised_once() -> None:
    wrong = module(*(bad for _, bad in BAD))
    with pytest.raises(KernelError) as caught:
        verified(wrong)
    found = [finding.code for finding in caught.value.findings if finding.code != "flow.unreachable"]
    assert sorted(found) == sorted(code for code, _ in BAD)
    assert len(str(caught.value).splitlines()) == len(caught.value.findings)
    assert verified(module()) == module()


def test_another_target_than_the_modules_own() -> None:
    tanh = module(instruction("tanh.approx.f32", F, F), at="7.0", on="sm_75")
    assert verify(tanh) == ()
    (finding,) = verify(tanh, target="sm_70")
    assert "sm_75" in finding.message
    assert "PTX 7.0 for sm_70" in finding.message
    (finding,) = verify(module(at="6.0"), target="sm_75")
    assert finding.code == "target.unsupported"


def test_scopes_hide_labels_and_registers() -> None:
    inner = Scope(
        (
            Registers(f32, "%r", 1),
            Label(LabelName("a", 1)),
            instruction("mov.f32", Register("%r0", f32, 1), Float(0, f32)),
            instruction("setp.gt.f32", P, Register("%r0", f32, 1), Float(0, f32)),
            instruction("bra", LabelName("a", 1), guard=Guard(P)),
        )
    )
    assert verify(module(Label(LabelName("a")), inner)) == ()
    assert verdict(str(emit(module(Label(LabelName("a")), inner))), target("sm_70")).ok
    codes = [finding.code for finding in verify(module(inner, instruction("bra", LabelName("a", 1), guard=Guard(P))))]
    assert codes == ["label.scope"]
    twice = module(Label(LabelName("a")), Label(LabelName("a")))
    assert [finding.code for finding in verify(twice)] == ["label.duplicate"]


def test_budgets() -> None:
    def codes(given: Module) -> list[str]:
        return [finding.code for finding in verify(given)]

    def shared(count: int) -> Variable:
        return Variable("tile", b8, Space.SHARED, (count,))

    assert codes(module(variables=(shared(48 * 1024),))) == []
    assert codes(module(variables=(shared(48 * 1024 + 1),))) == ["shared.budget"]
    assert not verdict(str(emit(module(shared(48 * 1024 + 1)))), target("sm_70")).ok
    assert codes(module(directives=(Directive(DirectiveKind.MAXNTID, (1024, 2, 1)),))) == ["threads.budget"]
    assert codes(module(directives=(Directive(DirectiveKind.MINNCTAPERSM, (2,)),))) == ["directive.alone"]
    assert codes(module(shared(4), variables=(Variable("k", b32, Space.GLOBAL),))) == ["name.duplicate"]


WHOLE = {
    "label a is defined twice": module(Label(LabelName("a")), Label(LabelName("a"))),
    "k is defined twice": module(variables=(Variable("k", b32, Space.GLOBAL),)),
    "PTX 6.0 does not know sm_75, which exists since 6.3": module(at="6.0", on="sm_75"),
}


@pytest.mark.parametrize("words, wrong", WHOLE.items(), ids=list(WHOLE))
def test_what_is_wrong_with_a_whole_module(words: str, wrong: Module) -> None:
    (finding,) = verify(wrong)
    assert finding.message == words
    assert not verdict(str(emit(wrong)), target("sm_75")).ok


def test_a_pragma_of_the_module_has_no_line() -> None:
    text = '.version 6.4\n.target sm_70\n.address_size 64\n.pragma "unrol";\n.visible .entry k() { ret; }\n'
    (finding,) = verify(parse(text))
    assert (finding.code, finding.origin) == ("pragma.unknown", None)
    assert finding.message == '.pragma "unrol" cannot stand outside functions; "nounroll" can'
    assert not verdict(text, target("sm_70")).ok
    assert verify(parse(text.replace("unrol", "nounroll"))) == ()
    assert verdict(text.replace("unrol", "nounroll"), target("sm_70")).ok


def test_findings_come_in_the_order_of_the_lines() -> None:
    lines = ["add.u32 %r0, %r1, 1;", "shl.b32 %r0, %r0, 40;", "bra.uni L;", "add.u32 %r0, %r0, 1;", "L:"]
    head = ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n"
    found = verify(parse(head + "\n".join([*lines, "bar.warp.sync 0;", "ret;", "}", ""])))
    assert [finding.code for finding in found] == [
        "uninitialised.register", "shift.count", "flow.unreachable", "mask.empty",
    ]  # fmt: skip


def test_a_vector_register_is_read_and_written_whole() -> None:
    head = ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .v4 .f32 %v;\n.reg .u64 %rd;\n"
    lines = ["mov.u64 %rd, 0;", "ld.global.v4.f32 %v, [%rd];", "st.global.v4.f32 [%rd], %v;", "ret;", "}", ""]
    whole, early = head + "\n".join(lines), head + "\n".join([lines[0], *lines[2:]])
    assert verdict(whole, target("sm_70")).ok
    assert verify(parse(whole)) == ()
    assert [finding.code for finding in verify(parse(early))] == ["uninitialised.register"]


def said_of_nodes() -> list[str]:
    """The messages of all modules that are wrong here."""
    older = [module(bad) for _, bad in (*BAD, *STRICTER)]
    newer = [module(bad, at="8.0", on="sm_90") for _, bad in NEWER]
    pragma = parse('.version 6.4\n.target sm_70\n.pragma "unrol";\n')
    return [finding.message for given in (*older, *newer, *WHOLE.values(), pragma) for finding in verify(given)]
