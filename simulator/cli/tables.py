"""Tables for people: columns that fit the terminal, colours on a terminal alone.

Values come from clients and servers: each is one line without control characters before it is measured and cut.
"""

import shutil
import sys
from collections.abc import Sequence
from textwrap import wrap

import click

from reseller_sim.times import offset, shown_time
from simulator.cli.output import echo_safe, is_coloured, one_line

CELL_CHARS_MAX = 40
LEAST_CHARS = 12
GAP = "  "
INDENT = "    "
ELLIPSIS = "…"


def is_terminal() -> bool:
    """Return True when stdout is a terminal: nothing is cut elsewhere."""
    return sys.stdout.isatty()


def print_table(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    reds: Sequence[bool] = (),
    wraps: bool = False,
    droppable: Sequence[str] = (),
) -> None:
    """Print rows below the names of their columns. The last column takes what is left of the terminal's width, the
    others at most `CELL_CHARS_MAX`; columns without any value are left out. `reds` marks rows that went wrong. With
    `wraps` a last cell that does not fit is written whole, on lines of its own below its row, and so is a last heading.
    Columns of `droppable` are left out, in this order, while the last column would be cut on a terminal."""
    shown = [at for at, _ in enumerate(names) if not rows or any(str(row[at]) for row in rows)]
    for name in droppable if is_terminal() else ():
        if _width_of(names, rows, shown) > terminal_width():
            shown = [at for at in shown if names[at] != name]
    cells = [[one_line(row[at]) for at in shown] for row in rows]
    head = [names[at] for at in shown]
    widths = _widths(head, cells)
    left = terminal_width() - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
    is_heading_below = wraps and len(head) > 1 and len(head[-1]) > left and is_terminal()
    print_line(_line([*head[:-1], ""] if is_heading_below else head, widths), bold=True)
    if is_heading_below:
        print_line(INDENT + head[-1], bold=True)
    for number, row in enumerate(cells):
        is_red = bool(reds) and reds[number]
        is_below = wraps and shown[-1:] == [len(names) - 1] and len(row[-1]) > left and is_terminal()
        print_line(_line([*row[:-1], ""] if is_below else row, widths), red=is_red)
        for line in wrap(row[-1], terminal_width() - len(INDENT)) if is_below else ():
            print_line(INDENT + line, red=is_red)


def _width_of(names: Sequence[str], rows: Sequence[Sequence[object]], shown: Sequence[int]) -> int:
    """How wide a table of these columns is, with the last one whole."""
    cells = [[one_line(row[at]) for at in shown] for row in rows]
    head = [names[at] for at in shown]
    last = max((len(row[-1]) for row in [head, *cells]), default=0)
    return sum(_widths(head, cells)[:-1]) + len(GAP) * (len(shown) - 1) + last


def _widths(head: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    longest = [max(len(row[at]) for row in [head, *cells]) for at in range(len(head))]
    return [min(CELL_CHARS_MAX, chars) for chars in longest] if is_terminal() else longest


def terminal_width() -> int:
    """How many characters a line may have."""
    return max(LEAST_CHARS, shutil.get_terminal_size().columns)


def print_line(text: str, *, bold: bool = False, red: bool = False) -> None:
    """Print a text on one line, cut where the terminal ends."""
    line = one_line(text)
    if not is_terminal():
        echo_safe(line)
        return
    line = cut(line, terminal_width())
    has_style = (bold or red) and is_coloured(sys.stdout)
    echo_safe(click.style(line, bold=bold or None, fg="red" if red else None) if has_style else line)


def cut(text: str, chars_max: int) -> str:
    """A text of at most so many characters; one that was longer ends in an ellipsis."""
    return text if len(text) <= chars_max else text[: chars_max - 1] + ELLIPSIS


def clock_time(at: str | None) -> str:
    """A time of the control API to the second with its offset; empty when there is none."""
    if not at:
        return ""
    shown = shown_time(at)
    return f"{shown[:19]} {shown[23:]}"


def times_of_day(times: Sequence[str]) -> tuple[str, list[str]]:
    """The heading of a column of times of the control API, and its cells to the millisecond: the offset is in the
    heading, and so is the date when it is the same for all."""
    shown = [shown_time(at) for at in times]
    dates = {at[:10] for at in shown if at}
    if len(dates) == 1:
        return f"at {dates.pop()} {offset()}", [at[11:23] for at in shown]
    return f"at {offset()}", [at[:23] for at in shown]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    *others, last = cells
    padded = (f"{cut(cell, width):<{width}}" for cell, width in zip(others, widths, strict=False))
    return GAP.join([*padded, last]).rstrip()
