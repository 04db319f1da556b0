"""Reading PTX text into the IR."""

from ptxgen.parse.fragment import fragment
from ptxgen.parse.module import Reading, items, parse, read
from ptxgen.parse.names import Open
from ptxgen.parse.reader import Misuse

__all__ = ["Misuse", "Open", "Reading", "fragment", "items", "parse", "read"]
