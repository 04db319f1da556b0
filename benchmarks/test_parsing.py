"""Reading compiler output, as a share of the f-string floor of the same run: building and joining the same text."""

import gc
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
    return min(seconds(function) for _ in range(ROUNDS))


def seconds(function: Callable[[], Any]) -> float:
    """The processor's seconds of one call, with no garbage left over from before."""
    gc.collect()
    start = time.process_time()
    function()
    return time.process_time() - start


def instructions(text: str) -> list[Instruction]:
    functions = [item for item in parse(text).items if isinstance(item, Function)]
    return [each for function in functions for each in function.instructions()]


def floor_rate(rows: list[Instruction]) -> float:
    """Instructions a second of plain f-strings that spell the same instructions, register numbers as numbers."""
    plain = [(row.form.name, tuple(map(_parts, map(operand_text, row.operands)))) for row in rows]

    def spelled() -> str:
        return "\n".join([f"    {name} {', '.join([f'{stem}{end}' for stem, end in parts])};" for name, parts in plain])

    return len(rows) / best(spelled)


def _parts(text: str) -> tuple[str, int | str]:
    stem = text.rstrip("0123456789")
    return (stem, int(text[len(stem) :])) if text[len(stem) :] else (text, "")


def test_parsing_compiler_output(benchmark: Any) -> None:
    text = compiled(8)
    count = len(instructions(text))
    benchmark(parse, text)
    rows = instructions(text)
    rate = count / best(lambda: parse(text))
    share = rate / floor_rate(rows)
    benchmark.extra_info.update(instructions=count, instructions_per_second=round(rate), share=round(share, 4))
    assert share >= LEAST_SHARE


def test_doubling_the_input_at_most_doubles_the_time() -> None:
    once, twice = compiled(8), compiled(16)
    parse(once)
    ratios = sorted(seconds(lambda: parse(twice)) / seconds(lambda: parse(once)) for _ in range(ROUNDS))
    assert ratios[ROUNDS // 2] <= 2.3


def test_formatting_compiler_output(benchmark: Any) -> None:
    module = parse(compiled(8))
    benchmark(lambda: str(emit(module)))
