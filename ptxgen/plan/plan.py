"""The plan: an immutable list of schedule steps over a compute, each checked as it is added."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, field, frozen

from ptxgen.compute import Array, Compute, SourceLine, caller
from ptxgen.plan.checks import Checks
from ptxgen.plan.nest import placement, show_nest, tile_levels
from ptxgen.plan.steps import (
    Aligned,
    Assume,
    BlockOrder,
    By,
    Drain,
    Fact,
    Finish,
    Into,
    Isolate,
    MatrixInstruction,
    Multiple,
    MultiplyBy,
    Onto,
    Order,
    Place,
    Serpentine,
    Shift,
    Stage,
    Step,
    Tile,
    Transport,
    Unroll,
    rows,
    serpentine,
)

Named = Array | str


@frozen
class Plan:
    """How `compute` is carried out on `target` (`"sm_70"`).

    Every method returns a new plan with one more step and refuses, with a PlanError on the caller's line, what the
    dependences do not allow. `str(plan)` prints every step with the loops before and after it.
    """

    compute: Compute
    target: str
    steps: tuple[Step, ...] = field(default=(), kw_only=True)

    def assume(self, *facts: Fact | Iterable[Fact]) -> Plan:
        """Adds facts about sizes, strides and addresses, which the launcher tests.

        Refuses when a fact names no size, stride or array of the compute, or two facts contradict.
        """
        checks = self._checks(caller())
        flat: list[Fact] = []
        for fact in facts:
            flat += [fact] if isinstance(fact, (Multiple, Aligned)) else fact
        for fact in flat:
            checks.fact(fact)
        return self._with(Assume(tuple(flat), checks.line))

    def tile(self, level: str, **extents: int) -> Plan:
        """`for d` -> `for level.d, for d inside`: strip-mines the named dims; others keep their loops.

        Refuses when an extent is no power of two or does not divide the level outside it, or a statement's dependence
        on its own earlier instances would run backwards (the band is not permutable).
        """
        checks = self._checks(caller())
        if any(tile.level == level for tile in tile_levels(self.steps)):
            raise checks.refused(f"level {level!r} is tiled already")
        if not extents:
            raise checks.refused(f"tile({level!r}) names no dim")
        for dim, size in extents.items():
            checks.extent(level, dim, size)
        checks.permutable(tuple(extents))
        return self._with(Tile(level, tuple(extents.items()), checks.line))

    def place(self, level: str, onto: Onto, raster: BlockOrder = rows, dims: Iterable[str] | None = None) -> Plan:
        """`for level.d` -> `level.d = block or warp index`, for the level's parallel dims (or the dims named).

        Refuses when a dependence crosses between blocks. Between warps one may cross through shared memory; a dim that
        a statement reduces is not dealt to warps for that statement.
        """
        checks = self._checks(caller())
        tile = checks.level(level)
        if placement(self.steps, level):
            raise checks.refused(f"level {level!r} is placed already")
        chosen = checks.dealt(tile, onto, dims)
        return self._with(Place(level, onto, raster, chosen, checks.line))

    def stage(self, array: Named, at: str, into: Into, by: By) -> Plan:
        """Adds a buffer for the box of `array` that the loops inside `at` use, and the op that fills it there.

        `at` is a loop (`"cta.k"`) or a level whose loops all stay outside (`"cta"`). Refuses an unknown array or loop,
        a second buffer of the same sort, or a transport that cannot fill it.
        """
        checks = self._checks(caller())
        step = Stage(checks.array(array), at, into, by, checks.line)
        checks.loop(at)
        checks.stage(step)
        return self._with(step)

    def multiply(
        self, statement: Named, instruction: MatrixInstruction, at: str, order: Serpentine = serpentine
    ) -> Plan:
        """The point loops of `statement` inside `at` become one matrix instruction, repeated over the tile.

        Refuses when the statement is no sum of products over two arrays.
        """
        checks = self._checks(caller())
        found = checks.statement(statement)
        checks.loop(at)
        if found.reduction is None or len(found.reads) != 2:
            what = f"{found.name} is no sum of products of two arrays: {found}"
            raise checks.refused(f"{what}; {instruction.name} cannot compute it")
        return self._with(MultiplyBy(found.name, instruction, at, checks.line))

    def finish(self, statement: Named, at: str) -> Plan:
        """Places a pointwise or reducing statement on the registers of the level `at`.

        Refuses when what it reads is not complete there.
        """
        checks = self._checks(caller())
        found = checks.statement(statement)
        checks.loop(at)
        checks.complete(found, at)
        return self._with(Finish(found.name, at, checks.line))

    def drain(self, array: Named, through: None, by: By) -> Plan:
        """The way out: `array`'s fragments are stored from registers (`through=None`), `by` a store."""
        checks = self._checks(caller())
        name = checks.array(array)
        if by.transport is not Transport.ST:
            raise checks.refused(f"{name} is drained by st, not by {by.transport.value}")
        return self._with(Drain(name, by, checks.line))

    def shift(self, *ops: str, ahead: int, at: str) -> Plan:
        """The named ops run `ahead` steps of the loop `at` early (software pipelining).

        Whether an event interval stays is seen when the plan is derived: it names both ops and this line.
        """
        checks = self._checks(caller())
        known = [step.op for step in self.steps if isinstance(step, Stage)]
        for op in ops:
            if op not in known:
                raise checks.refused(f"no op {op!r} to shift; staged are {', '.join(known) or 'none'}")
        if ahead < 0:
            raise checks.refused(f"an op runs ahead by 0 steps or more, got {ahead}")
        checks.loop(at)
        return self._with(Shift(ops, ahead, at, checks.line))

    def sequence(self, at: str, *ops: str) -> Plan:
        """The order of the named ops inside the body of `at`."""
        checks = self._checks(caller())
        checks.loop(at)
        return self._with(Order(at, ops, checks.line))

    def unroll(self, loop: str) -> Plan:
        """Writes out every step of a loop of constant length. Refuses a loop whose length is not constant."""
        checks = self._checks(caller())
        checks.loop(loop)
        level, _, dim = loop.partition(".")
        if not any(dim in tile.sizes for tile in checks.outside(level)):
            raise checks.refused(f"{loop} cannot be unrolled: its length depends on the sizes at the launch")
        return self._with(Unroll(loop, checks.line))

    def isolate(self, level: str) -> Plan:
        """Full tiles of `level` are kept apart from partial ones, and carry no guard."""
        checks = self._checks(caller())
        checks.level(level)
        return self._with(Isolate(level, checks.line))

    def __str__(self) -> str:
        lines = [f"plan for {self.target}", str(self.compute)]
        before = Plan(self.compute, self.target)
        for place, step in enumerate(self.steps):
            after = evolve(before, steps=self.steps[: place + 1])
            lines.append(f"{step}    # {step.line}")
            lines += _changes(before, after)
            before = after
        return "\n".join(lines)

    def _with(self, step: Step) -> Plan:
        return evolve(self, steps=(*self.steps, step))

    def _checks(self, line: SourceLine) -> Checks:
        return Checks(self.compute, self.steps, line)


def _changes(before: Plan, after: Plan) -> list[str]:
    lines: list[str] = []
    for statement in before.compute.statements:
        old, new = show_nest(before.steps, statement), show_nest(after.steps, statement)
        if old != new:
            lines.append(f"    {statement.name}: {old}  ->  {new}")
    return lines
