"""Colours on a terminal, plain text elsewhere."""

import io
import re
import sys

import pytest

from ptxgen.cli.terminal import show

TEXT = "error: k.ptx:3: no [bold]markup[/bold] on sm_90a\nld{.<vec>}.<type> d, [a]  // :smile: since PTX 8.0"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> str:
    """What a terminal gets of the text."""
    made = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", made)
        show(TEXT)
    return made.getvalue()


def test_a_pipe_gets_the_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show(TEXT)
    assert capsys.readouterr().out == TEXT + "\n"


def test_a_terminal_gets_colours_and_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    written = on_a_terminal(monkeypatch)
    assert ESCAPES.sub("", written) == TEXT + "\n"
    assert "\x1b[1;31merror:\x1b[0m" in written


def test_a_terminal_without_rich_gets_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert on_a_terminal(monkeypatch) == TEXT + "\n"
