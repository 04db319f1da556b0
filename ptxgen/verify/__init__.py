"""Judging a module before anybody runs it."""

from ptxgen.verify.module import verified, verify
from ptxgen.verify.operands import Refusal, refusal

__all__ = ["Refusal", "refusal", "verified", "verify"]
