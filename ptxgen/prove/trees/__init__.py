"""The judge of tile programs as they are, whoever wrote them (see README.md)."""

from ptxgen.prove.trees.judging import check_program

__all__ = ["check_program"]
