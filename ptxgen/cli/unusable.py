"""Input that cannot be used."""

from __future__ import annotations


class Unusable(Exception):
    """The input cannot be used; the text says why, in one line."""
