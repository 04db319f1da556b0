"""The version of the driver, whose compiler makes machine code of the PTX that `ptxgen.matmul` loads."""

from __future__ import annotations

import re
from pathlib import Path

from ptxgen.errors import DriverError
from ptxgen.runtime import driver_version

RELEASE = Path("/proc/driver/nvidia/version")
NUMBER = re.compile(r"NVRM version:.*?\b(\d+\.\d+(?:\.\d+)*)\b")


def driver_here() -> str:
    """The CUDA version of the driver, and its release where the machine tells: "CUDA 12.4, 550.54.15". Empty where
    there is no driver."""
    try:
        major, minor = driver_version()
    except DriverError:
        return ""
    release = released()
    return f"CUDA {major}.{minor}" + (f", {release}" if release else "")


def released(path: Path = RELEASE) -> str:
    """The release of the kernel's driver, as Linux shows it; empty elsewhere."""
    try:
        found = NUMBER.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return found.group(1) if found else ""
