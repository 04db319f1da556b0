"""The command line (see README.md)."""

from ptxgen.cli.entry import main

__all__ = ["main"]
