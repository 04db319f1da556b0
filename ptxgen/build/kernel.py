"""A kernel while it is written."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from isa.forms import continuations, resolve
from isa.types import TYPES, Kind, Type
from ptxgen.build.arguments import Arguments
from ptxgen.build.blame import fail, users_frame
from ptxgen.build.calls import function_for
from ptxgen.build.chain import attribute_of, follow
from ptxgen.build.control import Attributed, Braces, Guarded, Loop, Otherwise, Range, When
from ptxgen.build.freeze import STRIDE, Braced, frozen_body
from ptxgen.build.handles import Label, Symbol, Value
from ptxgen.build.immediates import UnfitNumber, half_bits
from ptxgen.build.names import checked_name
from ptxgen.build.parameters import check_align
from ptxgen.build.patterns import Call
from ptxgen.build.registers import Pool, register_type
from ptxgen.build.specials import from_attribute, read
from ptxgen.build.text import Texts, checked, declared, symbol_of
from ptxgen.ir import (
    Comment,
    Directive,
    DirectiveKind,
    Function,
    FunctionKind,
    Guard,
    Instruction,
    Linkage,
    Operand,
    Parameter,
    Register,
    Registers,
    Space,
    Statement,
    Variable,
)
from ptxgen.ir import Label as LabelNode
from ptxgen.ir import LabelName as LabelNameNode

if TYPE_CHECKING:
    from ptxgen.build.module import Module
    from ptxgen.ir import Origin


class Kernel:
    """The body of a kernel, written line by line inside its with-block.

    Instructions are attribute chains, `d = k.mad.lo.u32(a, b, c)`, or text, `k.emit("mad.lo.u32", a, b, c)`: sources
    in the manual's order, fresh destinations returned, `into=` to write existing registers.
    """

    def __init__(
        self,
        module: Module,
        name: str,
        parameters: tuple[Parameter, ...],
        where: Origin,
        *,
        returns: tuple[Parameter, ...] = (),
        kind: FunctionKind = FunctionKind.ENTRY,
        linkage: Linkage = Linkage.VISIBLE,
    ) -> None:
        self.module = module
        self.name = name
        self.parameters = parameters
        self.returns = returns
        self._kind, self._linkage = kind, linkage
        self.args = Arguments(self)
        self.guarding: Guard | None = None
        self.attribution: Origin | None = None
        self.filled: dict[str, Value] = {}
        self._where = where
        self._functions: dict[str, Call] = {}
        self._pools: dict[Type, Pool] = {}
        self._declared: list[Registers] = []
        self._variables: list[Variable] = []
        self._names = {parameter.name for parameter in (*parameters, *returns)}
        self._texts = Texts(self)
        self._as_written = False
        self._entered = False
        self._directives: dict[DirectiveKind, Directive] = {}
        self._entry: list[Any] = []
        self._body = Braced(0)
        self._open = [self._body]
        self._scopes = 1
        self._labels = 0
        self._when: Label | None = None
        self.record: Callable[[tuple[Any, Any, Any, Any, Any]], None] = self._body.statements.extend

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = from_attribute(self, name)
        if found is None:
            found = follow(self, (), name)
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        own = [name for name in {**type(self).__dict__, **self.__dict__} if not name.startswith("_")]
        return sorted({*own, *map(attribute_of, continuations(())), "tid", "ntid", "ctaid", "nctaid", "laneid"})

    def __repr__(self) -> str:
        return f"<kernel {self.name} for {self.module.target}>"

    def __enter__(self) -> Kernel:
        if self._entered:
            fail("kernel.closed", f"kernel {self.name} is written in one with-block, which was entered before")
        self._entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.record = _closed
        self.module.finished(self, kept=kind is None)

    def unfinished(self) -> str:
        """What is wrong with building the module now, while this kernel's with-block has not closed."""
        state = "is still open here" if self._entered else "was never entered"
        return f"the with-block of kernel {self.name} ({self._where.file}:{self._where.line}) {state}; build behind it"

    def emit(self, name: str, *sources: object, into: object = None, _depth: int = 1) -> Any:
        """Writes the instruction of that dotted name; the same as the attribute chain."""
        return self.function(name)(*sources, into=into, _depth=_depth + 1)

    def function(self, name: str) -> Call:
        """The function `(*sources, into=None)` that writes the instruction of that dotted name."""
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = function_for(self, name)
        return found

    def special(self, name: str) -> Any:
        """The special register `name` (`"tid.x"`): a register filled in the entry block, or an operand for `k.mov`
        where its value changes while the kernel runs (`"clock64"`)."""
        return read(self, name)

    def register(self, type: Type, value: object = None, *, name: str | None = None) -> Value:
        """A fresh register, set by a `mov` where a value is given; `name` becomes `%name` in the text.

        The register of an 8-bit type has 32 bits, that of a type without registers (bf16) is untyped.
        """
        if not isinstance(type, Type):
            fail("register.type", f"k.register wants a type such as f32, got {type!r}")
        kept = register_type(type)
        if name is None:
            made = self.pool(kept).take()
        else:
            checked_name(name, self._names)
            self._declared.append(Registers(kept, f"%{name}"))
            made = Value(self.pool(kept), Register(f"%{name}", kept))
        if value is not None:
            self._move(type, made, value)
        return made

    def _move(self, type: Type, made: Value, value: object) -> None:
        direct = made.type.kind is not Kind.FLOAT or made.type.name in ("f32", "f64")
        number = isinstance(value, float | int)
        if number and type.kind is Kind.FLOAT and not (direct and made.type is type):
            try:
                value = half_bits(float(value), type)  # type: ignore[arg-type]
            except UnfitNumber as unfit:
                fail("immediate.type", f"k.register: {unfit}")
        elif number and made.type.kind is Kind.PREDICATE:
            self.emit(f"setp.{'ne' if value else 'eq'}.u32", 1, 0, into=made)
            return
        self.emit(f"mov.{made.type.name if direct else f'b{made.type.bits}'}", value, into=made)

    def shared(
        self, type: Type, shape: int | tuple[int, ...], *, align: int | None = None, name: str | None = None
    ) -> Symbol:
        """A shared array of the innermost open scope; `shape` in elements, `align` in bytes."""
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        if not extents or any(extent.__class__ is not int or extent < 1 for extent in extents):
            fail("variable.shape", f"k.shared wants positive extents, got {shape!r}")
        check_align(align)
        made = checked_name(name or self.module.fresh_name("shared"), self._names)
        variable = Variable(made, type, Space.SHARED, extents, align, origin=self.here())
        self._open[-1].variables.append(variable)
        return Symbol(made, type, Space.SHARED, extents, self, variable.size_bytes)

    def dynamic_shared(self, align: int = 128) -> Symbol:
        """The shared memory whose size the launch gives, as bytes; one array per module, aligned as asked."""
        check_align(align)
        return self.module.dynamic_shared(align)

    def label(self, name: str | None = None) -> Label:
        """A label to branch to, before or after `label.place()` has put it somewhere; named by number where unnamed."""
        if name is None:
            return self.new_label("label")
        checked_name(name, self._names)
        return Label(self, LabelNameNode(name, self._open[-1].ordinal), self._place)

    def when(self, condition: object) -> When:
        """`with k.when(p):` runs its body where predicate `p` (or `~p`) holds."""
        return When(self, condition, self._flow("k.when"))

    def otherwise(self) -> Otherwise:
        """`with k.otherwise():` right behind a `when` runs its body where the condition does not hold."""
        return Otherwise(self, self._flow("k.otherwise"))

    def loop(self) -> Loop:
        """`with k.loop() as loop:` goes round until `loop.break_(p)`, or while `loop.while_(p)` at its bottom holds."""
        return Loop(self, self._flow("k.loop"))

    def range(self, start: object, stop: object, step: int = 1) -> Range:
        """`with k.range(start, stop, step) as i:` counts a register as Python's range does; s32 for plain numbers."""
        return Range(self, (start, stop), step, self._flow("k.range"))

    def guard(self, condition: object) -> Guarded:
        """`with k.guard(p):` predicates each instruction of its body with `p` (or `~p`); each needs `into=`."""
        return Guarded(self, condition)

    def scope(self) -> Braces:
        """`with k.scope():` puts its body in braces; labels and shared arrays made inside belong there."""
        return Braces(self)

    def attributed(self, origin: Origin) -> Attributed:
        """`with k.attributed(origin):` says that the statements of its body come from that line of the user's."""
        return Attributed(self, origin)

    def comment(self, text: str, *, trailing: bool = False) -> None:
        """A comment line, or one per line of the text; the first of them behind the statement before it if trailing."""
        for number, line in enumerate(text.split("\n")):
            self._state(Comment(line, trailing and number == 0))

    def ptx(self, text: str, /, **operands: object) -> None:
        """Whole statements in the manual's spelling: `k.ptx("add.u32 {d}, {a}, 1;", d=d, a=a)`.

        A name in braces stands for what `operands` has of that name: a register, `~p`, an address `[{a}]`, a symbol, a
        label, a number, or a tuple for a vector. What a text declares (`.reg`, `.shared`) later texts in the same scope
        know by its name. Statements are checked like those of the chain; KernelError on the user's line.
        """
        if self.guarding is not None:
            fail("guard.flow", "k.ptx cannot stand in k.guard; write the guard into the text")
        where = self.here()
        scope = self._texts.scope([each.ordinal for each in self._open])
        statements, self._scopes = self._texts.read(text, operands, scope, self._scopes)
        for statement in statements:
            node = checked(self, statement, where)
            if isinstance(node, Instruction):
                self.record((node.form, node.operands, node.guard, where, 0))
            else:
                self._state(node)

    def registers(self, type: Type, name: str, count: int | None = None) -> Any:
        """A `.reg` statement here. With a count `family[7]` is the register called `name` and 7; without, one register.

        The name is the whole one, `%r`; fresh registers of the kernel have numbered names of their own.
        """
        registers, made = declared(self, type, name, count, self._open[-1].ordinal)
        self._texts.declare(self._texts.scope([each.ordinal for each in self._open]), registers)
        self._state(registers)
        return made

    def symbol(self, name: str) -> Symbol:
        """A parameter, a variable that a text declares, or one of the module, by its name: its place in memory."""
        return symbol_of(self, name, self._texts.variable(name))

    def as_written(self) -> None:
        """The body ends as it is written: no `ret` is added where its end can be reached."""
        self._as_written = True

    @property
    def symbols(self) -> set[str]:
        """The names of the parameters, shared arrays and named labels of the kernel."""
        return self._names

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
        self._directives[kind] = Directive(kind, values)

    def _flow(self, what: str) -> Origin:
        if self.guarding is not None:
            fail("guard.flow", f"{what} cannot stand in k.guard, which predicates single instructions; use k.when")
        return self.here()

    def pool(self, type_: Type) -> Pool:
        """The fresh registers of a type."""
        found = self._pools.get(type_)
        if found is None:
            found = self._pools[type_] = Pool(self, type_)
        return found

    def here(self) -> Origin:
        """The line where the user's code stands now, or the one that statements are attributed to."""
        if self.attribution is not None:
            return self.attribution
        frame = users_frame()
        return self.module.resolver.origin(frame.f_code, frame.f_lasti)

    def enter(self, name: str, operands: tuple[Operand, ...]) -> None:
        """Writes an instruction into the entry block, which runs before everything else."""
        self._entry.extend((resolve(name)[0], operands, None, self.here(), 0))

    def branch(self, label: Label, where: Origin, guard: Guard | None) -> None:
        """Writes a branch to a label."""
        self.record((resolve("bra")[0], (label.node,), guard, where, 0))

    def new_label(self, stem: str) -> Label:
        """A label without a place, named by a stem and the next number of the kernel."""
        self._labels += 1
        return Label(self, LabelNameNode(f"${stem}{self._labels}", self._open[-1].ordinal), self._place)

    def _place(self, label: Label) -> None:
        if label.node.scope != self._open[-1].ordinal:
            fail("label.scope", f"label {label.node.name} was made in another scope and cannot be placed here")
        self._state(LabelNode(label.node, self.here()))

    def closed_when(self, end: Label) -> None:
        """Remembers the `when` that an `otherwise` may continue."""
        self._when = end

    def reopen_when(self) -> Label:
        """Takes back the end label of the `when` that closed just before and gives it unplaced; else KernelError."""
        statements = self._open[-1].statements
        last = statements[-STRIDE] if statements else None
        end = self._when
        if end is None or not isinstance(last, LabelNode) or last.name != end.node:
            fail("flow.otherwise", "k.otherwise continues a k.when that closed just before; something stands between")
        del statements[-STRIDE:]
        self._when = None
        end.placed = False
        return end

    def _state(self, node: Statement | Braced) -> None:
        self.record((node, None, None, None, 0))

    def open_scope(self) -> None:
        """Begins a nested scope."""
        inner = Braced(self._scopes)
        self._scopes += 1
        self._state(inner)
        self._open.append(inner)
        self.record = inner.statements.extend

    def close_scope(self) -> None:
        """Ends the innermost scope."""
        self._open.pop()
        self.record = self._open[-1].statements.extend

    def frozen(self) -> Function:
        """The kernel as an IR function; where its end can be reached, `ret` is added."""
        resolver = self.module.resolver
        pools = [self._pools[type_] for type_ in TYPES if type_ in self._pools]
        registers = [pool.declaration() for pool in pools if pool.used()] + self._declared
        self._body.variables[:0] = self._variables
        body = frozen_body(self._body, registers, self._entry, resolver, closed=not self._as_written)
        directives = tuple(self._directives[kind] for kind in DirectiveKind if kind in self._directives)
        return Function(
            self._kind, self.name, self._linkage, self.returns, self.parameters, directives, body,
            self._where,
        )  # fmt: skip


def _closed(statement: tuple[Any, ...]) -> None:
    fail("kernel.closed", "the kernel's with-block has ended; nothing can be written into it any more")
