"""Which PTX each CUDA driver takes (manual, release history; the driver's number is that of cuDriverGetVersion)."""

from __future__ import annotations

from isa.targets import PtxVersion, version

# The CUDA release whose driver first takes a PTX version.
_RELEASES = """
4.0 6.0  4.1 6.5  4.2 7.0  4.3 7.5  5.0 8.0  6.0 9.0  6.1 9.1  6.2 9.2  6.3 10.0  6.4 10.1  6.5 10.2
7.0 11.0  7.1 11.1  7.2 11.2  7.3 11.3  7.4 11.4  7.5 11.5  7.6 11.6  7.7 11.7  7.8 11.8
8.0 12.0  8.1 12.1  8.2 12.2  8.3 12.3  8.4 12.4  8.5 12.5  8.6 12.7  8.7 12.8  8.8 12.9  9.0 13.0  9.1 13.1  9.2 13.2
9.3 13.3  9.4 13.4  9.5 13.5
"""


def _read(text: str) -> tuple[tuple[PtxVersion, tuple[int, int]], ...]:
    words = text.split()
    found = []
    for ptx, cuda in zip(words[::2], words[1::2], strict=True):
        major, _, minor = cuda.partition(".")
        found.append((version(ptx), (int(major), int(minor))))
    return tuple(found)


RELEASES: tuple[tuple[PtxVersion, tuple[int, int]], ...] = _read(_RELEASES)


def newest_ptx(cuda: tuple[int, int]) -> PtxVersion:
    """The newest PTX that a driver of that CUDA version takes, as far as known: `(12, 4)` takes 8.4.

    A driver newer than the table takes at least its last entry. LookupError for a driver older than the table.
    """
    able = [ptx for ptx, first in RELEASES if first <= cuda]
    if not able:
        major, minor = RELEASES[0][1]
        raise LookupError(f"CUDA {cuda[0]}.{cuda[1]} is older than the table, which begins with {major}.{minor}")
    return max(able)


def first_driver(of: PtxVersion) -> tuple[int, int] | None:
    """The CUDA version whose driver first takes a PTX version; None where the table does not reach so far."""
    return min((cuda for ptx, cuda in RELEASES if ptx >= of), default=None)


def cuda_version(number: int) -> tuple[int, int]:
    """`12040`, as cuDriverGetVersion tells it, as `(12, 4)`."""
    return number // 1000, number % 1000 // 10
