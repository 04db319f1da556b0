"""Tilings as JSON, for files that outlive a process."""

from __future__ import annotations

from typing import Any

from attrs import fields

from ptxgen.errors import PlanError
from ptxgen.kernels.products.tiling import MatmulTiling
from ptxgen.plan import BlockOrder, Eviction, Workers


def plain(tiling: MatmulTiling) -> dict[str, Any]:
    """The choices of a tiling by name, as JSON has values."""
    return {each.name: _plain(getattr(tiling, each.name)) for each in fields(MatmulTiling)}


def tiling_of(known: dict[str, Any]) -> MatmulTiling:
    """The tiling that `plain` told; ValueError for anything else."""
    names = {each.name for each in fields(MatmulTiling)}
    if set(known) - names:
        raise ValueError(f"a tiling has no {', '.join(sorted(set(known) - names))}")
    held = dict(known)
    try:
        if "raster" in held:
            held["raster"] = BlockOrder(held["raster"])
        if isinstance(held.get("workers"), str):
            held["workers"] = Workers(held["workers"])
        if "cluster" in held:
            rows, columns = held["cluster"]
            held["cluster"] = (int(rows), int(columns))
        if "evict" in held:
            of_a, of_b, of_results = (None if each is None else Eviction(each) for each in held["evict"])
            held["evict"] = (of_a, of_b, of_results)
        return MatmulTiling(**held)
    except (TypeError, ValueError, PlanError) as error:
        raise ValueError(f"no tiling: {error}") from None


def _plain(value: Any) -> Any:
    match value:
        case BlockOrder(group=group):
            return group
        case Workers():
            return value.value
        case Eviction():
            return value.value
        case tuple():
            return [_plain(each) for each in value]
        case _:
            return value
