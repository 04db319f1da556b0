"""The floor of an affine expression over a number."""

from __future__ import annotations

from attrs import frozen

from polyhedral import Affine


@frozen
class Quotient:
    """floor(numerator / divisor)."""

    numerator: Affine
    divisor: int

    def __str__(self) -> str:
        return str(self.numerator) if self.divisor == 1 else f"floor(({self.numerator})/{self.divisor})"
