"""Judging a module before anybody runs it."""

from ptxgen.verify.instructions import operand_findings
from ptxgen.verify.module import verified, verify
from ptxgen.verify.operands import Refusal, refusal
from ptxgen.verify.versions import VersionReport, least_version

__all__ = ["Refusal", "VersionReport", "least_version", "operand_findings", "refusal", "verified", "verify"]
