"""Reading PTX text into the IR."""

from ptxgen.parse.module import Reading, parse, read
from ptxgen.parse.reader import Misuse

__all__ = ["Misuse", "Reading", "parse", "read"]
