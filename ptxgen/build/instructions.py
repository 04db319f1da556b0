"""The instructions and the steady special registers as attributes of a kernel.

What there is comes from the rows when it is asked for; editors and type checkers read `instructions.pyi`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxgen.build.chain import follow
from ptxgen.build.specials import from_attribute

if TYPE_CHECKING:
    from ptxgen.build.draft import Draft


class Instructions:
    """`k.ld.shared.v4.f32(...)` and `k.tid.x`: each word an attribute, found once and kept."""

    _draft: Draft

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = from_attribute(self._draft, name)
        if found is None:
            found = follow(self._draft, (), name, self.__dir__)
        self.__dict__[name] = found
        return found
