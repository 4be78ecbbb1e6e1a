"""Output of the verbs: texts, JSON and tables, without characters that would control a terminal.

Texts come from servers, files, names and arguments. All control characters (C0, DEL, C1), controls of the writing
direction, line separators and lone surrogates are escaped, so a text cannot move the cursor, look like another text or
imitate a line of ours.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import Any, TextIO

import click

from reseller_sim.formats import offset, shown_time
from simulator.short_text import whole_line

_UNSAFE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0, DEL, C1
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the direction of writing
    r"\u2028\u2029\ud800-\udfff\ufffe\uffff"  # line separators, surrogates, and what no XML may have
)
_IN_TEXT = re.compile(rf"[{_UNSAFE}]|\r(?!\n)")
CELL_CHARS_MAX = 40
LEAST_CHARS = 12
GAP = "  "
INDENT = "    "
LINES_MAX = 10
ELLIPSIS = "…"
Columns = Mapping[str, str | Callable[[Any], object]]
"""The columns of a table: the name of a member of the rows, or a function that makes the cell of a row."""


def printable(text: str) -> str:
    """Return a text of several lines; line feeds and tabs are kept."""
    return _IN_TEXT.sub(_escape, text)


def printable_json(text: str) -> str:
    """Return a JSON text with such characters as `\\uXXXX`, which any JSON parser decodes to the same value."""
    # Between the tokens of a JSON text there may be a carriage return, of all these characters.
    return _IN_TEXT.sub(lambda found: "\n" if found[0] == "\r" else f"\\u{ord(found[0]):04x}", text)


def printable_body(body: bytes, *, indents: bool = False) -> bytes:
    """Return the body of a response with escaped characters. JSON stays the same JSON, with `indents` on lines of its
    own for each member; its numbers keep their digits."""
    import msgspec

    try:
        indented = msgspec.json.format(body, indent=2)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return printable(body.decode("utf-8", "surrogateescape")).encode()
    return printable_json((indented if indents else body).decode("utf-8", "surrogateescape")).encode()


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as file names and bodies have them
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def is_coloured(stream: TextIO) -> bool:
    """Return True for a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def echo(text: str, *, nl: bool = True) -> None:
    """Print a text to stdout."""
    click.echo(printable(text), nl=nl)


def echo_json(text: str) -> None:
    """Print a JSON text to stdout."""
    click.echo(printable_json(text))


def echo_value(value: Any) -> None:
    """Print a value to stdout as JSON."""
    echo_json(json.dumps(value, indent=2))


def show(answer: Any, text: str, *, json: bool) -> None:
    """Print an answer as JSON, or as the given line."""
    if json:
        echo_value(answer)
    else:
        print_line(text)


def open_what_is_closed() -> None:
    """Open nowhere for each stream that the shell has closed (`>&-`); the first free number is that of the stream."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)  # noqa: SIM115  # as long as the process
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def give_up(stream: TextIO) -> None:
    """Discard what is buffered: writing it would fail again at the exit, and change the exit code."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def print_to_stderr(text: str) -> None:
    """Print a text; when stderr cannot be written, that changes neither what runs nor its exit code."""
    try:
        click.echo(printable(text), err=True)
    except OSError:
        give_up(sys.stderr)


def is_terminal() -> bool:
    """Return True when stdout is a terminal: nothing is cut elsewhere."""
    return sys.stdout.isatty()


def print_table(
    names: Sequence[str], rows: Sequence[Sequence[object]], *, reds: Sequence[bool] = (), cuts: bool = False
) -> None:
    """Print rows below the names of their columns; `reds` marks rows that went wrong, and columns without any value are
    left out. On a terminal a column has at most `CELL_CHARS_MAX` characters, except the last column: a cell of it that
    does not fit is on lines of its own below its row, or with `cuts` it ends where the terminal does."""
    shown = [at for at, _ in enumerate(names) if not rows or any(str(row[at]) for row in rows)]
    cells = [[whole_line(row[at]) for at in shown] for row in [names, *rows]]
    longest = [max(len(row[at]) for row in cells) for at in range(len(shown))]
    widths = [min(CELL_CHARS_MAX, chars) for chars in longest] if is_terminal() else longest
    left = terminal_width() - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
    for number, row in enumerate(cells, -1):
        is_head, is_below = number < 0, is_terminal() and not cuts and len(row) > 1 and len(row[-1]) > left
        is_red = not is_head and bool(reds) and reds[number]
        below = wrap(row[-1], terminal_width() - len(INDENT), max_lines=LINES_MAX, placeholder=ELLIPSIS)
        print_line(_line([*row[:-1], ""] if is_below else row, widths), bold=is_head, red=is_red)
        for line in below if is_below else ():
            print_line(INDENT + line, bold=is_head, red=is_red)


def print_rows(answer: Mapping[str, Any], name: str, columns: Columns, *, json: bool) -> None:
    """Print an answer as JSON, or the rows of the member `name` as a table, and a line when there are none."""
    if json:
        echo_value(answer)
        return
    rows = answer[name]
    if not rows:
        print_line(f"no {name}")
        return
    cells = [[row[cell] if isinstance(cell, str) else cell(row) for cell in columns.values()] for row in rows]
    print_table(list(columns), cells)


def terminal_width() -> int:
    """Return the width of the terminal in characters."""
    return max(LEAST_CHARS, shutil.get_terminal_size().columns)


def print_line(text: str, *, bold: bool = False, red: bool = False) -> None:
    """Print a text on one line, cut where the terminal ends."""
    line = whole_line(text)
    if not is_terminal():
        click.echo(line)
        return
    line = cut(line, terminal_width())
    has_style = (bold or red) and is_coloured(sys.stdout)
    click.echo(click.style(line, bold=bold or None, fg="red" if red else None) if has_style else line)


def cut(text: str, chars_max: int) -> str:
    """Return a text of at most this many characters. A longer text ends in an ellipsis."""
    return text if len(text) <= chars_max else text[: chars_max - 1] + ELLIPSIS


def clock_time(at: str | None) -> str:
    """Return a time of the control API to the second with its offset; empty for a missing time."""
    if not at:
        return ""
    shown = shown_time(at)
    return f"{shown[:19]} {shown[23:]}"


def clock_mode_of(clock: Mapping[str, Any]) -> str:
    """Return the mode of a clock of the control API, `xN` with its rate."""
    return f"x{clock['rate']:g}" if clock["mode"] == "xN" else str(clock["mode"])


def times_of_day(times: Sequence[str]) -> tuple[str, list[str]]:
    """Return a heading and the cells of a column of times, to the millisecond. The offset is in the heading, and so is
    the date if all times share it."""
    shown = [shown_time(at) for at in times]
    dates = {at[:10] for at in shown if at}
    if len(dates) == 1:
        return f"at {dates.pop()} {offset()}", [at[11:23] for at in shown]
    return f"at {offset()}", [at[:23] for at in shown]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    *others, last = cells
    padded = (f"{cut(cell, width):<{width}}" for cell, width in zip(others, widths, strict=False))
    return GAP.join([*padded, last]).rstrip()
