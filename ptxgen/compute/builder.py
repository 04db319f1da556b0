"""The builder: collects arrays and statements, refuses what has no meaning, and freezes the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyhedral import Affine, const, var
from ptxgen.compute.elements import Element
from ptxgen.compute.expressions import Expression, Load, as_expression, loads, show
from ptxgen.compute.statements import (
    Array,
    ArrayKind,
    Compute,
    Dim,
    Reduction,
    ReductionOp,
    Segments,
    SourceLine,
    Statement,
    caller,
)
from ptxgen.compute.wellformed import check, check_name


class ComputeBuilder:
    """Collects arrays and statements, then `build()` freezes them. Every refusal is a ValueError (IndexError for a
    wrong count of indices) that names the user's line.

    ```python
    c = ComputeBuilder("matmul")
    m, n, k = c.dims(i="M", j="N", k="K")
    a = c.input("A", f16, (m, k), strides=("lda", 1))
    ```
    """

    def __init__(self, name: str) -> None:
        check_name("compute", name, caller())
        self._name = name
        self._arrays: list[Array] = []
        self._statements: list[Statement] = []
        self._lines: dict[str, SourceLine] = {}

    def dims(self, **extents: str | int | Affine) -> tuple[Dim, ...]:
        """Iteration dims with their extents: parameter names, numbers or affine expressions."""
        line = caller()
        for name in extents:
            check_name("dim", name, line)
        return tuple(Dim(name, size(extent, f"the extent of {name}", line)) for name, extent in extents.items())

    def segments(self, name: str, rows: str | int | Affine, *, ends: Array, group: Dim) -> Dim:
        """A dim over the indices of one group, which `ends[group]` bounds (`Segments`), of `rows` in all. Arrays over
        it hold all groups one behind the other."""
        line = caller()
        check_name("dim", name, line)
        told = Segments(ends.name, group.name, size(rows, f"the rows of {name}", line))
        return Dim(name, var(f"{name}.end"), told)

    def input(self, name: str, element: Element, over: Sequence[Dim], strides: Sequence[str | int]) -> Array:
        """An array read from global memory, with one stride in elements for each dim."""
        return self._array(name, element, over, strides, ArrayKind.INPUT, caller())

    def output(self, name: str, element: Element, over: Sequence[Dim], strides: Sequence[str | int]) -> Array:
        """An array written to global memory, with one stride in elements for each dim."""
        return self._array(name, element, over, strides, ArrayKind.OUTPUT, caller())

    def local(self, name: str, element: Element, over: Sequence[Dim]) -> Array:
        """An array without an address: it lives in registers or shared memory, where the plan puts it."""
        return self._array(name, element, over, (0,) * len(over), ArrayKind.LOCAL, caller())

    def _array(
        self,
        name: str,
        element: Element,
        over: Sequence[Dim],
        strides: Sequence[str | int],
        kind: ArrayKind,
        line: SourceLine,
    ) -> Array:
        check_name("array", name, line)
        if name in self._lines:
            raise ValueError(f"{line}: {self._name}: an array {name!r} exists already")
        if not isinstance(element, Element):
            raise ValueError(f"{line}: {name} holds elements such as f16 or f32, got {element!r}")
        if kind is not ArrayKind.INPUT and element is Element.TF32:
            raise ValueError(f"{line}: {name} is assigned values, which no {element} holds: take f32")
        if len(over) != len(strides):
            raise ValueError(f"{line}: {name}: {len(over)} dims but {len(strides)} strides")
        steps = tuple(size(stride, f"a stride of {name}", line) for stride in strides)
        array = Array(name, element, tuple(dim.length for dim in over), steps, kind)
        self._arrays.append(array)
        self._lines[name] = line
        return array

    def define(self, target: Load, value: Expression | float, over: Sequence[Dim], name: str | None = None) -> None:
        """`target = value` for every point of `over`; the statement is called after its array, or `name`."""
        self._state(target, value, over, None, name, caller())

    def reduce(
        self, op: ReductionOp, target: Load, value: Expression, over: Sequence[Dim], dims: Sequence[Dim]
    ) -> None:
        """`target` collects `value` by `op`; `over` lists all dims, `dims` those that are reduced away."""
        line = caller()
        if not isinstance(op, ReductionOp):
            raise ValueError(f"{line}: a reduction is by ReductionOp.ADD or ReductionOp.MAXIMUM, got {op!r}")
        self._state(target, value, over, Reduction(op, tuple(dim.name for dim in dims)), None, line)

    def _state(
        self,
        target: Load,
        value: Expression | float,
        over: Sequence[Dim],
        reduction: Reduction | None,
        name: str | None,
        line: SourceLine,
    ) -> None:
        expression = as_expression(value)
        ranks = {array.name: len(array.extents) for array in self._arrays}
        for access in (target, *loads(expression)):
            if ranks.get(access.array) != len(access.indices):
                raise ValueError(f"{line}: {self._name}: {show(access)} names no array of this compute")
        self._statements.append(Statement(name or target.array, tuple(over), target, expression, reduction, line))

    def build(self) -> Compute:
        """The frozen compute.

        ValueError, on the line of the statement or array concerned, where names clash, an access may leave its array,
        an array that is written is not assigned by one statement, each element once, or one is read before that.
        """
        compute = Compute(self._name, tuple(self._arrays), tuple(self._statements))
        lines: Mapping[str, SourceLine] = dict(self._lines)
        check(compute, lines)
        return compute


def size(value: str | int | Affine, what: str, line: SourceLine) -> Affine:
    """A parameter name, a number or an affine expression, as an affine expression; `what` and `line` name it in the
    ValueError for anything else and for a negative number."""
    match value:
        case str():
            check_name("size", value, line)
            return var(value)
        case bool():
            pass
        case int() if value >= 0:
            return const(value)
        case Affine():
            return value
    raise ValueError(f"{line}: {what} is a name, a number of at least 0 or an affine expression, got {value!r}")
