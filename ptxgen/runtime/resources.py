"""What a kernel takes, read from the log of `ptxas -v`."""

from __future__ import annotations

import re

from attrs import frozen

ENTRY = re.compile(r"Compiling entry function '([^']+)'")
PROPERTIES = (
    r"Function properties for {}\s*\n.*?"
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)
USED = re.compile(r"Used (\d+) registers")
BARRIERS = re.compile(r"used (\d+) barriers")
SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
CUMULATIVE = re.compile(r"(\d+) bytes cumulative stack size")


@frozen
class Resources:
    """What one kernel takes: 32-bit registers per thread, bytes of stack and of spills per thread, static shared bytes
    per CTA, named barriers. The figures are those that `ptxas -v` prints.

    `stack_bytes` are the kernel's own, `local_bytes` those of the functions that it calls too: local memory per thread.
    """

    kernel: str
    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int
    barriers: int
    local_bytes: int

    @property
    def spills(self) -> int:
        """Bytes of spill stores and loads together; 0 where nothing is spilled."""
        return self.spill_store_bytes + self.spill_load_bytes


def read_resources(log: str) -> tuple[Resources, ...]:
    """What each kernel takes, by name, whatever the order of the log of `ptxas -v`."""
    places = list(ENTRY.finditer(log))
    ends = [*(place.start() for place in places[1:]), len(log)][: len(places)]
    parts = [(place[1], log[place.end() : end]) for place, end in zip(places, ends, strict=True)]
    return tuple(kernel_resources(kernel, part) for kernel, part in sorted(parts))


def kernel_resources(kernel: str, log: str) -> Resources:
    """The figures in one kernel's part of the log; what the log does not mention is 0."""
    stack = re.search(PROPERTIES.format(re.escape(kernel)), log)
    frame, stores, loads = map(int, stack.groups()) if stack else (0, 0, 0)
    local = max(frame, number(CUMULATIVE, log))
    return Resources(kernel, number(USED, log), frame, stores, loads, number(SHARED, log), number(BARRIERS, log), local)


def number(pattern: re.Pattern[str], log: str) -> int:
    """The first number that the pattern finds, 0 where it finds none."""
    found = pattern.search(log)
    return int(found[1]) if found else 0
