"""The text of a module: judged by ptxas, and blamed line by line."""

import inspect
import tempfile
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, fields

from isa.forms import resolve
from isa.targets import target, version
from isa.types import b8, f32, pred, s32, u32, u64
from ptxgen.build import Module, pointer
from ptxgen.emit import Listing, emit
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
    Item,
    Label,
    LabelName,
    Linkage,
    Loc,
    MaskedAddress,
    Minus,
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
    Space,
    Special,
    SymbolAddress,
    TargetOption,
    TensorCoordinate,
    Variable,
)
from ptxgen.ir import Module as IrModule
from tests.oracles.ptxas import find_ptxas, verdict

R, P = Register("%r1", u32), Register("%p1", pred)
ADD = resolve("add.u32")[0]


def kernel(*statements: Any) -> IrModule:
    body = Scope((Registers(u32, "%r", 4), Registers(pred, "%p", 4), Registers(u64, "%rd", 4), *statements))
    function = Function(FunctionKind.ENTRY, "k", Linkage.VISIBLE, (), (), (), body)
    return IrModule(version("6.4"), target("sm_70"), 64, (function,))


# A node, and for each of its fields another value: each must print differently, or be named silent below.
CHANGES = [
    (Instruction(ADD, (R, R, Int(1))), {"form": resolve("sub.u32")[0], "operands": (R, R, Int(2)), "guard": Guard(P)}),
    (Label(LabelName("a")), {"name": LabelName("b")}),
    (Registers(f32, "%f", 3), {"type": s32, "name": "%g", "count": None, "vector": 2}),
    (
        Variable("v", f32, Space.SHARED, (4,), 16, 1, None, Linkage.PRIVATE),
        {
            "name": "w", "type": u32, "space": Space.LOCAL, "shape": (4, 4), "align": None, "vector": 2,
            "initial": (Int(1),), "linkage": Linkage.VISIBLE, "attributes": (Attribute(AttributeKind.MANAGED),),
        },
    ),
    (Comment("a"), {"text": "b", "trailing": True}),
    (Pragma("nounroll"), {"text": "other", "more": ("two",)}),
    (
        Call(SymbolAddress("f"), (), (Int(1),), False, LabelName("p"), None),
        {
            "target": R, "returns": (R,), "arguments": (), "uniform": True, "declared": None, "guard": Guard(P),
        },
    ),
    (BranchTargets(LabelName("t"), (LabelName("a"),)), {"name": LabelName("u"), "labels": (LabelName("b"),)}),
    (CallTargets(LabelName("t"), ("f",)), {"name": LabelName("u"), "functions": ("g",)}),
    (
        Prototype(LabelName("p"), (), (Parameter("_", u32),), ()),
        {
            "name": LabelName("q"), "returns": (Parameter("_", u32),), "parameters": (),
            "directives": (Directive(DirectiveKind.NORETURN),),
        },
    ),
    (
        Loc(Position(1, 2, 3)),
        {"position": Position(1, 2, 4), "function": SymbolAddress("f"), "inlined_at": Position(1, 2, 3)},
    ),
    (File(1, "a"), {"index": 2, "path": "b", "timestamp": 3, "size_bytes": 4}),
    (DwarfLine("a"), {"text": "b"}),
    (Scope((Comment("a"),)), {"statements": ()}),
]  # fmt: skip
OPERANDS = [
    (R, {"name": "%r2"}),
    (Special("tid.x"), {"name": "tid.y"}),
    (Int(1), {"value": 2, "constant": Constant.WARP_SZ}),
    (Float(1, f32), {"bits": 2}),
    (SymbolAddress("a"), {"name": "b", "offset": 4}),
    (Address(R), {"base": SymbolAddress("a"), "offset": 4, "unified": True}),
    (TensorCoordinate(R, (R,)), {"map": SymbolAddress("a"), "coordinates": (Int(0),), "sampler": R}),
    (Component(R, "x"), {"base": Register("%r2", u32), "part": "y"}),
    (Negated(P), {"register": Register("%p2", pred)}),
    (Minus(R), {"base": Component(R, "h0")}),
    (LabelName("a"), {"name": "b"}),
]
ITEMS: list[Item] = [
    Alias("a", "b"), Alias("c", "b"), Alias("a", "c"), DebugSection(".a", ()), DebugSection(".b", ()),
    DebugSection(".a", (DebugLabel("l"),)), DebugSection(".a", (DebugLabel("m"),)),
    DebugSection(".a", (DebugData(b8, (Int(1),)),)), DebugSection(".a", (DebugData(u32, (Int(1),)),)),
    DebugSection(".a", (DebugData(b8, (Difference("l", "m"),)),)),
    DebugSection(".a", (DebugData(b8, (Difference("l", "n"),)),)),
    DebugSection(".a", (DebugData(b8, (Difference("n", "m"),)),)),
    Variable("v", u64, Space.GLOBAL, initial=GenericAddress(SymbolAddress("a"))),
    Variable("v", u64, Space.GLOBAL, initial=SymbolAddress("a")),
    Variable("v", u64, Space.GLOBAL, initial=MaskedAddress(255, SymbolAddress("a"))),
    Variable("v", u64, Space.GLOBAL, initial=MaskedAddress(65280, SymbolAddress("a"))),
    Variable("v", u64, Space.GLOBAL, initial=Fields((("filter_mode", "nearest"),))),
    Variable("v", u64, Space.GLOBAL, initial=Fields((("filter_mode", 1),))),
]  # fmt: skip
SILENT = {("Register", "type"), ("Register", "scope"), ("LabelName", "scope"), ("Float", "type")}


def silent(node: object) -> set[str]:
    return {name for kind, name in SILENT if kind == type(node).__name__} | {"origin"}


@pytest.mark.parametrize("node, changes", CHANGES, ids=lambda each: type(each).__name__)
def test_every_field_of_a_statement_is_printed(node: Any, changes: dict[str, Any]) -> None:
    assert {each.name for each in fields(type(node))} - silent(node) == changes.keys()
    for name, value in changes.items():
        changed = evolve(node, **{name: value})
        assert str(emit(kernel(changed))) != str(emit(kernel(node))), name


@pytest.mark.parametrize("node, changes", OPERANDS, ids=lambda each: type(each).__name__)
def test_every_field_of_an_operand_is_printed(node: Any, changes: dict[str, Any]) -> None:
    assert {each.name for each in fields(type(node))} - silent(node) == changes.keys()
    for name, value in changes.items():
        texts = [str(emit(kernel(Instruction(ADD, (R, R, each))))) for each in (node, evolve(node, **{name: value}))]
        assert texts[0] != texts[1], name


def test_every_field_of_functions_and_modules_is_printed() -> None:
    parameter = Parameter("p", u64, (), 8, PointerFacts(Space.GLOBAL, 16))
    function = Function(
        FunctionKind.ENTRY, "k", Linkage.VISIBLE, (), (parameter,), (Directive(DirectiveKind.MAXNTID, (1,)),), Scope(())
    )
    module = IrModule(version("7.8"), target("sm_70"), 64, (function,))
    changed: list[IrModule] = [
        evolve(module, version=version("7.9")), evolve(module, target=target("sm_80")), evolve(module, address_size=32),
        evolve(module, items=()), evolve(module, options=(TargetOption.DEBUG,)),
        evolve(module, heading=(Comment("a"),)),
    ]  # fmt: skip
    functions: list[dict[str, Any]] = [
        {"kind": FunctionKind.FUNC}, {"name": "q"}, {"linkage": Linkage.WEAK}, {"returns": (parameter,)},
        {"parameters": ()}, {"directives": ()}, {"directives": (Directive(DirectiveKind.REQNTID, (1,)),)},
        {"directives": (Directive(DirectiveKind.MAXNTID, (2,)),)}, {"body": None},
        {"attributes": (Attribute(AttributeKind.UNIFIED, (1, 2)),)},
    ]  # fmt: skip
    parameters: list[dict[str, Any]] = [
        {"name": "q"}, {"type": u32}, {"shape": (2,)}, {"align": None}, {"pointer": None},
        {"pointer": PointerFacts(Space.SHARED, 16)}, {"pointer": PointerFacts(Space.GLOBAL, 8)},
        {"pointer": PointerFacts(None, 16)}, {"register": True},
    ]  # fmt: skip
    functions += [{"parameters": (evolve(parameter, **each),)} for each in parameters]
    changed += [evolve(module, items=(evolve(function, **each),)) for each in functions]
    changed += [evolve(module, items=(each,)) for each in ITEMS]
    texts = {str(emit(each)) for each in [module, *changed]}
    assert len(texts) == len(changed) + 1


def test_lines_know_who_wrote_them() -> None:
    module = Module("sm_70")
    with module.kernel("k", x=pointer(f32)) as k:
        k.comment("a comment has no line")
        k.st.global_.f32(k.args.x, 1.0)
    listing = emit(module.build())
    lines = listing.text.splitlines()
    assert len(lines) == len(listing.origins)
    number = next(index for index, line in enumerate(lines, 1) if "st.global" in line)
    origin = listing.origin(number)
    assert origin is not None
    source, first = inspect.getsourcelines(test_lines_know_who_wrote_them)
    assert "k.st.global_" in source[origin.line - first]
    assert listing.line(number).startswith("st.global.f32 [")
    assert listing.origin(1) is None
    assert listing.origin(10_000) is None


def test_a_real_log_is_blamed_on_the_users_lines() -> None:
    """ptxas itself refuses a module that `verify` never saw."""
    wrong = Instruction(ADD, (R, R, Float(0, f32)), origin=Origin("user.py", 12, "f"))
    listing = emit(kernel(Comment("first"), Instruction(ADD, (R, Int(1), Int(1))), wrong))
    judged = verdict(str(listing), target("sm_70"))
    assert not judged.ok
    log = "\n".join(f"ptxas input.ptx, line {line}; error   : {words}" for line, words in judged.messages)
    (finding,) = listing.blame(log)
    assert finding.code == "assembler.error"
    assert finding.origin == Origin("user.py", 12, "f")
    assert "add.u32 %r1, %r1, 0f00000000;" in finding.message


def test_the_log_of_ptxas_as_it_is() -> None:
    import subprocess

    listing = emit(kernel(Instruction(ADD, (R, R, Float(0, f32)), origin=Origin("user.py", 12, "f"))))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "k.ptx"
        source.write_text(listing.text)
        command = [str(find_ptxas(target("sm_70"))), "-arch=sm_70", str(source), "-o", str(Path(folder) / "k.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert [finding.origin for finding in listing.blame(done.stderr)] == [Origin("user.py", 12, "f")]


@pytest.mark.parametrize(
    "log, code, line",
    [
        ("ptxas application ptx input, line 2; error   : Unknown symbol 'x'", "assembler.error", 2),
        ("ptxas /tmp/a b.ptx, line 1; warning : something", "assembler.warning", 1),
        ("ptxas t.ptx, line 2; fatal   : Parsing error near ';': syntax error", "assembler.error", 2),
    ],
)
def test_the_known_formats_of_logs(log: str, code: str, line: int) -> None:
    listing = Listing(".version 6.4\nbad;\n", (None, Origin("user.py", 3, "f")))
    (finding,) = listing.blame(f"info: nothing\n{log}\n")
    assert (finding.code, finding.ptx_line) == (code, line)


def test_declarations_that_ptxas_takes() -> None:
    body = Scope((Variable("local", b8, Space.LOCAL, (16,), 4), Variable("pair", f32, Space.SHARED, (2,), None, 2)))
    returned, taken = Parameter("r", u32), Parameter("a", u32)
    helper = Function(FunctionKind.FUNC, "helper", Linkage.PRIVATE, (returned,), (taken,), (), Scope(()))
    entry = Function(FunctionKind.ENTRY, "k", Linkage.VISIBLE, (), (Parameter("m", b8, (128,), 64),), (), body)
    items = (
        Variable("dynamic", b8, Space.SHARED, (None,), 128, linkage=Linkage.EXTERN),
        Variable("address", u64, Space.GLOBAL, (), None, initial=SymbolAddress("dynamic_table", 4)),
        entry,
    )
    table = Variable("dynamic_table", u32, Space.GLOBAL, (2,), initial=(Int(1), Int(2)))
    text = str(emit(IrModule(version("6.4"), target("sm_70"), 64, (table, helper, *items))))
    judged = verdict(text, target("sm_70"))
    assert judged.ok, judged.messages
