"""From arguments to an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import assert_never

from isa.targets import UnknownTarget
from ptxgen.cli.release import release
from ptxgen.cli.running import RUN_COMMAND, RunOptions, parse_run_command
from ptxgen.cli.texts import (
    TEXT_COMMANDS,
    CheckOptions,
    ExplainOptions,
    FormatOptions,
    PythonOptions,
    SassOptions,
    TextOptions,
    help_text,
    parse_text_command,
)
from ptxgen.cli.unusable import Unusable
from ptxgen.errors import AssemblerError, DriverError, KernelError, PtxgenError, PtxSyntaxError

CACHE_COMMAND, TUNE_COMMAND, BUILD_COMMAND = "cache", "tune", "build"
GOOD, WRONG, UNUSABLE, LACKING, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that `arguments` (by default those of the process) spell, and returns the exit status.

    0: it worked. 1: the result is wrong, or there are findings. 2: the input is unusable. 3: this machine lacks what is
    needed. For 2 and 3 stderr says why, in one line (of PTX that cannot be read it shows the place, of programs that do
    not fit it lists them), and nothing is written. The commands about text load no kernels, and numpy only for `sass`.
    130: somebody interrupted it. A reader that goes away is no mistake.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] in ("-h", "--help", "--version"):
        print(f"ptxgen {release() or 'from a checkout'}" if given[0] == "--version" else help_text())
        return GOOD
    try:
        if given and given[0] in TEXT_COMMANDS:
            options = parse_text_command(given)
            return GOOD if options is None else _run_text(options)
        if given and given[0] == RUN_COMMAND:
            asked = parse_run_command(given[1:])
            return GOOD if asked is None else _run_kernel(asked)
        if given and given[0] == BUILD_COMMAND:
            from ptxgen.cli.build import parse_build_command, run_build

            wanted = parse_build_command(given[1:])
            return GOOD if wanted is None else run_build(wanted)
        if given and given[0] == CACHE_COMMAND:
            from ptxgen.cli.cache import run_cache

            return run_cache(given[1:])
        if given and given[0] == TUNE_COMMAND:
            return _run_tune(given[1:])
        from ptxgen.cli.matmul import run_matmul
        from ptxgen.cli.parser import parse

        chosen = parse(given)
        return GOOD if chosen is None else run_matmul(chosen)
    except KeyboardInterrupt:
        print("ptxgen: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except AssemblerError as error:
        print(f"ptxgen: {error}", file=sys.stderr)
        return LACKING
    except DriverError as error:
        return _refused(error, LACKING)
    except PtxSyntaxError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    except (Unusable, PtxgenError, UnknownTarget) as error:
        return _refused(error, UNUSABLE)


def _run_kernel(options: RunOptions) -> int:
    from ptxgen.cli.run import run_kernel

    return run_kernel(options)


def _run_tune(arguments: Sequence[str]) -> int:
    from ptxgen.cli.tune import run_tune
    from ptxgen.cli.tuning import parse_tune_command

    options = parse_tune_command(arguments)
    return GOOD if options is None else run_tune(options)


def _run_text(options: TextOptions) -> int:
    match options:
        case CheckOptions():
            from ptxgen.cli.check import run_check

            return run_check(options)
        case FormatOptions():
            from ptxgen.cli.format import run_format

            return run_format(options)
        case PythonOptions():
            from ptxgen.cli.python import run_python

            return run_python(options)
        case SassOptions():
            from ptxgen.cli.sass import run_sass

            return run_sass(options)
        case ExplainOptions():
            from ptxgen.cli.rows import run_explain

            return run_explain(options)
        case _:
            assert_never(options)


def _refused(error: Exception, status: int) -> int:
    text = error.findings[0].message if isinstance(error, KernelError) and error.findings else str(error)
    print(f"ptxgen: {text.splitlines()[0] if text else type(error).__name__}", file=sys.stderr)
    return status
