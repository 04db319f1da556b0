"""From arguments to an exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from isa.targets import UnknownTarget
from ptxgen.cli.parser import Unusable, parse
from ptxgen.errors import AssemblerError, DriverError, KernelError, PtxgenError

GOOD, WRONG, UNUSABLE, LACKING = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that `arguments` (by default those of the process) spell, and returns the exit status.

    0: it worked. 1: the result is wrong, or the run has findings. 2: the input is unusable. 3: this machine lacks what
    is needed. For 2 and 3 one line on stderr says why, and nothing is written.
    """
    try:
        chosen = parse(sys.argv[1:] if arguments is None else arguments)
        if chosen is None:
            return GOOD
        from ptxgen.cli.matmul import run_matmul

        return run_matmul(chosen)
    except (DriverError, AssemblerError) as error:
        return _refused(error, LACKING)
    except (Unusable, PtxgenError, UnknownTarget) as error:
        return _refused(error, UNUSABLE)


def _refused(error: Exception, status: int) -> int:
    text = error.findings[0].message if isinstance(error, KernelError) and error.findings else str(error)
    print(f"ptxgen: {text.splitlines()[0] if text else type(error).__name__}", file=sys.stderr)
    return status
