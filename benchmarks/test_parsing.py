"""Reading compiler output, as a share of the f-string floor of the same run: building and joining the same text."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptxgen.emit import emit
from ptxgen.ir import Function, Instruction, operand_text
from ptxgen.parse import parse

COMPILED = Path(__file__).parents[1] / "tests" / "parse" / "data" / "doubles.ptx"
LEAST_SHARE = 0.04
ROUNDS = 7


def compiled(times: int) -> str:
    """The text of a compiled module with its kernel that many times, under different names."""
    text = COMPILED.read_text()
    start = text.index(".visible .entry")
    head, kernel = text[:start], text[start:]
    return head + "".join(re.sub(r"\bdoubles", f"doubles{number}", kernel) for number in range(times))


def best(function: Callable[[], Any]) -> float:
    """The least seconds of several rounds."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def instructions(text: str) -> list[Instruction]:
    functions = [item for item in parse(text).items if isinstance(item, Function)]
    return [each for function in functions for each in function.instructions()]


def floor_rate(rows: list[Instruction]) -> float:
    """Instructions a second of plain f-strings that spell the same instructions."""
    plain = [(row.form.name, tuple(map(operand_text, row.operands))) for row in rows]

    def spelled() -> str:
        return "\n".join([f"    {name} {', '.join(operands)};" for name, operands in plain])

    return len(rows) / best(spelled)


def test_parsing_compiler_output(benchmark: Any) -> None:
    text = compiled(8)
    count = len(instructions(text))
    benchmark(parse, text)
    rate = count / best(lambda: parse(text))
    share = rate / floor_rate(instructions(text))
    benchmark.extra_info.update(instructions=count, instructions_per_second=round(rate), share=round(share, 4))
    assert share >= LEAST_SHARE


def test_doubling_the_input_at_most_doubles_the_time() -> None:
    once, twice = compiled(8), compiled(16)
    parse(once)
    assert best(lambda: parse(twice)) <= 2.3 * best(lambda: parse(once))


def test_formatting_compiler_output(benchmark: Any) -> None:
    module = parse(compiled(8))
    benchmark(lambda: str(emit(module)))
