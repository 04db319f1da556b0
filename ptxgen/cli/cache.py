"""`ptxgen cache`: what is kept on disk of kernels and of tuned plans, and emptying it."""

from __future__ import annotations

from collections.abc import Sequence

from ptxgen.cli.texts import ABOUT, Parser
from ptxgen.cli.unusable import Unusable
from ptxgen.kernels.launching import store
from ptxgen.tune import keeping


def run_cache(arguments: Sequence[str]) -> int:
    """Prints where kernels are kept, how many and how large, and how many shapes have a tuned plan; with `--clear`
    deletes the kernels, with `--clear-tuned` the plans. Exit status 0; Unusable where something cannot be deleted."""
    parser = Parser(prog="ptxgen cache", description=f"Tells of {ABOUT['cache']}.", allow_abbrev=False)
    parser.add_argument("--clear", action="store_true", help="delete the kernels")
    parser.add_argument("--clear-tuned", action="store_true", help="delete what ptxgen tune has found")
    try:
        chosen = parser.parse_args(arguments)
    except SystemExit:
        return 0
    try:
        if chosen.clear:
            print(f"{store.clear()} kernels deleted from {store.folder()}")
        if chosen.clear_tuned:
            print(f"{keeping.clear()} tuned plans deleted from {store.folder() / keeping.FOLDER}")
    except OSError as error:
        raise Unusable(f"{error.filename} cannot be deleted: {error.strerror}") from None
    if not (chosen.clear or chosen.clear_tuned):
        count, size = store.held()
        print(f"{count} kernels, {size / 1024:.0f} KiB of at most {store.MOST_BYTES >> 10} KiB, in {store.folder()}")
        print(f"{keeping.held()} shapes with a tuned plan, in {store.folder() / keeping.FOLDER}")
    return 0
