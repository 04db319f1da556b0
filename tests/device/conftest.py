"""Every test in this folder needs a GPU."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of this folder `device`, so that none can be forgotten; warnings of torch and CuPy are theirs."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.device)
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def pool() -> Iterator[Executor]:
    """Processes for what the simulator does of a comparison."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as made:
        yield made
