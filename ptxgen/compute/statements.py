"""Arrays, statements and the compute that holds them: what to calculate, and nothing of how."""

from __future__ import annotations

import sys
from enum import Enum

from attrs import field, frozen

from polyhedral import Affine, Constraint, FloorDiv, Set, const, var
from ptxgen.compute.elements import Element
from ptxgen.compute.expressions import Expression, Load, Scalar, loads, scalars, show


@frozen
class SourceLine:
    """Where the user wrote something."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def caller(depth: int = 1) -> SourceLine:
    """The line `depth` frames above the function that asks."""
    frame = sys._getframe(depth + 1)
    return SourceLine(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


class ArrayKind(Enum):
    """INPUT is read from and OUTPUT written to global memory; LOCAL has no address of its own."""

    INPUT = "input"
    OUTPUT = "output"
    LOCAL = "local"


@frozen
class Segments:
    """How the indices 0 <= index < `rows` come in groups, one behind the other, as an array in memory tells: group g, a
    value of the dim `group`, begins where the one before ends and ends at `ends[g]`, but not before it begins and not
    beyond `rows`. So no index is in two groups, whatever `ends` holds; those behind the last end are in none."""

    ends: str
    group: str
    rows: Affine


@frozen
class Dim:
    """An iteration dimension, 0 <= name < extent; with `segments` the indices of one group, first <= name < extent,
    where both are values of the group's number."""

    name: str
    extent: Affine
    segments: Segments | None = None

    @property
    def affine(self) -> Affine:
        return var(self.name)

    @property
    def first(self) -> Affine:
        """The least index."""
        return var(f"{self.name}.first") if self.segments else const(0)

    @property
    def length(self) -> Affine:
        """The extent of an array along it: of all groups together."""
        return self.segments.rows if self.segments else self.extent

    @property
    def range(self) -> str:
        """Its bounds in words."""
        if self.segments is None:
            return f"0 <= {self.name} < {self.extent}"
        ends, group = self.segments.ends, self.segments.group
        return f"{ends}[{group} - 1] <= {self.name} < {ends}[{group}]"

    def __floordiv__(self, size: int) -> FloorDiv:
        return FloorDiv(self.affine, size)

    def __str__(self) -> str:
        return self.name


Index = Dim | Affine | FloorDiv | int


def as_index(index: Index) -> Affine | FloorDiv:
    """The expression of a dim, an expression, a quotient or a number."""
    match index:
        case Dim():
            return index.affine
        case int():
            return const(index)
        case _:
            return index


@frozen
class Array:
    """A rectangular array: extents and strides in elements, the strides as affine expressions of parameters.

    One stride must be the constant 1 for vector access along that dimension.
    """

    name: str
    element: Element
    extents: tuple[Affine, ...]
    strides: tuple[Affine, ...]
    kind: ArrayKind

    def __getitem__(self, indices: Index | tuple[Index, ...]) -> Load:
        given = indices if isinstance(indices, tuple) else (indices,)
        if len(given) != len(self.extents):
            raise IndexError(f"{self.name} has {len(self.extents)} dimensions, {len(given)} indices were given")
        return Load(self.name, tuple(map(as_index, given)))

    @property
    def contiguous_dimension(self) -> int | None:
        """The position of the dimension whose stride is the constant 1, if there is one."""
        units = [place for place, stride in enumerate(self.strides) if stride == const(1)]
        return units[-1] if units else None


class ReductionOp(Enum):
    """How a statement joins its terms, with the value that it starts from."""

    ADD = ("sum", 0.0)
    MAXIMUM = ("max", float("-inf"))

    def __init__(self, label: str, identity: float) -> None:
        self.label = label
        self.identity = identity


@frozen
class Reduction:
    """The terms over `dims` are joined by `op`. Declared associative: their self-dependence is set aside by name."""

    op: ReductionOp
    dims: tuple[str, ...]


def names_in(index: Affine | FloorDiv) -> tuple[str, ...]:
    """The variables of an index."""
    return index.affine.names if isinstance(index, FloorDiv) else index.names


@frozen
class Statement:
    """`target = value` for every point of `dims`; with a reduction, `target` collects `value` over its dims."""

    name: str
    dims: tuple[Dim, ...]
    target: Load
    value: Expression
    reduction: Reduction | None
    line: SourceLine = field(eq=False)

    @property
    def domain(self) -> Set:
        """All instances, as a set over the dims with the extents' parameters."""
        bounds: list[Constraint] = []
        for dim in self.dims:
            bounds += [dim.affine >= dim.first, dim.affine < dim.extent]
        return Set.of(tuple(dim.name for dim in self.dims), *bounds)

    @property
    def reduced(self) -> tuple[str, ...]:
        """The names of the dims that the statement sums or compares away."""
        return self.reduction.dims if self.reduction else ()

    @property
    def summed_away(self) -> tuple[str, ...]:
        """The reduced dims of which nothing is left in the target, not even the number of a part."""
        kept = {name for index in self.target.indices for name in names_in(index)}
        return tuple(dim for dim in self.reduced if dim not in kept)

    @property
    def reads(self) -> tuple[Load, ...]:
        """The accesses of the value, not counting a reduction's own target."""
        return loads(self.value)

    @property
    def segmented(self) -> Dim | None:
        """The dim whose indices come in segments, if there is one."""
        return next((dim for dim in self.dims if dim.segments), None)

    def dim(self, name: str) -> Dim:
        """The dim of that name."""
        for dim in self.dims:
            if dim.name == name:
                return dim
        raise KeyError(f"statement {self.name} has no dim {name!r}; it has {', '.join(d.name for d in self.dims)}")

    def __str__(self) -> str:
        value = show(self.value)
        if self.reduction:
            value = f"{self.reduction.op.label}[{', '.join(self.reduction.dims)}] {value}"
        ranges = " and ".join(dim.range for dim in self.dims)
        return f"{show(self.target)} = {value}    for {ranges}"


@frozen
class Compute:
    """Affine statements in program order over arrays; parameters are the sizes and strides known only at the launch."""

    name: str
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]

    def array(self, name: str) -> Array:
        """The array of that name."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(f"{self.name} has no array {name!r}; it has {', '.join(a.name for a in self.arrays)}")

    def statement(self, name: str) -> Statement:
        """The statement of that name (a statement is named by what it fills)."""
        for statement in self.statements:
            if statement.name == name:
                return statement
        known = ", ".join(s.name for s in self.statements)
        raise KeyError(f"{self.name} has no statement {name!r}; it has {known}")

    def arithmetic(self, statement: Statement) -> Element:
        """The type in which a statement calculates: f64 where it reads or fills an f64 array, else f32."""
        touched = (statement.target, *statement.reads)
        return Element.F64 if any(self.array(a.array).element is Element.F64 for a in touched) else Element.F32

    @property
    def parameters(self) -> tuple[str, ...]:
        """Every size and stride by name, in order of first appearance."""
        names: dict[str, None] = {}
        for array in self.arrays:
            for affine in array.extents + array.strides:
                names.update(dict.fromkeys(affine.names))
        for statement in self.statements:
            for dim in statement.dims:
                names.update(dict.fromkeys(dim.length.names))
        return tuple(names)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """Every number given at the launch, in order of first appearance."""
        return tuple(dict.fromkeys(s for statement in self.statements for s in scalars(statement.value)))

    def __str__(self) -> str:
        return "\n".join([f"compute {self.name}", *(f"  {statement}" for statement in self.statements)])
