"""Inputs of isl's own code generation tests and of CLooG's: our loops and isl's loops of the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import islpy as isl
from attrs import frozen

from polyhedral import (
    Map,
    Node,
    Set,
    Space,
    Statement,
    System,
    UnionMap,
    known_of_parameters,
    parse_many,
    parse_schedule,
    scan,
    scan_map,
    scan_schedule,
    var,
)
from tests.polyhedral.cloog_reader import Scanning
from tests.polyhedral.isl_loops import Instance

Times = dict[Instance, list[tuple[int, ...]]]


@frozen
class Both:
    """One input: our loops, isl's, the times of its instances, what is known of its parameters."""

    ours: Node
    theirs: isl.AstNode
    times: isl.UnionMap
    context: Set
    params: tuple[str, ...]


def both(path: Path, box: Mapping[int, int] | None = None) -> Both:
    """The loops of a file in isl's notation: a schedule tree (`.st`) or a context, schedule and options (`.in`).

    With a box the domain of a tree is first cut down to instances whose dimensions are at most what it says of them.
    """
    text = "\n".join(line for line in path.read_text().split("\n") if not line.startswith("#"))
    return _of_tree(_within(text, box or {})) if path.suffix == ".st" else _of_map(text)


def _within(text: str, box: Mapping[int, int]) -> str:
    if not box:
        return text
    (domain,) = re.findall('domain: "([^"]*)"', text)
    sets: list[isl.Set] = []
    isl.UnionSet(domain).foreach_set(sets.append)
    cut = isl.UnionSet("{ }")
    for points in sets:
        for number, most in box.items():
            if number < points.dim(isl.dim_type.set):
                points = points.upper_bound_val(isl.dim_type.set, number, isl.Val(most))
        cut = cut.union(points)
    return text.replace(domain, str(cut))


def _of_tree(text: str) -> Both:
    schedule = isl.Schedule(text)
    node = isl.AstBuild.alloc(isl.DEFAULT_CONTEXT).node_from_schedule(schedule)
    tree = parse_schedule(text)
    domain = schedule.get_domain()
    for expansion in re.findall('expansion: "(.*)"', text):
        domain = domain.apply(isl.UnionMap(expansion))
    times = schedule.get_map().intersect_domain(domain)
    context = known_of_parameters(tree)
    whole = isl.UnionSet(str(tree.domain))
    params = {*_names(times), *tree.domain.params, *context.params, *_names(whole), *_names(schedule.get_domain())}
    return Both(scan_schedule(tree), node, times, context, tuple(sorted(params)))


def _names(union: isl.UnionSet | isl.UnionMap) -> list[str]:
    space = union.get_space()
    return [str(space.get_dim_name(isl.dim_type.param, k)) for k in range(space.dim(isl.dim_type.param))]


def _of_map(text: str) -> Both:
    times, context, options = parse_many(text)
    assert isinstance(times, UnionMap)
    assert not isinstance(context, UnionMap)
    parts = [p + "}" for p in text.split("}")[:3]]
    theirs, known = isl.UnionMap(parts[0]), isl.Set(parts[1])
    build = isl.AstBuild.from_context(known)
    if isinstance(options, UnionMap):
        build = build.set_options(isl.UnionMap(parts[2]))
    node = build.node_from_schedule_map(theirs.intersect_params(known))
    ours = context.parts[0][1] if context.parts else Set((), (System(),))
    tree = scan_map(times, ours, options if isinstance(options, UnionMap) else None)
    return Both(tree, node, theirs, ours, tuple(sorted({*times.params, *ours.params, *_names(theirs)})))


def both_of_scanning(scanning: Scanning) -> Both:
    """The loops of an input in CLooG's notation."""
    node, times = their_loops_of_scanning(scanning)
    return Both(loops_of_scanning(scanning), node, times, scanning.context, scanning.params)


def loops_of_scanning(scanning: Scanning) -> Node:
    """Our loops of an input in CLooG's notation."""
    statements = []
    for number, (points, width) in enumerate(zip(scanning.statements, scanning.widths, strict=True)):
        times = points.dims[:width]
        statements.append(Statement(f"S{number}", points, tuple(var(t) for t in times), hidden=times))
    return scan(statements, scanning.context.hull(), ties=False)


def their_loops_of_scanning(scanning: Scanning) -> tuple[isl.AstNode, isl.UnionMap]:
    """isl's loops of the same, every level separated as ours are, and the times of the instances."""
    longest = max(scanning.widths)
    parts = []
    for number, (points, width) in enumerate(zip(scanning.statements, scanning.widths, strict=True)):
        times, own = points.dims[:width], points.dims[width:]
        part = (Space(f"S{number}", len(own)), Space("", width), Map(own, times, points.pieces))
        parts.append(_padded(part, longest))
    times_of_all = isl.UnionMap(str(UnionMap(tuple(parts))))
    known = isl.Set(str(scanning.context)).params()
    options = isl.UnionMap(f"{{ [{', '.join(f'x{k}' for k in range(longest))}] -> separate[y] }}")
    build = isl.AstBuild.from_context(known).set_options(options)
    return build.node_from_schedule_map(times_of_all), times_of_all


def _padded(part: tuple[Space, Space, Map], width: int) -> tuple[Space, Space, Map]:
    space, _, relation = part
    more = tuple(f"z{k}" for k in range(width - len(relation.out_dims)))
    zero = System.of(*(var(z).equals(0) for z in more))
    pieces = tuple(p & zero for p in relation.pieces)
    return space, Space("", width), Map(relation.in_dims, relation.out_dims + more, pieces)


def parameter_values(both: Both, least: tuple[int, ...] = (0, 1, 2, 4, 7, 11)) -> Iterator[dict[str, int]]:
    """Small values of the parameters that the context allows, each once."""
    seen: list[dict[str, int]] = []
    for bound in least:
        for piece in both.context.pieces:
            sample = (piece & System.of(*(var(p) >= bound for p in both.params))).sample()
            if sample is None and bound == 0:
                sample = piece.sample()
            values = None if sample is None else {p: sample.get(p, bound) for p in both.params}
            if values is not None and both.context.contains(values) and values not in seen:
                seen.append(values)
                yield values


def values_of_an_instance(both: Both) -> list[dict[str, int]]:
    """Values of the parameters at which some instance runs, as isl finds them; none where there is no instance."""
    known = isl.Set(str(both.context)).params()
    point = both.times.domain().params().intersect(known).sample_point()
    if point.is_void():
        return []
    space, kind = point.get_space(), isl.dim_type.param
    found = {
        str(space.get_dim_name(kind, k)): int(point.get_coordinate_val(kind, k).to_python())
        for k in range(space.dim(kind))
    }
    return [{p: found.get(p, 0) for p in both.params}]


def times_of(relation: isl.UnionMap, values: Mapping[str, int]) -> Times:
    """The times of every instance at these parameters; raises isl.Error where isl cannot list them."""
    if values:
        rows = " and ".join(f"{k} = {v}" for k, v in values.items())
        relation = relation.intersect_params(isl.Set(f"[{', '.join(values)}] -> {{ : {rows} }}"))
    found: Times = {}
    maps: list[isl.Map] = []
    relation.foreach_map(maps.append)
    for one in maps:
        width = one.dim(isl.dim_type.in_)
        pairs = one.wrap().project_out(isl.dim_type.param, 0, one.dim(isl.dim_type.param))
        total = pairs.dim(isl.dim_type.set)
        points: list[isl.Point] = []
        pairs.foreach_point(points.append)
        for point in points:
            both = tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(total))
            found.setdefault((one.get_tuple_name(isl.dim_type.in_), both[:width]), []).append(both[width:])
    longest = max((len(t) for ts in found.values() for t in ts), default=0)
    return {k: sorted(t + (0,) * (longest - len(t)) for t in ts) for k, ts in found.items()}
