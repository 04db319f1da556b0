"""Dependences against islpy's dataflow and enumeration; schedules judged with witnesses."""

import itertools
from collections.abc import Callable, Sequence

import islpy as isl
import pytest

from polyhedral import (
    Access,
    Affine,
    Dependence,
    Entry,
    Kind,
    QuotientDim,
    Reduction,
    ScheduledStatement,
    Schedules,
    Set,
    System,
    Times,
    dependences,
    is_parallel,
    is_permutable,
    legal,
    parallelism_violation,
    permutability_violation,
    primed,
    var,
    violations,
)
from tests.polyhedral.oracle import isl_map

i, j, k, t, m, n, depth = (var(x) for x in ("i", "j", "k", "t", "M", "N", "K"))


def matmul() -> list[ScheduledStatement]:
    plane = Set.of(("i", "j"), i >= 0, i < m, j >= 0, j < n)
    space = Set.of(("i", "j", "k"), i >= 0, i < m, j >= 0, j < n, k >= 0, k < depth)
    c = Access("C", (i, j))
    return [
        ScheduledStatement("init", plane, (), (c,), (0, i, j)),
        ScheduledStatement(
            "update", space, (c, Access("A", (i, k)), Access("B", (k, j))), (c,), (1, i, j, k), Reduction("C", ("k",))
        ),
        ScheduledStatement("store", plane, (c,), (Access("D", (i, j)),), (2, i, j)),
    ]


def jacobi() -> list[ScheduledStatement]:
    space = Set.of(("t", "i"), t >= 0, t < depth, i >= 1, i < n - 1)
    return [
        ScheduledStatement(
            "a", space, tuple(Access("A", (i + d,)) for d in (-1, 0, 1)), (Access("B", (i,)),), (t, 0, i)
        ),
        ScheduledStatement(
            "b", space, tuple(Access("B", (i + d,)) for d in (-1, 0, 1)), (Access("A", (i,)),), (t, 1, i)
        ),
    ]


def lu() -> list[ScheduledStatement]:
    divide = Set.of(("k", "i"), k >= 0, k < i, i < n)
    update = Set.of(("k", "i", "j"), k >= 0, k < i, i < n, k < j, j < n)
    pivot = Access("A", (k, k))
    return [
        ScheduledStatement("divide", divide, (Access("A", (i, k)), pivot), (Access("A", (i, k)),), (k, 0, i)),
        ScheduledStatement(
            "update",
            update,
            (Access("A", (i, j)), Access("A", (i, k)), Access("A", (k, j))),
            (Access("A", (i, j)),),
            (k, 1, i, j),
        ),
    ]


def even_writes() -> list[ScheduledStatement]:
    line = Set.of(("i",), i >= 0, i < n)
    return [
        ScheduledStatement("w", line, (), (Access("A", (2 * i,)),), (0, i)),
        ScheduledStatement("r", line, (Access("A", (i,)), Access("A", (3 * i + 1,))), (), (1, i)),
    ]


PROGRAMS = {"matmul": matmul, "jacobi": jacobi, "lu": lu, "even": even_writes}


def text(name: str, dims: Sequence[str], tuple_name: str, entries: Sequence[Affine], domain: Set) -> str:
    out = ", ".join(str(e) for e in entries)
    body = str(domain.pieces[0]).replace("==", "=")
    return f"{name}[{', '.join(dims)}] -> {tuple_name}[{out}] : {body}"


def union_map(parts: list[str]) -> isl.UnionMap:
    return isl.UnionMap(f"[M, N, K] -> {{ {'; '.join(parts)} }}".replace("*", ""))


def isl_dataflow(statements: list[ScheduledStatement], sources: str, sinks: str, exact: bool) -> isl.UnionMap:
    width = max(len(s.schedule) for s in statements)
    parts: dict[str, list[str]] = {"reads": [], "writes": [], "times": []}
    for s in statements:
        name, dims = str(s.name), s.domain.dims
        times = [*s.schedule, *[Affine()] * (width - len(s.schedule))]
        parts["times"].append(text(name, dims, "", times, s.domain))
        for kind, accesses in (("reads", s.reads), ("writes", s.writes)):
            parts[kind] += [text(name, dims, str(a.array), a.indices, s.domain) for a in accesses]
    info = isl.UnionAccessInfo.from_sink(union_map(parts[sinks]))
    info = info.set_must_source(union_map(parts[sources])) if exact else info.set_may_source(union_map(parts[sources]))
    flow = info.set_schedule_map(union_map(parts["times"])).compute_flow()
    return flow.get_must_dependence() if exact else flow.get_may_dependence()


def ours(found: Sequence[Dependence], kind: Kind) -> isl.UnionMap:
    result = isl.UnionMap("{ }")
    for dependence in found:
        if dependence.kind is kind:
            relation = isl_map(dependence.relation, ("K", "M", "N"))
            relation = relation.set_tuple_name(isl.dim_type.in_, str(dependence.source))
            relation = relation.set_tuple_name(isl.dim_type.out, str(dependence.sink))
            result = result.union(isl.UnionMap.from_map(relation))
    return result


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "kind, sources, sinks",
    [(Kind.FLOW, "writes", "reads"), (Kind.ANTI, "reads", "writes"), (Kind.OUTPUT, "writes", "writes")],
)
def test_memory_based_dependences_equal_isl(name: str, kind: Kind, sources: str, sinks: str) -> None:
    statements = PROGRAMS[name]()
    theirs = isl_dataflow(statements, sources, sinks, exact=False)
    assert ours(dependences(statements), kind).is_equal(theirs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_last_writers_equal_isl(name: str) -> None:
    statements = PROGRAMS[name]()
    theirs = isl_dataflow(statements, "writes", "reads", exact=True)
    assert ours(dependences(statements, last_writer=True), Kind.FLOW).is_equal(theirs)


def test_a_reduction_is_set_aside() -> None:
    aside = [d for d in dependences(matmul()) if d.set_aside]
    assert {(d.kind, d.source, d.sink) for d in aside} == {(kind, "update", "update") for kind in Kind}
    assert not [d for d in dependences(matmul()) if d.source == d.sink and not d.set_aside]


def tiles(*entries: Affine | int, **sizes: int) -> Times:
    quotients = tuple(QuotientDim(f"{d}_tile", var(d), s) for d, s in sizes.items())
    return Times(entries, quotients)


Case = tuple[Callable[[], list[ScheduledStatement]], Schedules]
ci, cj, ck = var("i_tile"), var("j_tile"), var("k_tile")
LEGAL: dict[str, Case] = {
    "original": (matmul, {"init": (0, i, j), "update": (1, i, j, k), "store": (2, i, j)}),
    "interchanged": (matmul, {"init": (0, i, j), "update": (1, k, j, i), "store": (2, j, i)}),
    "reversed sum": (matmul, {"init": (0, i, j), "update": (1, i, j, -k), "store": (2, i, j)}),
    "fused": (matmul, {"init": (i, j, 0), "update": (i, j, 1, k), "store": (i, j, 2)}),
    "tiled": (
        matmul,
        {
            "init": tiles(ci, cj, 0, i, j, i=8, j=8),
            "update": tiles(ci, cj, 1, ck, i, j, k, i=8, j=8, k=4),
            "store": tiles(ci, cj, 2, i, j, i=8, j=8),
        },
    ),
    "skewed": (jacobi, {"a": (2 * t, 2 * t + i), "b": (2 * t + 1, 2 * t + 1 + i)}),
    "skewed and tiled": (
        jacobi,
        {
            "a": Times((QuotientDim("o", 2 * t + i, 16), 2 * t, 2 * t + i)),
            "b": Times((QuotientDim("o", 2 * t + 1 + i, 16), 2 * t + 1, 2 * t + 1 + i)),
        },
    ),
    "lu right-looking": (lu, {"divide": (k, 0, i), "update": (k, 1, j, i)}),
    "lu row by row": (lu, {"divide": (i, k, 0), "update": (i, k, 1, j)}),
}
ILLEGAL: dict[str, Case] = {
    "store first": (matmul, {"init": (0, i, j), "update": (2, i, j, k), "store": (1, i, j)}),
    "store inside the sum": (matmul, {"init": (0, i, j, 0), "update": (1, i, j, k), "store": (1, i, j, 0)}),
    "init inside the sum": (matmul, {"init": (1, i, j, 3), "update": (1, i, j, k), "store": (2, i, j)}),
    "store of another tile": (
        matmul,
        {
            "init": tiles(0, ci, cj, i=8, j=8),
            "update": tiles(1, ci, cj, ck, i=8, j=8, k=4),
            "store": tiles(1, ci, cj - 1, i=8, j=8),
        },
    ),
    "jacobi without skew": (jacobi, {"a": (i, t, 0), "b": (i, t, 1)}),
    "jacobi tiled": (jacobi, {"a": Times((QuotientDim("o", i, 8), t, 0)), "b": Times((QuotientDim("o", i, 8), t, 1))}),
    "jacobi fused": (jacobi, {"a": (t, i, 0), "b": (t, i, 1)}),
    "lu by columns of updates": (lu, {"divide": (i, k, 0), "update": (j, i, 1, k)}),
    "lu update first": (lu, {"divide": (k, 1, i), "update": (k, 0, i, j)}),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal_schedules_are_accepted(name: str) -> None:
    program, schedules = LEGAL[name]
    order = tuple(s.name for s in program())
    assert violations(dependences(program()), schedules, order=order) is None


def new_time(times: Times | Sequence[Entry], values: dict[str, int]) -> tuple[int, ...]:
    given = times if isinstance(times, Times) else Times(tuple(times))
    known = dict(values)
    for quotient in given.quotients:
        known[quotient.name] = quotient.affine.evaluate(known) // quotient.divisor
    found = []
    for entry in given.entries:
        match entry:
            case QuotientDim(name, affine, divisor):
                known[name] = affine.evaluate(known) // divisor
                found.append(known[name])
            case int():
                found.append(entry)
            case _:
                found.append(entry.evaluate(known))
    return tuple(found)


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_schedules_are_refused_with_a_true_witness(name: str) -> None:
    program, schedules = ILLEGAL[name]
    statements = {s.name: s for s in program()}
    witness = violations(dependences(program()), schedules, order=tuple(statements))
    assert witness is not None
    source, sink = statements[witness.dependence.source], statements[witness.dependence.sink]
    params = dict(witness.params)
    one, other = dict(witness.source) | params, dict(witness.sink) | params
    assert source.domain.contains(one)
    assert sink.domain.contains(other)
    assert tuple(a.evaluate(one) for a in source.schedule) < tuple(a.evaluate(other) for a in sink.schedule)
    touched = [
        {tuple(a.evaluate(v) for a in x.indices) for x in (*s.reads, *s.writes) if x.array == witness.dependence.array}
        for s, v in ((source, one), (sink, other))
    ]
    assert witness.element in touched[0] & touched[1]
    assert new_time(schedules[source.name], one) >= new_time(schedules[sink.name], other)
    assert str(source.name) in str(witness)


def test_the_sum_in_another_order_is_refused_unless_declared() -> None:
    found = dependences(matmul())
    schedules = {"init": (0, i, j), "update": (1, i, j, -k), "store": (2, i, j)}
    witness = violations(found, schedules, reductions_are_free=False)
    assert witness is not None
    assert str(witness).startswith("flow dependence on C[0, 0] from update(i=0, j=0, k=0) to update(i=0, j=0, k=1)")
    assert legal(found, schedules)


def test_the_context_may_rule_a_violation_out() -> None:
    found = dependences(matmul())
    schedules = {"init": (0, i, j), "update": (1, i, j, k), "store": (1, i, j, 4)}
    assert not legal(found, schedules)
    assert legal(found, schedules, System.of(depth <= 4), order=("init", "update", "store"))


def test_bands_and_parallel_loops() -> None:
    product, stencil = dependences(matmul()), dependences(jacobi())
    assert is_permutable(("i", "j", "k"), product)
    assert is_parallel("i", product)
    assert is_parallel("k", product)
    assert not is_permutable(("t", "i"), stencil)
    assert not is_parallel("t", stencil)
    assert is_parallel("i", [d for d in stencil if d.source == d.sink], outer=("t",))
    assert parallelism_violation(product, {"init": (i, j), "update": (i, j, k), "store": (i, j)}, 2) is not None
    skewed = {"a": (2 * t, 2 * t + i), "b": (2 * t + 1, 2 * t + 1 + i)}
    assert permutability_violation(stencil, skewed, (0, 1)) is None
    assert permutability_violation(stencil, {"a": (t, i), "b": (t, i)}, (0, 1)) is not None


def test_pairs_of_a_stencil_equal_enumeration() -> None:
    found = [d for d in dependences(jacobi()) if d.kind is Kind.FLOW and d.source == "a"]
    values = {"N": 6, "K": 2, "M": 0}
    pairs = {pair for dependence in found for pair in dependence.relation.pairs(values)}
    space = list(itertools.product(range(2), range(1, 5)))
    assert pairs == {(a, b) for a in space for b in space if abs(a[1] - b[1]) <= 1 and b[0] >= a[0]}
    assert primed("i") in found[0].relation.out_dims


def test_mistakes_are_named() -> None:
    line = Set.of(("i",), i >= 0, i < n)
    one = ScheduledStatement("s", line, (), (Access("A", (i,)),), (i,))
    two = ScheduledStatement("r", line, (Access("A", (i, i)),), (), (i,))
    with pytest.raises(ValueError, match="array A has 1 indices in s and 2 in r"):
        dependences([one, two])
    marked = ScheduledStatement("t", Set.of(("k",), var("k") >= 0, var("k") < var("i'")), writes=(Access("B"),))
    with pytest.raises(ValueError, match="i' of t is what a dependence calls the dimension i of s in its sink: rename"):
        dependences([one, marked])
    with pytest.raises(ValueError, match="no schedule is given for the statement init"):
        legal(dependences(matmul()), {})
