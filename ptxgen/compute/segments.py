"""What segments must be to mean something, and what holds of their bounds whatever memory says."""

from __future__ import annotations

from collections.abc import Iterator

from polyhedral import Constraint
from ptxgen.compute.elements import Element
from ptxgen.compute.expressions import Load, show
from ptxgen.compute.statements import Array, ArrayKind, Compute, Dim, Statement, names_in


def bounds(statement: Statement) -> tuple[Constraint, ...]:
    """What holds of the first and the last index of a segment: 0 <= first <= end <= rows."""
    dim = statement.segmented
    if dim is None:
        return ()
    return dim.first >= 0, dim.first <= dim.extent, dim.extent <= dim.length


def segmented_place(compute: Compute, array: str) -> int | None:
    """The dimension of an array along which statements reach segments of it, if there is one."""
    for statement in compute.statements:
        for access in (statement.target, *statement.reads):
            if access.array == array and statement.segmented and statement.segmented.affine in access.indices:
                return access.indices.index(statement.segmented.affine)
    return None


def check_segments(compute: Compute, statement: Statement) -> None:
    """ValueError, on the statement's line, for segments whose ends are no s32 array over their groups, whose group's
    dim does not come before them, for several of them, and for accesses to which an index does not tell its group."""
    told = [dim for dim in statement.dims if dim.segments]
    if not told:
        _check_not_shared(compute, statement)
        return
    if len(told) > 1:
        names = ", ".join(dim.name for dim in told)
        raise ValueError(f"{statement.line}: {statement.name} runs over segments along {names}: one dim may have them")
    (dim,) = told
    _check_ends(compute, statement, dim)
    _check_not_shared(compute, statement)
    _check_told(statement, dim)


def _check_ends(compute: Compute, statement: Statement, dim: Dim) -> None:
    assert dim.segments is not None
    names = [own.name for own in statement.dims]
    group = dim.segments.group
    if group not in names or names.index(group) > names.index(dim.name):
        text = f"segments along {dim.name} are numbered by {group}, which must come before {dim.name}"
        raise ValueError(f"{statement.line}: {statement.name}: {text}; it runs over {', '.join(names)}")
    ends = next((array for array in compute.arrays if array.name == dim.segments.ends), None)
    fits = ends is not None and ends.element is Element.S32 and ends.kind is ArrayKind.INPUT
    if ends is None or not fits or ends.extents != (statement.dim(group).extent,):
        text = f"the ends of {dim.name}'s segments are an input of s32, one for each {group}"
        raise ValueError(f"{statement.line}: {statement.name}: {text}, got {_told(ends)}")


def _told(array: Array | None) -> str:
    if array is None:
        return "no array of this compute"
    extents = " x ".join(map(str, array.extents))
    return f"the {array.kind.value} {array.name} of {array.element}, {extents}"


def _check_told(statement: Statement, dim: Dim) -> None:
    """The target is indexed by the segment's own dim or by the number of its group, so that groups stay apart."""
    assert dim.segments is not None
    if not any(index in (dim.affine, statement.dim(dim.segments.group).affine) for index in statement.target.indices):
        text = f"neither {dim.name} nor {dim.segments.group} indexes {show(statement.target)}"
        raise ValueError(f"{statement.line}: {statement.name}: {text}: groups would be assigned together")


def _check_not_shared(compute: Compute, statement: Statement) -> None:
    """An array that is assigned by segments is read by the same ones."""
    for access in (statement.target, *statement.reads):
        for writer in compute.statements:
            if writer.target.array == access.array and _along(writer, writer.target) != _along(statement, access):
                text = f"{show(access)} is not reached by the segments that {writer.name} fills it by"
                raise ValueError(f"{statement.line}: {statement.name}: {text}")


def _along(statement: Statement, access: Load) -> tuple[tuple[int, Dim], ...]:
    """The places of an access where a segment's dim is part of the index, with the dim."""
    return tuple(_found(statement, access))


def _found(statement: Statement, access: Load) -> Iterator[tuple[int, Dim]]:
    dim = statement.segmented
    for place, index in enumerate(access.indices):
        if dim is not None and dim.name in names_in(index):
            if index != dim.affine:
                text = f"{show(access)}: a segment is indexed by its dim, got {index}"
                raise ValueError(f"{statement.line}: {statement.name}: {text}")
            yield place, dim
