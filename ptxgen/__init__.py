"""ptxgen: PTX written, checked, emitted, simulated, generated and run from Python.

Names are loaded when they are first used, so that importing ptxgen needs neither numpy nor CUDA.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isa.explaining import explain as explain
    from isa.types import b8 as b8
    from isa.types import b16 as b16
    from isa.types import b32 as b32
    from isa.types import b64 as b64
    from isa.types import b128 as b128
    from isa.types import bf16 as bf16
    from isa.types import bf16x2 as bf16x2
    from isa.types import f16 as f16
    from isa.types import f16x2 as f16x2
    from isa.types import f32 as f32
    from isa.types import f64 as f64
    from isa.types import pred as pred
    from isa.types import s8 as s8
    from isa.types import s16 as s16
    from isa.types import s32 as s32
    from isa.types import s64 as s64
    from isa.types import u8 as u8
    from isa.types import u16 as u16
    from isa.types import u32 as u32
    from isa.types import u64 as u64
    from ptxgen.build import Kernel as Kernel
    from ptxgen.build import Module as Module
    from ptxgen.build import Value as Value
    from ptxgen.build import array as array
    from ptxgen.build import pointer as pointer
    from ptxgen.build import python as python
    from ptxgen.build import sink as sink
    from ptxgen.emit import Listing as Listing
    from ptxgen.emit import emit as emit
    from ptxgen.errors import AssemblerError as AssemblerError
    from ptxgen.errors import DriverError as DriverError
    from ptxgen.errors import Finding as Finding
    from ptxgen.errors import InternalError as InternalError
    from ptxgen.errors import KernelError as KernelError
    from ptxgen.errors import LaunchError as LaunchError
    from ptxgen.errors import PlanError as PlanError
    from ptxgen.errors import PtxgenError as PtxgenError
    from ptxgen.errors import PtxSyntaxError as PtxSyntaxError
    from ptxgen.errors import UnsupportedError as UnsupportedError
    from ptxgen.kernels.calling.call import grouped_matmul as grouped_matmul
    from ptxgen.kernels.calling.call import matmul as matmul
    from ptxgen.parse import parse as parse
    from ptxgen.runtime import Cubin as Cubin
    from ptxgen.runtime import assemble as assemble
    from ptxgen.runtime import load as load
    from ptxgen.runtime import sass as sass
    from ptxgen.simulate import Report as Report
    from ptxgen.simulate import simulate as simulate
    from ptxgen.verify import VersionReport as VersionReport
    from ptxgen.verify import least_version as least_version
    from ptxgen.verify import verify as verify

_TYPES = "b8 b16 b32 b64 b128 bf16 bf16x2 f16 f16x2 f32 f64 pred s8 s16 s32 s64 u8 u16 u32 u64"
_ERRORS = (
    "AssemblerError DriverError Finding InternalError KernelError LaunchError PlanError PtxSyntaxError PtxgenError "
    "UnsupportedError"
)
_ROOMS = {
    "isa.types": _TYPES,
    "isa.explaining": "explain",
    "ptxgen.errors": _ERRORS,
    "ptxgen.build": "Kernel Module Value array pointer python sink",
    "ptxgen.emit": "Listing",
    "ptxgen.kernels.calling.call": "grouped_matmul matmul",
    "ptxgen.runtime": "Cubin assemble load sass",
    "ptxgen.simulate": "Report",
    "ptxgen.verify": "VersionReport least_version",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}
_ROOM_AND_FUNCTION = frozenset({"emit", "parse", "simulate", "verify"})

__all__ = sorted([*_ROOM_OF, *_ROOM_AND_FUNCTION])


def __getattr__(name: str) -> Any:
    if name in _ROOM_AND_FUNCTION:
        return import_module(f"{__name__}.{name}")
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module 'ptxgen' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(room), name)
    return found


def __dir__() -> list[str]:
    return __all__


class _CallableRoom(ModuleType):
    """A package that has a function of its own name, which calling the package calls."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **options)


class _Package(ModuleType):
    """ptxgen itself: `ptxgen.emit` is both the package and its function, whichever import came first."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _ROOM_AND_FUNCTION and isinstance(value, ModuleType):
            value.__class__ = _CallableRoom
        super().__setattr__(name, value)


def _check_owner(name: str) -> None:
    """ImportError with its path where the package of that name is a stranger's: PyPI has others called so."""
    spec = find_spec(name)
    source = getattr(spec.loader, "get_source", lambda _: None)(name) if spec is not None else None
    if source is None or '\nOWNER = "ptxgen"\n' not in source.replace("\r\n", "\n"):
        places = list(spec.submodule_search_locations or [str(spec.origin)]) if spec is not None else []
        found = f"a stranger at {', '.join(places)}" if places else "nothing"
        raise ImportError(
            f"ptxgen needs its own package {name!r} and found {found}; uninstall that one and install ptxgen again"
        )


for _sibling in ("isa", "polyhedral"):
    _check_owner(_sibling)
sys.modules[__name__].__class__ = _Package
