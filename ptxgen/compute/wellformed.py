"""What a compute must be to mean something: names apart, accesses inside their arrays, every element assigned once and
before it is read. All of it is decided exactly, for all sizes of at least 0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from polyhedral import Affine, Constraint, FloorDiv, Set, var
from ptxgen.compute.elements import Element
from ptxgen.compute.expressions import Binary, BinaryOp, Load, scalars, show
from ptxgen.compute.segments import bounds, check_segments
from ptxgen.compute.statements import Array, ArrayKind, Compute, ReductionOp, SourceLine, Statement, names_in

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def check(compute: Compute, lines: Mapping[str, SourceLine]) -> None:
    """ValueError for the first thing that has no meaning, on the line of its statement or of its array in `lines`.

    An array that is written is assigned by one statement, each element by one instance of it. A local array is read
    only where an earlier statement assigned it; an output, which lies in memory, also by its own statement.
    """
    _names_apart(compute, lines)
    _assigned_by_one(compute, lines)
    for place, statement in enumerate(compute.statements):
        _dims(statement)
        check_segments(compute, statement)
        for access in (statement.target, *statement.reads):
            _indices_known(compute, statement, access)
            _inside(compute, statement, access)
        _each_element_once(compute, statement)
        _exact_integers(compute, statement)
        for access in statement.reads:
            _assigned_before(compute, compute.statements[:place], statement, access)


def check_name(what: str, name: object, line: SourceLine) -> None:
    """ValueError unless `name` is an identifier that PTX accepts as it stands."""
    if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
        wanted = "a letter, then letters, digits and underscores"
        raise ValueError(f"{line}: {what} name is {wanted}, got {name!r}")


def _names_apart(compute: Compute, lines: Mapping[str, SourceLine]) -> None:
    kinds = dict.fromkeys(lines, "array")
    for array in compute.arrays:
        for name in _names(array.extents + array.strides):
            _take(kinds, name, "size or stride", lines[array.name])
    extents: dict[str, Affine] = {}
    called: set[str] = set()
    for statement in compute.statements:
        line = statement.line
        check_name("statement", statement.name, line)
        if statement.name in called:
            raise ValueError(f"{line}: a statement {statement.name!r} exists already")
        called.add(statement.name)
        for name in _names(dim.length for dim in statement.dims):
            _take(kinds, name, "size or stride", line)
        for scalar in scalars(statement.value):
            check_name("scalar", scalar.name, line)
            _take(kinds, scalar.name, "scalar", line)
        for dim in statement.dims:
            _take(kinds, dim.name, "dim", line)
            if extents.setdefault(dim.name, dim.extent) != dim.extent:
                raise ValueError(f"{line}: dim {dim.name} has extents {extents[dim.name]} and {dim.extent}")


def _names(values: Iterable[Affine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for value in values for name in value.names))


def _take(kinds: dict[str, str], name: str, kind: str, line: SourceLine) -> None:
    if kinds.setdefault(name, kind) != kind:
        raise ValueError(f"{line}: {name!r} names both {kinds[name]} and {kind}; give each a name of its own")


def _assigned_by_one(compute: Compute, lines: Mapping[str, SourceLine]) -> None:
    assigning: dict[str, Statement] = {}
    for statement in compute.statements:
        array = compute.array(statement.target.array)
        if array.kind is ArrayKind.INPUT:
            raise ValueError(f"{statement.line}: {statement} assigns {array.name}, which is an input")
        if assigning.setdefault(array.name, statement) is not statement:
            raise ValueError(
                f"{statement.line}: {compute.name}: {array.name} is assigned by two statements; give each its own array"
            )
    for array in compute.arrays:
        if array.kind is not ArrayKind.INPUT and array.name not in assigning:
            raise ValueError(f"{lines[array.name]}: the {array.kind.value} {array.name} is assigned by no statement")


def _dims(statement: Statement) -> None:
    own = [dim.name for dim in statement.dims]
    for what, names in (("runs over", own), ("reduces", list(statement.reduced))):
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"{statement.line}: {statement.name} {what} {twice[0]} twice")
    if statement.reduction is None:
        return
    if not statement.reduced:
        raise ValueError(f"{statement.line}: {statement.name} is a reduction over no dim; define it")
    for name in statement.reduced:
        if name not in own:
            raise ValueError(f"{statement.line}: {statement.name} reduces {name}, it runs over {', '.join(own)}")
        if any(name in index.names for index in statement.target.indices if isinstance(index, Affine)):
            target = show(statement.target)
            raise ValueError(
                f"{statement.line}: {statement.name} reduces {name}, which also indexes {target}: only the number of a "
                f"part, {name} // size, may"
            )


def _indices_known(compute: Compute, statement: Statement, access: Load) -> None:
    known = {dim.name for dim in statement.dims} | set(_names(_sizes(compute)))
    for name in dict.fromkeys(name for index in access.indices for name in names_in(index)):
        if name not in known:
            own = ", ".join(dim.name for dim in statement.dims)
            raise ValueError(
                f"{statement.line}: {show(access)}: {name} is no dim of {statement.name} ({own}) nor a size"
            )


def _sizes(compute: Compute) -> tuple[Affine, ...]:
    arrays = tuple(extent for array in compute.arrays for extent in array.extents)
    return arrays + tuple(dim.length for statement in compute.statements for dim in statement.dims)


def _instances(compute: Compute, statement: Statement) -> Set:
    """The statement's domain where no size is negative."""
    return statement.domain.intersect(*(var(name) >= 0 for name in _names(_sizes(compute))), *bounds(statement))


def _inside(compute: Compute, statement: Statement, access: Load) -> None:
    array = compute.array(access.array)
    extents = {dim.affine: dim.extent for dim in statement.dims}
    for place, (index, extent) in enumerate(zip(access.indices, array.extents, strict=True)):
        if isinstance(index, Affine) and extents.get(index) == extent:
            continue
        dividend, divisor = (index.affine, index.divisor) if isinstance(index, FloorDiv) else (index, 1)
        beyond = [dividend < 0]
        if divisor == 1 or not _counts_parts(compute, extent):
            beyond.append(dividend >= extent * divisor)
        for condition in beyond:
            found = _instances(compute, statement).intersect(condition).sample()
            if found is not None:
                found = dict.fromkeys((*(dim.name for dim in statement.dims), *extent.names), 0) | found
                raise ValueError(
                    f"{statement.line}: {show(access)} leaves {array.name}, whose extents are "
                    f"({', '.join(map(str, array.extents))}): at {_values(found)} index {place} is "
                    f"{index.evaluate(found)}, extent {place} is {extent.evaluate(found)}"
                )


def _values(point: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in point.items())


def _counts_parts(compute: Compute, extent: Affine) -> bool:
    """Whether an extent is a count of its own, a name that bounds no dim: the launch says how many parts there are,
    since no affine expression of the sizes can."""
    bounding = _names(dim.extent for statement in compute.statements for dim in statement.dims)
    return len(extent.names) == 1 and extent == var(extent.names[0]) and extent.names[0] not in bounding


def _each_element_once(compute: Compute, statement: Statement) -> None:
    kept = [dim.name for dim in statement.dims if dim.name not in statement.reduced]
    plain = {index.names[0] for index in statement.target.indices if isinstance(index, Affine) and _is_plain(index)}
    plain |= {dim.segments.group for dim in statement.dims if dim.segments and dim.name in plain}
    if plain.issuperset(kept):
        return
    one = _with_elements(compute, statement, statement.target)
    other = {dim.name: f"{dim.name}''" for dim in statement.dims}
    dims = (*one.dims, *other.values())
    pairs = Set(dims, one.pieces) & Set(dims, one.rename(other).pieces)
    for name in kept:
        found = pairs.intersect(var(name) < var(other[name])).sample()
        if found is not None:
            both = [{dim.name: found[of.get(dim.name, dim.name)] for dim in statement.dims} for of in ({}, other)]
            raise ValueError(
                f"{statement.line}: {show(statement.target)} is assigned more than once, at {_values(both[0])} and at "
                f"{_values(both[1])}: reduce {name}, or let it index {statement.target.array}"
            )


def _exact_integers(compute: Compute, statement: Statement) -> None:
    """An s32 array is assigned what is exact: an element of another s32 array, or a sum of products of integers."""
    target = compute.array(statement.target.array)
    if target.element is not Element.S32:
        return
    elements = [compute.array(access.array).element for access in statement.reads]
    match statement.value:
        case Load() if statement.reduction is None and elements == [Element.S32]:
            return
        case Binary(BinaryOp.MULTIPLY, Load(), Load()) if statement.reduction:
            if statement.reduction.op is ReductionOp.ADD and all(e.is_integer and e.bits == 8 for e in elements):
                return
        case _:
            pass
    raise ValueError(
        f"{statement.line}: {statement.name} fills {target.name}, which is s32, from {statement}: an expression is "
        "arithmetic in f32, an s32 takes another s32 as it is or a sum of products of s8 or u8"
    )


def _is_plain(index: Affine) -> bool:
    return len(index.terms) == 1 and abs(index.terms[0][1]) == 1


def _assigned_before(compute: Compute, earlier: tuple[Statement, ...], statement: Statement, access: Load) -> None:
    array = compute.array(access.array)
    if array.kind is ArrayKind.INPUT or (array.kind is ArrayKind.OUTPUT and access.array == statement.target.array):
        return
    writer = next((own for own in earlier if own.target.array == access.array), None)
    if writer is None:
        raise ValueError(f"{statement.line}: {statement.name} reads {show(access)} before a statement assigns it")
    if _fills(array, writer):
        return
    left = _elements(compute, statement, access) - _elements(compute, writer, writer.target)
    found = left.sample()
    if found is not None:
        raise ValueError(
            f"{statement.line}: {statement.name} reads {show(access)}, but {writer.name} does not assign "
            f"{array.name}[{', '.join(str(found.pop(name)) for name in left.dims)}] (at {_values(found)})"
        )


def _fills(array: Array, writer: Statement) -> bool:
    """Whether a statement plainly assigns every element: each index a dim of its own, over the array's extent. Of
    segments every element of each, which is all that a reader reaches (`check_segments`)."""
    extents = {dim.affine: dim.length for dim in writer.dims}
    distinct = len(set(writer.target.indices)) == len(array.extents)
    return distinct and all(
        isinstance(index, Affine) and extents.get(index) == extent
        for index, extent in zip(writer.target.indices, array.extents, strict=True)
    )


def _elements(compute: Compute, statement: Statement, access: Load) -> Set:
    found = _with_elements(compute, statement, access)
    return found.project_onto(*found.dims[: len(access.indices)])


def _with_elements(compute: Compute, statement: Statement, access: Load) -> Set:
    """The statement's instances, each with the indices of the element that an access touches in front."""
    elements = tuple(f"e{place}'" for place in range(len(access.indices)))
    parts: list[Constraint] = []
    for name, index in zip(elements, access.indices, strict=True):
        if isinstance(index, FloorDiv):
            low = var(name) * index.divisor
            parts += [low <= index.affine, index.affine < low + index.divisor]
        else:
            parts.append(var(name).equals(index))
    instances = _instances(compute, statement)
    return Set((*elements, *instances.dims), instances.pieces).intersect(*parts)
