"""Structured flow: with-blocks that leave only labels, branches and guards."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from isa.types import Type, s32
from ptxgen.build.blame import fail
from ptxgen.build.handles import Label, Not, Value
from ptxgen.ir import Guard, Origin

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft

ErrorType: TypeAlias = type[BaseException] | None


def guard_of(kernel: Draft, what: str, condition: object, *, opposite: bool = False) -> Guard:
    """The guard `@p` or `@!p` of a condition; KernelError where it is no predicate of this kernel."""
    value = condition.value if isinstance(condition, Not) else condition
    if not isinstance(value, Value) or value.type.name != "pred":
        fail("operand.kind", f"{what} wants a predicate, got {condition!r}")
    if value.kernel is not kernel:
        fail("register.foreign", f"{what}: {value!r} belongs to kernel {value.kernel.name}")
    return Guard(value.node, isinstance(condition, Not) is not opposite)


class When:
    """`with k.when(p):` runs its body where `p` holds; `k.otherwise()` right behind it continues where it does not."""

    def __init__(self, kernel: Draft, condition: object, where: Origin) -> None:
        self._kernel, self._where = kernel, where
        self._guard = guard_of(kernel, "k.when", condition, opposite=True)
        self._end: Label | None = None

    def __enter__(self) -> None:
        self._end = self._kernel.new_label("endif")
        self._kernel.branch(self._end, self._where, self._guard)

    def __exit__(self, kind: ErrorType, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and self._end is not None:
            self._end.place()
            self._kernel.closed_when(self._end)


class Otherwise:
    """The other side of the `when` that was closed just before."""

    def __init__(self, kernel: Draft, where: Origin) -> None:
        self._kernel, self._where = kernel, where
        self._end: Label | None = None

    def __enter__(self) -> None:
        start = self._kernel.reopen_when()
        self._end = self._kernel.new_label("endif")
        self._kernel.branch(self._end, self._where, None)
        start.place()

    def __exit__(self, kind: ErrorType, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and self._end is not None:
            self._end.place()


class Rounds:
    """What a loop and a counted loop have in common: leaving, the next round, and the closing branch."""

    def __init__(self, kernel: Draft, where: Origin) -> None:
        self._kernel, self._where = kernel, where
        self._top: Label | None = None
        self._next: Label | None = None
        self._end: Label | None = None
        self._closing: Guard | None = None

    def break_(self, condition: object = None) -> None:
        """Leaves the loop where the condition holds, or always."""
        self._opened()
        if self._end is None:
            self._end = self._kernel.new_label("endloop")
        self._go(self._end, "loop.break_", condition)

    def continue_(self, condition: object = None) -> None:
        """Starts the next round where the condition holds, or always."""
        top = self._opened()
        if self._next is None:
            self._next = self._continuation(top)
        self._go(self._next, "loop.continue_", condition)

    def _opened(self) -> Label:
        if self._top is None:
            fail("loop.closed", "a loop is used inside its with-block")
        return self._top

    def _continuation(self, top: Label) -> Label:
        return top

    def _go(self, label: Label, what: str, condition: object) -> None:
        guard = None if condition is None else guard_of(self._kernel, what, condition)
        self._kernel.branch(label, self._kernel.here(), guard)

    def _begin(self) -> None:
        self._top = self._kernel.new_label("loop").place()

    def _close(self) -> None:
        self._kernel.branch(self._opened(), self._where, self._closing)
        if self._end is not None:
            self._end.place()
        self._top = None


class Loop(Rounds):
    """`with k.loop() as loop:` goes round until something leaves it.

    `loop.break_(p)` leaves and `loop.continue_(p)` starts the next round, where `p` holds or always without it.
    `loop.while_(p)` as the last thing in the body goes round only where `p` holds: one guarded branch at the bottom.
    """

    def __enter__(self) -> Loop:
        self._begin()
        return self

    def while_(self, condition: object) -> None:
        """Makes the closing branch go round only where the condition holds; the last thing in the body."""
        self._opened()
        self._where = self._kernel.here()
        self._closing = guard_of(self._kernel, "loop.while_", condition)

    def __exit__(self, kind: ErrorType, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._close()


class Range(Rounds):
    """`with k.range(start, stop, step) as i:` counts a fresh register as Python's range does.

    The test stands at the bottom, and once before the first round unless numbers show that there is one. Kept in a
    variable, `loop = k.range(...)`, it has `break_` and `continue_` too.
    """

    def __init__(self, kernel: Draft, bounds: tuple[object, object], step: int, where: Origin) -> None:
        super().__init__(kernel, where)
        if type(step) is not int or step == 0:
            fail("range.step", f"k.range wants an integer step that is not 0, got {step!r}")
        self._start, self._stop, self._step = bounds[0], bounds[1], step
        self._type = _counter_type(bounds)
        self._counter: Value | None = None

    def _continuation(self, top: Label) -> Label:
        return self._kernel.new_label("next")

    def __enter__(self) -> Value:
        kernel, type_ = self._kernel, self._type
        with Attributed(kernel, self._where):
            counter = self._counter = kernel.register(type_, self._start)
            if not self._surely_entered():
                self._end = kernel.new_label("endloop")
                comparison = "ge" if self._step > 0 else "le"
                outside = kernel.emit(f"setp.{comparison}.{type_}", counter, self._stop)
                kernel.branch(self._end, self._where, Guard(outside.node))
        self._begin()
        return counter

    def _surely_entered(self) -> bool:
        if isinstance(self._start, int) and isinstance(self._stop, int):
            return len(range(self._start, self._stop, self._step)) > 0
        return False

    def __exit__(self, kind: ErrorType, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            return
        kernel, type_ = self._kernel, self._type
        if self._next is not None:
            self._next.place()
        with Attributed(kernel, self._where):
            kernel.emit(f"add.{type_}", self._counter, self._step, into=self._counter)
            comparison = "lt" if self._step > 0 else "gt"
            again = kernel.emit(f"setp.{comparison}.{type_}", self._counter, self._stop)
        self._closing = Guard(again.node)
        self._close()


def _counter_type(bounds: tuple[object, object]) -> Type:
    types = [bound.type for bound in bounds if isinstance(bound, Value)]
    if any(type_ is not types[0] for type_ in types) or not all(type_.integer and type_.bits >= 16 for type_ in types):
        fail(
            "type.mismatch",
            f"k.range wants integers or registers of one integer type, got {bounds[0]!r} and {bounds[1]!r}",
        )
    return types[0] if types else s32


class Guarded:
    """`with k.guard(p):` predicates each instruction of its body; none may make a fresh register."""

    def __init__(self, kernel: Draft, condition: object) -> None:
        self._kernel = kernel
        self._guard = guard_of(kernel, "k.guard", condition)
        if kernel.guarding is not None:
            fail("guard.nested", "k.guard cannot stand in another guard; join the predicates with k.and_.pred")

    def __enter__(self) -> None:
        self._kernel.guarding = self._guard

    def __exit__(self, kind: ErrorType, error: BaseException | None, trace: TracebackType | None) -> None:
        self._kernel.guarding = None


class Attributed:
    """Statements of the with-block are said to come from a given line instead of the line that wrote them; None: from
    the line that wrote them after all."""

    def __init__(self, kernel: Draft, where: Origin | None) -> None:
        self._kernel, self._where = kernel, where
        self._before: Origin | None = None

    def __enter__(self) -> None:
        self._before, self._kernel.attribution = self._kernel.attribution, self._where

    def __exit__(self, kind: ErrorType, error: BaseException | None, trace: TracebackType | None) -> None:
        self._kernel.attribution = self._before


class Braces:
    """`with k.scope():` puts its body in braces of its own: labels and shared arrays made inside belong there."""

    def __init__(self, kernel: Draft) -> None:
        self._kernel = kernel

    def __enter__(self) -> None:
        self._kernel.open_scope()

    def __exit__(self, kind: ErrorType, error: BaseException | None, trace: TracebackType | None) -> None:
        self._kernel.close_scope()
