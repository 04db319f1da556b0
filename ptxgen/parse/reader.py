"""PTX text as words and signs, one after another, with their places."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple, NoReturn

from ptxgen.errors import PtxSyntaxError
from ptxgen.ir import Comment, Origin

_MARK = r'#[ \t]*(?:line[ \t]+)?(?P<number>\d+)[ \t]+"(?P<file>[^"\n]*)"[ \t\d]*'
_BLANK = re.compile(rf"(?:\s+|//[^\n]*|/\*.*?\*/|{_MARK})+", re.DOTALL)
_COMMENT = re.compile(rf"//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|{_MARK}", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>0[fF][0-9a-fA-F]{8}(?![\w.]) | 0[dD][0-9a-fA-F]{16}(?![\w.])
        | (?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)? | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | \d+U?)
    | (?P<word>[A-Za-z][\w$]*|[_$%][\w$]+|_)
    | (?P<directive>\.[A-Za-z_]\w*(?:::\w+)?)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<sign><<|>>|<=|>=|==|!=|&&|\|\||@@|/(?![/*])|[-+*%~!&|^<>?:=,;(){}\[\]@.]))""",
    re.VERBOSE,
)
_NAME = re.compile(r"[A-Za-z][\w]*(?:(?:[ \t]*\.|::)\w+|(?<=::\d):\d+)*")


class Misuse(PtxSyntaxError):
    """A statement that can be read but means nothing: an unknown instruction, an undeclared name."""


class Mark(NamedTuple):
    """A line marker `# 7 "file"` at an offset: what follows is from that file, `shift` lines on from its line here."""

    offset: int
    shift: int
    file: str


class Reader:
    """A place in a text. `kind` and `text` are the token there, `start` and `end` its offsets; kind "" is the end.

    `previous` is the offset behind the token before it. Comments met on the way gather in `comments`, each with its
    offset, until somebody takes them. Line markers of the C preprocessor are blanks that tell where lines come from.
    """

    def __init__(self, text: str, file: str) -> None:
        self.source = text
        self._marks = [Mark(0, 0, file)]
        self.kind, self.text, self.start, self.end, self.previous = "", "", 0, 0, 0
        self.comments: list[tuple[int, Comment]] = []
        self._counted, self._lines = 0, 1
        self.go(0)

    def go(self, offset: int) -> None:
        """Moves to the first token at or behind an offset."""
        self.previous = offset
        found = _TOKEN.match(self.source, offset)
        if found is None:
            blank = _BLANK.match(self.source, offset)
            if blank is not None:
                self._comment(blank[0], offset)
                offset = blank.end()
                found = _TOKEN.match(self.source, offset)
        if found is not None:
            kind = found.lastgroup
            self.kind, self.text, self.start, self.end = kind, found[kind], found.start(kind), found.end()  # type: ignore[index, arg-type, assignment]
        elif offset >= len(self.source):
            self.kind, self.text, self.start, self.end = "", "", offset, offset
        else:
            self.start = offset
            self._strange(offset)

    def _strange(self, offset: int) -> NoReturn:
        if self.source.startswith("/*", offset):
            self.fail("a comment that does not end", at=offset)
        if self.source[offset] == '"':
            self.fail("a string that does not end on its line", at=offset)
        if self.source[offset] == "#":
            message = "of the C preprocessor only line markers are read; run cpp over the text first"
            self.fail(message, wanted='# NUMBER "FILE"', at=offset)
        self.fail(f"the character {self.source[offset]!r} means nothing in PTX", at=offset)

    def _comment(self, blank: str, offset: int) -> None:
        """Gathers the comments between two tokens, one for each of their lines, and the line markers."""
        for each in _COMMENT.finditer(blank):
            at = offset + each.start()
            if each["number"] is not None:
                self._mark(at, int(each["number"]), each["file"])
                continue
            if self.comments and self.comments[-1][0] >= at:
                continue
            lines = [each["line"]] if each["line"] is not None else each["block"].strip("\n").split("\n")
            self.comments += [(at, Comment(line.removeprefix(" "))) for line in lines]

    def _mark(self, at: int, number: int, file: str) -> None:
        if self._marks[-1].offset < at:
            self._marks.append(Mark(at, number - self.line(at) - 1, file))

    def take_comments(self) -> list[tuple[int, Comment]]:
        """The comments met since they were last taken, each with its offset."""
        found, self.comments = self.comments, []
        return found

    def advance(self) -> str:
        """The token here, and a step past it."""
        text = self.text
        self.go(self.end)
        return text

    def accept(self, text: str) -> bool:
        """A step past this token if it is the one here."""
        if self.text == text and self.kind != "string":
            self.go(self.end)
            return True
        return False

    def expect(self, text: str, wanted: str = "") -> None:
        """A step past this token; PtxSyntaxError where another stands here."""
        if not self.accept(text):
            self.fail(f"unexpected {self.told()}", wanted=wanted or repr(text))

    def take(self, kind: str, wanted: str) -> str:
        """The token here, which must be of a kind, and a step past it."""
        if self.kind != kind:
            self.fail(f"unexpected {self.told()}", wanted=wanted)
        return self.advance()

    def name(self) -> str:
        """An instruction's whole name with its dots, blanks before them left out, and a step past it."""
        found = _NAME.match(self.source, self.start)
        if found is None:
            self.fail(f"unexpected {self.told()}", wanted="an instruction, a label, a directive, '{' or '}'")
        self.go(found.end())
        return "".join(found[0].split())

    def number(self, wanted: str) -> int:
        """A literal integer, perhaps with a sign, and a step past it."""
        negative = self.accept("-")
        text = self.take("number", wanted)
        value = integer(text)
        if value is None:
            self.fail(f"unexpected {text}", wanted=wanted)
        return -value if negative else value

    def string(self, wanted: str) -> str:
        """What stands between quotation marks, and a step past it."""
        return self.take("string", wanted)[1:-1]

    def told(self) -> str:
        """The token here, in words."""
        return "end of the text" if not self.kind else self.text if self.kind == "string" else repr(self.text)

    def place(self, offset: int) -> tuple[str, int]:
        """The file and the line there, counted from 1, that an offset comes from, as the last line marker tells."""
        marks = self._marks
        mark = marks[0] if len(marks) == 1 else marks[bisect_right(marks, offset, key=_offset_of) - 1]
        return mark.file, self.line(offset) + mark.shift

    def origin(self, offset: int, function: str) -> Origin:
        """The place that an offset comes from, in a function of the module or none ("")."""
        return Origin(*self.place(offset), function)

    def line(self, offset: int) -> int:
        """The line of the text at an offset, counted from 1; asked in the order of the text it costs one pass."""
        if offset < self._counted:
            return self.source.count("\n", 0, offset) + 1
        self._lines += self.source.count("\n", self._counted, offset)
        self._counted = offset
        return self._lines

    def failure(self, message: str, *, wanted: str = "", at: int | None = None) -> PtxSyntaxError:
        """The PtxSyntaxError at an offset, by default that of the token here."""
        return self.error(PtxSyntaxError, message, wanted, at, "syntax")

    def fail(self, message: str, *, wanted: str = "", at: int | None = None) -> NoReturn:
        """Raises PtxSyntaxError at an offset, by default that of the token here."""
        raise self.error(PtxSyntaxError, message, wanted, at, "syntax")

    def misuse(self, message: str, code: str, *, at: int | None = None) -> NoReturn:
        """Raises Misuse at an offset, by default that of the token here."""
        raise self.error(Misuse, message, "", at, code)

    def error(self, kind: type[PtxSyntaxError], message: str, wanted: str, at: int | None, code: str) -> PtxSyntaxError:
        """The error of a kind at an offset, with the line as it stands."""
        offset = min(self.start if at is None else at, len(self.source))
        first = self.source.rfind("\n", 0, offset) + 1
        last = self.source.find("\n", offset)
        shown = self.source[first : last if last >= 0 else len(self.source)].rstrip()
        file, line = self.place(offset)
        return kind(
            message, line=line, column=offset - first + 1, wanted=wanted, file=file, text=shown, code=code,
        )  # fmt: skip


def _offset_of(mark: Mark) -> int:
    return mark.offset


def integer(text: str) -> int | None:
    """The value of an integer literal (decimal, 0x, 0b, octal with a leading 0, U behind it); None for a float."""
    digits = text.rstrip("U") if text[:2] not in ("0f", "0F", "0d", "0D") else ""
    try:
        if digits[:1] == "0" and digits.isdigit():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        return None
