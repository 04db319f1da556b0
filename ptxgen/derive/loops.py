"""The loops that stay around ops: over tiles, of parametric length, and over the pieces of a tile."""

from __future__ import annotations

from attrs import frozen


@frozen
class RolledLoop:
    """The loop over the tiles of `dim` at `level`. Statements that cannot share it have loops of their own, told apart
    by `copy`, counted from 1. With a `size` it is the loop over the `count` pieces of a tile, of so many elements along
    `dim` each.
    """

    level: str
    dim: str
    copy: int = 1
    size: int = 0
    count: int = 0

    @property
    def at(self) -> str:
        """How a plan names it: `cta.k`."""
        return f"{self.level}.{self.dim}"

    @property
    def name(self) -> str:
        """The name of its variable in sets and tile programs: `cta.k`, the second one `cta.k#2`."""
        return self.at if self.copy == 1 else f"{self.at}#{self.copy}"


Path = tuple[RolledLoop, ...]


def names(path: Path) -> tuple[str, ...]:
    """The variables of the loops, outermost first."""
    return tuple(loop.name for loop in path)


def below(path: Path, depth: int) -> RolledLoop | None:
    """The loop inside the first `depth` loops of `path`, if there is one."""
    return path[depth] if len(path) > depth else None


def pieces_of(path: Path) -> RolledLoop | None:
    """The loop over the pieces of a tile, if `path` has one."""
    return next((loop for loop in path if loop.size), None)
