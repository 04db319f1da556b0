"""Which ptxgen this is."""

from __future__ import annotations

from importlib import metadata


def release() -> str | None:
    """The version of the installed distribution; None where ptxgen runs from a checkout that nobody installed."""
    try:
        return metadata.version("ptxgen")
    except metadata.PackageNotFoundError:
        return None
