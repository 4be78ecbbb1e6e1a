"""Tables of text: for a terminal, and as Markdown. The first row has the headings."""

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def aligned(rows: Rows) -> str:
    """Return a row a line, the first column to the left and the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    )


def markdown(rows: Rows) -> str:
    """Return a table of Markdown, whose cells are Markdown."""
    heading, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([heading.replace("|  |", "| |"), f"|{'---|' * len(rows[0])}", *others])


def cell(text: str) -> str:
    """Return a text for a cell of Markdown, which may have code and links."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")
