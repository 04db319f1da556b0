"""The plan: an immutable list of schedule steps over a compute, each checked as it is added."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, field, frozen

from polyhedral import Dependence
from ptxgen.compute import Array, Compute, SourceLine, Statement, caller
from ptxgen.errors import PlanError

from .legality import Witness, backwards, crossing, dependences
from .nest import nest, placement, show_nest, tile_levels
from .steps import (
    Aligned,
    Assume,
    BlockOrder,
    By,
    Drain,
    Fact,
    Finish,
    Into,
    IntoFragments,
    IntoRegisters,
    IntoShared,
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
        line = caller()
        flat: list[Fact] = []
        for fact in facts:
            flat += [fact] if isinstance(fact, (Multiple, Aligned)) else fact
        for fact in flat:
            self._check_fact(fact, line)
        return self._with(Assume(tuple(flat), line))

    def tile(self, level: str, **extents: int) -> Plan:
        """`for d` -> `for level.d, for d inside`: strip-mines the named dims; others keep their loops.

        Refuses when an extent is no power of two or does not divide the level outside it, or a statement's dependence
        on its own earlier instances would run backwards (the band is not permutable).
        """
        line = caller()
        if any(tile.level == level for tile in tile_levels(self.steps)):
            raise PlanError(f"level {level!r} is tiled already", line=line)
        if not extents:
            raise PlanError(f"tile({level!r}) names no dim", line=line)
        for dim, size in extents.items():
            self._check_extent(level, dim, size, line)
        self._check_permutable(tuple(extents), line)
        return self._with(Tile(level, tuple(extents.items()), line))

    def place(self, level: str, onto: Onto, raster: BlockOrder = rows, dims: Iterable[str] | None = None) -> Plan:
        """`for level.d` -> `level.d = block or warp index`, for the level's parallel dims (or the dims named).

        Refuses when a dependence crosses between blocks. Between warps one may cross through shared memory; a dim that
        a statement reduces is not dealt to warps for that statement.
        """
        line = caller()
        tile = self._level(level, line)
        if placement(self.steps, level):
            raise PlanError(f"level {level!r} is placed already", line=line)
        chosen = tuple(dims) if dims is not None else tuple(d for d, _ in tile.extents if self._is_parallel(d, onto))
        for dim in chosen:
            if dim not in tile.sizes:
                raise PlanError(f"level {level!r} does not tile {dim!r}; it tiles {', '.join(tile.sizes)}", line=line)
            for dependence in dependences(self.compute):
                if onto is Onto.BLOCKS or self._reduced_everywhere(dim):
                    self._check_parallel(dependence, dim, tile.sizes[dim], level, onto, line)
        return self._with(Place(level, onto, raster, chosen, line))

    def stage(self, array: Named, at: str, into: Into, by: By) -> Plan:
        """Adds a buffer for the box of `array` that the loops inside `at` use, and the op that fills it there.

        `at` is a loop (`"cta.k"`) or a level whose loops all stay outside (`"cta"`). Refuses an unknown array or loop,
        a second buffer of the same sort, or a transport that cannot fill it.
        """
        line = caller()
        step = Stage(self._array(array, line), at, into, by, line)
        self._check_loop(at, line)
        if any(isinstance(s, Stage) and s.op == step.op for s in self.steps):
            raise PlanError(f"{step.op} is staged already", line=line)
        wanted = {IntoRegisters: Transport.LD, IntoShared: Transport.ST, IntoFragments: Transport.LD}[type(into)]
        if by.transport is not wanted:
            raise PlanError(
                f"{step.op} is filled by {wanted.value}, not by {by.transport.value}: "
                "registers and fragments are loaded, shared memory is stored to",
                line=line,
            )
        if isinstance(into, (IntoShared, IntoFragments)) and into.depth < 1:
            raise PlanError(f"{step.op} needs a depth of at least 1, got {into.depth}", line=line)
        return self._with(step)

    def multiply(
        self, statement: Named, instruction: MatrixInstruction, at: str, order: Serpentine = serpentine
    ) -> Plan:
        """The point loops of `statement` inside `at` become one matrix instruction, repeated over the tile.

        Refuses when the statement is no sum of products over two arrays.
        """
        line = caller()
        found = self._statement(statement, line)
        self._check_loop(at, line)
        if found.reduction is None or len(found.reads) != 2:
            raise PlanError(
                f"{found.name} is no sum of products of two arrays: {found}; {instruction.name} cannot compute it",
                line=line,
            )
        return self._with(MultiplyBy(found.name, instruction, at, line))

    def finish(self, statement: Named, at: str) -> Plan:
        """Places a pointwise or reducing statement on the registers of the level `at`.

        Refuses when what it reads is not complete there.
        """
        line = caller()
        found = self._statement(statement, line)
        self._check_loop(at, line)
        own = {dim.name for dim in found.dims}
        for loop in self._loops_outside(at):
            if loop[0] in own:
                continue
            for dependence in dependences(self.compute):
                if dependence.sink == found.name and dependence.source != found.name:
                    self._check_complete(dependence, loop, at, line)
        return self._with(Finish(found.name, at, line))

    def drain(self, array: Named, through: None, by: By) -> Plan:
        """The way out: `array`'s fragments are stored from registers (`through=None`), `by` a store."""
        line = caller()
        name = self._array(array, line)
        if by.transport is not Transport.ST:
            raise PlanError(f"{name} is drained by st, not by {by.transport.value}", line=line)
        return self._with(Drain(name, by, line))

    def shift(self, *ops: str, ahead: int, at: str) -> Plan:
        """The named ops run `ahead` steps of the loop `at` early (software pipelining).

        Whether an event interval stays is seen when the plan is derived: it names both ops and this line.
        """
        line = caller()
        known = [step.op for step in self.steps if isinstance(step, Stage)]
        for op in ops:
            if op not in known:
                raise PlanError(f"no op {op!r} to shift; staged are {', '.join(known) or 'none'}", line=line)
        if ahead < 0:
            raise PlanError(f"an op runs ahead by 0 steps or more, got {ahead}", line=line)
        self._check_loop(at, line)
        return self._with(Shift(ops, ahead, at, line))

    def sequence(self, at: str, *ops: str) -> Plan:
        """The order of the named ops inside the body of `at`."""
        line = caller()
        self._check_loop(at, line)
        return self._with(Order(at, ops, line))

    def unroll(self, loop: str) -> Plan:
        """Writes out every step of a loop of constant length. Refuses a loop whose length is not constant."""
        line = caller()
        self._check_loop(loop, line)
        level, _, dim = loop.partition(".")
        outer = [tile for tile in self._before(level) if dim in tile.sizes]
        if not outer:
            raise PlanError(f"{loop} cannot be unrolled: its length depends on the sizes at the launch", line=line)
        return self._with(Unroll(loop, line))

    def isolate(self, level: str) -> Plan:
        """Full tiles of `level` are kept apart from partial ones, and carry no guard."""
        line = caller()
        self._level(level, line)
        return self._with(Isolate(level, line))

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

    def _array(self, array: Named, line: SourceLine) -> str:
        name = array if isinstance(array, str) else array.name
        try:
            return self.compute.array(name).name
        except KeyError as error:
            raise PlanError(error.args[0], line=line) from None

    def _statement(self, statement: Named, line: SourceLine) -> Statement:
        name = statement if isinstance(statement, str) else statement.name
        try:
            return self.compute.statement(name)
        except KeyError as error:
            raise PlanError(error.args[0], line=line) from None

    def _level(self, level: str, line: SourceLine) -> Tile:
        for tile in tile_levels(self.steps):
            if tile.level == level:
                return tile
        known = ", ".join(tile.level for tile in tile_levels(self.steps)) or "none"
        raise PlanError(f"no level {level!r}; tiled levels are {known}", line=line)

    def _has(self, statement: object, dim: str) -> bool:
        return any(own.name == dim for own in self.compute.statement(str(statement)).dims)

    def _reduced_everywhere(self, dim: str) -> bool:
        own = [s for s in self.compute.statements if any(d.name == dim for d in s.dims)]
        return all(dim in statement.summed_away for statement in own)

    def _is_parallel(self, dim: str, onto: Onto) -> bool:
        if onto is Onto.WARPS:
            return not self._reduced_everywhere(dim)
        return not any(dim in statement.summed_away for statement in self.compute.statements)

    def _check_loop(self, at: str, line: SourceLine) -> None:
        level, _, dim = at.partition(".")
        tile = self._level(level, line)
        if dim and dim not in tile.sizes:
            raise PlanError(f"no loop {at!r}; level {level!r} tiles {', '.join(tile.sizes)}", line=line)
        place = placement(self.steps, level)
        if dim and place and dim in place.dims:
            raise PlanError(f"{at} is no loop: it is placed onto {place.onto.value}", line=line)

    def _before(self, level: str) -> list[Tile]:
        outer: list[Tile] = []
        for tile in tile_levels(self.steps):
            if tile.level == level:
                break
            outer.append(tile)
        return outer

    def _loops_outside(self, at: str) -> list[tuple[str, int]]:
        level, _, dim = at.partition(".")
        loops: list[tuple[str, int]] = []
        for tile in self._before(level):
            place = placement(self.steps, tile.level)
            loops += [
                (name, size)
                for name, size in tile.extents
                if dim and not (place and name in place.dims) and name == dim
            ]
        if dim:
            loops.append((dim, self._level(level, self.steps[0].line).sizes[dim]))
        return loops

    def _check_fact(self, fact: Fact, line: SourceLine) -> None:
        match fact:
            case Aligned(array, byte_count):
                self._array(array, line)
                if byte_count < 1 or byte_count & (byte_count - 1):
                    raise PlanError(f"{fact}: an alignment is a power of two", line=line)
            case Multiple(value, factor):
                unknown = [name for name in value.names if name not in self.compute.parameters]
                if unknown:
                    raise PlanError(
                        f"{fact}: {', '.join(unknown)} is no size or stride; "
                        f"there are {', '.join(self.compute.parameters)}",
                        line=line,
                    )
                if factor < 1:
                    raise PlanError(f"{fact}: a factor is at least 1", line=line)
                if value.is_constant and value.constant % factor:
                    raise PlanError(f"{fact} contradicts itself", line=line)

    def _check_extent(self, level: str, dim: str, size: int, line: SourceLine) -> None:
        if not any(dim == own.name for statement in self.compute.statements for own in statement.dims):
            known = dict.fromkeys(own.name for statement in self.compute.statements for own in statement.dims)
            raise PlanError(f"tile({level!r}): no statement has a dim {dim!r}; there are {', '.join(known)}", line=line)
        if size < 1 or size & (size - 1):
            raise PlanError(f"tile({level!r}): the extent of {dim} must be a power of two, got {size}", line=line)
        for tile in tile_levels(self.steps):
            if dim in tile.sizes and tile.sizes[dim] % size:
                raise PlanError(
                    f"tile({level!r}): {dim}={size} does not divide {dim}={tile.sizes[dim]} of level {tile.level!r}",
                    line=line,
                )

    def _check_permutable(self, dims: tuple[str, ...], line: SourceLine) -> None:
        for dependence in dependences(self.compute):
            if dependence.source != dependence.sink or dependence.set_aside:
                continue
            for dim in dims:
                witness = backwards(self.compute, dependence, dim) if self._has(dependence.source, dim) else None
                if witness:
                    raise _refused(f"the band {', '.join(dims)} is not permutable", witness, line)

    def _check_parallel(
        self, dependence: Dependence, dim: str, size: int, level: str, onto: Onto, line: SourceLine
    ) -> None:
        witness = crossing(self.compute, dependence, dim, size) if self._has(dependence.source, dim) else None
        if witness:
            why = "its sum is not declared to be joined across them" if dependence.set_aside else "a dependence crosses"
            raise _refused(f"{level}.{dim} cannot be placed onto {onto.value}: {why}", witness, line)

    def _check_complete(self, dependence: Dependence, loop: tuple[str, int], at: str, line: SourceLine) -> None:
        dim, size = loop
        witness = backwards(self.compute, dependence, dim, size) if self._has(dependence.source, dim) else None
        if witness:
            what = f"{dependence.sink} cannot be finished at {at}: {dependence.source} is not complete"
            raise _refused(what, witness, line)


def _refused(what: str, witness: Witness, line: SourceLine) -> PlanError:
    return PlanError(f"{what}; {witness}", line=line, instances=(witness.source, witness.sink))


def _changes(before: Plan, after: Plan) -> list[str]:
    lines: list[str] = []
    for statement in before.compute.statements:
        old, new = show_nest(before.steps, statement), show_nest(after.steps, statement)
        if old != new:
            lines.append(f"    {statement.name}: {old}  ->  {new}")
    return lines


def loop_names(plan: Plan, statement: Statement) -> tuple[str, ...]:
    """The names of the loops that stay around a statement, outermost first."""
    return tuple(loop.name for loop in nest(plan.steps, statement) if loop.onto is None)
