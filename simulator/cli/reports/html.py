"""The pages of reports: plain HTML in a common style, without scripts, which opens from a folder."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from simulator import __version__
from simulator.cli.audit import AUDIT, WARNING
from simulator.cli.output import clock_time, printable
from simulator.cli.reports.cases import ReportCase
from simulator.redaction import Mask
from simulator.shortened import whole_line

TITLE = "reseller-sim: report of a run"
ROWS_MAX = 200
"""The number of latest rows in a table of the page. The files have all rows."""

COLUMNS = {
    "Payments": ("trxid", "refid", "product", "account", "amount", "status", "updated"),
    "Callbacks": ("at", "refid", "status", "attempt", "answer", "state"),
    "Requests": ("n", "at", "method", "path", "status", "rule", "fault", "error", "diagnosis", "trxid"),
}
Rows = tuple[Sequence[Mapping[str, Any]], int]  # the visible rows, and the number of all rows

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


def page(sections: Sequence[str], notes: Iterable[str], *verdict: str) -> str:
    """Return the page of a run. `verdict` is its result; `notes` say what the page leaves out."""
    said = [f'<p class="verdict">{text(one)}</p>' for one in verdict]
    return document(TITLE, "Report of a run", *said, *(f"<p>{text(one)}</p>" for one in notes), *sections)


def section(
    mask: Mask,
    *,
    label: str,
    files: Mapping[str, str],
    cases: Sequence[ReportCase],
    tables: Mapping[str, Rows],
    coverage: str,
    note: str,
) -> str:
    """Return one sandbox: links to files, expectations, findings, the latest rows of each of `COLUMNS`, coverage.
    `cases` have no secrets any more."""
    links = ", ".join(f'<a href="{escape(whole_line(path))}">{text(name)}</a>' for name, path in files.items())
    parts = [
        f"<h2>{text(mask.text(label))}</h2><p>Files: {links or 'none'}</p>",
        f"<p>{text(note)}</p>" if note else "",
    ]
    expected = [one for one in cases if one.code not in (AUDIT, WARNING)]
    met = {True: mark("met", "good"), False: mark("not met", "bad")}
    rows = [(met[one.ok], text(f"{one.file}:{one.line}" if one.file else ""), _said(one)) for one in expected]
    parts.append(
        f"<h3>Expectations</h3>{table(('', 'place', 'result'), rows)}" if rows else "<p>Nothing was expected.</p>"
    )
    found = [one for one in cases if one.code in (AUDIT, WARNING)]
    kept = {True: mark("warning"), False: mark("violated", "bad")}
    rows = [(kept[one.ok], text(one.name), _said(one)) for one in found]
    parts += [f"<h3>Audit</h3>{table(('', 'obligation', 'found'), rows)}"] if rows else []
    for title, names in COLUMNS.items():
        latest, total = tables[title]
        more = f" (the latest {len(latest)} of {total})" if total > len(latest) else f" ({total})"
        shown = [[text(mask.text(_cell(name, row[name]))) for name in names] for row in latest]
        parts.append(f"<details><summary>{title}{more}</summary>{table(names, shown) if shown else ''}</details>")
    parts.append(f"<details><summary>Coverage</summary>{block(mask.text(coverage))}</details>")
    return "\n".join(parts) + "\n"


def _said(case: ReportCase) -> str:
    return lines((case.message, *case.details))


def _cell(name: str, value: Any) -> str:
    """Return the text of a cell. Times are shown to the second, and status 0 means that the connection was closed
    without an answer."""
    if name in ("at", "updated"):
        return clock_time(str(value or ""))
    return "no answer" if name == "status" and value == 0 else "" if value is None else str(value)
