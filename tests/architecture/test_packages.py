"""What each package carries, and what importing ptxgen costs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(
    {ROOT / "isa", ROOT / "polyhedral"} | {path.parent for path in (ROOT / "ptxgen").glob("*/__init__.py")}
)
FOLDERS = sorted(
    {path.parent for package in ("isa", "polyhedral", "ptxgen") for path in (ROOT / package).rglob("*.py")}
)


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


@pytest.mark.parametrize("folder", FOLDERS, ids=[str(path.relative_to(ROOT)) for path in FOLDERS])
def test_a_folder_says_what_lives_there(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    assert 8 <= len(text.splitlines()) <= 45


@pytest.mark.parametrize("package", [ROOT / "ptxgen", *PACKAGES], ids=names([ROOT / "ptxgen", *PACKAGES]))
def test_a_package_is_typed(package: Path) -> None:
    assert (package / "py.typed").is_file()


def in_a_fresh_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_ptxgen_needs_neither_numpy_nor_cuda() -> None:
    loaded = in_a_fresh_python(
        "import sys, ptxgen; ptxgen.Module, ptxgen.emit, ptxgen.verify\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    assert not {"numpy", "cuda", "islpy"} & set(loaded.split())


@pytest.mark.parametrize("first", ["import ptxgen.emit", "from ptxgen.emit import Listing", "from ptxgen import emit"])
def test_the_function_emit_is_there_whatever_was_imported_first(first: str) -> None:
    kernel = "with (m := ptxgen.Module('sm_70')).kernel('k'):\n    pass"
    code = f"{first}\nimport ptxgen\n{kernel}\nprint(ptxgen.emit(m.build()))"
    assert ".visible .entry k()" in in_a_fresh_python(code)


def test_every_public_name_that_has_a_room_loads() -> None:
    import ptxgen

    absent = [name for name in dir(ptxgen) if not hasattr(ptxgen, name)]
    assert not absent


def test_an_unknown_name_is_an_attribute_error() -> None:
    import ptxgen

    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ptxgen.nonsense
