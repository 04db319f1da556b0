"""CLooG's own scanning inputs: the loops are run and compared with the points that islpy lists."""

from pathlib import Path

import pytest

from polyhedral import Set, Statement, System, execute, scan, var
from tests.polyhedral.cloog_reader import BOXES, NotTaken, Scanning, read
from tests.polyhedral.oracle import isl_points, isl_set

NOT_BOUNDED = {"ard", "infinite2", "infinite3"}
OTHER_NOTATION = {"yosr_sync"}
WITHOUT_INSTANCES = {"multi-stride", "tete"}
QUICK = (
    *("isl/mod2", "isl/stride", "isl/unroll2", "union"),
    *("basic-bounds-3", "block3", "byu98-1-2-3", "christian", "dot2", "durbin_e_s", "forwardsub-1-1-2", "gauss"),
    *(
        "gesced3",
        "iftest2",
        "lub",
        "isl/jacobi-shared",
        "min-1-1",
        "isl/mod",
        "isl/mod4",
        "multi-stride",
        "no_lindep",
        "orc",
    ),
    *("non_optimal/nul_complex1", "pouchet", "rational", "readme", "stage", "stride4", "thomasset", "wavefront"),
)
MOST_POINTS = 2000
LARGE = {
    "faber": 24_000,
    "isl/mod3": 40_000,
    "non_optimal/dreamupT1": 20_000,
    "non_optimal/dreamupT3": 20_000,
    "non_optimal/dreamupT3-delta-gamma": 20_000,
    "vivien2": 40_000,
}
Times = list[tuple[tuple[int, ...], int, tuple[int, ...]]]


def statements_of(scanning: Scanning) -> list[Statement]:
    return [
        Statement(number, points, tuple(var(d) for d in points.dims[:width]))
        for number, (points, width) in enumerate(zip(scanning.statements, scanning.widths, strict=True))
    ]


def parameter_values(scanning: Scanning) -> list[dict[str, int]]:
    found = []
    for least in (0, 1, 2, 4, 7):
        for piece in scanning.context.pieces:
            sample = (piece & System.of(*(var(p) >= least for p in scanning.params))).sample()
            values = None if sample is None else {p: sample.get(p, least) for p in scanning.params}
            found += [values] if values is not None and scanning.context.contains(values) else []
    for points in scanning.statements[:1]:
        known = Set(points.dims, tuple(p & c for p in points.pieces for c in scanning.context.pieces))
        sample = known.sample()
        found += [] if sample is None else [{p: sample.get(p, 0) for p in scanning.params}]
    return [v for number, v in enumerate(found) if v not in found[:number]]


def listed(scanning: Scanning, values: dict[str, int], most: int) -> Times | None:
    found: Times = []
    for number, (points, width) in enumerate(zip(scanning.statements, scanning.widths, strict=True)):
        theirs = isl_set(points.substitute({p: values[p] for p in points.params}))
        if not theirs.is_bounded() or theirs.count_val().to_python() > most:
            return None
        found += [(p[:width], number, p[width:]) for p in isl_points(theirs, len(points.dims))]
    return found


def check(name: str, path: Path) -> list[int]:
    """Compares an input with islpy's points at each value of its parameters that it can run: how many each has."""
    scanning = read(path).within(BOXES.get(name, {}))
    tree = scan(statements_of(scanning), scanning.context.hull())
    longest = max(scanning.widths)
    compared = []
    for values in parameter_values(scanning):
        theirs = listed(scanning, values, LARGE.get(name, MOST_POINTS))
        if theirs is None:
            continue
        ours: Times = []
        for number, instance in execute(tree, values):
            assert isinstance(number, int)
            width = scanning.widths[number]
            point = tuple(instance[d] for d in scanning.statements[number].dims)
            ours.append((point[:width], number, point[width:]))
        assert sorted(ours) == sorted(theirs), values
        order = [((*times, *[0] * (longest - len(times))), number) for times, number, _ in ours]
        assert order == sorted(order), values
        compared.append(len(ours))
    return compared


def inputs(folder: Path) -> dict[str, Path]:
    suite = folder / "suites" / "cloog"
    return {path.relative_to(suite).with_suffix("").as_posix(): path for path in sorted(suite.rglob("*.cloog"))}


@pytest.mark.parametrize("name", QUICK)
def test_an_input_runs_in_order(name: str, shared_folder: Path) -> None:
    assert any(check(name, inputs(shared_folder)[name])) == (name not in WITHOUT_INSTANCES)


@pytest.mark.slow
def test_every_input_runs_in_order(shared_folder: Path) -> None:
    other, open_ended, compared = set(), set(), {}
    for name, path in inputs(shared_folder).items():
        try:
            compared[name] = check(name, path)
        except NotTaken:
            other.add(name)
        except ValueError as error:
            if "bound: a scan needs domains bounded" not in str(error):
                raise
            open_ended.add(name)
    assert len(inputs(shared_folder)) * 0.05 >= len(other) + len(open_ended)
    assert other == OTHER_NOTATION
    assert open_ended == NOT_BOUNDED
    assert [n for n, counts in compared.items() if not counts] == []
    assert {n for n, counts in compared.items() if not any(counts)} == WITHOUT_INSTANCES
    assert sum(map(len, compared.values())) > 450
