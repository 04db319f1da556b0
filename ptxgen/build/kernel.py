"""A kernel while it is written."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from isa.forms import continuations
from isa.types import Type
from ptxgen.build.arguments import Arguments
from ptxgen.build.blame import fail
from ptxgen.build.chain import attribute_of
from ptxgen.build.control import Attributed, Braces, Guarded, Loop, Otherwise, Range, When
from ptxgen.build.draft import Draft
from ptxgen.build.handles import Label, Symbol, Value
from ptxgen.build.instructions import Instructions
from ptxgen.build.names import checked_name
from ptxgen.build.parameters import check_align
from ptxgen.build.patterns import Call
from ptxgen.build.specials import STEADY, read
from ptxgen.build.text import Texts, checked, declared, symbol_of
from ptxgen.build.uncalled import uncalled
from ptxgen.errors import KernelError
from ptxgen.ir import Comment, Directive, DirectiveKind, Instruction, Origin, Space, Variable


class Kernel(Instructions):
    """The body of a kernel, written line by line inside its with-block.

    Instructions are attribute chains, `d = k.mad.lo.u32(a, b, c)`, or text, `k.emit("mad.lo.u32", a, b, c)`: sources
    in the manual's order, fresh destinations returned, `into=` to write existing registers.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._texts = Texts(draft)
        self.args = Arguments(draft)

    def __dir__(self) -> list[str]:
        own = [name for name in (*type(self).__dict__, "args") if not name.startswith("_")]
        specials = {name.partition(".")[0] for name in STEADY}
        return sorted({*own, *specials, *map(attribute_of, continuations(()))})

    def __repr__(self) -> str:
        return repr(self._draft)

    def __enter__(self) -> Kernel:
        self._draft.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._draft.close()
        found = uncalled(self._draft.writers()) if kind is None else []
        self._draft.module.finished(self._draft, kept=kind is None and not found)
        if found:
            raise KernelError(found)

    def emit(self, name: str, *sources: object, into: object = None, _depth: int = 1) -> Any:
        """Writes the instruction of that dotted name; the same as the attribute chain."""
        return self._draft.function(name)(*sources, into=into, _depth=_depth + 1)

    def function(self, name: str) -> Call:
        """The function `(*sources, into=None)` that writes the instruction of that dotted name."""
        return self._draft.function(name)

    def special(self, name: str) -> Any:
        """The special register `name` (`"tid.x"`): a register filled in the entry block, or an operand for `k.mov`
        where its value changes while the kernel runs (`"clock64"`)."""
        return read(self._draft, name)

    def register(self, type: Type, value: object = None, *, name: str | None = None) -> Value:
        """A fresh register, set by a `mov` where a value is given; `name` becomes `%name` in the text.

        The register of a type without registers (bf16) is untyped. One of 8 bits is written by loads, `cvt` and `mov`
        of a vector only; its value is set by a `cvt`.
        """
        return self._draft.register(type, value, name=name)

    def shared(
        self, type: Type, shape: int | tuple[int, ...], *, align: int | None = None, name: str | None = None
    ) -> Symbol:
        """A shared array of the innermost open scope; `shape` in elements, `align` in bytes."""
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        if not extents or any(extent.__class__ is not int or extent < 1 for extent in extents):
            fail("variable.shape", f"k.shared wants positive extents, got {shape!r}")
        check_align(align)
        made = checked_name(name or self._draft.module.fresh_name("shared"), self._draft.names)
        variable = Variable(made, type, Space.SHARED, extents, align, origin=self._draft.here())
        self._draft.variable(variable)
        return Symbol(made, type, Space.SHARED, extents, self._draft, variable.size_bytes)

    def dynamic_shared(self, align: int = 128) -> Symbol:
        """The shared memory whose size the launch gives, as bytes; one array per module, aligned as asked."""
        check_align(align)
        return self._draft.module.dynamic_shared(align)

    def label(self, name: str | None = None) -> Label:
        """A label to branch to, before or after `label.place()` has put it somewhere; named by number where unnamed."""
        return self._draft.new_label("label") if name is None else self._draft.named_label(name)

    def when(self, condition: object) -> When:
        """`with k.when(p):` runs its body where predicate `p` (or `~p`) holds."""
        return When(self._draft, condition, self._draft.flow("k.when"))

    def otherwise(self) -> Otherwise:
        """`with k.otherwise():` right behind a `when` runs its body where the condition does not hold."""
        return Otherwise(self._draft, self._draft.flow("k.otherwise"))

    def loop(self) -> Loop:
        """`with k.loop() as loop:` goes round until `loop.break_(p)`, or while `loop.while_(p)` at its bottom holds."""
        return Loop(self._draft, self._draft.flow("k.loop"))

    def range(self, start: object, stop: object, step: int = 1) -> Range:
        """`with k.range(start, stop, step) as i:` counts a register as Python's range does; s32 for plain numbers."""
        return Range(self._draft, (start, stop), step, self._draft.flow("k.range"))

    def guard(self, condition: object) -> Guarded:
        """`with k.guard(p):` predicates each instruction of its body with `p` (or `~p`); each needs `into=`."""
        return Guarded(self._draft, condition)

    def attributed(self, origin: Origin | None) -> Attributed:
        """`with k.attributed(origin):` says that the statements of its body come from that line of the user's; inside
        of such a body None says that they come from where they are written."""
        return Attributed(self._draft, origin)

    def scope(self) -> Braces:
        """`with k.scope():` puts its body in braces; labels and shared arrays made inside belong there."""
        return Braces(self._draft)

    def comment(self, text: str, *, trailing: bool = False) -> None:
        """A comment line, or one per line of the text; the first of them behind the statement before it if trailing."""
        for number, line in enumerate(text.split("\n")):
            self._draft.state(Comment(line, trailing and number == 0))

    def ptx(self, text: str, /, **operands: object) -> None:
        """Whole statements in the manual's spelling: `k.ptx("add.u32 {d}, {a}, 1;", d=d, a=a)`.

        A name in braces stands for what `operands` has of that name: a register, `~p`, an address `[{a}]`, a symbol, a
        label, a number, or a tuple for a vector. What a text declares (`.reg`, `.shared`) later texts in the same scope
        know by its name. Statements are checked like those of the chain; KernelError on the user's line.
        """
        draft = self._draft
        if draft.guarding is not None:
            fail("guard.flow", "k.ptx cannot stand in k.guard; write the guard into the text")
        where = draft.here()
        scope = self._texts.scope(draft.ordinals())
        statements, draft.next_scope = self._texts.read(text, operands, scope, draft.next_scope)
        for statement in statements:
            node = checked(draft, statement, where)
            if isinstance(node, Instruction):
                draft.record((node.form, node.operands, node.guard, where, 0))
            else:
                draft.state(node)

    def registers(self, type: Type, name: str, count: int | None = None) -> Any:
        """A `.reg` statement here. With a count `family[7]` is the register called `name` and 7; without, one register.

        The name is the whole one, `%r`; fresh registers of the kernel have numbered names of their own.
        """
        ordinals = self._draft.ordinals()
        registers, made = declared(self._draft, type, name, count, ordinals[-1])
        self._texts.declare(self._texts.scope(ordinals), registers)
        self._draft.state(registers)
        return made

    def symbol(self, name: str) -> Symbol:
        """A parameter, a variable that a text declares, or one of the module, by its name: its place in memory."""
        return symbol_of(self._draft, name, self._texts.variable(name))

    def as_written(self) -> None:
        """The body ends as it is written: no `ret` is added where its end can be reached."""
        self._draft.ends_as_written = True

    def maxntid(self, x: int, y: int = 1, z: int = 1) -> None:
        """At most x*y*z threads are launched per CTA."""
        self._direct(DirectiveKind.MAXNTID, (x, y, z))

    def reqntid(self, x: int, y: int = 1, z: int = 1) -> None:
        """Exactly x, y and z threads are launched per CTA."""
        self._direct(DirectiveKind.REQNTID, (x, y, z))

    def minnctapersm(self, count: int) -> None:
        """At least `count` CTAs shall fit on a multiprocessor; PTX wants maxntid or reqntid beside it."""
        self._direct(DirectiveKind.MINNCTAPERSM, (count,))

    def maxnreg(self, count: int) -> None:
        """At most `count` registers per thread."""
        self._direct(DirectiveKind.MAXNREG, (count,))

    def directive(self, name: str, *values: int) -> None:
        """A directive by its name, `k.directive("maxntid", 128)`, with its numbers as they are to be written."""
        kinds = {kind.value: kind for kind in DirectiveKind}
        if name not in kinds:
            fail("directive.value", f"no directive is called {name!r}; known: {', '.join(kinds)}")
        self._direct(kinds[name], values)

    def _direct(self, kind: DirectiveKind, values: tuple[int, ...]) -> None:
        if any(value.__class__ is not int or value < 1 for value in values):
            fail("directive.value", f".{kind.value} wants positive integers, got {values}")
        self._draft.directives[kind] = Directive(kind, values)
