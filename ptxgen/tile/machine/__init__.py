"""The tile machine: runs a tile program on numpy and judges the order of every access (see ../README.md)."""

from ptxgen.tile.machine.faults import MachineFault
from ptxgen.tile.machine.launch import MachineReport, run

__all__ = ["MachineFault", "MachineReport", "run"]
