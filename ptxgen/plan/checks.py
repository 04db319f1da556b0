"""What a step may ask for: names that exist, extents that fit, orders that the dependences allow."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from polyhedral import Dependence
from ptxgen.compute import Array, Compute, SourceLine, Statement
from ptxgen.errors import PlanError
from ptxgen.plan.legality import Witness, backwards, crossing, dependences
from ptxgen.plan.nest import placement, tile_levels
from ptxgen.plan.steps import (
    Aligned,
    Fact,
    IntoFragments,
    IntoRegisters,
    IntoShared,
    Multiple,
    Onto,
    Stage,
    Step,
    Tile,
    Transport,
)


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

    def array(self, array: Array | str) -> str:
        """The name of an array of the compute."""
        try:
            return self.compute.array(array if isinstance(array, str) else array.name).name
        except KeyError as error:
            raise self.refused(error.args[0]) from None

    def statement(self, statement: Array | str) -> Statement:
        """A statement, by the array that it fills."""
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
        level, _, dim = at.partition(".")
        tile = self.level(level)
        if dim and dim not in tile.sizes:
            raise self.refused(f"no loop {at!r}; level {level!r} tiles {', '.join(tile.sizes)}")
        place = placement(self.steps, level)
        if dim and place and dim in place.dims:
            raise self.refused(f"{at} is no loop: it is placed onto {place.onto.value}")

    def fact(self, fact: Fact) -> None:
        """A fact about what the compute has, that can hold."""
        match fact:
            case Aligned(array, byte_count):
                self.array(array)
                if byte_count < 1 or byte_count & (byte_count - 1):
                    raise self.refused(f"{fact}: an alignment is a power of two")
            case Multiple(value, factor):
                known = self.compute.parameters
                unknown = [name for name in value.names if name not in known]
                if unknown:
                    raise self.refused(
                        f"{fact}: {', '.join(unknown)} is no size or stride; there are {', '.join(known)}"
                    )
                if factor < 1:
                    raise self.refused(f"{fact}: a factor is at least 1")
                if value.is_constant and value.constant % factor:
                    raise self.refused(f"{fact} contradicts itself")

    def extent(self, level: str, dim: str, size: int) -> None:
        """A tile extent: of a dim that exists, a power of two, a divisor of the tiles outside."""
        known = dict.fromkeys(own.name for statement in self.compute.statements for own in statement.dims)
        if dim not in known:
            raise self.refused(f"tile({level!r}): no statement has a dim {dim!r}; there are {', '.join(known)}")
        if size < 1 or size & (size - 1):
            raise self.refused(f"tile({level!r}): the extent of {dim} must be a power of two, got {size}")
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
        chosen = tuple(dims) if dims is not None else tuple(d for d, _ in tile.extents if self._is_parallel(d, onto))
        for dim in chosen:
            if dim not in tile.sizes:
                raise self.refused(f"level {tile.level!r} does not tile {dim!r}; it tiles {', '.join(tile.sizes)}")
            if onto is Onto.BLOCKS or self._summed_everywhere(dim):
                self._parallel(tile, dim, onto)
        return chosen

    def _parallel(self, tile: Tile, dim: str, onto: Onto) -> None:
        for dependence in dependences(self.compute):
            if not self._has(dependence.source, dim):
                continue
            witness = crossing(self.compute, dependence, dim, tile.sizes[dim])
            if witness:
                declared = "its sum is not declared to be joined across them"
                why = declared if dependence.set_aside else "a dependence crosses"
                raise self.refused(f"{tile.level}.{dim} cannot be placed onto {onto.value}: {why}", witness)

    def _has(self, statement: object, dim: str) -> bool:
        return any(own.name == dim for own in self.compute.statement(str(statement)).dims)

    def _summed_everywhere(self, dim: str) -> bool:
        own = [s for s in self.compute.statements if any(d.name == dim for d in s.dims)]
        return all(dim in statement.summed_away for statement in own)

    def _is_parallel(self, dim: str, onto: Onto) -> bool:
        if onto is Onto.WARPS:
            return not self._summed_everywhere(dim)
        return not any(dim in statement.summed_away for statement in self.compute.statements)

    def stage(self, step: Stage) -> None:
        """A buffer that is not there yet, filled by what can fill it."""
        if any(isinstance(other, Stage) and other.op == step.op for other in self.steps):
            raise self.refused(f"{step.op} is staged already")
        fillers = {IntoRegisters: Transport.LD, IntoShared: Transport.ST, IntoFragments: Transport.LD}
        wanted = fillers[type(step.into)]
        if step.by.transport is not wanted:
            raise self.refused(
                f"{step.op} is filled by {wanted.value}, not by {step.by.transport.value}: "
                "registers and fragments are loaded, shared memory is stored to"
            )
        if isinstance(step.into, (IntoShared, IntoFragments)) and step.into.depth < 1:
            raise self.refused(f"{step.op} needs a depth of at least 1, got {step.into.depth}")

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
