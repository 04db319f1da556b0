"""What a step may ask for: names that exist, extents that fit, orders that the dependences allow."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from polyhedral import Dependence
from ptxgen.compute import Array, ArrayKind, Compute, SourceLine, Statement
from ptxgen.errors import PlanError
from ptxgen.plan.block_orders import BlockOrder, rows
from ptxgen.plan.facts import Aligned, Fact, Multiple, contradiction
from ptxgen.plan.legality import Witness, backwards, crossing, dependences
from ptxgen.plan.nest import placement, tile_levels
from ptxgen.plan.running import stage_paths
from ptxgen.plan.steps import Assume, Finish, Isolate, MultiplyBy, Order, Shift, Split, Stage, Step, Tile, Unroll
from ptxgen.plan.transports import Transport
from ptxgen.plan.words import IntoFragments, IntoRegisters, IntoShared, Onto, Workers

_FILLERS = {
    IntoRegisters: (Transport.LD,),
    IntoShared: (Transport.ST, Transport.CP_ASYNC, Transport.TENSOR),
    IntoFragments: (Transport.LD, Transport.LDMATRIX, Transport.CONVERT),
}


@frozen
class Checks:
    """The plan so far, and the user's line on which the next step stands. Every method raises PlanError there, or gives
    what was asked for."""

    compute: Compute
    steps: tuple[Step, ...]
    line: SourceLine

    def refused(self, reason: str, witness: Witness | None = None) -> PlanError:
        """The error for this line; with a witness it names the two instances."""
        if witness is None:
            return PlanError(reason, line=self.line)
        return PlanError(f"{reason}; {witness}", line=self.line, instances=(witness.source, witness.sink))

    def word(self, what: str, value: object, kind: type | tuple[type, ...], wanted: str) -> None:
        """A value of a step, of the kind that it must have."""
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise self.refused(f"{what} is {wanted}, got {value!r}")

    def array(self, array: Array | str) -> str:
        """The name of an array of the compute."""
        self.word("an array", array, (Array, str), "an array of the compute or its name")
        try:
            return self.compute.array(array if isinstance(array, str) else array.name).name
        except KeyError as error:
            raise self.refused(error.args[0]) from None

    def statement(self, statement: Array | str) -> Statement:
        """A statement, by the array that it fills."""
        self.word("a statement", statement, (Array, str), "the array that it fills or its name")
        try:
            return self.compute.statement(statement if isinstance(statement, str) else statement.name)
        except KeyError as error:
            raise self.refused(error.args[0]) from None

    def level(self, level: str) -> Tile:
        """The tile step of a level."""
        for tile in tile_levels(self.steps):
            if tile.level == level:
                return tile
        known = ", ".join(tile.level for tile in tile_levels(self.steps)) or "none"
        raise self.refused(f"no level {level!r}; tiled levels are {known}")

    def outside(self, level: str) -> list[Tile]:
        """The levels outside a level."""
        names = [tile.level for tile in tile_levels(self.steps)]
        return list(tile_levels(self.steps)[: names.index(level)])

    def loop(self, at: str) -> None:
        """A level, or a loop of one that no place step dealt out."""
        self.word("at", at, str, "a level such as 'cta' or a loop such as 'cta.k'")
        level, _, dim = at.partition(".")
        tile = self.level(level)
        if dim and dim not in tile.sizes:
            raise self.refused(f"no loop {at!r}; level {level!r} tiles {', '.join(tile.sizes)}")
        place = placement(self.steps, level)
        if dim and place and dim in place.dims:
            raise self.refused(f"{at} is no loop: it is placed onto {place.onto.value}")

    def fact(self, fact: Fact) -> None:
        """A fact about what the compute has."""
        match fact:
            case Aligned(array, byte_count):
                if self.compute.array(self.array(array)).kind is ArrayKind.LOCAL:
                    raise self.refused(f"{fact}: {array} is local to the kernel and has no address")
                if byte_count & (byte_count - 1):
                    raise self.refused(f"{fact}: an alignment is a power of two")
            case Multiple(value):
                known = self.compute.parameters
                unknown = [name for name in value.names if name not in known]
                if unknown:
                    raise self.refused(
                        f"{fact}: {', '.join(unknown)} is no size or stride; there are {', '.join(known)}"
                    )

    def facts(self, given: Iterable[object]) -> tuple[Fact, ...]:
        """Facts that hold together with those assumed before, at some sizes."""
        facts: list[Fact] = []
        for fact in given:
            if not isinstance(fact, (Multiple, Aligned)):
                raise self.refused(f"a fact is multiple(size, factor) or aligned(array, bytes=count), got {fact!r}")
            self.fact(fact)
            facts.append(fact)
        assumed = [fact for step in self.steps if isinstance(step, Assume) for fact in step.facts]
        clash = contradiction([fact for fact in (*assumed, *facts) if isinstance(fact, Multiple)])
        if len(clash) == 1:
            raise self.refused(f"{clash[0]} contradicts itself: it holds at no sizes")
        if clash:
            raise self.refused(f"{' and '.join(map(str, clash))} contradict each other: they hold together at no sizes")
        return tuple(facts)

    def fresh_level(self, level: str) -> None:
        """A name for a level that `level.dim` can be told from, and that no level has."""
        self.word("a level", level, str, "a name")
        if not (level.isidentifier() and level.isascii()):
            raise self.refused(f"a level is named by letters, digits and underscores, a letter first, got {level!r}")
        if any(tile.level == level for tile in tile_levels(self.steps)):
            raise self.refused(f"level {level!r} is tiled already")

    def extent(self, level: str, dim: str, size: int) -> None:
        """A tile extent: of a dim that exists, at least 1, a divisor of the tiles outside. Which extents that are no
        powers of two can be dealt out, the whole plan decides."""
        known = dict.fromkeys(own.name for statement in self.compute.statements for own in statement.dims)
        if dim not in known:
            raise self.refused(f"tile({level!r}): no statement has a dim {dim!r}; there are {', '.join(known)}")
        self.word(f"tile({level!r}): the extent of {dim}", size, int, "a whole number")
        if size < 1:
            raise self.refused(f"tile({level!r}): the extent of {dim} must be at least 1, got {size}")
        for tile in tile_levels(self.steps):
            if dim in tile.sizes and tile.sizes[dim] % size:
                outer = f"{dim}={tile.sizes[dim]} of level {tile.level!r}"
                raise self.refused(f"tile({level!r}): {dim}={size} does not divide {outer}")

    def permutable(self, dims: tuple[str, ...]) -> None:
        """A band in which no statement depends backwards on itself."""
        for dependence in dependences(self.compute):
            if dependence.source != dependence.sink or dependence.set_aside:
                continue
            for dim in dims:
                witness = backwards(self.compute, dependence, dim) if self._has(dependence.source, dim) else None
                if witness:
                    raise self.refused(f"the band {', '.join(dims)} is not permutable", witness)

    def dealt(self, tile: Tile, onto: Onto, dims: Iterable[str] | None) -> tuple[str, ...]:
        """The dims of a level that blocks or warps take: those named, or all that are parallel."""
        if dims is not None:
            self.word("dims", dims, (tuple, list), "a tuple of names")
        chosen = tuple(dims) if dims is not None else tuple(d for d, _ in tile.extents if self._is_parallel(d, onto))
        for dim in chosen:
            if dim not in tile.sizes:
                raise self.refused(f"level {tile.level!r} does not tile {dim!r}; it tiles {', '.join(tile.sizes)}")
            if chosen.count(dim) > 1:
                raise self.refused(f"place({tile.level!r}) names {dim!r} twice")
            if onto is Onto.BLOCKS or self._summed_everywhere(dim):
                self._parallel(tile, dim, onto)
            if onto is Onto.BLOCKS:
                self._written_once(tile, dim)
        if not chosen:
            raise self.refused(f"level {tile.level!r} has no dim to deal: all are summed away")
        return chosen

    def placing(self, level: str, onto: Onto, raster: BlockOrder) -> Tile:
        """A level that is dealt for the first time, in an order that means something."""
        self.word("onto", onto, Onto, "blocks or warps")
        self.word("raster", raster, BlockOrder, "rows, grouped(count) or hilbert(side)")
        tile = self.level(level)
        if placement(self.steps, level):
            raise self.refused(f"level {level!r} is placed already")
        if raster != rows and onto is not Onto.BLOCKS:
            raise self.refused(f"raster={raster} is an order of blocks; place({level!r}) deals to {onto.value}")
        return tile

    def walked(self, workers: object) -> None:
        """Blocks that stay: a count, or as many as the device runs. They carry out one program for every tile."""
        self.word("workers", workers, (int, Workers), "sms or a count of blocks")
        if isinstance(workers, bool) or (isinstance(workers, int) and workers < 1):
            raise self.refused(f"a work list has one worker or more, got {workers}")
        split = next((step for step in self.steps if isinstance(step, Split)), None)
        if split is not None:
            raise self.refused(f"{split} deals a sum to blocks of one tile each, and blocks that stay walk many")
        apart = next((step for step in self.steps if isinstance(step, Isolate)), None)
        if apart is not None:
            raise self.refused(f"{apart} gives full tiles a program of their own, but blocks that stay run one for all")

    def not_named(self, level: str, dims: tuple[str, ...]) -> None:
        """Loops that no earlier step names as loops, and a level within which no statement is finished yet."""
        for step in self.steps:
            match step:
                case Stage(at=at) | MultiplyBy(at=at) | Finish(at=at) | Shift(at=at) | Order(at=at) | Unroll(loop=at):
                    dealt = at.partition(".")[0] == level and at.partition(".")[2] in dims
                    if dealt or (isinstance(step, Finish) and "." not in at):
                        raise self.refused(f"place level {level!r} before {step}, which depends on it")
                case _:
                    pass

    def _parallel(self, tile: Tile, dim: str, onto: Onto) -> None:
        for dependence in dependences(self.compute):
            if not self._has(dependence.source, dim):
                continue
            witness = crossing(self.compute, dependence, dim, tile.sizes[dim])
            if witness:
                declared = "its sum is not declared to be joined across them"
                why = declared if dependence.set_aside else "a dependence crosses"
                raise self.refused(f"{tile.level}.{dim} cannot be placed onto {onto.value}: {why}", witness)

    def _written_once(self, tile: Tile, dim: str) -> None:
        """No output of a statement without a dim of which blocks take several tiles: each would store its elements."""
        extents = [own.extent for s in self.compute.statements for own in s.dims if own.name == dim]
        if all(extent.is_constant and extent.constant <= tile.sizes[dim] for extent in extents):
            return
        for statement in self.compute.statements:
            output = self.compute.array(statement.target.array).kind is ArrayKind.OUTPUT
            if output and not self._has(statement.name, dim):
                raise self.refused(
                    f"{tile.level}.{dim} cannot be placed onto blocks: the statement that assigns {statement.name} has "
                    f"no {dim}, and every tile along it would store the same elements; place other dims, dims=(...), "
                    f"or assign {statement.name} in a kernel of its own"
                )

    def _has(self, statement: object, dim: str) -> bool:
        return any(own.name == dim for own in self.compute.statement(str(statement)).dims)

    def _summed_everywhere(self, dim: str) -> bool:
        own = [s for s in self.compute.statements if any(d.name == dim for d in s.dims)]
        return all(dim in statement.summed_away for statement in own)

    def _is_parallel(self, dim: str, onto: Onto) -> bool:
        if onto.inside_block:
            return not self._summed_everywhere(dim)
        return not any(dim in statement.summed_away for statement in self.compute.statements)

    def stage(self, step: Stage) -> None:
        """A buffer that is not there yet, of an array that is read, filled by what can fill it."""
        if any(isinstance(other, Stage) and other.op == step.op for other in self.steps):
            raise self.refused(f"{step.op} is staged already")
        if not stage_paths(self.compute, self.steps, step):
            raise self.refused(f"{step.op} would feed nothing: no statement reads {step.array}")
        if isinstance(step.into, IntoShared) and step.into.alias:
            raise self.refused(f"{step.op}: a ring that lies over another one is for drain, not for stage")
        local = self.compute.array(step.array).kind is ArrayKind.LOCAL
        if local and isinstance(step.into, IntoRegisters):
            raise self.refused(
                f"{step.array} is local to the kernel: the statement that fills it leaves it in registers"
            )
        allowed = _FILLERS[type(step.into)]
        if step.by.transport not in allowed:
            raise self.refused(
                f"{step.op} is filled by {' or '.join(filler.value for filler in allowed)}, not by "
                f"{step.by.transport.value}: registers and fragments are loaded, shared memory is stored or copied to"
            )
        if step.by.transport is Transport.CONVERT:
            self._converted(step)
        if step.by.transport in (Transport.CP_ASYNC, Transport.TENSOR):
            self._past_registers(step, local=local)

    def _converted(self, step: Stage) -> None:
        """Fragments that a statement leaves behind, in the type that it rounds to."""
        array = self.compute.array(step.array)
        if array.kind is not ArrayKind.LOCAL:
            raise self.refused(
                f"{step.op}: {array.name} is in memory; {step.by} takes what a statement left in registers"
            )
        if array.element is not step.by.element:
            raise self.refused(
                f"{step.op}: {array.name} holds {array.element}, and what is multiplied is {step.by.element}: let its "
                f"statement fill an array of {step.by.element}"
            )
        if isinstance(step.into, IntoFragments) and step.into.depth > 1:
            raise self.refused(f"{step.op}: a statement leaves one tile in registers, not {step.into.depth}")

    def _past_registers(self, step: Stage, *, local: bool) -> None:
        """A copy from memory to shared memory: of an array that is in memory, and not staged in registers as well."""
        if local:
            raise self.refused(
                f"{step.op}: {step.array} is local to the kernel, {step.by.transport.value} copies from memory"
            )
        for other in self.steps:
            if isinstance(other, Stage) and other.array == step.array and isinstance(other.into, IntoRegisters):
                raise self.refused(f"{step.op} is copied past the registers, but {other} fills some: leave it out")

    def complete(self, statement: Statement, at: str) -> None:
        """A place where everything that the statement reads is complete: no loop around it runs over a dim that the
        statement lacks and a producer has."""
        level, _, dim = at.partition(".")
        if not dim or any(own.name == dim for own in statement.dims):
            return
        sizes = [tile.sizes[dim] for tile in (*self.outside(level), self.level(level)) if dim in tile.sizes]
        for dependence in dependences(self.compute):
            if dependence.sink == statement.name and dependence.source != statement.name:
                self._complete_before(dependence, dim, sizes, at)

    def _complete_before(self, dependence: Dependence, dim: str, sizes: list[int], at: str) -> None:
        for size in sizes if self._has(dependence.source, dim) else []:
            witness = backwards(self.compute, dependence, dim, size)
            if witness:
                what = f"{dependence.sink} cannot be finished at {at}: {dependence.source} is not complete"
                raise self.refused(what, witness)
