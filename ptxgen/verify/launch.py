"""What a kernel's directives say of its launch."""

from __future__ import annotations

from math import prod

from attrs import frozen

from ptxgen.ir import Directive, DirectiveKind, Function

_LANES = 32


@frozen
class Launch:
    """The extents of the block and the number of CTAs of the cluster, None where a launch may choose them.

    `most_threads` bounds the threads of a block where the extents are not known.
    """

    extents: tuple[int, int, int] | None = None
    cluster: int | None = None
    most_threads: int | None = None

    @property
    def threads(self) -> int | None:
        """The threads of a block where they are known."""
        return None if self.extents is None else prod(self.extents)

    @property
    def rows_are_warps(self) -> bool:
        """True if a row of the block is whole warps, or the block is one row, or nobody can tell."""
        return self.extents is None or self.extents[0] % _LANES == 0 or self.extents[1:] == (1, 1)

    @property
    def planes_are_warps(self) -> bool:
        """True if a plane of the block is whole warps, or the block is one plane, or nobody can tell."""
        return self.extents is None or self.extents[0] * self.extents[1] % _LANES == 0 or self.extents[2] == 1


def launch_of(function: Function) -> Launch:
    """The launch that `.reqntid`, `.maxntid` and `.reqnctapercluster` ask for."""
    kinds = {each.kind: each.values for each in function.directives if isinstance(each, Directive)}
    asked, most = kinds.get(DirectiveKind.REQNTID), kinds.get(DirectiveKind.MAXNTID)
    cluster = kinds.get(DirectiveKind.REQNCTAPERCLUSTER)
    whole = None if not asked else (*asked, 1, 1)[:3]
    return Launch(
        None if whole is None else (whole[0], whole[1], whole[2]),
        prod(cluster) if cluster else None,
        prod(asked or most or ()) if asked or most else None,
    )
