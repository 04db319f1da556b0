"""The layers of the house: who may import whom."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIBLINGS = ("isa", "polyhedral", "ptxgen")

# What each room may import of the project, beside itself and ptxgen.errors. `ptxgen` is the package's own __init__.
MAY_IMPORT: dict[str, set[str]] = {
    "isa": set(),
    "polyhedral": set(),
    "ptxgen.errors": set(),
    "ptxgen.ir": {"isa"},
    "ptxgen.parse": {"isa", "ptxgen.ir"},
    "ptxgen.verify": {"isa", "ptxgen.ir"},
    "ptxgen.emit": {"isa", "ptxgen.ir"},
    "ptxgen.simulate": {"isa", "ptxgen.ir"},
    "ptxgen.build": {"isa", "ptxgen.ir", "ptxgen.parse", "ptxgen.verify", "ptxgen.emit"},
    "ptxgen.compute": {"polyhedral"},
    "ptxgen.tile": {"isa", "polyhedral", "ptxgen.compute"},
    "ptxgen.plan": {"polyhedral", "ptxgen.compute"},
    "ptxgen.order": {"isa", "polyhedral", "ptxgen.compute", "ptxgen.tile"},
    "ptxgen.synchronise": {"isa", "polyhedral", "ptxgen.order", "ptxgen.tile"},
    "ptxgen.prove": {"isa", "polyhedral", "ptxgen.order", "ptxgen.tile"},
    "ptxgen.derive": {
        *("isa", "polyhedral", "ptxgen.compute", "ptxgen.plan", "ptxgen.tile"),
        *("ptxgen.order", "ptxgen.synchronise", "ptxgen.prove"),
    },
    "ptxgen.lower": {"isa", "polyhedral", "ptxgen.compute", "ptxgen.ir", "ptxgen.build", "ptxgen.tile"},
    "ptxgen.runtime": {"isa", "ptxgen.ir", "ptxgen.emit"},
}
TOP = {"ptxgen.kernels", "ptxgen.tune", "ptxgen.testing", "ptxgen.torch", "ptxgen.cli"}
NUMPY_ROOMS = {"ptxgen.simulate", "ptxgen.runtime", "ptxgen.tile", *TOP}
LOWEST = {"isa", "polyhedral"}


def room_of(module: str) -> str:
    """The room of a dotted module: `ptxgen.build` of `ptxgen.build.kernel`, `isa` of `isa.forms`."""
    parts = module.split(".")
    return parts[0] if parts[0] != "ptxgen" else ".".join(parts[:2])


def sources() -> Iterator[tuple[str, Path]]:
    for package in SIBLINGS:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield room_of(".".join(parts[:-1] if parts[-1] == "__init__" else parts)), path


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the dotted module of every import, those under TYPE_CHECKING included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            here = path.relative_to(ROOT).parts[:-1]
            above = here[: len(here) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module == "ptxgen":
                yield from ((node.lineno, f"ptxgen.{name.name}") for name in node.names)
            else:
                yield node.lineno, module


ROOMS: dict[str, list[Path]] = {}
for _room, _path in sources():
    ROOMS.setdefault(_room, []).append(_path)


def test_the_table_knows_every_room() -> None:
    unknown = set(ROOMS) - set(MAY_IMPORT) - TOP - {"ptxgen", "ptxgen.__main__"}
    assert not unknown, f"rooms without a place in the layers: {sorted(unknown)}"


@pytest.mark.parametrize("room", sorted(set(ROOMS) & set(MAY_IMPORT)))
def test_imports_go_down_only(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room} | (set() if room in LOWEST else {"ptxgen.errors"})
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in ROOMS[room]
        for line, module in imported(path)
        if module.split(".")[0] in SIBLINGS and room_of(module) not in allowed
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_numpy_and_cuda_stay_where_they_belong(room: str) -> None:
    wrong = []
    for path in ROOMS[room]:
        for line, module in imported(path):
            first = module.split(".")[0]
            if (first == "numpy" and room not in NUMPY_ROOMS) or (first == "cuda" and room != "ptxgen.runtime"):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
    assert not wrong, "\n".join(wrong)
