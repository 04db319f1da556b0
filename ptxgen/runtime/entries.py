"""What PTX text says in its headers: version, target, and the parameters of each kernel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from isa.types import UnknownType, samplerref, surfref, texref, type_named
from ptxgen.errors import UnsupportedError
from ptxgen.ir import Parameter, PointerFacts, Space

if TYPE_CHECKING:
    from collections.abc import Mapping

STRING_OR_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
ENTRY = re.compile(r"\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?")
PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+"
    r"(?P<pointer>\.ptr\s+(?:\.(?P<space>global|shared|const|local)\s+)?(?:\.align\s+(?P<points_to>\d+)\s+)?)?"
    r"(?P<name>[\w$%]+)\s*(?P<shape>(?:\[\s*\d+\s*\]\s*)*)"
)


@frozen
class Headers:
    """The headers of a PTX text: `version` as (major, minor), `target` as its word, the parameters of each kernel."""

    version: tuple[int, int]
    target: str
    kernels: Mapping[str, tuple[Parameter, ...]]


def read_headers(text: str) -> Headers:
    """The headers of PTX text; UnsupportedError where `.version` or `.target` is missing or a parameter is opaque."""
    bare = STRING_OR_COMMENT.sub(without_comment, text)
    version, target = VERSION.search(bare), TARGET.search(bare)
    if version is None or target is None:
        missing = ".version" if version is None else ".target"
        raise UnsupportedError(f"the text has no {missing} line: PTX text begins with .version and .target")
    kernels = {found[1]: kernel_parameters(found[1], found[2] or "") for found in ENTRY.finditer(bare)}
    return Headers((int(version[1]), int(version[2])), target[1], kernels)


def without_comment(found: re.Match[str]) -> str:
    """Strings stay, for a `//` inside one is none; a comment becomes a blank."""
    return found[0] if found[0].startswith('"') else " "


def kernel_parameters(kernel: str, text: str) -> tuple[Parameter, ...]:
    """The parameters between the parentheses of a kernel's header, in order."""
    pieces = [piece.strip() for piece in text.split(",")] if text.strip() else []
    return tuple(parameter(kernel, piece) for piece in pieces)


def parameter(kernel: str, text: str) -> Parameter:
    """One `.param` declaration; UnsupportedError names the kernel and the declaration that is none of these."""
    found = PARAMETER.fullmatch(text + " ")
    if found is None:
        raise UnsupportedError(f"kernel {kernel}: the parameter '{text}' is not .param .type name or .type name[count]")
    refused = UnsupportedError(f"kernel {kernel}: no value can be passed for the parameter '{text}'")
    try:
        type_ = type_named(found["type"])
    except UnknownType:
        raise refused from None
    if type_ in (texref, samplerref, surfref):
        raise refused
    return Parameter(
        found["name"],
        type_,
        shape=tuple(map(int, re.findall(r"\d+", found["shape"]))),
        align=int(found["align"]) if found["align"] else None,
        pointer=pointer_facts(found) if found["pointer"] else None,
    )


def pointer_facts(found: re.Match[str]) -> PointerFacts | None:
    """What `.ptr` promises; None for a generic pointer of no stated alignment."""
    if found["space"] is None:
        return None
    return PointerFacts(Space(found["space"]), int(found["points_to"]) if found["points_to"] else None)
