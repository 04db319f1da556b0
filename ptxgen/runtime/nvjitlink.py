"""ptxas inside this process: the library nvJitLink, where it is installed, through cuda.bindings."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.targets import TARGETS
from ptxgen.runtime.programs import files_of_wheel, toolkit_folders
from ptxgen.runtime.ptxas import NEWEST_VERSION, TOO_NEW, Assembler, AssemblerKind

if TYPE_CHECKING:
    from collections.abc import Sequence

LIBRARY_WHEELS = ("nvidia-nvjitlink-cu12", "nvidia-nvjitlink")
LIBRARY = "nvjitlink"
WITHOUT_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
FUNCTION = re.compile(r"\.extern\s+\.func\s*(?:\([^)]*\)\s*)?([\w$]+)")
VARIABLE = re.compile(r"\.extern\s+\.(?:global|const)\b[^;]*?([\w$]+)\s*(?:\[[^;]*)?;")
OF_THE_SYSTEM = frozenset({"vprintf", "malloc", "free", "__assertfail"})
EMPTY = ".version {version}\n.target {target}\n.address_size 64\n"


@functools.cache
def in_process_assembler() -> Assembler | None:
    """What nvJitLink knows (asked once, some 50 ms); None where the library or cuda.bindings is not installed.

    Its newest PTX and its targets are found by giving it empty modules.
    """
    if not library_is_here():
        return None
    try:
        from cuda import pathfinder
        from cuda.bindings import nvjitlink

        path = Path(pathfinder.load_nvidia_dynamic_lib("nvJitLink").abs_path)
        release = ".".join(map(str, nvjitlink.version()))
    except (ImportError, RuntimeError, OSError):
        return None
    newest = NEWEST_VERSION.search(link(TOO_NEW, "sm_90", ())[1])
    if newest is None:
        return None
    version = (int(newest[1]), int(newest[2]))
    targets = frozenset(
        target.name
        for target in TARGETS
        if target.first_version <= version
        and link(EMPTY.format(version=target.first_version, target=target), target.name, ())[0] is not None
    )
    return Assembler(path, release, version, targets, AssemblerKind.NVJITLINK)


def library_is_here() -> bool:
    """True when a wheel or the toolkit of CUDA_HOME has the library; looked up by name, nothing is loaded."""
    if any(LIBRARY in path.name.lower() for wheel in LIBRARY_WHEELS for path in files_of_wheel(wheel)):
        return True
    folders = [root / place for root in toolkit_folders() for place in ("lib64", "lib", "bin")]
    return any(LIBRARY in path.name.lower() for folder in folders if folder.is_dir() for path in folder.iterdir())


def link(text: str, target: str, options: Sequence[str]) -> tuple[bytes | None, str]:
    """The cubin and the log of `ptxas -v`, as nvJitLink has it; None for the cubin where it refuses.

    `options` are words for ptxas, each handed on to it. What it would link and ptxas would refuse is refused, and so
    are attributes of variables, which make nvJitLink 12.9 damage the memory of the process.
    """
    if refused := not_linkable(text):
        return None, refused
    from cuda.bindings import nvjitlink

    words = [f"-arch={target}", "-Xptxas=-v", *(f"-Xptxas={each}" for each in options)]
    try:
        handle = nvjitlink.create(len(words), words)
    except nvjitlink.nvJitLinkError as error:
        return None, f"nvJitLink refuses {' '.join(words)}: {error}"
    data = text.encode()
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
        nvjitlink.complete(handle)
        image = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, image)
        return bytes(image), told(nvjitlink, handle, "info")
    except nvjitlink.nvJitLinkError as error:
        return None, told(nvjitlink, handle, "error") or f"nvJitLink: {error}"
    finally:
        nvjitlink.destroy(handle)


def not_linkable(text: str) -> str:
    """What ptxas would say of names that nobody defines, or that attributes are not taken; empty for other text."""
    bare = WITHOUT_COMMENTS.sub(" ", text)
    if ".attribute" in bare:
        return "fatal : nvJitLink takes no .attribute; assemble this text with ptxas"
    functions = [name for name in FUNCTION.findall(bare) if name not in OF_THE_SYSTEM]
    said = [f"fatal : Unresolved extern function '{name}'" for name in functions]
    return "\n".join([*said, *(f"fatal : Unresolved extern variable '{name}'" for name in VARIABLE.findall(bare))])


def told(nvjitlink: Any, handle: int, which: str) -> str:
    """A log of a link, `info` or `error`, without the library's own closing lines."""
    size = getattr(nvjitlink, f"get_{which}_log_size")(handle)
    if not size:
        return ""
    buffer = bytearray(size)
    getattr(nvjitlink, f"get_{which}_log")(handle, buffer)
    lines = buffer.partition(b"\0")[0].decode(errors="replace").splitlines()
    kept = [line for line in lines if not line.startswith("ERROR ")]
    return "\n".join(kept).strip()
