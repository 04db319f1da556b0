"""How what follows a product is finished: tile by tile, or piece by piece with what it reads brought ahead."""

from __future__ import annotations

from math import prod

from attrs import field, frozen

from ptxgen.kernels.products.drain import span_of
from ptxgen.plan import Plan, Role, fragments, ld, ldmatrix, registers, role, shared, swizzle, tensor

LEVEL = "piece"
BESIDE_SUMS = 40
AT = f"{LEVEL}.j"


@frozen
class Finish:
    """The pieces of `columns` in which results leave; `piecewise`: each is calculated just before it does. `brought`
    are matrices of which tensor copies bring so many pieces ahead, `loaded` what threads load as a tile begins."""

    columns: int
    piecewise: bool = False
    brought: dict[str, int] = field(factory=dict)
    loaded: tuple[str, ...] = ()

    def tiled(self, plan: Plan) -> Plan:
        """The plan with the pieces as a level, and what is brought and loaded staged."""
        if not self.piecewise:
            return plan
        plan = plan.tile(LEVEL, j=self.columns)
        for name, depth in self.brought.items():
            array = plan.compute.array(name)
            plan = plan.stage(name, at=AT, into=shared(depth, swizzle(span_of(array, self.columns))), by=tensor)
            by = ldmatrix(4) if array.element.byte_count == 2 else ld(8)
            plan = plan.stage(name, at=AT, into=fragments(1), by=by)
        for name in self.loaded:
            plan = plan.stage(name, at="cta", into=registers(), by=ld(16))
        return plan

    def roles(self, operands: tuple[str, ...], registers: int | None) -> dict[str, Role]:
        """Those who have boxes copied, four warps: what is brought in pieces by a warp of its own, so that the next
        tile's operands do not wait for the last one's pieces."""
        pieces = tuple(f"{name}.shared" for name in self.brought)
        load = role(*operands, warps=3 if pieces else 4, registers=registers)
        return {"load": load, **({"bring": role(*pieces, warps=1, registers=registers)} if pieces else {})}

    def finished(self, plan: Plan) -> Plan:
        """The plan with all statements behind the first finished."""
        for statement in plan.compute.statements[1:]:
            plan = plan.finish(statement.name, at=AT if self.piecewise else "group")
        return plan

    def in_turn(self, plan: Plan) -> tuple[str, ...]:
        """What warpgroups that take tiles in turn also go through one after the other: where they read what is brought,
        from one ring, the pieces, which the last statement ends."""
        return (plan.compute.statements[-1].name,) if self.brought else ()

    def brought_bytes(self, plan: Plan, rows: int) -> int:
        """The bytes of shared memory that what is brought takes."""
        pieces = ((plan.compute.array(name), depth) for name, depth in self.brought.items())
        return sum(prod((depth, rows, self.columns, array.element.byte_count)) for array, depth in pieces)


def fits_beside(sums: int, wanted: dict[str, int], budget: int) -> tuple[str, ...]:
    """Those of the `wanted`, registers by name, that fit into a thread's `budget` beside so many `sums` and what else a
    piece and its addresses take; the first ones first."""
    left = budget - sums - BESIDE_SUMS
    found: list[str] = []
    for name, count in wanted.items():
        if count <= left:
            found.append(name)
            left -= count
    return tuple(found)
