"""PTX text to a cubin, through ptxas as a program or inside this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from attrs import field, frozen

from ptxgen.emit import Listing
from ptxgen.errors import AssemblerError, Finding
from ptxgen.runtime.entries import read_headers
from ptxgen.runtime.notes import slowing_notes
from ptxgen.runtime.nvjitlink import in_process_assembler, link
from ptxgen.runtime.ptxas import (
    INSTALL,
    Assembler,
    AssemblerKind,
    assembler_paths,
    describe_assembler,
    run_ptxas,
)
from ptxgen.runtime.resources import Resources, read_resources
from ptxgen.runtime.source import Source, complaint, judged, listing_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxgen.ir import Parameter


@frozen
class Cubin:
    """An assembled module: `image` for the driver, the target it is for, what each kernel takes, and the log.

    `registers`, `shared_bytes` and `local_bytes` are those of the kernel that takes most, `spills` counts the bytes of
    all, `warnings` are the assembler's on the PTX and user lines, `notes` those that tell of asynchronous work that it
    takes back.
    """

    image: bytes = field(repr=False)
    target: str
    assembler: Assembler
    resources: tuple[Resources, ...]
    kernels: Mapping[str, tuple[Parameter, ...]] = field(repr=False)
    listing: Listing = field(repr=False)
    log: str = field(repr=False)

    @property
    def registers(self) -> int:
        return max((each.registers for each in self.resources), default=0)

    @property
    def spills(self) -> int:
        return sum(each.spills for each in self.resources)

    @property
    def shared_bytes(self) -> int:
        return max((each.shared_bytes for each in self.resources), default=0)

    @property
    def local_bytes(self) -> int:
        return max((each.local_bytes for each in self.resources), default=0)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return judged(self.listing, self.log)

    @property
    def notes(self) -> tuple[Finding, ...]:
        return slowing_notes(self.listing, self.log)


def assemble(
    source: Source,
    *,
    target: str | None = None,
    assembler: Assembler | Path | str | None = None,
    options: Sequence[str] = (),
) -> Cubin:
    """Assembles a module or PTX text.

    `target` ("sm_90") is that of the text where it is None. `assembler` is one that was found, or the path of a ptxas;
    None takes what `find_assembler` finds. `options` are further words for ptxas. AssemblerError says which ptxas is
    missing and what to install, or holds its messages on PTX and user lines.
    """
    listing = listing_of(source)
    headers = read_headers(listing.text)
    wanted = target or headers.target
    chosen = (
        assembler
        if isinstance(assembler, Assembler)
        else find_assembler(wanted, headers.version)
        if assembler is None
        else describe_assembler(Path(assembler).resolve())
    )
    image, log = run_assembler(chosen, listing, wanted, options)
    return Cubin(image, wanted, chosen, read_resources(log), headers.kernels, listing, log)


def find_assembler(target: str, version: tuple[int, int]) -> Assembler:
    """The first assembler that knows `target` and PTX `version` (major, minor); AssemblerError lists those that do not.

    A ptxas of the wheels, of CUDA_HOME, of the PATH; where none knows them, nvJitLink inside this process. That one is
    quicker, but it compiles for linking: calls are not inlined, and a kernel may take other registers than with ptxas.
    """
    rejected = []
    for path in assembler_paths():
        try:
            found = describe_assembler(path)
        except AssemblerError as error:
            rejected.append(str(error))
            continue
        if found.knows(target, version):
            return found
        rejected.append(str(found))
    inside = in_process_assembler()
    if inside is not None and inside.knows(target, version):
        return inside
    rejected += [] if inside is None else [str(inside)]
    raise AssemblerError(no_assembler(f"{target} with PTX {version[0]}.{version[1]}", rejected))


def no_assembler(wanted: str, rejected: Sequence[str]) -> str:
    """What is missing, what there is, and what to install."""
    if not rejected:
        return f"assembling for {wanted} needs ptxas, and there is none: {INSTALL}"
    advice = f"the wheels of 12.9 and of the newest release know most between them: {INSTALL}"
    return "\n  ".join([f"no ptxas here knows {wanted}:", *rejected, advice])


def run_assembler(assembler: Assembler, listing: Listing, target: str, options: Sequence[str]) -> tuple[bytes, str]:
    """The cubin and the log; AssemblerError where the text is refused."""
    match assembler.kind:
        case AssemblerKind.PTXAS:
            image, log = run_ptxas(assembler, listing.text, target, options)
        case AssemblerKind.NVJITLINK:
            image, log = link(listing.text, target, options)
        case _:
            assert_never(assembler.kind)
    if image is None:
        heading = f"{assembler.name} refuses the text for {target}:"
        raise AssemblerError(f"{heading}\n{complaint(listing, log)}", log=log, findings=judged(listing, log))
    return image, log
