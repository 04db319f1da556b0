"""One GPU for each process, of those that the processes above it were given."""

from __future__ import annotations

import os
from typing import Any

VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible(count: int, inherited: str | None) -> tuple[str, ...]:
    """How each of the `count` devices that the driver shows here is named for a process below: as the list that this
    process inherited names it, by number, UUID or the name of a slice; by its number where there is no list."""
    if inherited is None:
        return tuple(map(str, range(count)))
    return tuple(name.strip() for name in inherited.split(","))[:count]


def take_device(names: Any) -> None:
    """Gives this process one GPU, whose name it takes from a queue, before it starts the driver."""
    os.environ[VISIBLE] = names.get()
