"""Reading a tile program from the text that `show` prints (see README.md)."""

from ptxgen.tile.reading.program import read

__all__ = ["read"]
