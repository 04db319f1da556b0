"""Text for a person: with colours on a terminal where rich is installed, as it is everywhere else."""

from __future__ import annotations

import sys

STYLES = {
    "ptxgen.error": "bold red",
    "ptxgen.warning": "yellow",
    "ptxgen.slot": "cyan",
    "ptxgen.word": "green",
    "ptxgen.target": "magenta",
    "ptxgen.comment": "dim",
    "ptxgen.place": "bold",
}
PATTERNS = [
    r"^(?P<error>error:)",
    r"^(?P<warning>warning:)",
    r"(?P<slot><\w+>)",
    r"(?<![\w./])(?P<word>\.[A-Za-z]\w*(?:::\w+)*)",
    r"(?P<target>\bsm_\d+[af]?\b)",
    r"(?P<comment>//.*)",
    r"(?P<place>^[^\s:]+:\d+:)",
]


def show(text: str) -> None:
    """Prints text on the standard output; the words are the same with colours and without."""
    if not (sys.stdout.isatty() and text):
        print(text)
        return
    try:
        from rich.console import Console
        from rich.highlighter import RegexHighlighter
        from rich.theme import Theme
    except ImportError:
        print(text)
        return

    highlighter = RegexHighlighter()
    vars(highlighter).update(base_style="ptxgen.", highlights=PATTERNS)
    console = Console(theme=Theme(STYLES), highlighter=highlighter, soft_wrap=True)
    console.print(text, markup=False, emoji=False)
