"""The folder of a run: files about each of its sandboxes, and a page about all of them; and coverage as text."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from simulator.cli.audit import AUDIT
from simulator.cli.output import clock_time
from simulator.cli.reports import html
from simulator.cli.reports.report_cases import UNFINISHED, WARNING, ReportCase, Suite
from simulator.cli.server import BoundServer
from simulator.cli.usage import CannotStart
from simulator.control.journal_endpoints import exported, har, request_row
from simulator.control.notification_endpoints import attempt_row
from simulator.control.result_endpoints import coverage_shown, expectations_shown
from simulator.control.transaction_endpoints import SHOWN_MAX, story
from simulator.domain.model.expectations import Verdict
from simulator.redaction import Mask, redact
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.short_text import whole_line
from simulator.wire.formats import encode

INDEX = "index.html"
TITLE = "reseller-sim: report of a run"
FILES = ("journal.har", "payments.json", "callbacks.json", "audit.json", "coverage.json", "expectations.json")
"""The files of a sandbox."""

COLUMNS = {
    "Payments": ("trxid", "refid", "product", "account", "amount", "status", "updated"),
    "Callbacks": ("at", "refid", "payment_status", "attempt", "status", "error", "state"),
    "Requests": ("n", "at", "method", "path", "status", "rule", "fault", "error", "diagnosis", "trxid"),
}
_NAME = re.compile(r"[0-9]{3}-[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
SANDBOXES_MAX = 200
ROWS_MAX = 200
"""The number of latest rows in a table of the page. The files have all rows."""

Rows = tuple[Sequence[Mapping[str, Any]], int]  # the visible rows, and the number of all rows


def begin_folder(folder: Path, verdict: str = UNFINISHED) -> None:
    """Create the folder, or remove what an earlier report wrote there, and write a page with this verdict alone. Raises
    `CannotStart` when it cannot."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        index = folder / INDEX
        if index.is_file() and f"<title>{TITLE}</title>" in index.read_text("utf-8", "replace"):
            for path in filter(_is_of_report, list(folder.iterdir())):
                shutil.rmtree(path)
        index.write_text(_page([], verdict), "utf-8")
    except OSError as error:
        raise CannotStart(f"the folder {folder} cannot be written: {error.strerror}") from None


def _is_of_report(path: Path) -> bool:
    """Return whether a folder is named like the folder of a sandbox and has only its files, so that no other folder is
    removed."""
    is_folder = _NAME.fullmatch(path.name) is not None and path.is_dir() and not path.is_symlink()
    return is_folder and all(file.name in FILES and file.is_file() and not file.is_symlink() for file in path.iterdir())


def _page(sections: Sequence[str], verdict: str, note: str = "") -> str:
    """Return the page of a run. `verdict` is its result, in lines; `note` says what the page leaves out."""
    parts = [f'<p class="verdict">{html.lines(verdict.splitlines())}</p>', f"<p>{html.text(note)}</p>" if note else ""]
    return html.document(TITLE, "Report of a run", *parts, *sections)


class ReportFolder:
    """Writes files below a folder that `begin_folder` has begun, which may have files of others. An error is kept
    for the end, since a sandbox is deleted whether or not it can be written."""

    def __init__(self, folder: Path, sandboxes: Sandboxes, url: str) -> None:
        self._folder = folder
        self._sandboxes = sandboxes
        self._url = url
        self._sections: list[str] = []
        self._added = 0
        self.error = ""

    def masks(self, live: LiveSandbox) -> dict[str, Mask]:
        """Return the masks that redact secrets in a sandbox's exchanges, by `owner`."""
        owners = dict.fromkeys(exchange.owner for exchange in live.journal if exchange.owner)
        others = {owner: self._sandboxes.mask_of(live, owner) for owner in owners}
        return {"": self._sandboxes.mask_of(live), **others}

    def add(
        self,
        live: LiveSandbox,
        suite: Suite,
        found: list[Verdict],
        audit: Mapping[str, Any],
        masks: Mapping[str, Mask],
    ) -> None:
        """Write what a sandbox has done, which nothing changes meanwhile. `suite` has its cases without secrets, and
        `audit` is the control API's answer."""
        self._added += 1
        if self._added > SANDBOXES_MAX or self.error:
            return
        name = f"{self._added:03d}-{live.id}"
        state, journal, mask, sent = live.core.state, live.journal, masks[""], live.courier.sent
        coverage = coverage_shown(live.coverage())
        attempts = [(callback, tried) for callback in state.callbacks for tried in sent.begun_attempts(callback)]
        parts: tuple[Iterable[bytes], ...] = (
            map(mask.answer, har(exported(self._url, live.id, one, masks[one.owner]) for one in journal)),
            _listed(mask, _stories(live, mask)),
            _listed(mask, (attempt_row(*attempt) for attempt in attempts)),
            # An audit may quote a refused request with the credentials of another sandbox.
            [reduce(lambda body, one: one.answer(body), masks.values(), encode(audit))],
            [mask.answer(encode(coverage))],
            [mask.answer(encode(expectations_shown(found)))],
        )
        try:
            (self._folder / name).mkdir(exist_ok=True)
            for file, content in zip(FILES, parts, strict=True):
                with (self._folder / name / file).open("wb") as target:
                    target.writelines(content)
        except OSError as error:
            self.error = f"{error.filename or self._folder} cannot be written: {error.strerror}"
        latest = [story(state, sent, row, [], 0) for row in islice(reversed(state.transactions.values()), ROWS_MAX)]
        requests = [request_row(exchange, mask) for exchange in islice(reversed(journal), ROWS_MAX)]
        tables = {
            "Payments": (latest[::-1], len(state.transactions)),
            "Callbacks": ([attempt_row(*attempt) for attempt in attempts[-ROWS_MAX:]], len(attempts)),
            "Requests": (requests[::-1], journal.last_n),
        }
        note = f"the journal had evicted the first {journal.left_out} requests" if journal.left_out else ""
        files = {file: f"{name}/{file}" for file in FILES}
        self._sections.append(section(mask, suite, files, tables, coverage_text(coverage, shown=str), note))

    def end(self, verdict: str) -> None:
        """Write the page, with a line about the result of the run."""
        left_out = self._added - SANDBOXES_MAX
        note = f"{left_out} more sandboxes are left out: a report has at most {SANDBOXES_MAX}" if left_out > 0 else ""
        try:
            (self._folder / INDEX).write_text(_page(self._sections, verdict, note), "utf-8")
        except OSError as error:
            self.error = self.error or f"{self._folder / INDEX} cannot be written: {error.strerror}"


def _listed(mask: Mask, rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    yield b"["
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"\n") + mask.answer(encode(row))
    yield b"\n]\n"


def _stories(live: LiveSandbox, mask: Mask) -> Iterator[dict[str, Any]]:
    """Yield each payment with all that belongs to it, the latest of its requests included."""
    by_trxid: dict[str, list[Exchange]] = {}
    for exchange in live.journal:
        by_trxid.setdefault(exchange.trxid, []).append(exchange)
    for payment in live.core.state.transactions.values():
        requests = by_trxid.get(payment.trxid, [])
        left_out = max(0, len(requests) - SHOWN_MAX)
        rows = [request_row(request, mask) for request in requests[-SHOWN_MAX:]]
        yield story(live.core.state, live.courier.sent, payment, rows, left_out)


def section(
    mask: Mask, suite: Suite, files: Mapping[str, str], tables: Mapping[str, Rows], coverage: str, note: str
) -> str:
    """Return the part of the page about a sandbox: links to files, expectations, findings, the latest rows of each of
    `COLUMNS`, coverage. The cases of `suite` have no secrets any more."""
    links = ", ".join(f'<a href="{html.text(path)}">{html.text(name)}</a>' for name, path in files.items())
    expected = [case for case in suite.cases if case.code not in (AUDIT, WARNING)]
    audited = [case for case in suite.cases if case.code in (AUDIT, WARNING)]
    parts = [
        f"<h2>{html.text(mask.text(suite.name))}</h2><p>Files: {links}</p>",
        f"<p>{html.text(note)}</p>" if note else "",
        f"<h3>Expectations</h3>{_verdicts(expected, 'met', 'not met')}" if expected else "<p>Nothing was expected.</p>",
        f"<h3>Audit</h3>{_verdicts(audited, 'warning', 'violated')}" if audited else "",
    ]
    for title, names in COLUMNS.items():
        latest, total = tables[title]
        more = f" (the latest {len(latest)} of {total})" if total > len(latest) else f" ({total})"
        shown = [[html.text(mask.text(_cell(name, row[name]))) for name in names] for row in latest]
        parts.append(f"<details><summary>{title}{more}</summary>{html.table(names, shown)}</details>")
    parts.append(f"<details><summary>Coverage</summary>{html.block(mask.text(coverage))}</details>")
    return "\n".join(parts) + "\n"


def _verdicts(cases: Sequence[ReportCase], good: str, bad: str) -> str:
    """Return a table of cases; `good` and `bad` are the words for cases that are ok, and that are not."""
    rows = [
        (
            html.mark(good, "good" * (good == "met")) if case.ok else html.mark(bad, "bad"),
            html.text(f"{case.file}:{case.line}" if case.file else case.name),
            html.lines((case.message, *case.details)),
        )
        for case in cases
    ]
    return html.table(("verdict", "about", "result"), rows)


def _cell(name: str, value: Any) -> str:
    """Return the text of a cell. Times are shown to the second, and status 0 means that the connection was closed
    without an answer."""
    if name in ("at", "updated"):
        return clock_time(str(value or ""))
    return "no answer" if name == "status" and value == 0 else "" if value is None else str(value)


def coverage_page(running: BoundServer) -> str:
    """Return the coverage of all sandboxes that the server had."""
    coverage = running.app.sandboxes.coverage()
    secrets = running.app.sandboxes.secrets
    return coverage_text(coverage_shown(coverage), coverage.sandboxes, lambda line: whole_line(redact(line, secrets)))


def coverage_text(coverage: Mapping[str, Any], sandboxes: int = 1, shown: Callable[[str], str] = whole_line) -> str:
    """Render coverage, as the control API returns it, in lines, each as `shown` makes it."""
    endpoints = [endpoint for endpoint in coverage["endpoints"] if "*" not in (endpoint["method"], endpoint["path"])]
    outcomes = groupby((row for row in coverage["outcomes"] if not row["met"]), key=lambda outcome: outcome["group"])
    missed: dict[tuple[str, str], Iterable[str]] = {
        ("rules", "chosen"): _missed_rules(coverage["rules"]),
        ("magic", "met"): (f"…{row['digits']}: {row['outcome']}" for row in coverage["magic"] if not row["met"]),
        ("endpoints", "called"): (f"{one['method']} {one['path']}" for one in endpoints if not one["calls"]),
        ("outcomes", "met"): (f"{group}: {'; '.join(row['text'] for row in members)}" for group, members in outcomes),
    }
    lines = [f"coverage of {sandboxes} sandbox{'es' * (sandboxes != 1)}"]
    for (name, verb), parts in missed.items():
        met, total = coverage["summary"][name]["met"], coverage["summary"][name]["total"]
        lines += [f"  {name}: {met} of {total} {verb}", *(f"    never {part}" for part in parts)] if total else []
    answered = [_answers(endpoint) for endpoint in coverage["endpoints"] if endpoint["calls"]]
    lines += ["  answers", *(f"    {line}" for line in answered)] if answered else []
    return "\n".join(map(shown, lines))


def _missed_rules(rules: list[Mapping[str, Any]]) -> Iterator[str]:
    """Rules that were never chosen, with their scenario when there are several."""
    has_several = len({rule["scenario"] for rule in rules}) > 1
    for rule in rules:
        if not rule["chosen"]:
            matched = f", though it matched {rule['matched']} times" if rule["matched"] else ""
            scenario = f" of {rule['scenario']}" if has_several else ""
            yield f"{rule['section']}{scenario}: {rule['name'] or rule['id']}{matched}"


def _answers(row: Mapping[str, Any]) -> str:
    endings = {"abort": "closed without an answer", "cut": "cut", "gone": "left by the client"}
    answers = []
    for one in row["answers"]:
        words = (str(one["status"] or ""), one["error"], endings.get(one["ending"], ""), f"x{one['count']}")
        answers.append(" ".join(filter(None, words)))
    name = "other paths" if row["path"] == "*" else f"{row['method']} {row['path']}"
    return f"{name}: {', '.join(answers)}{'; never ' if row['never'] else ''}{', '.join(row['never'])}"
