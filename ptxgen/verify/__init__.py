"""Judging a module before anybody runs it."""

from ptxgen.verify.allowed import allowed_codes
from ptxgen.verify.codes import CODES
from ptxgen.verify.instructions import operand_findings
from ptxgen.verify.module import verified, verify
from ptxgen.verify.operands import Refusal, refusal
from ptxgen.verify.versions import VersionReport, least_version

__all__ = [
    "CODES", "Refusal", "VersionReport", "allowed_codes", "least_version", "operand_findings", "refusal", "verified",
    "verify",
]  # fmt: skip
