"""From a plan to a proved tile program (see README.md)."""

from ptxgen.derive.derivation import Derivation, Part, derive

__all__ = ["Derivation", "Part", "derive"]
