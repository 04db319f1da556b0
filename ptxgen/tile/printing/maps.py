"""Maps and reductions as text."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Items

from polyhedral import var
from ptxgen.compute import Constant, Expression, Load, Operand, Scalar, decimal, rebuild
from ptxgen.compute import show as show_expression
from ptxgen.tile.buffers import Buffer, Region, Space
from ptxgen.tile.leaves import Iteration, Map, MapOperand, Outside, Reduce
from ptxgen.tile.printing.leaves import named
from ptxgen.tile.printing.regions import INDENT, box_text, listed, tile_text
from ptxgen.tile.usual import EFFECTS


def map_lines(node: Map | Reduce) -> Iterator[str]:
    """A map or reduction: its assignment, its iteration, and who holds what where the target does not say it."""
    iteration = node.iteration
    operands = tuple(element(operand.region, operand.dims, iteration) for operand in node.operands)

    def spell(leaf: Expression) -> Expression:
        match leaf:
            case Operand(index):
                return operands[index]
            case Constant(value):
                return Scalar(digits(value))
            case _:
                return leaf

    value = show_expression(rebuild(node.expression, spell))
    target = show_expression(element(node.target, node.target_dims, iteration))
    if isinstance(node, Reduce):
        yield named(node.op, node.target, f"reduce {target} = {node.join.label}({target}, {value})")
    else:
        yield named(node.op, node.target, f"map {target} = {value}")
    lines = iteration_lines(iteration, node.target.buffer, node.operands)
    if isinstance(node, Map) and (iteration.guarded or node.outside is not Outside.ANY):
        first = next(lines)
        yield f"{INDENT}{first}, {EFFECTS[node.outside]} outside"
    yield from (INDENT + line for line in lines)


def iteration_lines(iteration: Iteration, target: Buffer, operands: tuple[MapOperand, ...]) -> Iterator[str]:
    """Box, place, guards, access widths and distribution of an iteration."""
    line = f"over {', '.join(iteration.dims)} in {box_text(iteration.distribution.shape)}"
    line += f" from {listed(iteration.origin)} below {listed(iteration.extents)}"
    if iteration.guarded:
        line += f", guarded {', '.join(iteration.dims[place] for place in iteration.guarded)}"
    for operand in operands:
        if operand.region.buffer.space is not Space.REGISTERS or operand.vector != 1:
            line += f", {operand.region.buffer.name} by {operand.vector}"
    yield line
    if target.placement != iteration.distribution:
        yield f"as {iteration.distribution}"


def digits(value: float) -> str:
    """The fewest digits that read back as a constant, of those that tell it from every other f32 if that will do."""
    text = decimal(value)
    return text if float(text) == value else repr(value)


def element(region: Region, dims: Items[int | None], iteration: Iteration) -> Load:
    """One element of `region` at the iteration's point, as an expression that prints."""
    places = (
        corner if dim is None else corner + var(iteration.dims[dim])
        for corner, dim in zip(region.origin, dims, strict=True)
    )
    return Load(tile_text(region), tuple(places))
