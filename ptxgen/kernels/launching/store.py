"""Kernels kept on disk between processes: PTX and what a launch must know, by what they were asked for.

A file holds one kernel. It lies in the user's cache folder (`XDG_CACHE_HOME` where that is a whole path, else
`~/.cache`; `LOCALAPPDATA` on Windows), and is named by a digest of the question and of the sources that would answer
it, so a change of either makes another file. A file that cannot be read or is not whole counts as absent; a folder that
nobody may write to keeps none, as where nobody knows of a home.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from attrs import frozen

import isa
import polyhedral
import ptxgen
from ptxgen.kernels.launching.entry import Entry, from_json, to_json

FORMAT = "ptxgen kernel 1"
MOST_BYTES = 256 << 20
SUFFIX = ".kernel"
NOT_ASKED = frozenset({"cli", "simulate", "testing", "runtime", "tune", "__pycache__"})
NOWHERE = Path(os.devnull)


@frozen
class Kept:
    """A kernel from the store."""

    entry: Entry
    text: str


def folder() -> Path:
    """Where kernels are kept."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA", "") if os.name == "nt" else ""))
    if not root.is_absolute():
        try:
            root = Path.home() / ".cache"
        except RuntimeError:
            root = NOWHERE
    return root / "ptxgen"


def name_of(question: str) -> str:
    """The name of the file for a question."""
    return hashlib.sha256(f"{FORMAT}\n{sources_stamp()}\n{question}".encode()).hexdigest() + SUFFIX


@cache
def sources_stamp(without: frozenset[str] = NOT_ASKED) -> str:
    """Changes with every change of the files that derive, prove and lower kernels, which are all but those of some
    folders: their names, sizes and times."""
    stamp = hashlib.sha256()
    for package in (isa, polyhedral, ptxgen):
        for root in package.__path__:
            for entry in _sources(root, without):
                known = entry.stat()
                stamp.update(f"{entry.path} {known.st_size} {known.st_mtime_ns}\n".encode())
    return stamp.hexdigest()


def _sources(path: str, without: frozenset[str]) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.is_dir():
                if entry.name not in without:
                    yield from _sources(entry.path, without)
            elif entry.name.endswith(".py"):
                yield entry


def find(question: str) -> Kept | None:
    """The kernel kept for a question; None where there is none, or none that is whole."""
    path = folder() / name_of(question)
    try:
        head, described, digest, text = path.read_text(encoding="utf-8").split("\n", 3)
        if head != FORMAT or digest != _digest(described, text):
            return None
        entry = from_json(described)
    except (OSError, ValueError):
        return None
    with suppress(OSError):
        os.utime(path)
    return Kept(entry, text)


def keep(question: str, kept: Kept) -> None:
    """Keeps a kernel for a question; what was used least lately gives way above `MOST_BYTES`."""
    described = to_json(kept.entry)
    content = "\n".join([FORMAT, described, _digest(described, kept.text), kept.text])
    target = folder() / name_of(question)
    with suppress(OSError):
        write_whole(target, content)
        _make_room(target.parent)


def write_whole(path: Path, content: str) -> None:
    """Writes a file so that whoever reads it finds all of it, or what was there before; OSError where that cannot be,
    and nothing is left behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(content)
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _digest(described: str, text: str) -> str:
    return hashlib.sha256(f"{described}\n{text}".encode()).hexdigest()


def _make_room(where: Path) -> None:
    found = list(_files(where))
    total = sum(known.st_size for known, _ in found)
    for known, path in sorted(found, key=lambda each: each[0].st_mtime):
        if total <= MOST_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= known.st_size


def _files(where: Path) -> Iterator[tuple[os.stat_result, Path]]:
    """The files of a folder that hold kernels, but those that another process deletes meanwhile."""
    for path in where.glob(f"*{SUFFIX}"):
        with suppress(FileNotFoundError):
            yield path.stat(), path


def held() -> tuple[int, int]:
    """How many kernels are kept, and their bytes."""
    sizes = [known.st_size for known, _ in _files(folder())]
    return len(sizes), sum(sizes)


def clear() -> int:
    """Deletes every kernel kept; how many there were. OSError where one cannot be deleted."""
    paths = list(folder().glob(f"*{SUFFIX}"))
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)
