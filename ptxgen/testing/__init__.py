"""Judges for kernels: what a compute means, in float64 and in a target's own arithmetic (see README.md)."""

from ptxgen.testing.bounds import Bounded, bounded
from ptxgen.testing.loop_model import loop_model
from ptxgen.testing.memory import memory_of, values_in
from ptxgen.testing.reference import reference
from ptxgen.testing.tensor_core import chained_product

__all__ = ["Bounded", "bounded", "chained_product", "loop_model", "memory_of", "reference", "values_in"]
