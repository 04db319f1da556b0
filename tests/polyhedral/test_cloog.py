"""CLooG's own scanning inputs: the loops are run and compared with the points that islpy lists."""

from pathlib import Path

import pytest

from polyhedral import Statement, System, execute, scan, var
from tests.polyhedral.cloog_reader import NotTaken, Scanning, read
from tests.polyhedral.oracle import isl_points, isl_set

NOT_BOUNDED = {"ard", "infinite2", "infinite3"}
OTHER_NOTATION = {"yosr_sync"}
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
    return found


def listed(scanning: Scanning, values: dict[str, int]) -> Times | None:
    found: Times = []
    for number, (points, width) in enumerate(zip(scanning.statements, scanning.widths, strict=True)):
        theirs = isl_set(points.substitute(values))
        if not theirs.is_bounded() or theirs.count_val().to_python() > MOST_POINTS:
            return None
        found += [(p[:width], number, p[width:]) for p in isl_points(theirs, len(points.dims))]
    return found


def check(path: Path) -> int:
    scanning = read(path)
    tree = scan(statements_of(scanning), scanning.context.hull())
    longest = max(scanning.widths)
    checked = 0
    for values in parameter_values(scanning):
        theirs = listed(scanning, values)
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
        checked += 1
    return checked


def inputs(folder: Path) -> dict[str, Path]:
    suite = folder / "suites" / "cloog"
    return {path.relative_to(suite).with_suffix("").as_posix(): path for path in sorted(suite.rglob("*.cloog"))}


@pytest.mark.parametrize("name", QUICK)
def test_an_input_runs_in_order(name: str, shared_folder: Path) -> None:
    assert check(inputs(shared_folder)[name]) > 0


@pytest.mark.slow
def test_every_input_runs_in_order(shared_folder: Path) -> None:
    other, open_ended, checked = set(), set(), 0
    for name, path in inputs(shared_folder).items():
        try:
            checked += check(path)
        except NotTaken:
            other.add(name)
        except ValueError as error:
            if "bound: a scan needs domains bounded" not in str(error):
                raise
            open_ended.add(name)
    assert len(inputs(shared_folder)) * 0.05 >= len(other) + len(open_ended)
    assert other == OTHER_NOTATION
    assert open_ended == NOT_BOUNDED
    assert checked > 500, checked
