"""Spelling a module as PTX text."""

from ptxgen.emit.listing import Listing
from ptxgen.emit.printer import emit
from ptxgen.emit.spelling import instruction_text

__all__ = ["Listing", "emit", "instruction_text"]
