"""Judges for kernels: what a compute means, in float64 (see README.md)."""

from ptxgen.testing.memory import memory_of, values_in
from ptxgen.testing.reference import reference

__all__ = ["memory_of", "reference", "values_in"]
