"""Every test in this folder needs a GPU."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of this folder `device`, so that none can be forgotten; warnings of torch and CuPy are theirs."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.device)
            item.add_marker(pytest.mark.filterwarnings("default"))
