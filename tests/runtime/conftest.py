"""The fake driver in the place of the real one."""

from collections.abc import Iterator

import cuda.bindings
import cuda.bindings.driver
import pytest

from ptxgen.kernels import matmul
from ptxgen.kernels.calling import call
from ptxgen.kernels.choosing import processors
from ptxgen.runtime import scratch
from ptxgen.runtime.driver import binding, primary_context
from tests.runtime.fake_driver import FakeDriver


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """A fake driver with two devices, seen by everything in ptxgen.runtime."""
    fake = FakeDriver()
    forget()
    monkeypatch.setattr(cuda.bindings, "driver", fake)
    yield fake
    forget()


def forget() -> None:
    """Whatever another driver gave, launches and loaded kernels that are kept included."""
    binding.cache_clear()
    primary_context.cache_clear()
    call._CALLS.clear()
    scratch._HELD.clear()
    for kept in (matmul._generated, matmul._stored, processors.processor_here):
        kept.cache_clear()
