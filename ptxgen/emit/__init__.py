"""Spelling a module as PTX text."""

from ptxgen.emit.listing import Listing
from ptxgen.emit.printer import emit, item_text, statement_text
from ptxgen.emit.spelling import instruction_text

__all__ = ["Listing", "emit", "instruction_text", "item_text", "statement_text"]
