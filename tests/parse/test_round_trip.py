"""parse(str(emit(module))) == module: for modules drawn at random, for the rows' forms, for kernels of the project."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isa.forms import Form, families, resolve
from isa.targets import TARGETS, PtxVersion, Target
from isa.types import b8, b32, b64, f32, f64, pred, s32, u64
from ptxgen.build import Module as Builder
from ptxgen.build import array, pointer, python
from ptxgen.emit import emit
from ptxgen.ir import (
    Address,
    Alias,
    Attribute,
    AttributeKind,
    BranchTargets,
    Call,
    Comment,
    DebugData,
    DebugLabel,
    DebugSection,
    Difference,
    Directive,
    DirectiveKind,
    DwarfLine,
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
    Module,
    Negated,
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
    Statement,
    SymbolAddress,
    TargetOption,
    TensorCoordinate,
    Variable,
)
from ptxgen.parse import parse
from tests.isa.synthesis import CONSTANTS, PLAIN, names, statement
from tests.oracles.ptxas import module as judged_module

INTEGERS = st.integers(-(1 << 63), (1 << 64) - 1)
OFFSETS = st.integers(-(1 << 31), (1 << 31) - 1)
WORDS = st.from_regex(r"[A-Za-z$_][A-Za-z0-9_$]{1,6}", fullmatch=True).filter(lambda each: each != "WARP_SZ")
TEXTS = st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=12)
STRINGS = TEXTS.filter(lambda each: '"' not in each and "\\" not in each)
COMMENTS = st.builds(Comment, TEXTS, st.booleans())


def registers(type_: Any, prefix: str) -> st.SearchStrategy[Register]:
    return st.integers(0, 9).map(lambda number: Register(f"{prefix}{number}", type_))


R, RD, F, FD, P = (registers(*each) for each in ((b32, "%r"), (b64, "%rd"), (f32, "%f"), (f64, "%fd"), (pred, "%p")))
GUARDS = st.none() | st.builds(Guard, P, st.booleans())
FLOATS = st.integers(0, (1 << 32) - 1).map(lambda bits: Float(bits, f32))
DOUBLES = st.integers(0, (1 << 64) - 1).map(lambda bits: Float(bits, f64))
INTS = INTEGERS.map(Int)
SYMBOLS = st.sampled_from(["table", "other"])
ADDRESSES = (
    st.builds(Address, RD, OFFSETS)
    | st.builds(Address, SYMBOLS.map(SymbolAddress), OFFSETS)
    | INTEGERS.map(lambda value: Address(Int(value)))
)


def instruction(name: str, *operands: st.SearchStrategy[Any]) -> st.SearchStrategy[Instruction]:
    """Instructions of a name with one form."""
    (form,) = resolve(name)
    return st.builds(Instruction, st.just(form), st.tuples(*operands), GUARDS)


INSTRUCTIONS = st.one_of(
    instruction("add.u32", R, R, R | INTS),
    instruction("fma.rn.f32", F, F, F | FLOATS, F | FLOATS | DOUBLES),
    instruction("add.f64", FD, FD, FD | DOUBLES),
    instruction("mov.u32", R, R | INTS | st.just(Special("tid.x"))),
    instruction("mov.u64", RD, st.builds(SymbolAddress, SYMBOLS, OFFSETS) | RD),
    instruction("ld.global.f32", F, ADDRESSES),
    instruction("ld.global.v2.b32", st.tuples(R | st.just(Sink()), R), ADDRESSES),
    instruction("st.shared.v4.b32", ADDRESSES, st.tuples(R, R | INTS, R, R)),
    instruction("setp.lt.and.s32", P, P, R, R | INTS, P | P.map(Negated)),
    instruction("setp.lt.s32", P, R, R | INTS),
    instruction("shfl.sync.bfly.b32", R, P, R, INTS, INTS, INTS),
    instruction("cp.async.bulk.prefetch.tensor.2d.L2.global", st.builds(TensorCoordinate, RD, st.tuples(R, R | INTS))),
    instruction("bar.sync", INTS),
    instruction("ret"),
)
CALLS = st.builds(
    Call, st.just(SymbolAddress("helper")), st.lists(SYMBOLS.map(SymbolAddress), max_size=1).map(tuple),
    st.lists(SYMBOLS.map(SymbolAddress) | R | INTS, max_size=3).map(tuple), st.booleans(), st.none(), GUARDS,
)  # fmt: skip
POSITIONS = st.builds(Position, *[st.integers(0, 9999)] * 3)
PLACES = st.builds(SymbolAddress, WORDS, st.integers(0, 99))
DIRECTIVES = st.one_of(
    st.builds(Directive, st.sampled_from([DirectiveKind.MAXNTID, DirectiveKind.REQNTID]),
              st.lists(st.integers(1, 1024), min_size=1, max_size=3).map(tuple)),
    st.builds(Directive, st.sampled_from([DirectiveKind.MINNCTAPERSM, DirectiveKind.MAXNREG]),
              st.tuples(st.integers(1, 255))),
    st.just(Directive(DirectiveKind.NORETURN)),
    st.builds(Pragma, STRINGS),
)  # fmt: skip
PARAMETERS = st.builds(
    Parameter, st.just("_"), st.sampled_from([b8, b32, u64]),
    st.just(()) | st.tuples(st.none() | st.integers(1, 64)), st.none() | st.sampled_from([1, 8, 128]), st.none(),
    st.booleans(),
) | st.builds(
    Parameter, st.just("_"), st.just(u64), st.just(()), st.none(),
    st.builds(PointerFacts, st.none() | st.sampled_from([Space.GLOBAL, Space.SHARED]), st.none() | st.just(16)),
)  # fmt: skip
INITIALS = st.recursive(
    st.one_of(
        INTS, st.builds(SymbolAddress, WORDS, OFFSETS),
        st.builds(SymbolAddress, WORDS, OFFSETS).map(GenericAddress).filter(lambda each: each.symbol.name != "generic"),
        st.builds(MaskedAddress, st.integers(0, (1 << 64) - 1), st.builds(SymbolAddress, WORDS, OFFSETS)),
        FLOATS, DOUBLES,
    ),
    lambda inner: st.lists(inner, min_size=0, max_size=3).map(tuple),
    max_leaves=6,
)  # fmt: skip
EXTENTS = st.lists(st.integers(1, 99), max_size=3).map(tuple)


def variables(names_: st.SearchStrategy[str], linkages: st.SearchStrategy[Linkage]) -> st.SearchStrategy[Variable]:
    return st.builds(
        Variable, names_, st.sampled_from([b8, b32, f32, u64]),
        st.sampled_from([Space.GLOBAL, Space.CONST, Space.SHARED]),
        EXTENTS | EXTENTS.map(lambda rest: (None, *rest)), st.none() | st.sampled_from([4, 128]),
        st.sampled_from([1, 2, 4]), st.none() | INITIALS, linkages,
        attributes=st.sampled_from(
            [(), (Attribute(AttributeKind.MANAGED),), (Attribute(AttributeKind.UNIFIED, (1, 2)),)]),
    )  # fmt: skip


SIMPLE = st.one_of(
    INSTRUCTIONS, INSTRUCTIONS, CALLS, COMMENTS, st.builds(Pragma, STRINGS, st.lists(STRINGS, max_size=2).map(tuple)),
    st.builds(Loc, POSITIONS, st.none() | PLACES, st.none() | POSITIONS),
    st.builds(Prototype, st.just(LabelName("UNNAMED")), st.lists(PARAMETERS, max_size=1).map(tuple),
              st.lists(PARAMETERS, max_size=2).map(tuple), st.sampled_from([(), (Directive(DirectiveKind.NORETURN),)])),
    st.just(Label(LabelName("UNNAMED"))), st.just(BranchTargets(LabelName("UNNAMED"), (LabelName("UNNAMED"),))),
    st.just(Instruction(resolve("bra")[0], (LabelName("UNNAMED"),))),
    STRINGS.map(lambda text: DwarfLine(text.strip() or "a")),
)  # fmt: skip
BLOCKS = st.lists(st.recursive(SIMPLE, lambda inner: st.lists(inner, max_size=4), max_leaves=12), max_size=10)
DECLARED = tuple(Registers(*each, 10) for each in ((b32, "%r"), (b64, "%rd"), (f32, "%f"), (f64, "%fd"), (pred, "%p")))


class Numbered:
    """Makes a body of drawn nodes legal: its scopes numbered, each label declared once, branches to the last label."""

    def __init__(self) -> None:
        self.scopes, self.labels = 0, 0

    def scope(self, drawn: list[Any]) -> Scope:
        ordinal = self.scopes
        self.scopes += 1
        last = LabelName(self.label(), ordinal)
        made: list[Statement] = [Label(last)]
        for node in drawn:
            made.append(self.scope(node) if isinstance(node, list) else self.named(node, ordinal, last))
        return Scope(_trailing(tuple(made)))

    def label(self) -> str:
        self.labels += 1
        return f"$L{self.labels}"

    def named(self, node: Any, ordinal: int, last: LabelName) -> Any:
        match node:
            case Label():
                return Label(LabelName(self.label(), ordinal))
            case BranchTargets():
                return BranchTargets(LabelName(self.label(), ordinal), (last, last))
            case Prototype():
                return Prototype(LabelName(self.label(), ordinal), node.returns, node.parameters, node.directives)
            case Instruction(operands=(LabelName(),)):
                return Instruction(node.form, (last,))
            case _:
                return node


def _trailing(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    """No comment trails another one, nor stands first."""
    before = (None, *nodes)
    return tuple(
        Comment(node.text) if isinstance(node, Comment) and isinstance(above, Comment | None | DwarfLine) else node
        for node, above in zip(nodes, before, strict=False)
    )


DATA = st.builds(
    DebugData, st.sampled_from([b8, b32, b64]),
    st.lists(INTS | PLACES | st.builds(Difference, WORDS, WORDS), min_size=1, max_size=4).map(tuple),
)  # fmt: skip
ITEMS = st.one_of(
    COMMENTS, st.builds(Pragma, STRINGS),
    st.builds(File, st.integers(0, 99), STRINGS, st.integers(0, 9), st.integers(0, 9)),
    st.builds(DebugSection, st.sampled_from([".debug_info", ".debug_str"]),
              st.lists(DATA | WORDS.map(DebugLabel)).map(tuple)),
    st.builds(Alias, WORDS, WORDS), variables(WORDS, st.sampled_from(Linkage)),
)  # fmt: skip


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """Modules that are spelled right, whatever they mean."""
    body = Numbered().scope(draw(BLOCKS))
    body = Scope((*DECLARED, *body.statements))
    kind = draw(st.sampled_from(FunctionKind))
    directives = tuple(draw(st.lists(DIRECTIVES, max_size=3)))
    helper = Function(FunctionKind.FUNC, "helper", Linkage.PRIVATE, (), tuple(draw(st.lists(PARAMETERS))), (), None)
    tables = [Variable(name, b8, Space.GLOBAL, (64,)) for name in ("table", "other")]
    function = Function(kind, "k", draw(st.sampled_from(Linkage)), (), (), directives, body)
    items = (*draw(st.lists(ITEMS, max_size=4)), *tables, helper, function, *draw(st.lists(ITEMS, max_size=3)))
    options = tuple(draw(st.lists(st.sampled_from(TargetOption), unique=True)))
    heading = tuple(Comment(each) for each in draw(st.lists(TEXTS, max_size=3)))
    on = draw(st.sampled_from(TARGETS))
    at = PtxVersion(draw(st.integers(1, 12)), draw(st.integers(0, 9)))
    return Module(at, on, draw(st.sampled_from([32, 64])), _trailing(items), options, heading)


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(modules())
def test_modules_drawn_at_random(module: Module) -> None:
    text = str(emit(module))
    assert parse(text) == module


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(modules())
def test_many_modules_drawn_at_random(module: Module) -> None:
    assert parse(str(emit(module))) == module


def where(form: Form) -> tuple[PtxVersion, Target] | None:
    """A version and a target that have the form."""
    found = ((form.availability.least_version(each), each) for each in TARGETS)
    return next(((at, on) for at, on in found if at is not None), None)


def spelled(opcode: str, at_most: int) -> list[tuple[Form, str, PtxVersion, Target]]:
    """Statements of a family, each of its signatures with registers and with constants."""
    made = []
    for name in names(next(each for each in families() if each.opcode == opcode), at_most):
        for form in resolve(name):
            place = where(form)
            if place is not None:
                made += [(form, statement(form, each, kind), *place)
                         for each in form.signatures for kind in (PLAIN, CONSTANTS)]  # fmt: skip
    return made


def check_family(opcode: str, at_most: int) -> None:
    for form, text, at, on in spelled(opcode, at_most):
        module = parse(judged_module([text], at, on)[0])
        assert parse(str(emit(module))) == module, text
        read = [each.form for each in module.function("judged").instructions()][:-1]
        assert opcode == "call" or read == [form], text


OPCODES = sorted({family.opcode for family in families()})


@pytest.mark.parametrize("opcode", OPCODES)
def test_the_forms_of_a_family_come_back(opcode: str) -> None:
    check_family(opcode, 1)


@pytest.mark.slow
@pytest.mark.parametrize("opcode", OPCODES)
def test_many_forms_of_a_family_come_back(opcode: str) -> None:
    check_family(opcode, 60)


def flow() -> Module:
    """A kernel with every structured statement of the builder."""
    module = Builder("sm_80", version="7.4")
    module.variable("weights", f32, (4,), space="const", init=(1.0, -0.5, 1e-30, 3))
    with module.kernel("k", x=pointer(f32, align=16), n=s32, map=array(b8, 128, align=64)) as k:
        k.maxntid(128)
        k.comment("a comment")
        tile = k.shared(f32, (32, 4), align=16)
        total = k.register(f32, 0.0, name="total")
        with k.range(0, k.args.n) as index:
            with k.when(k.setp.lt.s32(index, 7)), k.scope():
                k.add.f32(total, k.ld.shared.f32(tile + 4), into=total)
            with k.otherwise():
                k.add.f32(total, 0.1, into=total)
        with k.guard(~k.setp.eq.u32(k.tid.x, 0)):
            k.st.global_.v2.f32(k.args.x + 8, (total, 2.5))
        k.bar.sync(0)
        k.mov.u64(k.special("clock64"))
    return module.build()


def test_a_kernel_of_the_builder_comes_back() -> None:
    module = flow()
    assert parse(str(emit(module))) == module
    named: dict[str, Any] = {}
    exec(compile(python(module), "program.py", "exec"), named)
    assert named["module"] == module
