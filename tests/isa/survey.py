"""All verdicts of both assemblers about all families in pieces: `python -m tests.isa.survey RESULTS [OPCODE ...]`.

RESULTS is a file of JSON lines, one for each family and subject. A piece whose questions are in it unchanged is not
asked again, so that a run may be stopped, and repeated after rows have changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from isa.forms import families
from isa.rows import Family
from tests.isa.disagreements import Question, section_of
from tests.isa.questions import ALL, TYPES_ON, Asked, of_exclusions, of_places, of_register_types
from tests.oracles.ptxas import judges, refused

EXCLUDED, TYPED = 600, 400


class Subject(Enum):
    """What a piece of the survey is about, with the questions that a yes and a no of the rows ask."""

    PLACES = "where forms exist"
    EXCLUSIONS = "what rules exclude"
    TYPES = "types of registers"

    @property
    def questions(self) -> tuple[Question, Question]:
        """Where the rows say yes, and where they say no."""
        match self:
            case Subject.PLACES:
                return Question.LEGAL, Question.REFUSED
            case Subject.EXCLUSIONS:
                return Question.LEGAL, Question.EXCLUDED
            case Subject.TYPES:
                return Question.ACCEPTS, Question.TYPES_OUTSIDE


@frozen
class Outcome:
    """How many verdicts there were by wheel, how many were explained by a section, and those that none explains."""

    verdicts: Counter[str]
    explained: Counter[str]
    unexplained: tuple[str, ...]


def judge(asked: Asked, subject: Subject) -> Outcome:
    """Every statement before every ptxas that reads its version for its target."""
    yes, no = subject.questions
    verdicts: Counter[str] = Counter()
    explained: Counter[str] = Counter()
    unexplained = []
    for (at, on), texts in asked.items():
        for wheel in judges(at, on):
            listed = list(texts)
            said = refused(listed, at, on, wheel)
            verdicts[wheel] += len(listed)
            for index in (index for index, text in enumerate(listed) if (index in said) == texts[text]):
                question, whole = (yes if texts[listed[index]] else no), f"{at} {on} {listed[index]}"
                section = section_of(question, whole)
                explained[section] += 1
                if not section:
                    unexplained.append(f"not {question.value}: {whole} // {wheel}: {said.get(index, 'taken')}")
    del explained[""]
    return Outcome(verdicts, explained, tuple(unexplained))


def pieces(family: Family) -> Iterator[tuple[Subject, Callable[[], Asked]]]:
    """The parts of the survey of a family; the questions are made when called for."""
    yield Subject.PLACES, partial(of_places, [family], ALL)
    yield Subject.EXCLUSIONS, partial(of_exclusions, [family], EXCLUDED)
    yield Subject.TYPES, partial(_on_all_targets, family)


def _on_all_targets(family: Family) -> Asked:
    return {point: texts for on in TYPES_ON for point, texts in of_register_types([family], TYPED, on).items()}


def digest(asked: Asked) -> str:
    """A short name of a set of questions with the answers of the rows."""
    lines = sorted(f"{at} {on} {legal} {text}" for (at, on), texts in asked.items() for text, legal in texts.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def run(results: Path, opcodes: set[str]) -> list[dict[str, Any]]:
    """Asks what `results` does not have yet, writes it there, and gives all pieces."""
    known = [json.loads(each) for each in results.read_text().splitlines()] if results.exists() else []
    kept = {(each["opcode"], each["subject"], each["digest"]): each for each in known}
    done = []
    for family in (each for each in families() if not opcodes or each.opcode in opcodes):
        for subject, make in pieces(family):
            asked = make()
            key = (family.opcode, subject.value, digest(asked))
            if key not in kept or kept[key]["unexplained"]:
                kept[key] = _told(key, judge(asked, subject))
                with results.open("a") as file:
                    file.write(json.dumps(kept[key]) + "\n")
            done.append(kept[key])
    return done


def _told(key: tuple[str, str, str], outcome: Outcome) -> dict[str, Any]:
    opcode, subject, name = key
    return {
        "opcode": opcode,
        "subject": subject,
        "digest": name,
        "verdicts": dict(outcome.verdicts),
        "explained": dict(outcome.explained),
        "unexplained": list(outcome.unexplained),
    }


def report(done: list[dict[str, Any]]) -> str:
    """Verdicts by subject and by wheel, disagreements by section, and those without one."""
    by_subject: Counter[str] = Counter()
    by_wheel: Counter[str] = Counter()
    sections: Counter[str] = Counter()
    for each in done:
        by_subject[each["subject"]] += sum(each["verdicts"].values())
        by_wheel.update(each["verdicts"])
        sections.update(each["explained"])
    lines = [f"{by_subject.total()} verdicts"]
    lines += [f"  {count:7} {name}" for counter in (by_subject, by_wheel) for name, count in sorted(counter.items())]
    lines += [f"{sections.total()} disagreements in {len(sections)} sections"]
    lines += [f"  {count:7} {name}" for name, count in sorted(sections.items())]
    unexplained = [text for each in done for text in each["unexplained"]]
    return "\n".join([*lines, f"{len(unexplained)} unexplained", *unexplained])


if __name__ == "__main__":
    print(report(run(Path(sys.argv[1]), set(sys.argv[2:]))))
