"""Findings that a comment allows: `// ptxgen: allow CODE` on a statement, or before the version for a whole module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ptxgen.errors import Finding, Place
from ptxgen.ir import Comment, Function, Item, Module, Scope, Statement

_ALLOW = re.compile(r"\bptxgen:\s*allow\s+([\w.]+(?:\s*,\s*[\w.]+)*)")


def allowed_codes(comment: str) -> frozenset[str]:
    """The codes that a comment's text allows; none for any other comment."""
    found = _ALLOW.search(comment)
    return frozenset(re.split(r"\s*,\s*", found[1])) if found is not None else frozenset()


def without_allowed(module: Module, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that no comment of the module allows.

    A comment of its own speaks of the next statement or item, a trailing one of that before it, and what stands on the
    same line of the user's source shares its fate. Findings without a line are allowed before the version only.
    """
    everywhere = frozenset(code for comment in module.heading for code in allowed_codes(comment.text))
    allowed: dict[Place, set[str]] = {}
    for place, codes in _places(module.items):
        allowed.setdefault(place, set()).update(codes)
    for finding in findings:
        here = allowed.get(finding.origin, ()) if finding.origin is not None else ()
        if finding.code not in everywhere and finding.code not in here:
            yield finding


def _places(nodes: tuple[Item, ...] | tuple[Statement, ...]) -> Iterator[tuple[Place, frozenset[str]]]:
    for index, node in enumerate(nodes):
        if isinstance(node, Comment):
            codes = allowed_codes(node.text)
            place = _place_before(nodes, index) if node.trailing else _place_behind(nodes, index)
            if codes and place is not None:
                yield place, codes
        elif isinstance(node, Scope):
            yield from _places(node.statements)
        elif isinstance(node, Function) and node.body is not None:
            yield from _places(node.body.statements)


def _place_before(nodes: tuple[Item, ...] | tuple[Statement, ...], index: int) -> Place | None:
    return getattr(nodes[index - 1], "origin", None) if index else None


def _place_behind(nodes: tuple[Item, ...] | tuple[Statement, ...], index: int) -> Place | None:
    behind = (node for node in nodes[index + 1 :] if not isinstance(node, Comment))
    return getattr(next(behind, None), "origin", None)
