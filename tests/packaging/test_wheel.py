"""The wheel: what is in it, that it works away from the checkout, and that a stranger of the same name is found out."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = ("ptxgen", "isa", "polyhedral")


def run(*command: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=CHECKOUT)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The python of a fresh environment with the wheel in it; the dependencies are those of the running one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    done = run(*pip, folder=folder)
    assert done.returncode == 0, done.stderr
    asked = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder)
    (Path(asked.stdout.strip()) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    on_disk = {str(path.relative_to(CHECKOUT)) for top in PACKAGES for path in (CHECKOUT / top).rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == on_disk
    assert not [name for name in names if "test" in name.split("/")[-1] and name.split("/")[0] != "ptxgen"]


def test_the_wheel_names_its_command_and_only_three_dependencies(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entry_points,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "ptxgen = ptxgen.cli:main" in archive.read(entry_points).decode()
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    required = [line for line in archive.read(metadata).decode().splitlines() if line.startswith("Requires-Dist:")]
    always = {line.split()[1].split(">")[0] for line in required if "extra ==" not in line}
    assert always == {"attrs", "numpy", "cuda-python"}


def test_the_extras_are_those_that_errors_name(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (each for each in archive.namelist() if each.endswith("METADATA"))
    lines = archive.read(name).decode().splitlines()
    extras = {line.split()[1] for line in lines if line.startswith("Provides-Extra:")}
    assert extras == {"ptxas", "nvjitlink", "sass", "colour", "narrow", "torch", "dask", "test", "lint"}
    texts = "".join(path.read_text() for path in (CHECKOUT / "ptxgen").rglob("*.py"))
    assert set(re.findall(r"pip install 'ptxgen\[(\w+)\]'", texts)) <= extras


def test_the_installed_packages_import_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = (
        f"import sys, {', '.join(PACKAGES)}\nprint(*({', '.join(f'{name}.__file__' for name in PACKAGES)}), sep='\\n')"
    )
    done = run(installed, "-W", "error", "-c", code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    places = [Path(line) for line in done.stdout.splitlines()]
    assert all(place.is_relative_to(installed.parents[1]) for place in places), places


@pytest.mark.parametrize("package", ["isa", "polyhedral"])
@pytest.mark.parametrize("content", ["", "OWNER = 'somebody'\n"])
def test_a_stranger_of_the_same_name_is_named_with_its_path(
    installed: Path, tmp_path: Path, package: str, content: str
) -> None:
    stranger = tmp_path / package / "__init__.py"
    stranger.parent.mkdir()
    stranger.write_text(content)
    done = run(installed, "-c", "import ptxgen", folder=tmp_path)
    assert done.returncode == 1, "the stranger was taken for ours"
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: "), done.stderr
    assert str(stranger.parent) in last
    assert package in last
