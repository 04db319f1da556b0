"""How a product is asked for, by `matmul` and by `tune` alike."""

from __future__ import annotations

import argparse

from ptxgen.cli.unusable import Unusable
from ptxgen.kernels.products.compute import Layout
from ptxgen.kernels.products.epilogue import PIECES, Epilogue, parse_epilogue

PIECES_TOLD = f"pieces of an epilogue: {', '.join(map(str, PIECES))}."


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """The extents of A @ B."""
    for option, what in (("m", "rows of the result"), ("n", "columns of the result"), ("k", "length of the sums")):
        parser.add_argument(f"--{option}", type=int, metavar="SIZE", help=what)


def add_layout(parser: argparse.ArgumentParser) -> None:
    """How A and B lie in memory."""
    parser.add_argument(
        "--layout", choices=[each.value for each in Layout], default="nn", help="A and B: n as written, t transposed"
    )


def add_epilogue(parser: argparse.ArgumentParser) -> None:
    """What follows the product."""
    parser.add_argument("--epilogue", default="", metavar="PIECES", help="what follows, in order: bias,relu")


def epilogue_of(given: argparse.Namespace) -> Epilogue:
    """The pieces named; Unusable says what is wrong with them."""
    try:
        return parse_epilogue(given.epilogue)
    except ValueError as error:
        raise Unusable(str(error)) from None
