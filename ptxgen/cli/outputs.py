"""The files that a product leaves: checked before anything runs, written when all went well."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ptxgen.cli.parser import FILES, MatmulOptions
from ptxgen.cli.unusable import Unusable


def check_outputs(options: MatmulOptions) -> None:
    """Unusable names the file that could not be written, is asked for twice, or would replace an input."""
    taken = {path.resolve(): f"--{FILES[name].replace('_', '-')}" for name, path in options.files.items()}
    for option, path in (("--out", options.out), ("--second-out", options.second_out), ("--emit", options.emit)):
        if path is None:
            continue
        try:
            check_writable(path)
        except OSError as error:
            raise Unusable(f"{path} cannot be written: {error.strerror}") from None
        other = taken.setdefault(path.resolve(), option)
        if other != option:
            raise Unusable(f"{path} is given to {other} and to {option}")


def check_writable(path: Path) -> None:
    """Unusable where a file cannot be written; OSError where that cannot be told."""
    if not path.parent.is_dir():
        raise Unusable(f"{path} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise Unusable(f"{path} cannot be written: it is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Unusable(f"{path} cannot be written: permission denied")


def write_text(path: Path, text: str) -> str:
    """Writes a file and says so in a line; Unusable where it cannot."""
    try:
        path.write_bytes(text.encode())
    except OSError as error:
        raise Unusable(f"{path} cannot be written: {error.strerror}") from None
    return f"wrote      {path}"


def write_array(path: Path, array: Any) -> str:
    """Writes an array in numpy's format, whatever the file is called, and says so in a line."""
    try:
        with path.open("wb") as file:
            np.save(file, array)
    except OSError as error:
        raise Unusable(f"{path} cannot be written: {error.strerror}") from None
    return f"wrote      {path}"
