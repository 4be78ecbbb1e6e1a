"""The output of `conform`: lines, JUnit XML, JSON, and an HTML page."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from simulator import __version__
from simulator.cli.output import printable_json
from simulator.cli.reports import html
from simulator.cli.reports.report_cases import ReportCase, Suite, junit, unwritable, write_all
from simulator.cli.usage import CannotStart
from simulator.contract.register import assumptions
from simulator.short_text import whole_line
from simulator.staging.conform.findings import ConformReport, Outcome, Result, assume_block
from simulator.staging.conform.run import all_checks, all_questions

MARKS: dict[Outcome, str] = {"passed": "ok     ", "departs": "DIFFERS", "not exercised": "-      "}


def refuse_unwritable(*paths: Path | None) -> None:
    """Raise `CannotStart` for a file that cannot be written, before anything is asked."""
    for path in filter(None, paths):
        try:
            path.open("ab").close()
        except OSError as error:
            raise CannotStart(unwritable(path, error)) from None


def write_files(made: ConformReport, junit_file: Path | None, json_file: Path | None, html: Path | None) -> bool:
    """Write the files; False when one could not be written, which is reported."""
    writers = ((junit_file, _as_junit), (json_file, _as_json), (html, _as_html))
    return write_all((path, make(made)) for path, make in writers if path is not None)


def _as_junit(made: ConformReport) -> bytes:
    """Return a suite for each section of SPEC, in the order of the checks."""
    sections = dict.fromkeys(result.section for result in made.results)
    cases = {section: tuple(_case(item) for item in made.results if item.section == section) for section in sections}
    return junit([Suite(f"SPEC {section}", found) for section, found in cases.items()])


def _case(result: Result) -> ReportCase:
    texts = [str(departure) for departure in result.departures]
    return ReportCase(
        name=f"{result.id}: {result.title}",
        ok=not texts,
        message=texts[0] if texts else "",
        details=tuple(texts[1:]),
        code=result.id,
        skipped=result.why,
    )


def _as_json(report: ConformReport) -> bytes:
    """Return the whole report: `version` and the fields of `ConformReport`; `assume` has the learned knobs."""
    made = {
        "version": __version__,
        "target": report.target,
        "requests": report.requests,
        "spent": report.spent,
        "counts": {name.replace(" ", "_"): len(report.of(name)) for name in ("passed", "departs", "not exercised")},
        "results": [asdict(result) for result in report.results],
        "assume": {knob.knob: {"value": knob.value, "evidence": knob.evidence} for knob in report.learned},
        "unlearned": report.unlearned,
    }
    return (printable_json(json.dumps(made, indent=2)) + "\n").encode()


def line_of(result: Result) -> str:
    """Return one result: its line, and the departures and notes below it."""
    lines = [f"{MARKS[result.outcome]}  {result.section:<5} {result.id}: {result.title}"]
    lines += [f"           {departure}" for departure in result.departures]
    if result.why:
        lines.append(f"           not exercised: {result.why}")
    lines += [f"           note: {note}" for note in result.notes]
    return "\n".join(map(whole_line, lines))


def names() -> str:
    """Return all checks, then all questions, each with the section of SPEC that it is about."""
    knobs = {assumption.id: assumption for assumption in assumptions()}
    checks = [f"  {check.section:<5} {check.id}: {check.title}" for check in all_checks()]
    questions = [f"  {knobs[one.id].spec:<5} {one.id}: {knobs[one.id].question}" for one in all_questions()]
    return "\n".join(["checks", *checks, "", "questions", *questions])


def ending(report: ConformReport) -> Iterator[str]:
    """Yield the lines after the results: the learned knobs, and the counts."""
    if block := assume_block(report.learned):
        yield "\nChoices of the service where the specification is silent, for a scenario:\n"
        yield block
    if report.unlearned:
        yield "Not learned:"
        yield from (whole_line(f"  {knob}: {why}") for knob, why in report.unlearned.items())
    spent = f"; at most {report.spent} MYR spent" if report.spent != "0.00" else ""
    yield f"\n{_counts(report)}{spent}"


def _counts(report: ConformReport) -> str:
    passed, departed, others = (len(report.of(outcome)) for outcome in MARKS)
    return f"{passed} passed, {departed} departed, {others} not exercised, with {report.requests} requests"


def _as_html(report: ConformReport) -> bytes:
    """Return the results as a page, departures first."""
    rows = []
    for result in sorted(report.results, key=lambda one: one.outcome != "departs"):
        why = [result.why] if result.why else []
        texts = [f"{result.id}: {result.title}", *result.departures, *why, *result.notes]
        outcome = html.mark(result.outcome, {"passed": "good", "departs": "bad"}.get(result.outcome, ""))
        rows.append((outcome, html.text(result.section), html.lines(texts)))
    parts = [html.table(("outcome", "section", "check"), rows)]
    if block := assume_block(report.learned):
        parts.append(f"<h2>For a scenario</h2>{html.block(block)}")
    return html.document("reseller-sim conform", report.target, f"<p>{html.text(_counts(report))}</p>", *parts).encode()
