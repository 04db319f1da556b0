"""Each construct of PTX: what it becomes, that it prints and reads back, and that ptxas takes it too."""

from typing import Any

import pytest
from attrs import evolve

from isa.targets import target
from isa.types import b8, b16, b32, b64, f32, f64, pred, u8, u32
from ptxgen.emit import emit
from ptxgen.errors import Severity
from ptxgen.ir import (
    Address,
    Alias,
    Attribute,
    AttributeKind,
    BranchTargets,
    Call,
    CallTargets,
    Comment,
    Component,
    Constant,
    DebugData,
    DebugLabel,
    DebugSection,
    Difference,
    Directive,
    DirectiveKind,
    DwarfLine,
    Fields,
    File,
    Float,
    Function,
    FunctionKind,
    GenericAddress,
    Guard,
    Instruction,
    Int,
    Label,
    LabelName,
    Linkage,
    Loc,
    MaskedAddress,
    Minus,
    Module,
    Negated,
    Origin,
    Parameter,
    PointerFacts,
    Position,
    Pragma,
    Prototype,
    Register,
    Registers,
    Scope,
    Sink,
    Space,
    Special,
    SymbolAddress,
    TargetOption,
    TensorCoordinate,
    Variable,
    VectorRegister,
)
from ptxgen.parse import parse
from ptxgen.verify import verify
from tests.oracles.ptxas import NEW, OLD, verdict
from tests.parse.programs import FIRST_LINE, around, statements

R1, R2, R3, R4 = (Register(f"%r{number}", b32) for number in (1, 2, 3, 4))
RD1, F1, P, Q = Register("%rd1", b64), Register("%f1", f32), Register("p", pred), Register("q", pred)
QUAD, PAIR = VectorRegister("quad", f32, 0, 4), VectorRegister("pair", f32, 0, 2)

OPERANDS: list[tuple[str, list[Any]]] = [
    ("add.u32 %r1, %r2, 7;", [R1, R2, Int(7)]),
    ("add.u32 %r1,%r2,-7 ;", [R1, R2, Int(-7)]),
    ("mov.u32 %r1, 0x1F;", [R1, Int(31)]),
    ("mov.u32 %r1, 0b101;", [R1, Int(5)]),
    ("mov.u32 %r1, 017;", [R1, Int(15)]),
    ("mov.u32 %r1, 42U;", [R1, Int(42)]),
    ("mov.u32 %r1, WARP_SZ;", [R1, Int(32, Constant.WARP_SZ)]),
    ("mov.u32 %r1, WARP_SZ+0;", [R1, Int(32)]),
    ("mov.f32 %f1, 0f3F800000;", [F1, Float(0x3F800000, f32)]),
    ("mov.f32 %f1, 1.5;", [F1, Float(0x3FC00000, f32)]),
    ("mov.f32 %f1, -1.5e0;", [F1, Float(0xBFC00000, f32)]),
    ("mov.f32 %f1, 0.1;", [F1, Float(0x3DCCCCCD, f32)]),
    ("mov.f64 %fd1, 0.5;", [Register("%fd1", f64), Float(0x3FE0000000000000, f64)]),
    ("mov.f64 %fd1, 0d3FF0000000000000;", [Register("%fd1", f64), Float(0x3FF0000000000000, f64)]),
    ("mov.b32 %r1, 0f3F800000;", [R1, Float(0x3F800000, f32)]),
    ("mov.f64 %fd1, 0f3F800000;", [Register("%fd1", f64), Float(0x3F800000, f32)]),
    ("mov.f32 %f1, 0d3FF0000000000000;", [F1, Float(0x3FF0000000000000, f64)]),
    ("mov.u32 %r1, %tid.x;", [R1, Special("tid.x")]),
    ("mov.u64 %rd1, table;", [RD1, SymbolAddress("table")]),
    ("mov.u64 %rd1, table+8;", [RD1, SymbolAddress("table", 8)]),
    ("mov.u64 %rd1, table+-8;", [RD1, SymbolAddress("table", -8)]),
    ("mov.u64 %rd1, plain;", [RD1, SymbolAddress("plain")]),
    ("ld.global.u32 %r1, [%rd1];", [R1, Address(RD1)]),
    ("ld.global.u32 %r1, [%rd1+16];", [R1, Address(RD1, 16)]),
    ("ld.global.u32 %r1, [%rd1 + 0x10];", [R1, Address(RD1, 16)]),
    ("ld.global.u32 %r1, [%rd1+-4];", [R1, Address(RD1, -4)]),
    ("ld.global.u32 %r1, [table+4*3];", [R1, Address(SymbolAddress("table"), 12)]),
    ("ld.shared.u32 %r1, [tile];", [R1, Address(SymbolAddress("tile"))]),
    ("ld.local.u32 %r1, [64];", [R1, Address(Int(64))]),
    ("ld.param.u64 %rd1, [n];", [RD1, Address(SymbolAddress("n"))]),
    ("ld.global.v4.b32 {%r1, _, %r3, %r4}, [%rd1];", [(R1, Sink(), R3, R4), Address(RD1)]),
    ("ld.global.nc.u32 %r1, [%rd1].unified;", [R1, Address(RD1, 0, True)]),
    ("st.global.v2.u32 [%rd1], {%r1, 5};", [Address(RD1), (R1, Int(5))]),
    ("mov.b64 {%r1, %r2}, %rd1;", [(R1, R2), RD1]),
    ("mov.f32 %f1, quad.y;", [F1, Component(QUAD, "y")]),
    ("ld.global.v4.f32 quad, [%rd1];", [QUAD, Address(RD1)]),
    ("mov.b64 %rd1, pair;", [RD1, PAIR]),
    ("mov.b64 pair, %rd1;", [PAIR, RD1]),
    ("mov.f32 %f1, pairs2.x;", [F1, Component(VectorRegister("pairs2", f32, 0, 2), "x")]),
    ("mov.b64 {pair.x, pair.y}, %rd1;", [(Component(PAIR, "x"), Component(PAIR, "y")), RD1]),
    ("cvt.rn.satfinite.e2m1x2.f32 byte, %f1, %f1;", [Register("byte", b8), F1, F1]),
    ("setp.lt.and.s32 p|q, %r1, %r2, !p;", [P, Q, R1, R2, Negated(P)]),
    ("setp.lt.s32 p | q, %r1, %r2;", [P, Q, R1, R2]),
    ("shfl.sync.bfly.b32 %r1|p, %r2, 1, 31, -1;", [R1, P, R2, Int(1), Int(31), Int(-1)]),
    ("vadd.u32.u32.u32 %r1, %r2.b1, %r3.h0;", [R1, Component(R2, "b1"), Component(R3, "h0")]),
    ("vmad.s32.s32.s32 %r1, %r2.h0, %r3.h1, -%r4;", [R1, Component(R2, "h0"), Component(R3, "h1"), Minus(R4)]),
    ("tex.2d.v4.f32.f32 {%f1, %f1, %f1, %f1}, [picture, taken, {%f1, %f1}];",
     [(F1,) * 4, TensorCoordinate(SymbolAddress("picture"), (F1, F1), SymbolAddress("taken"))]),
    ("tex.2d.v4.f32.f32 quad, [picture, taken, pair];",
     [QUAD, TensorCoordinate(SymbolAddress("picture"), (PAIR,), SymbolAddress("taken"))]),
    ("txq.width.b32 %r1, [%rd1];", [R1, Address(RD1)]),
    ("cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r1, 7}];", [TensorCoordinate(RD1, (R1, Int(7)))]),
    ("suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];", [R1, TensorCoordinate(RD1, (R2,))]),
    ("bar.sync 0;", [Int(0)]),
    ("ret;", []),
    ("bra OVER; OVER:", [LabelName("OVER")]),
]  # fmt: skip


@pytest.mark.parametrize("text, operands", OPERANDS, ids=[text for text, _ in OPERANDS])
def test_an_operand_becomes_its_node(text: str, operands: list[Any]) -> None:
    read = statements(text)[0]
    assert isinstance(read, Instruction)
    assert list(read.operands) == operands
    assert read.form.name == text.split(" ")[0].rstrip(";")


@pytest.mark.parametrize("text, operands", OPERANDS, ids=[text for text, _ in OPERANDS])
def test_an_operand_reads_the_same_the_second_time(text: str, operands: list[Any]) -> None:
    """The first time an instruction goes token by token, the second time by its text."""
    if ":" in text:
        return
    first, second, third = statements(f"{text}\n{text}\n{text}")
    assert first == second == third


@pytest.mark.parametrize("text", [text for text, _ in OPERANDS])
def test_ptxas_takes_what_is_read_and_what_is_printed(text: str) -> None:
    whole = around(text)
    on = target("sm_100a")
    for each in (whole, str(emit(parse(whole)))):
        assert verdict(each, on).messages == ()


SCOPED = Scope((
    Registers(b32, "%r", 2), Instruction(statements("mov.u32 %r1, 1;")[0].form, (Register("%r1", b32, 1), Int(1))),  # type: ignore[union-attr]
    Label(LabelName("in", 1)),
))  # fmt: skip
STATEMENTS: list[tuple[str, list[Any]]] = [
    (".reg .b32 a, b<3>;", [Registers(b32, "a"), Registers(b32, "b", 3)]),
    (".reg .v2 .f32 w;", [Registers(f32, "w", None, 2)]),
    (".local .align 8 .b8 depot[24];", [Variable("depot", b8, Space.LOCAL, (24,), 8)]),
    (".param .b64 passed;", [Variable("passed", b64, Space.PARAM)]),
    (".shared .b32 one, two[2][3];", [Variable("one", b32, Space.SHARED), Variable("two", b32, Space.SHARED, (2, 3))]),
    ("a: b:", [Label(LabelName("a")), Label(LabelName("b"))]),
    ("@p bra a; a: @!q ret;", ["@p bra a;", Label(LabelName("a")), "@!q ret;"]),
    ("{ .reg .b32 %r<2>; mov.u32 %r1, 1; in: }", [SCOPED]),
    ("{ { } }", [Scope((Scope(()),))]),
    (".pragma \"nounroll\", \"other\";", [Pragma("nounroll", ("other",))]),
    (".loc 1 12 5", [Loc(Position(1, 12, 5))]),
    (".loc 1 12 5, function_name info+4, inlined_at 1 3 2",
     [Loc(Position(1, 12, 5), SymbolAddress("info", 4), Position(1, 3, 2))]),
    ("call plain;", [Call(SymbolAddress("plain"))]),
    ("call.uni plain, ();", [Call(SymbolAddress("plain"), uniform=True)]),
    ("@p call (result), helper, (a, %rd1);",
     [Call(SymbolAddress("helper"), (SymbolAddress("result"),), (SymbolAddress("a"), RD1), guard=Guard(P))]),
    ("proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[8]) .noreturn;",
     [Prototype(LabelName("proto"), (Parameter("_", b32),), (Parameter("_", b64), Parameter("_", b8, (8,), 4)),
                (Directive(DirectiveKind.NORETURN),))]),
    ("fs: .calltargets plain, helper; call %rd1, (), fs;",
     [CallTargets(LabelName("fs"), ("plain", "helper")), Call(RD1, declared=LabelName("fs"))]),
    ("ts: .branchtargets a, b; a: b: brx.idx %r1, ts;",
     [BranchTargets(LabelName("ts"), (LabelName("a"), LabelName("b"))), Label(LabelName("a")), Label(LabelName("b")),
      "brx.idx %r1, ts;"]),
    ("// one", [Comment("one")]),
    ("bar.sync 0; // one\n// two\nbar.sync 1;",
     ["bar.sync 0;", Comment("one", True), Comment("two"), "bar.sync 1;"]),
    ("/* one\n   two */ bar.sync /* three */ 0;", [Comment("one"), Comment("  two"), Comment("three"), "bar.sync 0;"]),
    ("add.u32\n %r1, %r2, // one\n 3;", [Comment("one"), "add.u32 %r1, %r2, 3;"]),
    ("# 7 \"a.h\"\nbar.sync 0; # 9 \"b//c\" 1 3\n// one\n #line 12 \"a.h\"\n// two",
     ["bar.sync 0;", Comment("one"), Comment("two")]),
    ("@@DWARF .byte 0x1", [DwarfLine(".byte 0x1")]),
    ("atom.global.cta.add.u32 %r1, [%rd1], 1;", ["atom.cta.global.add.u32 %r1, [%rd1], 1;"]),
]  # fmt: skip


@pytest.mark.parametrize("text, nodes", STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_a_statement_becomes_its_node(text: str, nodes: list[Any]) -> None:
    extra = "" if "helper, (a" not in text else ".param .b32 result; .param .b32 a; "
    read = list(statements(extra + text))[2 if extra else 0 :]
    assert [str(node) if isinstance(wanted, str) else node for node, wanted in zip(read, nodes, strict=True)] == nodes
    module = parse(around(extra + text))
    assert parse(str(emit(module))) == module


ITEMS: list[tuple[str, list[Any]]] = [
    (".global .u32 a = 5, b[2] = {1, 2};",
     [Variable("a", u32, Space.GLOBAL, initial=Int(5)),
      Variable("b", u32, Space.GLOBAL, (2,), initial=(Int(1), Int(2)))]),
    (".global .f32 a[2][1] = {{1.0}, {0f40000000}};",
     [Variable("a", f32, Space.GLOBAL, (2, 1), initial=((Float(0x3F800000, f32),), (Float(0x40000000, f32),)))]),
    (".const .align 8 .b64 a[] = {x, x+4, generic(x)+8};",
     [Variable("a", b64, Space.CONST, (None,), 8,
               initial=(SymbolAddress("x"), SymbolAddress("x", 4), GenericAddress(SymbolAddress("x", 8))))]),
    (".global .u8 a[2] = {0xFF(x), 0xFF00(generic(x))};",
     [Variable("a", u8, Space.GLOBAL, (2,), initial=(
         MaskedAddress(0xFF, SymbolAddress("x")), MaskedAddress(0xFF00, GenericAddress(SymbolAddress("x")))))]),
    (".global .align 8 .u32 a<2>, b;",
     [Variable("a0", u32, Space.GLOBAL, (), 8), Variable("a1", u32, Space.GLOBAL, (), 8),
      Variable("b", u32, Space.GLOBAL, (), 8)]),
    (".func (.reg .v2 .f32 r) f (.reg .align 16 .v4 .u32 a) { }",
     [Function(FunctionKind.FUNC, "f", Linkage.PRIVATE, (Parameter("r", f32, register=True, vector=2),),
               (Parameter("a", u32, align=16, register=True, vector=4),), (), Scope(()))]),
    (".global .v4 .f32 a;", [Variable("a", f32, Space.GLOBAL, vector=4)]),
    (".visible .global .b16 a;", [Variable("a", b16, Space.GLOBAL, linkage=Linkage.VISIBLE)]),
    (".extern .shared .align 16 .b8 a[];",
     [Variable("a", b8, Space.SHARED, (None,), 16, linkage=Linkage.EXTERN)]),
    (".global .attribute(.managed) .b32 a;",
     [Variable("a", b32, Space.GLOBAL, attributes=(Attribute(AttributeKind.MANAGED),))]),
    (".global .samplerref a = {filter_mode = nearest, force_unnormalized_coords = 1};", [Fields]),
    (".weak .func (.reg .u32 r) f (.reg .u32 a, .param .b8 v[]) .noreturn;",
     [Function(FunctionKind.FUNC, "f", Linkage.WEAK, (Parameter("r", u32, register=True),),
               (Parameter("a", u32, register=True), Parameter("v", b8, (None,))),
               (Directive(DirectiveKind.NORETURN),), None)]),
    (".entry f(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr b) .maxntid 128 .minnctapersm 2\n{ }",
     [Function(FunctionKind.ENTRY, "f", Linkage.PRIVATE, (),
               (Parameter("a", b64, pointer=PointerFacts(Space.GLOBAL, 16)),
                Parameter("b", b64, pointer=PointerFacts(None))),
               (Directive(DirectiveKind.MAXNTID, (128,)), Directive(DirectiveKind.MINNCTAPERSM, (2,))), Scope(()))]),
    (".entry f .reqntid 8, 4 .reqnctapercluster 2, 1, 1 .blocksareclusters .pragma \"nounroll\"; { }",
     [Function(FunctionKind.ENTRY, "f", Linkage.PRIVATE, (), (),
               (Directive(DirectiveKind.REQNTID, (8, 4)), Directive(DirectiveKind.REQNCTAPERCLUSTER, (2, 1, 1)),
                Directive(DirectiveKind.BLOCKSARECLUSTERS), Pragma("nounroll")), Scope(()))]),
    (".func f { } .alias g, f;",
     [Function(FunctionKind.FUNC, "f", Linkage.PRIVATE, (), (), (), Scope(())), Alias("g", "f")]),
    (".file 1 \"a b.cu\", 1700000000, 12", [File(1, "a b.cu", 1700000000, 12)]),
    (".pragma \"nounroll\";", [Pragma("nounroll")]),
    (".section .debug_str { l: .b8 97, 0 .b32 l+4, m-l, .debug_info .b64 f }",
     [DebugSection(".debug_str", (
         DebugLabel("l"), DebugData(b8, (Int(97), Int(0))),
         DebugData(b32, (SymbolAddress("l", 4), Difference("m", "l"), SymbolAddress(".debug_info"))),
         DebugData(b64, (SymbolAddress("f"),))))]),
    ("@@DWARF .section .debug_info", [DwarfLine(".section .debug_info")]),
    ("// one\n.global .b8 a; // two", [Comment("one"), Variable("a", b8, Space.GLOBAL), Comment("two", True)]),
]  # fmt: skip


@pytest.mark.parametrize("text, items", ITEMS, ids=[text for text, _ in ITEMS])
def test_an_item_becomes_its_node(text: str, items: list[Any]) -> None:
    module = parse(f".version 9.0\n.target sm_90\n.address_size 64\n{text}\n")
    if items == [Fields]:
        (variable,) = module.items
        assert isinstance(variable, Variable)
        assert variable.initial == Fields((("filter_mode", "nearest"), ("force_unnormalized_coords", 1)))
    else:
        assert _loosely(module) == items
    assert parse(str(emit(module))) == module


DECLARED = """.version 8.0
.target sm_80
.address_size 64
.global .u32 a<3>, b;
.func (.reg .v2 .u32 r) f (.reg .v2 .u32 p) { .shared .u32 s<2>; mov.u32 r.x, p.y; st .shared.u32 [s1], p.x; ret .uni; }
.visible .entry k()
{
.reg .u32 %x; .reg .v2 .u32 %v, %w;
ld .global .u32 %x, [a2];
mov.u32 %v.x, %x; mov.u32 %v.y, %x;
call .uni (%w), f, (%v);
st.global.u32 [a0], %w.x;
ret;
}
"""


@pytest.mark.parametrize("by", [NEW, OLD])
def test_numbered_variables_vectors_passed_in_registers_and_blanks_are_legal(by: str) -> None:
    module = parse(DECLARED)
    assert [each.name for each in module.items if isinstance(each, Variable)] == ["a0", "a1", "a2", "b"]
    assert [each for each in verify(module) if each.severity is Severity.ERROR] == []
    assert verdict(DECLARED, module.target, by).ok
    assert verdict(str(emit(module)), module.target, by).ok


def test_blanks_before_the_words_of_a_name_are_left_out() -> None:
    read = statements("ld .global\t.u32 %r1, [%rd1]; @p add .u32 %r1, %r2, 7; bar .sync 0; x: bra .uni x;")
    names = [each.form.name for each in read if isinstance(each, Instruction)]
    assert names == ["ld.global.u32", "add.u32", "bar.sync", "bra.uni"]


def test_declarations_know_their_lines() -> None:
    text = (
        '.version 8.0\n.target sm_80\n.func (\n.reg .u32 r) f (.reg .u32 p,\n.reg .u32 q)\n.pragma "nounroll";\n{\n'
        '.reg .u32 %a,\n%b;\n.reg .f32 %c;\n.pragma "nounroll";\nret;\n}\n'
    )
    function = parse(text, file="user.ptx").function("f")
    assert function.body is not None
    passed = (*function.returns, *function.parameters, *function.directives)
    nodes = [*passed, *(each for each in function.body.statements if isinstance(each, Registers | Pragma))]
    assert [each.origin for each in nodes if not isinstance(each, Directive)] == [
        Origin("user.ptx", line, "f") for line in (4, 4, 5, 6, 8, 9, 10, 11)
    ]


def _loosely(module: Module) -> list[Any]:
    """The items, with u64 pointers as b64, so that the table above has one spelling for both."""
    return [_b64(item) if isinstance(item, Function) else item for item in module.items]


def _b64(function: Function) -> Function:
    return evolve(
        function, parameters=tuple(evolve(each, type=b64) if each.pointer else each for each in function.parameters)
    )


def test_the_header() -> None:
    text = "// first\n.version 7.8 // second\n.target sm_90a, debug, texmode_independent\n.address_size 64\n// third\n"
    module = parse(text)
    assert module.heading == (Comment("first"), Comment("second"))
    assert module.items == (Comment("third"),)
    assert module.options == (TargetOption.DEBUG, TargetOption.TEXMODE_INDEPENDENT)
    assert (str(module.version), module.target.name) == ("7.8", "sm_90a")
    assert parse(str(emit(module))) == module


def test_line_markers_say_where_statements_come_from() -> None:
    text = around(
        'bar.sync 0;\n# 7 "a.h"\nbar.sync 1;\n\nbar.sync 2; ret;\n  #line 40 "b.h" 2\nx: bar.sync 3;\nbar.sync 4;'
    )
    function = parse(text, file="user.ptx").function("k")
    found = [each.origin for each in function.instructions() if each.origin is not None]
    assert [(each.file, each.line) for each in found[:-1]] == [
        ("user.ptx", FIRST_LINE), ("a.h", 7), ("a.h", 9), ("a.h", 9), ("b.h", 40), ("b.h", 41),
    ]  # fmt: skip


def test_an_inner_register_hides_the_outer_one() -> None:
    outer, scope, after = statements("mov.b32 %r1, 1;{ .reg .f32 %r1; mov.f32 %r1, 1.0; }mov.b32 %r1, 2;")
    assert isinstance(outer, Instruction)
    assert isinstance(scope, Scope)
    assert isinstance(after, Instruction)
    inner = scope.statements[1]
    assert isinstance(inner, Instruction)
    assert inner.operands[0] == Register("%r1", f32, 1)
    assert outer.operands[0] == after.operands[0] == R1


def test_a_branch_goes_to_the_innermost_label_of_its_name() -> None:
    text = "bra over; { bra over; over: { bra over; } } { bra over; } over:"
    found = [node for node in _flat(statements(text)) if isinstance(node, Instruction)]
    assert [node.operands[0] for node in found] == [
        LabelName("over"), LabelName("over", 1), LabelName("over", 1), LabelName("over"),
    ]  # fmt: skip


def _flat(nodes: tuple[Any, ...]) -> list[Any]:
    return [each for node in nodes for each in (_flat(node.statements) if isinstance(node, Scope) else [node])]
