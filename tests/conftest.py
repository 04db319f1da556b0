"""Fixtures of every test folder: the folder of shared material, ptxas and the GPU, each skipped where it is absent.

Where CI is set, properties are asked of the same examples in every run; elsewhere of new ones each time.
"""

import ctypes
import functools
import os
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")

CHECKOUT = Path(__file__).resolve().parents[1]
DRIVER_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


@functools.cache
def device_count() -> int:
    """How many GPUs the driver library shows; 0 without it or when it cannot start. Imports no CUDA package."""
    try:
        driver = ctypes.CDLL(DRIVER_LIBRARY)
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `device` run only where the driver shows a GPU."""
    if item.get_closest_marker("device") is not None and device_count() == 0:
        pytest.skip("needs an NVIDIA GPU with its driver")


@pytest.fixture(autouse=True, scope="session")
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels kept by tests are kept for the session alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("store")))
        yield


@functools.cache
def wheel_ptxas(distribution: str) -> Path | None:
    """The ptxas inside an installed wheel, None where the wheel is not installed."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in files if file.name == "ptxas" and file.parent.name == "bin"]
    return next((path for path in found if path.exists()), None)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of recorded vectors and suites beside the checkout (or inside its copy on a device machine)."""
    for folder in (CHECKOUT.parent / "shared", CHECKOUT / "shared"):
        if folder.is_dir():
            return folder
    pytest.skip("needs the shared folder beside the checkout")


@pytest.fixture(scope="session")
def ptxas() -> Path:
    """The ptxas 12.9 of the `ptxas` extra, which knows every target from sm_50 on and PTX up to 8.8."""
    path = wheel_ptxas("nvidia-cuda-nvcc-cu12")
    if path is None:
        pytest.skip("needs ptxas 12.9: pip install 'ptxgen[ptxas]'")
    return path


@pytest.fixture
def no_cuda_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without a CUDA toolkit: no CUDA_HOME, nothing on the PATH."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
