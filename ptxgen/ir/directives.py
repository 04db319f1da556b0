"""What a function asks of the compiler and the launch."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class DirectiveKind(Enum):
    """The performance and ABI directives of a function; the value is PTX's word."""

    MAXNTID = "maxntid"
    REQNTID = "reqntid"
    MINNCTAPERSM = "minnctapersm"
    MAXNREG = "maxnreg"
    MAXNCTAPERSM = "maxnctapersm"
    NORETURN = "noreturn"
    REQNCTAPERCLUSTER = "reqnctapercluster"
    EXPLICITCLUSTER = "explicitcluster"
    MAXCLUSTERRANK = "maxclusterrank"
    BLOCKSARECLUSTERS = "blocksareclusters"
    ABI_PRESERVE = "abi_preserve"
    ABI_PRESERVE_CONTROL = "abi_preserve_control"
    MINPERCTAMEMORY = "minperctamemory"


@frozen
class Directive:
    """A directive between a function's parameters and its body, with its numbers."""

    kind: DirectiveKind
    values: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return f".{self.kind.value} {', '.join(map(str, self.values))}".rstrip()
