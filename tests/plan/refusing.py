"""How a step is refused: by words that name what is wrong, on the line that asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ptxgen.errors import PlanError

Refused = dict[str, tuple[Callable[[], object], str]]


def wrong(value: object) -> Any:
    """A value that the type checker would refuse."""
    return value


def check_refused(make: Callable[[], object], words: str, file: str) -> None:
    """The plan is refused with these words, on a line of the test's own file."""
    with pytest.raises(PlanError) as caught:
        make()
    assert words in str(caught.value)
    assert caught.value.line is not None
    assert caught.value.line.file == file
