"""Assemblers and the driver's version, judged by the driver: what it takes and what the assembled kernels compute."""

import numpy as np
import pytest

from isa.drivers import newest_ptx
from ptxgen.errors import DriverError
from ptxgen.runtime import assemble, compute_capability, driver_version, in_process_assembler, load
from tests.device.test_runtime import ADD


def added(image: object) -> bool:
    """Whether a loaded ADD adds."""
    a, b = np.arange(1000, dtype=np.float32), np.full(1000, 3, np.float32)
    c = np.zeros(1000, np.float32)
    load(image)["add"](a, b, c, 1000, grid=8, block=128)  # type: ignore[arg-type]
    return bool(np.array_equal(c, a + b))


def test_the_newest_ptx_that_the_table_gives_the_driver_is_taken() -> None:
    assert driver_version() >= (12, 0)
    newest = newest_ptx(driver_version())
    assert added(ADD.replace("6.4", str(newest)).replace("sm_70", "sm_75"))


def test_a_version_that_no_driver_takes_is_explained() -> None:
    major, minor = driver_version()
    with pytest.raises(DriverError) as caught:
        load(ADD.replace("6.4", "99.9"))
    assert f"the text is PTX 99.9, and the driver of CUDA {major}.{minor} takes PTX up to " in str(caught.value)
    assert "install a later driver" in str(caught.value)


def test_the_driver_loads_what_is_assembled_inside_the_process() -> None:
    inside = in_process_assembler()
    if inside is None:
        pytest.skip("needs nvJitLink: pip install 'ptxgen[nvjitlink]'")
    number = "sm_{}{}".format(*compute_capability())
    if not inside.knows(number, (6, 4)):
        pytest.skip(f"{inside.name} does not know {number}")
    assert added(assemble(ADD, target=number, assembler=inside))
