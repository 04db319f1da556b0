"""From a plan to a proved tile program (see README.md)."""

from ptxgen.derive.derivation import Derivation, derive
from ptxgen.derive.part import Part
from ptxgen.derive.signature import Blocks, Exact, Fused, SumOrder, Terms, Unpacked, Unsettled

__all__ = [
    "Blocks", "Derivation", "Exact", "Fused", "Part", "SumOrder", "Terms", "Unpacked", "Unsettled", "derive",
]  # fmt: skip
