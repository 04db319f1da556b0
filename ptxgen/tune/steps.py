"""How far one tiling is from another, in the steps that a search takes from a good one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from ptxgen.kernels.choosing.cost import Estimate
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import BlockOrder
from ptxgen.tune.tilings import plain

BLOCK, WALK = frozenset({"i", "j", "warps"}), frozenset({"raster", "workers", "cluster"})
FOLLOWING = {
    "swap": BLOCK | {"depth", "drain"},
    "turns": BLOCK | {"workers", "raster", "depth", "drain"},
    "k": frozenset({"depth"}),
    "drain": frozenset({"depth"}),
    "workers": frozenset({"drain", "depth"}),
    "boxed": frozenset({"depth", "overlap"}),
    "split": frozenset({"drain", "depth", "workers", "raster"}),
    "stream": frozenset({"workers", "raster"}),
    "group_rows": BLOCK | {"depth", "drain", "drain_depth"},
    "drain_depth": frozenset({"depth"}),
    "piecewise": frozenset({"drain", "depth", "residual_depth"}),
}
"""What changes with a choice, since it must: the room for rings with whatever takes shared memory, for one."""


def choices(one: MatmulTiling, other: MatmulTiling) -> frozenset[str]:
    """The choices in which two tilings differ, without what follows from another one. The block's extents are one
    choice, which its warps, the rings and the pieces of results follow. How the tiles are walked is one, by blocks that
    stay or come and go, alone or in clusters, and in which order, since not all of these go together; where blocks
    stay, pieces of results find no room over a ring, so that both follow."""
    told, against = plain(one), plain(other)
    differing = {name for name in told if told[name] != against[name]}
    if differing & BLOCK and not differing & {"swap", "turns"}:
        differing = (differing - BLOCK - {"depth", "drain"}) | {"block"}
    following = {each for name in differing for each in FOLLOWING.get(name, ())}
    own = differing - following
    return frozenset(own - WALK | {"walk"} if own & WALK else own)


def differences(one: MatmulTiling, other: MatmulTiling) -> int:
    """In how many choices two tilings differ."""
    return len(choices(one, other))


def one_step_from(good: MatmulTiling, offered: Iterable[Estimate]) -> Iterator[Estimate]:
    """Those offered that differ in one choice, in turn the first of each choice, the second of each, and so on. Of the
    walks each order of the tiles, of which the model can tell little, is a choice of its own for blocks that stay and
    for those that come and go."""
    by_choice: dict[tuple[frozenset[str], tuple[BlockOrder, bool] | None], list[Estimate]] = {}
    for each in offered:
        differing = choices(good, each.tiling)
        if len(differing) == 1:
            order = (each.tiling.raster, each.tiling.workers is None) if differing == {"walk"} else None
            by_choice.setdefault((differing, order), []).append(each)
    return _in_turn(by_choice.values())


def unlike(offered: Iterable[Estimate]) -> Iterator[Estimate]:
    """Those offered, in turn the first of each block, the second of each that walks its tiles or gathers otherwise, and
    so on. How a block's neighbours are ordered, rings and pieces of results are left to steps."""
    blocks: dict[tuple[int, int, int, bool, bool], dict[tuple[bool, tuple[int, int]], Estimate]] = {}
    for each in offered:
        tiling = each.tiling
        walks = blocks.setdefault((tiling.i, tiling.j, tiling.k, tiling.swap, tiling.turns), {})
        walks.setdefault((tiling.workers is None, tiling.cluster), each)
    return _in_turn(map(dict.values, blocks.values()))


def _in_turn(groups: Iterable[Iterable[Estimate]]) -> Iterator[Estimate]:
    """The first of each group, the second of each, and so on."""
    return (each for rank in zip_longest(*groups) for each in rank if each is not None)
