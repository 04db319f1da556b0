"""How far a search is: bars on a terminal where rich is installed, a line for each shape elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from ptxgen.kernels.choosing.menu import Sizes

Tell = Callable[[str, Sizes, int], None]


@contextmanager
def progress(shapes: int, to: TextIO) -> Iterator[Tell]:
    """What is told of each step: kernels made, and shapes of which candidates were measured, twice of most."""
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield lambda what, sizes, number: _line(to, what, sizes, number)
        return
    if not to.isatty():
        yield lambda what, sizes, number: _line(to, what, sizes, number)
        return
    with Progress(console=Console(file=to), transient=True) as bars:
        making = bars.add_task("kernels made", total=None)
        measuring = bars.add_task("shapes measured", total=2 * shapes)

        def tell(what: str, sizes: Sizes, number: int) -> None:
            if what == "made":
                bars.advance(making, number)
            else:
                bars.advance(measuring)

        yield tell


def _line(to: TextIO, what: str, sizes: Sizes, number: int) -> None:
    if what != "made":
        print(f"{sizes.m} x {sizes.n} x {sizes.k}: {number} candidates {what}", file=to, flush=True)
