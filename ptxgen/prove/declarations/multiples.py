"""What a launch is tested for: multiples of sizes and strides, alignment of addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd

from polyhedral import Affine
from ptxgen.errors import Finding, Place, Severity
from ptxgen.tile import Buffer, Fact, Program

Asker = tuple[str, Place | None]


class Known:
    """The facts and alignments that a program relies on, ready to be asked."""

    def __init__(self, program: Program) -> None:
        self._facts: dict[Affine, Fact] = {}
        for fact in sorted(program.facts, key=lambda each: each.modulus):
            self._facts[fact.value] = fact
        self._pointers = {each.name: each for each in program.parameters}

    def divisor(self, value: Affine) -> int:
        """A number that divides `value` for all sizes that pass the tests; 0 where it is zero."""
        found = value.constant
        for name, coefficient in value.terms:
            fact = self._facts.get(Affine.of({name: 1}))
            found = gcd(found, coefficient * (fact.modulus if fact else 1))
        whole = self._facts.get(value)
        return found if whole is None or not found else max(found, whole.modulus)

    def line_of(self, value: Affine) -> Place | None:
        """The line of the fact about a value, if there is one."""
        fact = self._facts.get(value)
        return fact.line if fact else None

    def faults(self, memory: Buffer, unit_bytes: int, dims: Iterable[int], asker: Asker) -> Iterator[Finding]:
        """Whether the address of an array, and its strides along `dims`, are multiples of `unit_bytes`, which `asker`
        wants: else on the line of the parameter or fact."""
        what, line = asker
        pointer, width = self._pointers.get(memory.array), memory.element.byte_count
        if pointer is not None and pointer.alignment % unit_bytes:
            wanted = f"{what}, wants its address to be a multiple of {unit_bytes}"
            text = f"{memory.array} is aligned to {pointer.alignment} bytes, but {wanted}"
            yield Finding("declaration.alignment", Severity.ERROR, text, pointer.line or line)
        for place in dims:
            stride = memory.in_memory.strides[place]
            bytes_known = self.divisor(stride) * width
            if bytes_known % unit_bytes:
                wanted = f"{what}, wants {stride} % {unit_bytes // width} == 0, {unit_bytes} bytes"
                text = f"the strides {stride} of {memory.array} are multiples of {bytes_known} bytes, but {wanted}"
                yield Finding("declaration.stride", Severity.ERROR, text, self.line_of(stride) or line)
