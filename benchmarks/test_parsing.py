"""Reading compiler output, as a share of the f-string floor of the same run: building and joining the same text."""

import re
from pathlib import Path
from typing import Any

from benchmarks.measuring import seconds, share
from ptxgen.emit import emit
from ptxgen.ir import Function, Instruction, operand_text
from ptxgen.parse import parse

COMPILED = Path(__file__).parents[1] / "tests" / "parse" / "data" / "doubles.ptx"
LEAST_SHARE, LEAST_EMITTED = 0.04, 0.3
MOST_FOR_TWICE = 2 * 1.15
ROUNDS = 15


def compiled(times: int) -> str:
    """The text of a compiled module with its kernel that many times, under different names."""
    text = COMPILED.read_text()
    start = text.index(".visible .entry")
    head, kernel = text[:start], text[start:]
    return head + "".join(re.sub(r"\bdoubles", f"doubles{number}", kernel) for number in range(times))


def instructions(text: str) -> list[Instruction]:
    functions = [item for item in parse(text).items if isinstance(item, Function)]
    return [each for function in functions for each in function.instructions()]


class Floor:
    """Plain f-strings that spell the same instructions, register numbers as numbers."""

    def __init__(self, rows: list[Instruction]) -> None:
        self._plain = [(row.form.name, tuple(map(_parts, map(operand_text, row.operands)))) for row in rows]

    def __call__(self) -> str:
        return "\n".join(
            [f"    {name} {', '.join([f'{stem}{end}' for stem, end in parts])};" for name, parts in self._plain]
        )


def _parts(text: str) -> tuple[str, int | str]:
    stem = text.rstrip("0123456789")
    return (stem, int(text[len(stem) :])) if text[len(stem) :] else (text, "")


def test_parsing_compiler_output(benchmark: Any) -> None:
    text = compiled(8)
    benchmark.pedantic(parse, (text,), rounds=3)
    found = share(Floor(instructions(text)), lambda: parse(text), rounds=ROUNDS)
    benchmark.extra_info["share of the f-string floor"] = round(found, 4)
    print(f"share of the f-string floor: {found:.4f}")
    assert found >= LEAST_SHARE


def test_doubling_the_input_at_most_doubles_the_time() -> None:
    """The least of each: what both cost where nothing else is in the way."""
    once, twice = compiled(8), compiled(16)
    parse(once)
    least = [min(each) for each in zip(*((seconds(lambda: parse(once)), seconds(lambda: parse(twice)))
                                         for _ in range(ROUNDS)), strict=True)]  # fmt: skip
    print(f"twice the input takes {least[1] / least[0]:.3f} times the time")
    assert least[1] / least[0] <= MOST_FOR_TWICE


def test_formatting_compiler_output(benchmark: Any) -> None:
    text = compiled(8)
    module = parse(text)
    benchmark.pedantic(lambda: str(emit(module)), rounds=3)
    found = share(Floor(instructions(text)), lambda: str(emit(module)), rounds=ROUNDS)
    benchmark.extra_info["share of the f-string floor"] = round(found, 3)
    assert found >= LEAST_EMITTED
