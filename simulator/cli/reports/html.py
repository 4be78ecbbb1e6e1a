"""The pages of reports: plain HTML in a common style, without scripts, which opens from a folder."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from simulator import __version__
from simulator.cli.output import clock_time, printable
from simulator.cli.reports.cases import ReportCase
from simulator.cli.reports.verdicts import AUDIT, WARNING
from simulator.shortened import whole_line

TITLE = "reseller-sim: report of a run"
ROWS_MAX = 200
"""The number of latest rows in a table of the page. The files have all rows."""

TIMES = ("at", "updated")

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
    label: str,
    files: Mapping[str, str],
    cases: Sequence[ReportCase],
    payments: Rows,
    callbacks: Rows,
    exchanges: Rows,
    coverage: str,
    notes: Iterable[str],
) -> str:
    """Return one sandbox: links to files, expectations, findings, the latest payments, callbacks and requests,
    coverage."""
    links = ", ".join(f'<a href="{escape(whole_line(path))}">{text(name)}</a>' for name, path in files.items())
    parts = [f"<h2>{text(label)}</h2><p>Files: {links or 'none'}</p>", *(f"<p>{text(one)}</p>" for one in notes)]
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
    names: tuple[str, ...] = ("trxid", "refid", "product", "account", "amount", "status", "updated")
    parts.append(_latest("Payments", names, *payments))
    parts.append(_latest("Callbacks", ("at", "refid", "status", "attempt", "answer", "state"), *callbacks))
    names = ("n", "at", "method", "path", "status", "rule", "fault", "error", "diagnosis", "trxid")
    parts.append(_latest("Requests", names, *exchanges))
    parts.append(f"<details><summary>Coverage</summary>{block(coverage)}</details>")
    return "\n".join(parts) + "\n"


def _said(case: ReportCase) -> str:
    return lines((case.message, *case.details))


def _latest(title: str, names: Sequence[str], rows: Sequence[Mapping[str, Any]], total: int) -> str:
    """Return the latest rows below a heading; times are shown to the second, the files have all of them."""
    more = f" (the latest {len(rows)} of {total})" if total > len(rows) else f" ({total})"
    shown = [[text(clock_time(str(row[name] or "")) if name in TIMES else row[name]) for name in names] for row in rows]
    return f"<details><summary>{title}{more}</summary>{table(names, shown) if rows else ''}</details>"
