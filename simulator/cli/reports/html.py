"""The pages of reports: plain HTML without scripts, which opens from a folder."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from simulator import __version__
from simulator.cli.output import clock_time, one_line, printable
from simulator.cli.reports.cases import Case
from simulator.cli.reports.verdicts import AUDIT, WARNING

TITLE = "reseller-sim: report of a run"
ROWS_MAX = 500
"""How many rows of a table, the latest ones, are shown; the files have all of them."""

TIMES = ("at", "updated")

Rows = tuple[Sequence[Mapping[str, Any]], int]  # those that are shown, and how many there were

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222 }
body, td { overflow-wrap: break-word } .verdict { font-weight: bold } .table { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 13px }
th, td { border: 1px solid #ccc; padding: .2em .5em; text-align: left; vertical-align: top }
th { background: #f3f3f3; white-space: nowrap } td { max-width: 32em } .diagnosis { min-width: 16em }
.at { white-space: nowrap }
.bad { color: #b00020 } .good { color: #1b6e2c } pre { white-space: pre-wrap }
""".strip()


def page(sections: Sequence[str], notes: Iterable[str], *verdict: str) -> str:
    """The whole page. `verdict` is the result of the run, `notes` say what is not in the page."""
    said = "".join(f'<p class="verdict">{_text(one)}</p>' for one in verdict)
    left_out = "".join(f"<p>{_text(one)}</p>" for one in notes)
    policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    head = f'<meta charset="utf-8">{policy}<title>{TITLE}</title><style>{_STYLE}</style>'
    body = f"<h1>Report of a run</h1><p>reseller-sim {_text(__version__)}</p>{said}{left_out}{''.join(sections)}"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def section(
    label: str,
    files: Mapping[str, str],
    cases: Sequence[Case],
    payments: Rows,
    callbacks: Rows,
    exchanges: Rows,
    coverage: str,
    notes: Iterable[str],
) -> str:
    """One sandbox: links to files, expectations, findings, the latest payments, callbacks and requests, coverage."""
    links = ", ".join(f'<a href="{escape(one_line(path))}">{_text(name)}</a>' for name, path in files.items())
    parts = [f"<h2>{_text(label)}</h2><p>Files: {links or 'none'}</p>", *(f"<p>{_text(one)}</p>" for one in notes)]
    parts.append(_expectations([one for one in cases if one.code not in (AUDIT, WARNING)]))
    parts.append(_audit([one for one in cases if one.code in (AUDIT, WARNING)]))
    names: tuple[str, ...] = ("trxid", "refid", "product", "account", "amount", "status", "updated")
    parts.append(_table("Payments", names, *payments))
    names = ("at", "refid", "status", "attempt", "answer", "state")
    parts.append(_table("Callbacks", names, *callbacks))
    names = ("n", "at", "method", "path", "status", "rule", "fault", "error", "diagnosis", "trxid")
    parts.append(_table("Requests", names, *exchanges))
    parts.append(f"<details><summary>Coverage</summary><pre>{escape(printable(coverage))}</pre></details>")
    return "\n".join(parts) + "\n"


def _expectations(cases: Sequence[Case]) -> str:
    if not cases:
        return "<p>Nothing was expected.</p>"
    rows = "".join(_expectation(case) for case in cases)
    head = "<tr><th></th><th>place</th><th>result</th></tr>"
    return f'<h3>Expectations</h3><div class="table"><table>{head}{rows}</table></div>'


def _expectation(case: Case) -> str:
    mark = '<span class="good">met</span>' if case.ok else '<span class="bad">not met</span>'
    place = f"{case.file}:{case.line}" if case.line else ""
    lines = "<br>".join(map(_text, (case.message, *case.details)))
    return f"<tr><td>{mark}</td><td>{_text(place)}</td><td>{lines}</td></tr>"


def _audit(cases: Sequence[Case]) -> str:
    """What the audit found, if it found anything."""
    rows = "".join(map(_violation, cases))
    head = "<tr><th></th><th>obligation</th><th>found</th></tr>"
    return f'<h3>Audit</h3><div class="table"><table>{head}{rows}</table></div>' if cases else ""


def _violation(case: Case) -> str:
    mark = "warning" if case.ok else '<span class="bad">violated</span>'
    lines = "<br>".join(map(_text, (case.message, *case.details)))
    return f"<tr><td>{mark}</td><td>{_text(case.name)}</td><td>{lines}</td></tr>"


def _table(title: str, names: Sequence[str], rows: Sequence[Mapping[str, Any]], total: int) -> str:
    more = f" (the latest {len(rows)} of {total})" if total > len(rows) else f" ({total})"
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(f"<tr>{''.join(_cell(name, row[name]) for name in names)}</tr>" for row in rows)
    table = f'<div class="table"><table><tr>{head}</tr>{body}</table></div>' if rows else ""
    return f"<details{' open' if len(rows) <= 20 else ''}><summary>{title}{more}</summary>{table}</details>"


def _cell(name: str, value: object) -> str:
    """Times are shown to the second; the files have all of them."""
    if name in TIMES:
        return f'<td class="at">{_text(clock_time(str(value or "")))}</td>'
    return f'<td class="{name}">{_text(value)}</td>'


def _text(value: object) -> str:
    return escape(one_line("" if value is None else value))
