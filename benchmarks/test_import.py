"""How long importing takes from an installed wheel, in a fresh interpreter away from the checkout."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
MOST_SECONDS = 0.15
ROUNDS = 10
TIMED = """
import time, sys
start = time.process_time()
{statement}
print(time.process_time() - start, "numpy" in sys.modules, ptxgen.__file__)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's packages and their compiled bytecode, as pip puts them."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    return target


@pytest.mark.parametrize("statement", ["import ptxgen", "import ptxgen; from ptxgen import Module, emit, parse"])
def test_importing_is_quick_and_loads_no_numpy(installed: Path, tmp_path: Path, statement: str) -> None:
    least = float("inf")
    for _ in range(ROUNDS):
        code = f"import sys; sys.path.insert(0, {str(installed)!r})\n" + TIMED.format(statement=statement)
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
        seconds, numpy, file = done.stdout.split()
        assert numpy == "False"
        assert Path(file).is_relative_to(installed)
        least = min(least, float(seconds))
    print(f"{statement}: {least * 1000:.0f} ms")
    assert statement != "import ptxgen" or least <= MOST_SECONDS
