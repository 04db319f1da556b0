"""Names one word away from legal ones: what no row has, ptxas refuses too, but for the order of words."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from isa.forms import Form, UnknownInstruction, families, resolve
from isa.rows import Family
from isa.targets import target
from tests.isa.disagreements import Question, known
from tests.isa.synthesis import names, statement
from tests.oracles.ptxas import newest_version, refused

FAMILIES = families()
NEWEST = (target("sm_100a"), target("sm_107a"), target("sm_120a"))


def neighbours(name: str, family: Family, each: int, drawn: random.Random) -> Iterator[str]:
    """Names with a word left out, replaced by another of the family, or put in."""
    vocabulary = sorted({word for line in family.lines for slot in line.slots for word in slot.choices})
    words, start = name.split("."), len(family.opcode.split("."))
    for place in range(start, len(words)):
        yield ".".join(words[:place] + words[place + 1 :])
        for word in drawn.sample(vocabulary, min(each, len(vocabulary))):
            yield ".".join([*words[:place], word, *words[place + 1 :]])
    for word in drawn.sample(vocabulary, min(each, len(vocabulary))):
        place = drawn.randint(start, len(words))
        yield ".".join([*words[:place], word, *words[place:]])


def unknown(name: str) -> UnknownInstruction | None:
    try:
        resolve(name)
    except UnknownInstruction as error:
        return error
    return None


def strangers(family: Family, at_most: int, each: int) -> dict[str, UnknownInstruction]:
    """Statements with names that no row has, with the operands of the legal name that they come from."""
    drawn = random.Random(family.opcode)
    legal = names(family, at_most)
    made: dict[str, UnknownInstruction] = {}
    for name in drawn.sample(legal, min(at_most, len(legal))):
        form: Form = next(form for form in resolve(name) if form.opcode == family.opcode)
        spelled = statement(form, form.signatures[0])
        for other in neighbours(name, family, each, drawn):
            if (error := unknown(other)) is not None:
                made[spelled.replace(f"{name} ", f"{other} ").replace(f"{name};", f"{other};")] = error
    return made


def taken_by_ptxas(statements: dict[str, UnknownInstruction]) -> list[str]:
    """Those that some newest target takes, though words of a known order or reason do not explain it."""
    texts, taken = list(statements), set()
    for on in NEWEST:
        said = refused(texts, newest_version(on), on)
        taken |= {text for index, text in enumerate(texts) if index not in said}
    return [
        f"{text} // {statements[text]}"
        for text in texts
        if text in taken and not statements[text].reordered and not known(Question.UNKNOWN, text)
    ]


def test_a_sample_of_neighbours_without_a_row_is_refused():
    statements: dict[str, UnknownInstruction] = {}
    for family in FAMILIES:
        statements |= strangers(family, at_most=1, each=1)
    assert len(statements) > 500
    left = taken_by_ptxas(statements)
    assert not left, "\n".join(left)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.opcode)
def test_neighbours_without_a_row_are_refused(family: Family):
    left = taken_by_ptxas(strangers(family, at_most=60, each=4))
    assert not left, "\n".join(left)
