"""What a compute means: its statements on whole arrays in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any, assert_never

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from polyhedral import Affine, FloorDiv
from ptxgen.compute import (
    ArrayKind,
    Binary,
    BinaryOp,
    Compute,
    Constant,
    Expression,
    Load,
    Operand,
    ReductionOp,
    Round,
    Scalar,
    Select,
    Statement,
    Unary,
    loads,
    names_in,
    show,
)
from ptxgen.errors import LaunchError
from ptxgen.testing.arithmetic import Doubles, binary, compared, unary
from ptxgen.testing.formats import rounded_to, values_of

POINTS_AT_ONCE = 1 << 18


def reference(
    compute: Compute,
    arrays: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float] | None = None,
) -> dict[str, Doubles]:
    """Every array that a statement assigns, by name, in float64. `arrays` gives each input by name, its shape equal to
    the extents; one that is never read (behind a selection that the scalars decide) may be left out. `sizes` gives the
    parameters of extents and indices; strides mean nothing here.

    Literals and scalars are rounded to f32, as the compute says, and `Round` rounds; nothing else does. Elements that
    no instance assigns are NaN. LaunchError: an input is missing or has another shape, a size or scalar is missing, an
    index leaves its array.
    """
    held: dict[str, Doubles] = {}
    for array in compute.arrays:
        shape = tuple(number(extent, sizes) for extent in array.extents)
        if array.kind is ArrayKind.INPUT and array.name in arrays:
            given = arrays[array.name]
            if given.shape != shape:
                raise LaunchError(f"array {array.name} has extents {shape}, got shape {given.shape}")
            held[array.name] = values_of(given, array.element)
        elif array.kind is not ArrayKind.INPUT:
            held[array.name] = np.full(shape, np.nan)
    with np.errstate(all="ignore"):
        for statement in compute.statements:
            if in_parts(statement) and statement.reduction:
                held[statement.target.array].fill(statement.reduction.op.identity)
            for grid in grids(statement, sizes, held):
                Evaluation(statement, held, sizes, scalars or {}, grid).assign()
    return {statement.target.array: held[statement.target.array] for statement in compute.statements}


def in_parts(statement: Statement) -> bool:
    """Whether the statement sums parts of a dim apart: the target is indexed by a quotient."""
    return any(isinstance(index, FloorDiv) for index in statement.target.indices)


def number(affine: Affine, sizes: Mapping[str, int]) -> int:
    """The value of an expression of parameters."""
    missing = [name for name in affine.names if name not in sizes]
    if missing:
        raise LaunchError(f"no value given for {', '.join(missing)}")
    return affine.evaluate(sizes)


def grids(
    statement: Statement, sizes: Mapping[str, int], held: Mapping[str, NDArray[Any]]
) -> Iterator[dict[str, range]]:
    """Boxes of instances that together are all of them, cut along dims that are not reduced so that a box stays small;
    a product that numpy sums by itself is not cut. Of statements over segments, for each group those of its own."""
    dim = statement.segmented
    if dim is None:
        yield from _boxes(statement, {own.name: range(number(own.extent, sizes)) for own in statement.dims})
        return
    assert dim.segments is not None
    first = 0
    for group, end in enumerate(held[dim.segments.ends]):
        start, first = first, min(max(int(end), first), number(dim.length, sizes))
        own = {dim.name: range(start, first), dim.segments.group: range(group, group + 1)}
        yield from _boxes(
            statement, {d.name: own.get(d.name) or range(number(d.length, sizes)) for d in statement.dims} | own
        )


def _boxes(statement: Statement, ranges: Mapping[str, range]) -> Iterator[dict[str, range]]:
    extents = {name: len(own) for name, own in ranges.items()}
    points = prod(extents.values())
    cuts: dict[str, list[range]] = {}
    for name, extent in extents.items():
        pieces = 1
        if name not in statement.reduced and product_of_loads(statement) is None:
            pieces = max(1, min(extent, -(-points // POINTS_AT_ONCE)))
        points = -(-points // pieces)
        step = max(1, -(-extent // pieces))
        cuts[name] = [ranges[name][start : start + step] for start in range(0, extent, step)] or [range(0)]
    for box in product(*cuts.values()):
        yield dict(zip(cuts, box, strict=True))


def product_of_loads(statement: Statement) -> tuple[Load, ...] | None:
    """The loads of a sum of products whose indices are dims, each once in a load: what einsum can do. Else None."""
    names = {dim.name for dim in statement.dims}

    def factors(node: Expression) -> Iterator[Expression]:
        match node:
            case Binary(BinaryOp.MULTIPLY, left, right):
                yield from factors(left)
                yield from factors(right)
            case _:
                yield node

    parts = tuple(factors(statement.value))
    if statement.reduction is None or statement.reduction.op is not ReductionOp.ADD:
        return None
    for part in (*parts, statement.target):
        if not isinstance(part, Load):
            return None
        indices = [index for index in part.indices if isinstance(index, Affine)]
        used = [index.names[0] if index.names else "" for index in indices]
        plain = all(len(i.terms) == 1 and i.terms[0][1] == 1 and not i.constant for i in indices)
        plain = plain and len(indices) == len(part.indices)
        if not plain or len(set(used)) != len(used) or not set(used) <= names:
            return None
    found = tuple(part for part in parts if isinstance(part, Load))
    everything = {name for load in found for index in load.indices for name in names_in(index)}
    return found if everything == names else None


@frozen(eq=False)
class Evaluation:
    """A box of instances of one statement, with everything that its value needs; a node that an expression has in
    several places is evaluated once."""

    statement: Statement
    held: dict[str, Doubles]
    sizes: Mapping[str, int]
    scalars: Mapping[str, float]
    grid: Mapping[str, range]
    _values: dict[int, Doubles] = field(init=False, factory=dict, repr=False)

    def assign(self) -> None:
        """Evaluates the box and stores it in the target."""
        statement = self.statement
        if in_parts(statement):
            self.gather()
            return
        kept = [name for name in self.grid if name not in statement.reduced]
        shape = tuple(len(self.grid[name]) for name in kept)
        places = self.places(statement.target, tuple(kept))
        self.held[statement.target.array][places] = np.broadcast_to(self.joined(), shape)

    def gather(self) -> None:
        """Joins every instance of the box to the part of the target that it belongs to."""
        assert self.statement.reduction is not None
        places = self.places(self.statement.target, tuple(self.grid))
        full = np.broadcast_to(self.value(self.statement.value), tuple(map(len, self.grid.values())))
        join = np.add if self.statement.reduction.op is ReductionOp.ADD else np.fmax
        join.at(self.held[self.statement.target.array], places, full)

    def joined(self) -> Doubles:
        """The value at the instances, the reduced dims joined away."""
        statement = self.statement
        if statement.reduction is None:
            return self.value(statement.value)
        factors = product_of_loads(statement)
        if factors is not None:
            return self.contracted(factors)
        full = np.broadcast_to(self.value(statement.value), tuple(map(len, self.grid.values())))
        axes = tuple(place for place, name in enumerate(self.grid) if name in statement.reduced)
        match statement.reduction.op:
            case ReductionOp.ADD:
                return np.asarray(full.sum(axis=axes))
            case ReductionOp.MAXIMUM:
                return np.asarray(np.fmax.reduce(full, axis=axes, initial=-np.inf))
            case _:
                assert_never(statement.reduction.op)

    def contracted(self, factors: tuple[Load, ...]) -> Doubles:
        """A sum of products by einsum."""
        letter = {name: place for place, name in enumerate(self.grid)}
        operands: list[Any] = []
        for load in factors:
            dims = tuple(names_in(index)[0] for index in load.indices)
            self.places(load, tuple(self.grid))
            corner = tuple(slice(self.grid[dim].start, self.grid[dim].stop) for dim in dims)
            operands += [self.array(load)[corner], [letter[dim] for dim in dims]]
        kept = [letter[name] for name in self.grid if name not in self.statement.reduced]
        return np.asarray(np.einsum(*operands, kept, optimize=True))

    def value(self, node: Expression) -> Doubles:
        """An expression at all instances of the box, one axis for each dim."""
        found = self._values.get(id(node))
        if found is None:
            found = self._values[id(node)] = self.evaluated(node)
        return found

    def evaluated(self, node: Expression) -> Doubles:
        """The value of a node that was not asked for yet."""
        match node:
            case Constant(literal):
                return np.asarray(np.float32(literal), np.float64)
            case Scalar(name):
                if name not in self.scalars:
                    raise LaunchError(f"no value given for the scalar {name}")
                return np.asarray(np.float32(self.scalars[name]), np.float64)
            case Load():
                return np.asarray(self.array(node)[self.places(node, tuple(self.grid))])
            case Binary(op, left, right):
                return binary(op, self.value(left), self.value(right))
            case Unary(op, argument):
                return unary(op, self.value(argument))
            case Round(argument, element):
                return rounded_to(self.value(argument), element)
            case Select():
                return self.selected(node)
            case Operand(index):
                raise TypeError(f"Operand({index}) belongs to tile programs, not to a compute")
            case _:
                raise TypeError(f"not an expression node: {node!r}")

    def selected(self, node: Select) -> Doubles:
        """A selection; only the side taken where the condition reads no array."""
        chosen = compared(node.comparison, self.value(node.left), self.value(node.right))
        if not loads(node.left) and not loads(node.right):
            return self.value(node.then if chosen else node.otherwise)
        return np.where(chosen, self.value(node.then), self.value(node.otherwise))

    def array(self, load: Load) -> Doubles:
        """The array that a load reads."""
        if load.array not in self.held:
            raise LaunchError(f"no values given for the array {load.array}")
        return self.held[load.array]

    def places(self, load: Load, axes: tuple[str, ...]) -> tuple[NDArray[np.int64], ...]:
        """The indices of an access over the box, one axis for each name of `axes`."""
        shape = self.array(load).shape
        found = []
        for place, given in enumerate(load.indices):
            affine, divisor = (given.affine, given.divisor) if isinstance(given, FloorDiv) else (given, 1)
            index = np.asarray(affine.constant, np.int64)
            for name, coefficient in affine.terms:
                index = index + coefficient * self.axis(name, axes, load)
            index = index // divisor
            if not self.is_empty and not 0 <= index.min() <= index.max() < shape[place]:
                raise LaunchError(f"{self.statement.name}: {show(load)} leaves the extents {shape} of {load.array}")
            found.append(index)
        return tuple(np.broadcast_arrays(*found, *(self.axis(name, axes, load) for name in axes))[: len(found)])

    @property
    def is_empty(self) -> bool:
        """Whether the box has no instance."""
        return not all(map(len, self.grid.values()))

    def axis(self, name: str, axes: tuple[str, ...], load: Load) -> NDArray[np.int64]:
        """The values of a dim along its own axis, or of a parameter."""
        if name in axes:
            values = np.arange(self.grid[name].start, self.grid[name].stop, dtype=np.int64)
            return values.reshape([-1 if other == name else 1 for other in axes])
        if name in self.grid:
            raise LaunchError(f"{self.statement.name}: {show(load)} moves with the reduced dim {name}")
        return np.asarray(number(Affine(((name, 1),), 0), self.sizes), np.int64)
