"""From a tile program to PTX's IR, one function per node (see README.md)."""

from ptxgen.lower.program import dynamic_shared_bytes, lower

__all__ = ["dynamic_shared_bytes", "lower"]
