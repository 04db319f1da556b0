"""Which row a device has: by its own name and the multiprocessors that the driver shows, not by a part of a name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ptxgen.kernels import MatmulSpec
from ptxgen.kernels.choosing.choice import chosen_tiling
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import processor_for, processor_here, processor_named, processor_of
from ptxgen.kernels.launching.views import DTYPES, outline
from ptxgen.kernels.matmul import Matmul
from tests.runtime.conftest import driver  # noqa: F401
from tests.runtime.fake_driver import FakeDriver

SPEC, SIZES = MatmulSpec(), Sizes(2048, 2048, 2048)


@pytest.mark.parametrize("name, sms, row", (
    ("NVIDIA H200", 132, "H200"),
    ("NVIDIA H100 80GB HBM3", 132, "H100"),
    ("NVIDIA A100-SXM4-80GB", 108, "A100"),
    ("Tesla V100-SXM2-16GB", 80, "V100"),
    ("NVIDIA GH200 480GB", 132, None),
    ("NVIDIA H200 NVL", 132, None),
    ("NVIDIA H100 PCIe", 114, None),
    ("NVIDIA H200", 60, None),
    ("NVIDIA H200 MIG 1g.18gb", 16, None),
    ("NVIDIA A100-SXM4-40GB", 108, None),
))  # fmt: skip
def test_the_row_of_a_device(name: str, sms: int, row: str | None) -> None:
    found = processor_of(name, sms)
    assert (found.name if found else None) == row


def test_a_row_by_its_name() -> None:
    for name in ("H200", "h200", "NVIDIA H200"):
        found = processor_named(name)
        assert found is not None
        assert found.name == "H200"
    for name in ("GH200", "NVIDIA GH200 480GB", "H20", ""):
        assert processor_named(name) is None, name


def chosen_here(target: str = "sm_90a") -> object:
    arrays = {name: outline(DTYPES[SPEC.input], (2048, 2048)) for name in ("A", "B")}
    return Matmul(SPEC, target).fitted(arrays).tiling


def test_a_choice_is_for_the_device_that_is_there(driver: FakeDriver) -> None:  # noqa: F811
    """Asked once; of a relative of the measured row the multiprocessors count."""
    driver.name, driver.multiprocessors = "NVIDIA H100 PCIe", 114
    row = processor_here(90)
    assert row is not None
    assert (row.name, row.sms, row.measured) == ("NVIDIA H100 PCIe", 114, True)
    assert chosen_here() == chosen_tiling(SPEC, "sm_90a", SIZES, row)
    driver.name, driver.multiprocessors = "NVIDIA H200", 132
    assert processor_here(90) is row
    processor_here.cache_clear()
    assert processor_here(90) is processor_for(90)
    assert driver.contexts == []


def test_a_slice_of_a_device_is_not_the_device(driver: FakeDriver) -> None:  # noqa: F811
    driver.name, driver.multiprocessors = "NVIDIA H200 MIG 1g.18gb", 16
    assert chosen_here() != chosen_tiling(SPEC, "sm_90a", SIZES, processor_for(90))


def test_a_device_of_another_capability_tells_nothing(driver: FakeDriver) -> None:  # noqa: F811
    driver.name, driver.capability = "NVIDIA A100-SXM4-80GB", (8, 0)
    assert processor_here(90) is processor_for(90)
    assert processor_here(75) is None


def test_importing_asks_no_driver() -> None:
    program = "import sys, ptxgen.kernels.choosing.processors, ptxgen.kernels.matmul; print('cuda' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False"]
