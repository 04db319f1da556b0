"""Whether anybody has recorded how the products of a kernel round, without which no simulator has their bits."""

from __future__ import annotations

from ptxgen.derive import Unsettled
from ptxgen.errors import LaunchError
from ptxgen.kernels.launching.generated import GeneratedKernel


def unsettled(kernel: GeneratedKernel) -> str | None:
    """Why the bits of a planned kernel's sums are not known; None where they are."""
    terms = (order.terms for order in kernel.derivation.signature(kernel.entry.target))
    return next((each.reason for each in terms if isinstance(each, Unsettled)), None)


def check_settled(kernel: GeneratedKernel) -> None:
    """LaunchError where the simulator cannot run a planned kernel for that."""
    why = unsettled(kernel)
    if why is not None:
        raise LaunchError(f"the CPU cannot run this: {why}; take another target, or a GPU")
