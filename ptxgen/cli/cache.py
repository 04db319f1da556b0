"""`ptxgen cache`: what the store of kernels holds, and emptying it."""

from __future__ import annotations

from collections.abc import Sequence

from ptxgen.cli.texts import ABOUT, Parser
from ptxgen.kernels import store


def run_cache(arguments: Sequence[str]) -> int:
    """Prints where kernels are kept, how many and how large; with `--clear` deletes them. Exit status 0."""
    parser = Parser(prog="ptxgen cache", description=f"Tells of {ABOUT['cache']}.", allow_abbrev=False)
    parser.add_argument("--clear", action="store_true", help="delete them")
    try:
        chosen = parser.parse_args(arguments)
    except SystemExit:
        return 0
    if chosen.clear:
        print(f"{store.clear()} kernels deleted from {store.folder()}")
        return 0
    count, size = store.held()
    print(f"{count} kernels, {size / 1024:.0f} KiB of at most {store.MOST_BYTES >> 10} KiB, in {store.folder()}")
    return 0
