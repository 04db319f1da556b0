"""Whole statements as text: k.ptx and Module.ptx."""

import inspect
from typing import Any

import pytest

from isa.types import b32, f32, pred, s32, u32
from ptxgen.build import Module, pointer, sink
from ptxgen.emit import emit
from ptxgen.errors import KernelError
from ptxgen.ir import Function, Instruction, LabelName, Register, Scope
from tests.oracles.ptxas import verdict


def body_of(module: Module) -> list[Any]:
    (function,) = [item for item in module.build(checked=False).items if isinstance(item, Function)]
    assert function.body is not None
    return list(function.body.statements)


def instructions_of(module: Module) -> list[str]:
    return [str(node) for node in body_of(module) if isinstance(node, Instruction)]


def test_handles_of_every_sort_stand_in_a_text() -> None:
    module = Module("sm_80")
    with module.kernel("k", x=pointer(f32), n=u32) as k:
        tile = k.shared(f32, 32, name="tile")
        a, p, v = k.register(f32, 0.0), k.register(pred, True), (k.register(f32, 1.0), k.register(f32, 2.0))
        done = k.label("done")
        k.ptx("fma.rn.f32 {a}, {a}, 0.5, {half};", a=a, half=-0.25)
        k.ptx("@{p} ld.global.v2.f32 {v}, [{place}];  // a pair", p=p, v=v, place=k.args.x + 8)
        k.ptx("@!{p} st.shared.f32 [{tile}+{byte}], {a}; selp.u32 {n}, {seven}, 8, {p};",
              p=p, tile=tile, byte=4, a=a, seven=7, n=k.args.n)  # fmt: skip
        k.ptx("ld.global.v2.f32 {{w}, _}, [{x}]; mov.u64 {clock}, %clock64;", w=a, x=k.args.x, clock=k.args.x)
        k.ptx("@{p} bra {done};", p=p, done=done)
        done.place()
    texts = instructions_of(module)
    assert "fma.rn.f32 %f0, %f0, 0f3F000000, 0fBE800000;" in texts
    assert "@%p0 ld.global.v2.f32 {%f1, %f2}, [%ud0+8];" in texts
    assert "@!%p0 st.shared.f32 [tile+4], %f0;" in texts
    assert "selp.u32 %u0, 7, 8, %p0;" in texts
    assert "ld.global.v2.f32 {%f0, _}, [%ud0];" in texts
    assert "@%p0 bra done;" in texts
    assert "  // a pair" in str(emit(module.build(checked=False)))
    judged = verdict(str(emit(module.build(checked=False))), module.target)
    assert judged.ok, judged.messages


def test_what_a_text_declares_later_texts_know_in_its_scope() -> None:
    module = Module("sm_80")
    with module.kernel("k") as k:
        k.ptx(".reg .u32 x; mov.u32 x, 1;")
        with k.scope():
            k.ptx(".reg .f32 x; mov.f32 x, 1.0; { .reg .b16 x; mov.b16 x, 2; }")
            k.ptx("add.f32 x, x, x;")
        k.ptx("add.u32 x, x, x; inner: bra inner;")
    scopes = [node for node in body_of(module) if isinstance(node, Scope)]
    assert [str(node) for node in scopes[0].statements if isinstance(node, Instruction)][1] == "add.f32 x, x, x;"
    added = scopes[0].statements[-1]
    assert isinstance(added, Instruction)
    assert added.operands[0] == Register("x", f32, 1)
    innermost = scopes[0].statements[2]
    assert isinstance(innermost, Scope)
    assert isinstance(innermost.statements[1], Instruction)
    assert innermost.statements[1].operands[0].scope == 2  # type: ignore[union-attr]
    last = [node for node in body_of(module) if isinstance(node, Instruction)]
    assert last[1].operands[0] == Register("x", u32)
    assert last[2].operands == (LabelName("inner"),)
    module.build()


def test_registers_and_symbols_by_name() -> None:
    module = Module("sm_80")
    module.ptx(".global .align 4 .f32 table[8];")
    with module.kernel("k", n=u32) as k:
        r = k.registers(b32, "%mine", 4)
        single = k.registers(s32, "one")
        k.ptx(".shared .f32 tile[4];")
        k.ld.param.u32(k.symbol("n"), into=r[0])
        k.add.u32(r[0], 1, into=r[3])
        k.mov.s32(5, into=single)
        k.ld.global_.b32(k.symbol("table") + 4, into=r[1])
        k.st.shared.b32(k.symbol("tile"), r[3])
        k.ptx("add.s32 one, one, %mine2;")
        k.ptx("mov.u32 {a}, {b};", a=r[2], b=3)
    text = str(emit(module.build(checked=False)))
    for line in (".reg .b32 %mine<4>;", "ld.param.u32 %mine0, [n];", "ld.global.b32 %mine1, [table+4];"):
        assert line in text
    assert len(r) == 4


def test_functions_and_calls() -> None:
    module = Module("sm_80")
    module.ptx(".extern .func (.param .b32 r) outside (.param .b32 a);")
    with module.function("twice", returns={"result": u32}, a=u32) as f:
        x = f.ld.param.u32(f.symbol("a"))
        f.st.param.b32(f.symbol("result"), f.add.u32(x, x))
    with module.kernel("k", y=pointer(u32)) as k:
        v = k.register(u32, 4)
        k.ptx("""{
            .param .b32 given; .param .b32 back;
            st.param.b32 [given], {v};
            call.uni (back), twice, (given);
            ld.param.b32 {v}, [back];
        }""", v=v)  # fmt: skip
        k.st.global_.u32(k.args.y, v)
    text = str(emit(module.build()))
    assert ".func (.param .u32 result) twice(" in text
    assert "call.uni (back), twice, (given);" in text
    assert verdict(text.replace(".extern .func (.param .b32 r) outside(\n    .param .b32 a\n);", ""), module.target).ok


def wrong(kind: str, k: Any, other: Any) -> None:
    a, p = k.register(u32, 1), k.register(pred, True)
    match kind:
        case "type":
            k.ptx("add.f32 {a}, {a}, {a};", a=a)
        case "name":
            k.ptx("add.u33 {a}, {a}, {a};", a=a)
        case "syntax":
            k.ptx("add.u32 {a} {a};", a=a)
        case "target":
            k.ptx("tanh.approx.f32 {f}, {f};", f=k.register(f32, 0.0))
        case "foreign":
            k.ptx("add.u32 {a}, {b}, 1;", a=a, b=other)
        case "object":
            k.ptx("add.u32 {a}, {b}, 1;", a=a, b=object())
        case "undeclared":
            k.ptx("add.u32 {a}, %r9, 1;", a=a)
        case "guard":
            with k.guard(p):
                k.ptx("mov.u32 {a}, 1;", a=a)
        case "range":
            k.registers(u32, "%mine", 2)[2]
        case "twice":
            k.registers(u32, "mine")
            k.registers(u32, "mine")
        case "symbol":
            k.symbol("nothing")
        case "sink":
            k.ptx("add.u32 {a}, {b}, 1;", a=a, b=sink)


WRONG = [
    ("type", "type.mismatch", "operand d wants"),
    ("name", "instruction.unknown", "k.ptx: line 1, column 1: add.u33: 'u33' cannot stand there"),
    ("syntax", "ptx.syntax", "wanted ',' or ';'"),
    ("target", "target.unsupported", "tanh.approx.f32 exists since"),
    ("foreign", "register.foreign", "belongs to kernel other"),
    ("object", "operand.kind", "k.ptx takes registers"),
    ("undeclared", "register.undeclared", "register %r9 is not declared here"),
    ("guard", "guard.flow", "write the guard into the text"),
    ("range", "register.number", "have the numbers 0 to 1, not 2"),
    ("twice", "name.duplicate", "already declared in this scope"),
    ("symbol", "symbol.unknown", "nothing is not declared here"),
    ("sink", "operand.kind", "operand a wants"),
]


@pytest.mark.parametrize("kind, code, words", WRONG, ids=[kind for kind, *_ in WRONG])
def test_mistakes_are_told_on_the_users_line(kind: str, code: str, words: str) -> None:
    module = Module("sm_70")
    with module.kernel("other") as other, module.kernel("k") as k, pytest.raises(KernelError) as caught:
        wrong(kind, k, other.register(u32, 1))
    finding = caught.value.findings[0]
    assert finding.code == code
    assert words in finding.message
    assert finding.origin is not None
    lines, first = inspect.getsourcelines(wrong)
    assert "k." in lines[finding.origin.line - first]
