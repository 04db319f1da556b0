"""What is written of a kernel so far, and where its next statement goes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from types import CodeType
from typing import TYPE_CHECKING, Any

from isa.forms import resolve
from isa.types import TYPES, Kind, Type
from ptxgen.build.blame import fail, origin_of_frame, users_frame
from ptxgen.build.calls import function_for
from ptxgen.build.control import Attributed
from ptxgen.build.freeze import STRIDE, Braced, frozen_body
from ptxgen.build.handles import Label, Value, handle_of
from ptxgen.build.immediates import UnfitNumber, half_bits
from ptxgen.build.names import checked_name
from ptxgen.build.patterns import Call
from ptxgen.build.registers import Pool, has_registers, register_type
from ptxgen.ir import (
    Directive,
    DirectiveKind,
    Function,
    FunctionKind,
    Guard,
    Linkage,
    Operand,
    Parameter,
    Register,
    Registers,
    Statement,
    Variable,
)
from ptxgen.ir import Label as LabelNode
from ptxgen.ir import LabelName as LabelNameNode

if TYPE_CHECKING:
    from ptxgen.build.module import Module
    from ptxgen.ir import Origin


class Draft:
    """The state that a user's `Kernel`, its handles and its blocks share.

    Instructions go through `record`, with the guard and the line that hold where they are written: `guarding` is that
    of an open `k.guard`, `attribution` that of an open `k.attributed`.
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
        self.names = {parameter.name for parameter in (*parameters, *returns)}
        self.guarding: Guard | None = None
        self.attribution: Origin | None = None
        self.filled: dict[str, Value] = {}
        self.ends_as_written = False
        self.directives: dict[DirectiveKind, Directive] = {}
        self.next_scope = 1
        self._kind, self._linkage, self._where = kind, linkage, where
        self._functions: dict[str, Call] = {}
        self._pools: dict[Type, Pool] = {}
        self._accepted: dict[frozenset[Type], frozenset[Pool]] = {}
        self._vectors: dict[tuple[frozenset[Pool], int], dict[tuple[Value, ...], tuple[Register, ...]]] = {}
        self._declared: list[Registers] = []
        self._entered = False
        self._entry: list[Any] = []
        self._body = Braced(0)
        self._open = [self._body]
        self._braces = [self._body]
        self._readers: list[CodeType] = []
        self._labels = 0
        self._when: Label | None = None
        self.record: Callable[[tuple[Any, Any, Any, Any, Any]], None] = self._body.statements.extend

    def __repr__(self) -> str:
        return f"<kernel {self.name} for {self.module.target}>"

    def begin(self) -> None:
        """The with-block is entered; KernelError the second time."""
        if self._entered:
            fail("kernel.closed", f"kernel {self.name} is written in one with-block, which was entered before")
        self._entered = True

    def close(self) -> None:
        """The with-block has ended; whatever is written from now on is a KernelError."""
        self.record = _closed

    def read_by(self, code: CodeType) -> None:
        """Remembers a code object that has looked at the name of an instruction."""
        self._readers.append(code)

    def writers(self) -> list[CodeType]:
        """The code objects that wrote statements or were the first to look at the name of an instruction, each once."""
        codes: dict[int, object] = {id(each): each for each in self._readers}
        for scope in self._braces:
            codes |= {id(place): place for place, _ in groupby(scope.statements[3::STRIDE])}
        return [each for each in codes.values() if isinstance(each, CodeType)]

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

    def register(self, type: Type, value: object = None, *, name: str | None = None) -> Value:
        """A fresh register, set by a `mov` where a value is given; `name` becomes `%name` in the text.

        The register of a type without registers (bf16) is untyped. One of 8 bits is written by loads, `cvt` and `mov`
        of a vector only; its value is set by a `cvt`.
        """
        if not isinstance(type, Type):
            fail("register.type", f"k.register wants a type such as f32, got {type!r}")
        kept = type if type.register else register_type(type)
        if name is None:
            made = self.pool(kept).take()
        else:
            checked_name(name, self.names)
            self._declared.append(Registers(kept, f"%{name}", origin=self.here()))
            made = handle_of(self.pool(kept), Register(f"%{name}", kept))
        if value is not None:
            self._move(type, made, value)
        return made

    def _move(self, type: Type, made: Value, value: object) -> None:
        direct = made.type.kind is not Kind.FLOAT or made.type.name in ("f32", "f64")
        number = isinstance(value, float | int)
        if made.type.bits == 8:
            self._narrow(made, value)
            return
        if number and type.kind is Kind.FLOAT and not (direct and made.type is type):
            try:
                value = half_bits(float(value), type)  # type: ignore[arg-type]
            except UnfitNumber as unfit:
                fail("immediate.type", f"k.register: {unfit}")
        elif number and made.type.kind is Kind.PREDICATE:
            self._set(f"setp.{'ne' if value else 'eq'}.u32", 1, 0, into=made)
            return
        self._set(f"mov.{made.type.name if direct else f'b{made.type.bits}'}", value, into=made)

    def _narrow(self, made: Value, value: object) -> None:
        """Sets a register of 8 bits to a number that they can hold, or to the low bits of a register."""
        if isinstance(value, int) and not -(1 << 7) <= value < 1 << 8:
            fail("immediate.type", f"k.register: {value} does not fit in 8 bits")
        letter = "s" if made.type.kind is Kind.SIGNED else "u"
        width = value.type.bits if isinstance(value, Value) else 32
        self._set(f"cvt.{letter}8.{letter}{width}", value, into=made)

    def _set(self, name: str, *sources: object, into: Value) -> None:
        with Attributed(self, self.here()):
            self.emit(name, *sources, into=into)

    def flow(self, what: str) -> Origin:
        """The line of a with-block called `what`; KernelError inside `k.guard`."""
        if self.guarding is not None:
            fail("guard.flow", f"{what} cannot stand in k.guard, which predicates single instructions; use k.when")
        return self.here()

    def variable(self, variable: Variable) -> None:
        """Declares a variable in the innermost open scope."""
        self._open[-1].variables.append(variable)

    def ordinals(self) -> list[int]:
        """The numbers of the open scopes, the innermost last."""
        return [each.ordinal for each in self._open]

    def pool(self, type_: Type) -> Pool:
        """The fresh registers of a type."""
        found = self._pools.get(type_)
        if found is None:
            found = self._pools[type_] = Pool(self, type_)
        return found

    def accepted(self, types: frozenset[Type]) -> frozenset[Pool]:
        """The pools of the registers that an operand of these types takes."""
        found = self._accepted.get(types)
        if found is None:
            found = self._accepted[types] = frozenset(map(self.pool, filter(has_registers, types)))
        return found

    def vectors(self, accepted: frozenset[Pool], count: int) -> dict[tuple[Value, ...], tuple[Register, ...]]:
        """The vector operands of so many registers of these pools, by their handles: one that comes again is the same
        node."""
        return self._vectors.setdefault((accepted, count), {})

    def here(self) -> Origin:
        """The line where the user's code stands now, or the one that statements are attributed to."""
        if self.attribution is not None:
            return self.attribution
        return origin_of_frame(users_frame())

    def enter(self, name: str, operands: tuple[Operand, ...]) -> None:
        """Writes an instruction into the entry block, which runs before everything else."""
        self._entry.extend((resolve(name)[0], operands, None, self.here(), 0))

    def branch(self, label: Label, where: Origin, guard: Guard | None) -> None:
        """Writes a branch to a label."""
        self.record((resolve("bra")[0], (label.node,), guard, where, 0))

    def named_label(self, name: str) -> Label:
        """A label of that name without a place; KernelError where the kernel already has the name."""
        checked_name(name, self.names)
        return Label(self, LabelNameNode(name, self._open[-1].ordinal), self._place)

    def new_label(self, stem: str) -> Label:
        """A label without a place, named by a stem and the next number of the kernel."""
        self._labels += 1
        return Label(self, LabelNameNode(f"${stem}{self._labels}", self._open[-1].ordinal), self._place)

    def _place(self, label: Label) -> None:
        if label.node.scope != self._open[-1].ordinal:
            fail("label.scope", f"label {label.node.name} was made in another scope and cannot be placed here")
        self.state(LabelNode(label.node, self.here()))

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

    def state(self, node: Statement | Braced) -> None:
        """Writes a statement that is no instruction."""
        self.record((node, None, None, None, 0))

    def open_scope(self) -> None:
        """Begins a nested scope."""
        inner = Braced(self.next_scope)
        self.next_scope += 1
        self.state(inner)
        self._open.append(inner)
        self._braces.append(inner)
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
        body = frozen_body(self._body, registers, self._entry, resolver, closed=not self.ends_as_written)
        directives = tuple(self.directives[kind] for kind in DirectiveKind if kind in self.directives)
        return Function(
            self._kind, self.name, self._linkage, self.returns, self.parameters, directives, body,
            self._where,
        )  # fmt: skip


def _closed(statement: tuple[Any, ...]) -> None:
    fail("kernel.closed", "the kernel's with-block has ended; nothing can be written into it any more")
