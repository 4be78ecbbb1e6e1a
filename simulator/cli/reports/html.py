"""HTML pages in a common style: plain, without scripts, and open from a folder."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

from simulator import __version__
from simulator.cli.output import printable
from simulator.short_text import whole_line

_PAGE = Path(__file__).with_name("page.html")


def document(title: str, heading: str, *parts: str) -> str:
    """Return a whole page; `parts` are HTML."""
    page = Template(_PAGE.read_text("utf-8"))
    return page.substitute(title=text(title), heading=text(heading), version=__version__, content="\n".join(parts))


def text(value: object) -> str:
    """Return a value as an escaped line."""
    return escape(whole_line("" if value is None else value))


def lines(texts: Iterable[object]) -> str:
    """Texts below each other."""
    return "<br>".join(map(text, texts))


def block(content: str) -> str:
    """Return a text of several lines, with its line breaks."""
    return f"<pre>{escape(printable(content))}</pre>"


def mark(word: str, colour: str = "") -> str:
    """Return a verdict, which is `good`, `bad` or neither."""
    return f'<span class="{colour}">{text(word)}</span>' if colour else text(word)


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells in HTML; each has the name of its column as its class."""
    head = "".join(f"<th>{name}</th>" for name in names)
    cells = ("".join(f'<td class="{name}">{cell}</td>' for name, cell in zip(names, row, strict=True)) for row in rows)
    return f'<div class="table"><table><tr>{head}</tr>{"".join(f"<tr>{row}</tr>" for row in cells)}</table></div>'
