"""The fake driver in the place of the real one."""

from collections.abc import Iterator

import cuda.bindings
import cuda.bindings.driver
import pytest

from ptxgen.runtime.driver import binding, primary_context
from tests.runtime.fake_driver import FakeDriver


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """A fake driver with two devices, seen by everything in ptxgen.runtime."""
    fake = FakeDriver()
    binding.cache_clear()
    primary_context.cache_clear()
    monkeypatch.setattr(cuda.bindings, "driver", fake)
    yield fake
    binding.cache_clear()
    primary_context.cache_clear()
