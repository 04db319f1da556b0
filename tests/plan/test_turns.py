"""The step that has units of a role take work items, or phases of a loop, in turn: how a plan says it, and what it
refuses."""

from __future__ import annotations

import pytest

from ptxgen.compute import f32
from ptxgen.derive import derive
from ptxgen.errors import PlanError
from ptxgen.plan import Plan, Role, blocks, ordered, role, shared, swizzle, tensor, warpgroups, wgmma
from tests.derive.computes import matmul
from tests.plan.refusing import Refused, check_refused, wrong


def staged(persisted: bool = True, math: Role | None = None) -> Plan:
    plan = Plan(matmul(), "sm_90a").tile("cta", i=64, j=64, k=64)
    plan = plan.persist("cta") if persisted else plan.place("cta", onto=blocks)
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=shared(3, swizzle(128)), by=tensor)
    return plan.roles(load=role("A.shared", "B.shared", warps=4), math=math or role(warpgroups=2))


def multiplied(persisted: bool = True, math: Role | None = None) -> Plan:
    return staged(persisted, math).multiply("C", wgmma(64, f32), at="group", in_flight=1)


REFUSED: Refused = {
    "no such role": (
        lambda: multiplied().turns("store", "cta", "C", split_items=True),
        "no role 'store' to take turns; there are load, math",
    ),
    "no roles": (
        lambda: Plan(matmul(), "sm_90a").tile("cta", i=64, j=64, k=64).turns("math", "cta", "C", split_items=True),
        "no role 'math' to take turns; there are none",
    ),
    "who copies": (
        lambda: multiplied().turns("load", "cta", "C", split_items=True),
        "role load is one thread that has A.shared, B.shared copied: it takes no turns",
    ),
    "one warpgroup": (
        lambda: multiplied(math=role(warpgroups=1)).turns("math", "cta", "C", split_items=True),
        "role math takes turns with warpgroups=2 or more, got 4 warps",
    ),
    "as many as the tiles": (
        lambda: multiplied(math=role()).turns("math", "cta", "C", split_items=True),
        "role math takes turns with warpgroups=2 or more, got 0 warps",
    ),
    "half a warpgroup": (
        lambda: multiplied(math=role(warps=10)).turns("math", "cta", "C", split_items=True),
        "role math takes turns with warpgroups=2 or more, got 10 warps",
    ),
    "a block for each tile": (
        lambda: multiplied(persisted=False).turns("math", "cta", "C", split_items=True),
        "turns over 'cta': persist that level, so that there are items to take in turn",
    ),
    "no such level": (
        lambda: multiplied().turns("math", "tile", "C", split_items=True),
        "no level 'tile'; tiled levels are cta, group",
    ),
    "a level in place of a loop": (
        lambda: multiplied().turns("math", "cta", "C"),
        "turns over 'cta': C runs in cta.k; the loop is one around each phase",
    ),
    "a loop that blocks take": (
        lambda: multiplied().turns("math", "cta.i", "C"),
        "cta.i is no loop: it is placed onto blocks",
    ),
    "no such loop": (
        lambda: multiplied().turns("math", "cta.n", "C"),
        "no loop 'cta.n'; level 'cta' tiles i, j, k",
    ),
    "a phase outside of the loop": (
        lambda: multiplied().turns("math", "cta.k", "C", "D"),
        "turns over 'cta.k': D runs in no loop; the loop is one around each phase",
    ),
    "an op of another role": (
        lambda: multiplied().turns("math", "cta.k", "A.shared", "C"),
        "A.shared is of role load: the phases that math takes turns in are its own",
    ),
    "a role that copies, in a loop": (
        lambda: multiplied().turns("load", "cta.k", "C"),
        "role load is one thread that has A.shared, B.shared copied: it takes no turns",
    ),
    "one warpgroup, in a loop": (
        lambda: multiplied(math=role(warpgroups=1)).turns("math", "cta.k", "C"),
        "role math takes turns with warpgroups=2 or more, got 4 warps",
    ),
    "no phase of a loop": (
        lambda: multiplied().turns("math", "cta.k"),
        "turns(math, cta.k): name the phases that are taken in rotation",
    ),
    "a phase of a loop twice": (
        lambda: multiplied().turns("math", "cta.k", "C", "C"),
        "turns name C twice",
    ),
    "a stream": (
        lambda: multiplied().stream("k", join=ordered).turns("math", "cta.k", "C"),
        "units that take phases in turn share all of a sum",
    ),
    "a stream behind": (
        lambda: multiplied().turns("math", "cta.k", "C").stream("k", join=ordered),
        "turns(math, cta.k, C) has units share all, not a part of a sum",
    ),
    "neither": (
        lambda: multiplied().turns("math", "cta", "C", split_items=wrong(1)),
        "split_items is True or False, got 1",
    ),
    "no statement": (lambda: multiplied().turns("math", "cta", "E", split_items=True), "no statement 'E'"),
    "no product among them": (
        lambda: multiplied().turns("math", "cta", "D", split_items=True),
        "the phases are D; a product is one of them",
    ),
    "nothing": (lambda: multiplied().turns("math", "cta", split_items=True), "the phases are none; a product is one"),
    "before the product": (
        lambda: staged().turns("math", "cta", split_items=True),
        "the phases are none; a product is one of them",
    ),
    "a phase twice": (
        lambda: multiplied().turns("math", "cta", "C", "C", split_items=True),
        "turns name C twice",
    ),
    "twice": (
        lambda: multiplied().turns("math", "cta", "C", split_items=True).turns("math", "cta", "C", split_items=True),
        "turns are given already",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_on_its_own_line(name: str) -> None:
    check_refused(*REFUSED[name], __file__)


def test_it_prints_as_it_is_called() -> None:
    plan = multiplied().turns("math", "cta", "C", split_items=True)
    assert str(plan.steps[-1]) == "turns(math, cta, C, split_items=True)"
    assert str(multiplied().turns("math", "cta.k", "C").steps[-1]) == "turns(math, cta.k, C)"


def test_where_items_are_shared_tiles_are_dealt_to_several_warpgroups() -> None:
    """Which the whole plan tells: one of 64 rows is for one."""
    plan = multiplied(math=role()).turns("math", "cta.k", "C").finish("D", at="group")
    with pytest.raises(PlanError, match="its tiles are dealt to 1 warpgroup, and math takes turns with two") as caught:
        derive(plan)
    assert caught.value.line is not None
    assert caught.value.line.file == __file__


def test_each_warpgroup_has_a_tile_of_its_own() -> None:
    """Tiles dealt to two warpgroups are no tiles of one of two."""
    plan = Plan(matmul(), "sm_90a").tile("cta", i=128, j=64, k=64).persist("cta")
    plan = plan.tile("group", i=64).place("group", onto=warpgroups)
    for name in ("A", "B"):
        plan = plan.stage(name, at="cta.k", into=shared(3, swizzle(128)), by=tensor)
    plan = plan.roles(load=role("A.shared", "B.shared", warps=4), math=role(warpgroups=2))
    plan = plan.multiply("C", wgmma(64, f32), at="group").turns("math", "cta", "C", split_items=True)
    with pytest.raises(PlanError, match="an item is dealt to 8 warps, and the role has 8") as caught:
        derive(plan.finish("D", at="group"))
    assert caught.value.line is not None
    assert caught.value.line.file == __file__
