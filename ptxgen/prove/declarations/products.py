"""Products: the warps that multiply, and the tiles that their instructions cover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isa.fragments import fragment
from ptxgen.errors import Finding, Severity
from ptxgen.tile import Factor, Multiply, Program, Role
from ptxgen.tile.trees import ends_of

WARPGROUP_WARPS = 4
LANES = 32
Span = tuple[int, int]


def product_faults(program: Program) -> Iterator[Finding]:
    """Roles whose warps are not those that hold the sums or make no whole warpgroups, and products whose instructions
    leave out a part of the sums or of what is summed over, or take it twice."""
    first_warp = 0
    for role in program.roles:
        products = tuple(node for node in ends_of(role.body) if isinstance(node, Multiply))
        if products:
            yield from _warp_faults(role, first_warp, products)
            yield from _sum_faults(products)
            yield from _term_faults(products)
        first_warp += role.warps


def _warp_faults(role: Role, first_warp: int, products: tuple[Multiply, ...]) -> Iterator[Finding]:
    grouped = next((node for node in products if node.row.warpgroup), None)
    if grouped is not None and (role.warps % WARPGROUP_WARPS or first_warp % WARPGROUP_WARPS):
        text = (
            f"role {role.name} has {role.warps} warps from number {first_warp} on, but {grouped.op} is multiplied by "
            f"warpgroups: it wants multiples of {WARPGROUP_WARPS}"
        )
        yield _finding("warps", text, role, grouped)
        return
    for node in products:
        held = node.c.region.buffer
        if held.distribution.warp_count != role.warps:
            wanted = f"{held.name}, the sums of {node.op}, is held by {held.distribution.warp_count} warps"
            yield _finding("warps", f"role {role.name} has {role.warps} warps, but {wanted}", role, node)
            return


def _finding(code: str, text: str, role: Role, node: Multiply) -> Finding:
    related = ((node.op, node.line),)
    return Finding(f"declaration.{code}", Severity.ERROR, text, role.line or node.line, related=related)


def _sum_faults(products: tuple[Multiply, ...]) -> Iterator[Finding]:
    """Each lane's sums are those of all its instructions."""
    for node in dict.fromkeys(products):
        held, (m, n, _) = node.c.region.buffer, node.repeats
        whole = held.distribution.value_count
        if whole != m * n * _values_of_sums(node):
            text = f"{m} by {n} of {node.row.shape} add up {m * n * _values_of_sums(node)} values a lane of {held.name}"
            yield _refused(node, f"{text}, which has {whole}")


def _values_of_sums(node: Multiply) -> int:
    row = node.row
    if row.warpgroup:
        return row.m * row.n // (WARPGROUP_WARPS * LANES)
    return 1 << len(fragment(row.shape, "c", row.accumulate.label).value_bits)


def _term_faults(products: tuple[Multiply, ...]) -> Iterator[Finding]:
    """All products of a tile of an operand take the same parts of it along k, one behind the other to its end: chains
    each take their own."""
    spans: dict[str, dict[Span, Multiply]] = {}
    for node in products:
        for side, place in ((node.a, node.a.column_dimension), (node.b, node.b.row_dimension)):
            spans.setdefault(side.region.buffer.name, {}).setdefault(_span(node, side, place), node)
    extents = {
        side.region.buffer.name: side.region.buffer.shape[place]
        for node in products
        for side, place in ((node.a, node.a.column_dimension), (node.b, node.b.row_dimension))
    }
    for node, (name, (start, end), extent) in _uncovered(spans, extents).items():
        text = f"{node.repeats[2]} of {node.row.shape} take {start} .. {end - 1} of {name} along k, whose tile has "
        yield _refused(node, f"{text}{extent}; wanted parts that make up all of it, each once")


def _span(node: Multiply, side: Factor, place: int) -> Span:
    start = side.region.origin[place].constant
    return start, start + node.row.k * node.repeats[2]


def _uncovered(
    spans: Mapping[str, Mapping[Span, Multiply]], extents: Mapping[str, int]
) -> dict[Multiply, tuple[str, Span, int]]:
    """The products, each once, whose part of an operand neither goes to its end nor to the beginning of another part,
    or begins at none's end."""
    found: dict[Multiply, tuple[str, Span, int]] = {}
    for name, parts in spans.items():
        starts, ends = {start for start, _ in parts}, {end for _, end in parts}
        for (start, end), node in parts.items():
            if (start and start not in ends) or (end != extents[name] and end not in starts):
                found.setdefault(node, (name, (start, end), extents[name]))
    return found


def _refused(node: Multiply, text: str) -> Finding:
    return Finding("declaration.product", Severity.ERROR, f"{node.op}: {text}", node.line)
