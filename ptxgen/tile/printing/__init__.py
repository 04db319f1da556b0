"""A tile program as text (see README.md)."""

from ptxgen.tile.printing.program import show

__all__ = ["show"]
