"""The layers of the house: who may import whom."""

import ast
import re
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
KERNELS = "ptxgen.kernels"
# What each package of ptxgen.kernels may import of it beside itself, all of what stands above it or less: one way only.
# `ptxgen.kernels` are the modules at its top. Its README.md has the same table.
KERNELS_MAY_IMPORT: dict[str, set[str]] = {
    "products": set(),
    "launching": set(),
    "choosing": {"products"},
    "kernels": {"products", "launching", "choosing"},
    "calling": {"products", "launching", "choosing", "kernels"},
}
TOP = {"ptxgen.kernels", "ptxgen.tune", "ptxgen.testing", "ptxgen.torch", "ptxgen.cli"}
NUMPY_ROOMS = {"ptxgen.simulate", "ptxgen.runtime", "ptxgen.tile", *TOP}
LOWEST = {"isa", "polyhedral"}


def room_of(module: str) -> str:
    """The room of a dotted module: `ptxgen.build` of `ptxgen.build.kernel`, `isa` of `isa.forms`."""
    parts = module.split(".")
    return parts[0] if parts[0] != "ptxgen" else ".".join(parts[:2])


def package_of(module: str) -> str:
    """The package of ptxgen.kernels that a dotted module of it belongs to."""
    first = module.removeprefix(KERNELS).split(".")[1:2]
    return first[0] if first and (ROOT / "ptxgen" / "kernels" / first[0]).is_dir() else "kernels"


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
            if module in ("ptxgen", KERNELS):
                yield from ((node.lineno, f"{module}.{name.name}") for name in node.names)
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


def packages_of_kernels() -> Iterator[tuple[str, Path]]:
    for path in ROOMS[KERNELS]:
        yield package_of(".".join(path.relative_to(ROOT).with_suffix("").parts)), path


def test_the_packages_of_kernels_stand_in_one_order() -> None:
    names = list(KERNELS_MAY_IMPORT)
    assert {package for package, _ in packages_of_kernels()} == set(names)
    assert all(KERNELS_MAY_IMPORT[name] <= set(names[:place]) for place, name in enumerate(names))


def test_what_is_said_of_the_packages_of_kernels_is_this_table() -> None:
    text = (ROOT / "ptxgen" / "kernels" / "README.md").read_text()
    said = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", text, re.MULTILINE)
    assert [(name, set(re.findall(r"`(\w+)`", allowed))) for name, allowed in said] == [*KERNELS_MAY_IMPORT.items()]


@pytest.mark.parametrize("package", KERNELS_MAY_IMPORT)
def test_imports_of_kernels_go_one_way(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for own, path in packages_of_kernels()
        for line, module in imported(path)
        if own == package
        and room_of(module) == KERNELS
        and package_of(module) not in KERNELS_MAY_IMPORT[package] | {package}
    ]
    assert not wrong, "\n".join(wrong)
