"""The loops around a statement that the tile and place steps give, from the outermost in."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from ptxgen.compute import Statement
from ptxgen.plan.steps import Finish, Place, Split, Step, Stream, Tile
from ptxgen.plan.words import Onto


@frozen
class TileLoop:
    """One tiled dim of one level: tile number floor(dim / size), run by a loop or dealt to blocks or warps. Of a
    `streamed` one each item has a range."""

    level: str
    dim: str
    size: int
    onto: Onto | None
    streamed: bool = False

    @property
    def name(self) -> str:
        """`cta.k`: the level and the dim."""
        return f"{self.level}.{self.dim}"

    def __str__(self) -> str:
        dealt = self.name if self.onto is None else f"{self.name}@{self.onto.value}"
        return f"{dealt} of the item" if self.streamed else dealt


def tile_levels(steps: Iterable[Step]) -> tuple[Tile, ...]:
    """The tile steps, outermost level first."""
    return tuple(step for step in steps if isinstance(step, Tile))


def placement(steps: Iterable[Step], level: str) -> Place | None:
    """The place step of a level, if there is one."""
    for step in steps:
        if isinstance(step, Place) and step.level == level:
            return step
    return None


def split_step(steps: Iterable[Step]) -> Split | None:
    """The split step, if there is one."""
    return next((step for step in steps if isinstance(step, Split)), None)


def stream_step(steps: Iterable[Step]) -> Stream | None:
    """The stream step, if there is one."""
    return next((step for step in steps if isinstance(step, Stream)), None)


@frozen
class PieceLoop:
    """The loop over the pieces of a tile in which a statement is finished: `count` of them, `size` along `dim` each."""

    level: str
    dim: str
    size: int
    count: int

    @property
    def name(self) -> str:
        """How a plan names it: `piece.j`."""
        return f"{self.level}.{self.dim}"


def piece_loop(steps: Iterable[Step], statement: Statement) -> PieceLoop | None:
    """The loop over pieces that the step asks for which finishes `statement`: that of a level inside the placed ones,
    which cuts a dim whose tiles are outside; None where it is finished in whole tiles."""
    known = tuple(steps)
    at = next((step.at for step in known if isinstance(step, Finish) and step.statement == statement.name), "")
    return pieces_at(known, at)


def pieces_at(steps: tuple[Step, ...], at: str) -> PieceLoop | None:
    """The loop over pieces that `at` names, if it names one."""
    level, _, dim = at.partition(".")
    names = [tile.level for tile in tile_levels(steps)]
    if level not in names or any(placement(steps, name) for name in names[names.index(level) :]):
        return None
    *outside, own = tile_levels(steps)[: names.index(level) + 1]
    around = [tile.sizes[dim] for tile in outside if dim in tile.sizes]
    if not around or dim not in own.sizes or not any(placement(steps, tile.level) for tile in outside):
        return None
    return PieceLoop(level, dim, own.sizes[dim], around[-1] // own.sizes[dim])


def nest(steps: tuple[Step, ...], statement: Statement) -> tuple[TileLoop, ...]:
    """The tile loops around `statement`: every level's tiled dims that it has, outermost first."""
    own = {dim.name for dim in statement.dims}
    loops: list[TileLoop] = []
    split, stream = split_step(steps), stream_step(steps)
    for tile in tile_levels(steps):
        place = placement(steps, tile.level)
        for dim, size in tile.extents:
            if dim in own:
                outermost = all(loop.dim != dim for loop in loops)
                if split and split.dim == dim and outermost:
                    loops.append(TileLoop(tile.level, f"{dim}.part", split.parts, Onto.BLOCKS))
                onto = place.onto if place and dim in place.dims and dim not in statement.summed_away else None
                streamed = stream is not None and stream.dim == dim and outermost
                loops.append(TileLoop(tile.level, dim, size, onto, streamed))
    return tuple(loops)


def show_nest(steps: tuple[Step, ...], statement: Statement) -> str:
    """The loops around a statement in one line: tile loops, then what is left of each dim inside the innermost."""
    loops = nest(steps, statement)
    inner = {loop.dim: loop.size for loop in loops}
    points = [f"{dim.name}<{inner.get(dim.name, dim.extent)}" for dim in statement.dims]
    return ", ".join([*map(str, loops), *points])
