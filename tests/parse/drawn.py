"""Modules drawn at random: spelled right, whatever they mean; with `legal`, of statements that are right one by one."""

from collections.abc import Callable
from typing import Any

from isa.forms import resolve
from isa.targets import TARGETS, PtxVersion, target, version
from isa.types import b8, b32, b64, f32, samplerref, u64
from ptxgen.ir import (
    Alias,
    Attribute,
    AttributeKind,
    BranchTargets,
    Call,
    CallTargets,
    Comment,
    DebugData,
    DebugLabel,
    DebugSection,
    Difference,
    Directive,
    DirectiveKind,
    DwarfLine,
    Fields,
    File,
    Function,
    FunctionKind,
    GenericAddress,
    Instruction,
    Item,
    Label,
    LabelName,
    Linkage,
    Loc,
    MaskedAddress,
    Module,
    Parameter,
    PointerFacts,
    Position,
    Pragma,
    Prototype,
    Scope,
    Space,
    Statement,
    SymbolAddress,
    TargetOption,
    Variable,
)
from tests.parse.choices import Choices
from tests.parse.drawn_operands import DECLARED, SYMBOLS, Operands

SHOWN = "".join(map(chr, range(32, 127)))
QUOTED = SHOWN.replace('"', "").replace("\\", "")
ONE_NUMBER = (DirectiveKind.MINNCTAPERSM, DirectiveKind.MAXNREG, DirectiveKind.MAXCLUSTERRANK)
THREE_NUMBERS = (DirectiveKind.MAXNTID, DirectiveKind.REQNTID, DirectiveKind.REQNCTAPERCLUSTER)
ATTRIBUTES = ((), (), (Attribute(AttributeKind.MANAGED),), (Attribute(AttributeKind.UNIFIED, (1, 2)),))
BRANCH = resolve("bra")[0]
SPACES = (Space.GLOBAL, Space.CONST, Space.SHARED)


def drawn(given: bytes, *, legal: bool = False) -> Module:
    """The module that a string of bytes chooses."""
    return _Drawing(Choices(given), legal=legal).module()


class _Drawing(Operands):
    def __init__(self, choices: Choices, *, legal: bool) -> None:
        super().__init__(choices, legal=legal)
        self._scopes, self._names = 0, 0

    def module(self) -> Module:
        """A module with two tables, a declared function and one that has a body."""
        several, pick, below = self.choices.several, self.choices.pick, self.choices.below
        body = self._scope(2)
        body = Scope((*DECLARED, *body.statements))
        helper = Function(FunctionKind.FUNC, "helper", Linkage.EXTERN, (), self._parameters(2), (), None)
        tables = [Variable(name, b8, Space.GLOBAL, (64,), 16) for name in SYMBOLS]
        kind = pick((FunctionKind.ENTRY, FunctionKind.FUNC))
        named = tuple(Parameter(f"given{index}", each.type, each.shape, each.align, each.pointer)
                      for index, each in enumerate(self._parameters(3)))  # fmt: skip
        function = Function(kind, "k", pick(tuple(Linkage)), (), named, self._directives(), body)
        items = trailing((*several(self._item, 3), *tables, helper, function, *several(self._item, 3)))
        heading = tuple(Comment(each) for each in several(self._text, 2))
        if self.legal:
            return Module(version("8.8"), target("sm_90a"), 64, items, (), heading)
        options = tuple(dict.fromkeys(several(lambda: pick(tuple(TargetOption)), 2)))
        at, on = PtxVersion(1 + below(12), below(10)), pick(TARGETS)
        return Module(at, on, pick((64, 32)), items, options, heading)

    def _scope(self, deep: int) -> Scope:
        ordinal = self._scopes
        self._scopes += 1
        label = LabelName(self._fresh("$L"), ordinal)
        made: list[Statement] = [Label(label)]
        for _ in range(self.choices.below(25)):
            made += self._statements(deep, ordinal, label)
        return Scope(trailing(tuple(made)))

    def _statements(self, deep: int, ordinal: int, label: LabelName) -> tuple[Statement, ...]:
        several, maybe = self.choices.several, self.choices.maybe
        match self.choices.below(18):
            case 17 if deep:
                return (self._scope(deep - 1),)
            case 1:
                return (Label(LabelName(self._fresh("$L"), ordinal)),)
            case 2:
                return (Instruction(BRANCH, (label,), maybe(self.guard)),)
            case 3:
                return (BranchTargets(LabelName(self._fresh("$T"), ordinal), (label, label)),)
            case 4:
                return (self._call(),)
            case 5:
                asked = self.choices.pick(((), (Directive(DirectiveKind.NORETURN),)))
                returns, taken = several(lambda: Parameter("_", b32), 1), self._parameters(2)
                return (Prototype(LabelName(self._fresh("$P"), ordinal), returns, taken, asked),)
            case 6:
                return (CallTargets(LabelName(self._fresh("$C"), ordinal), ("helper",)),)
            case 7:
                return (Loc(self._position(), maybe(self._place), maybe(self._position)),)
            case 8:
                return (Pragma(self._quoted(), several(self._quoted, 2)),)
            case 9:
                return (self._variable(self._fresh("local"), Linkage.PRIVATE, (Space.SHARED, Space.LOCAL)),)
            case 10:
                return (self._comment(),)
            case 11 if not self.legal:
                return (DwarfLine(self._quoted().strip() or "a"),)
            case _:
                return several(self.instruction, 4, 1)

    def _call(self) -> Call:
        several, pick = self.choices.several, self.choices.pick
        returns = several(lambda: SymbolAddress(pick(SYMBOLS)), 1)
        passed = several(self._passed, 3)
        return Call(SymbolAddress("helper"), returns, passed, bool(self.choices.below(2)), None,
                    self.choices.maybe(self.guard))  # fmt: skip

    def _passed(self) -> Any:
        return self.operand("yri")

    def _variable(self, name: str, linkage: Linkage, spaces: tuple[Space, ...]) -> Variable:
        pick, below = self.choices.pick, self.choices.below
        shape: tuple[int | None, ...] = self.choices.several(lambda: 1 + below(99), 3)
        if below(4) == 3:
            shape = (None, *shape)
        return Variable(
            name, pick((b8, b32, f32, u64)), pick(spaces), shape, pick((None, 4, 128)), pick((1, 2, 4)),
            self.choices.maybe(lambda: self._initial(2)), linkage, attributes=pick(ATTRIBUTES),
        )  # fmt: skip

    def _initial(self, deep: int) -> Any:
        match self.choices.below(7 if deep else 6):
            case 0:
                return self.integer()
            case 1:
                return self.float_(f32)
            case 2:
                return self.symbol()
            case 3:
                return GenericAddress(self.symbol())
            case 4:
                return MaskedAddress(0xFF << 8 * self.choices.below(8), self.symbol())
            case 5:
                return MaskedAddress(0xFF << 8 * self.choices.below(8), GenericAddress(self.symbol()))
            case _:
                return self.choices.several(lambda: self._initial(deep - 1), 4)

    def _parameters(self, most: int) -> tuple[Parameter, ...]:
        return self.choices.several(self._parameter, most)

    def _parameter(self) -> Parameter:
        pick = self.choices.pick
        if self.choices.below(3) == 2:
            facts = PointerFacts(pick((None, Space.GLOBAL, Space.SHARED)), pick((None, 16)))
            return Parameter("_", u64, pointer=facts)
        return Parameter("_", pick((b8, b32, u64, f32)), pick(((), (8,), (None,))), pick((None, 8, 128)))

    def _directives(self) -> tuple[Directive | Pragma, ...]:
        pick, below = self.choices.pick, self.choices.below
        made: dict[object, Directive | Pragma] = {}
        for kind in self.choices.several(lambda: pick((None, *ONE_NUMBER, *THREE_NUMBERS)), 3):
            if kind is None:
                made[kind] = Pragma(self._quoted())
            else:
                made[kind] = Directive(
                    kind, self.choices.several(lambda: 1 + below(8), 3 if kind in THREE_NUMBERS else 1, 1)
                )
        return tuple(made.values())

    def _item(self) -> Item:
        pick, below = self.choices.pick, self.choices.below
        match below(7):
            case 0:
                return self._variable(self._fresh("item"), pick(tuple(Linkage)), SPACES)
            case 1:
                return self._comment()
            case 2:
                return Pragma(self._quoted())
            case 3:
                return File(below(99), self._quoted(), below(9), below(9))
            case 4:
                return DebugSection(pick((".debug_info", ".debug_str")), self.choices.several(self._data, 5))
            case 5:
                return Alias(self._fresh("alias"), "helper")
            case _:
                fields = Fields((("filter_mode", pick(("nearest", "linear"))), ("normalized_coords", below(2))))
                return Variable(self._fresh("sampler"), samplerref, Space.GLOBAL, initial=fields)

    def _data(self) -> DebugData | DebugLabel:
        if self.choices.below(4) == 3:
            return DebugLabel(self._fresh("$S"))
        ways: tuple[Callable[[], Any], ...] = (self.integer, self._place, lambda: Difference("$a", "$b"))
        values = self.choices.several(lambda: self.choices.pick(ways)(), 6, 1)
        return DebugData(self.choices.pick((b8, b32, b64)), values)

    def _place(self) -> SymbolAddress:
        return SymbolAddress(self.choices.pick("abX$") + self.choices.text("abX$_019", 6, 1), self.choices.below(99))

    def _position(self) -> Position:
        return Position(self.choices.below(99), self.choices.below(9999), self.choices.below(99))

    def _comment(self) -> Comment:
        return Comment(self._text(), bool(self.choices.below(2)))

    def _fresh(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def _text(self) -> str:
        return self.choices.text(SHOWN, 12)

    def _quoted(self) -> str:
        return self.choices.text(QUOTED, 8)


def trailing(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    """No comment trails another one, nor stands first, nor behind a line that goes to its end."""
    before = (None, *nodes)
    return tuple(
        Comment(node.text) if isinstance(node, Comment) and isinstance(above, Comment | None | DwarfLine) else node
        for node, above in zip(nodes, before, strict=False)
    )
