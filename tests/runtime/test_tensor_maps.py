"""An array beside the map of its tensor becomes the bytes of the map."""

from typing import Any

import numpy as np
import pytest

from isa.tensor_maps import decode, tiled
from ptxgen.errors import LaunchError
from ptxgen.runtime import load
from tests.runtime.fake_driver import FakeDriver, Launched

TEXT = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .align 64 .b8 map[128], .param .u64 tensor) { ret; }
"""


@pytest.fixture
def copy(driver: FakeDriver) -> Any:
    driver.parameter_count = 2
    return load(TEXT)["copy"]


def test_the_map_has_the_address_of_the_copy_on_the_device(driver: FakeDriver, copy: Any) -> None:
    seen: list[bytes] = []

    def on_launch(launched: Launched) -> None:
        seen.extend((launched.read(0, 128), launched.read(1, 8)))

    driver.on_launch = on_launch
    tensor, described = np.zeros((8, 16), np.float32), tiled("f32", (8, 16), (4, 8))
    copy((tensor, described), tensor, grid=1, block=32)
    assert decode(seen[0]) == (described, int.from_bytes(seen[1], "little"))


def test_a_map_of_nothing_is_refused(copy: Any) -> None:
    with pytest.raises(LaunchError, match=r"argument 1 \(map\): wants an array beside its tensor map, got int"):
        copy((7, tiled("f32", (8, 16), (4, 8))), np.zeros(4, np.float32), grid=1, block=32)
