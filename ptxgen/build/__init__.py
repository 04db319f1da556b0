"""The assembler: kernels written line by line in Python, each line checked as it is written."""

from ptxgen.build.handles import Label, Not, Offset, Symbol, Value, sink
from ptxgen.build.kernel import Kernel
from ptxgen.build.module import Module
from ptxgen.build.parameters import ArrayType, PointerType, array, pointer
from ptxgen.build.program import python

__all__ = [
    "ArrayType", "Kernel", "Label", "Module", "Not", "Offset", "PointerType", "Symbol", "Value", "array", "pointer",
    "python", "sink",
]  # fmt: skip
