"""The CPU that runs PTX: any module of the IR on numpy, exact to the bit, with what is wrong about it."""

from ptxgen.simulate.journal import ALL_CHECKS, NO_CHECKS, Check, Fault
from ptxgen.simulate.memory import unwritten
from ptxgen.simulate.report import Count, Region, Report, Statement
from ptxgen.simulate.scheduler import LimitReached
from ptxgen.simulate.simulation import Simulation, Step, Written
from ptxgen.simulate.simulator import Simulator, simulate, simulator
from ptxgen.simulate.support import unsupported
from ptxgen.simulate.traffic import GlobalTraffic, SharedTraffic

__all__ = [
    "ALL_CHECKS",
    "NO_CHECKS",
    "Check",
    "Count",
    "Fault",
    "GlobalTraffic",
    "LimitReached",
    "Region",
    "Report",
    "SharedTraffic",
    "Simulation",
    "Simulator",
    "Statement",
    "Step",
    "Written",
    "simulate",
    "simulator",
    "unsupported",
    "unwritten",
]  # fmt: skip
