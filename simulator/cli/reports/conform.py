"""What `conform` prints and writes: lines, JUnit XML, JSON, an HTML page."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from simulator import __version__
from simulator.cli.output import one_line, print_to_stderr, printable, printable_json
from simulator.cli.reports.cases import Case, Suite, junit
from simulator.cli.usage import CannotStart
from simulator.staging.conform.findings import Outcome, Report, Result, assume_block


@dataclass(frozen=True, slots=True)
class ConformFiles:
    """The files to be written, as the flags say. `title` is the command's name."""

    title: str
    junit: Path | None
    json: Path | None
    html: Path | None

    def refuse_unwritable(self) -> None:
        """Raise `CannotStart` for a file that cannot be written, before anything is asked."""
        for path in filter(None, (self.junit, self.json, self.html)):
            try:
                file = path.resolve()
                is_new = not file.exists()
                file.open("ab").close()
                if is_new:  # the service may not answer
                    file.unlink()
            except OSError as error:
                raise CannotStart(self._reason(path, error)) from None

    def write(self, made: Report) -> bool:
        """Write them; False when one could not be written, which is reported."""

        writers = ((self.junit, self._as_junit), (self.json, _as_json), (self.html, as_html))
        written = [self._is_written(path, make(made)) for path, make in writers if path is not None]
        return all(written)

    def _is_written(self, path: Path, content: bytes) -> bool:
        try:
            path.write_bytes(content)
        except OSError as error:
            print_to_stderr(self._reason(path, error))
            return False
        return True

    def _reason(self, path: Path, error: OSError) -> str:
        return one_line(f"{self.title}: {path} cannot be written: {error.strerror}")

    def _as_junit(self, made: Report) -> bytes:
        """A suite for each section of SPEC, in the order in which they were looked at."""
        sections = dict.fromkeys(result.section for result in made.results)
        cases = {section: tuple(_case(one) for one in made.results if one.section == section) for section in sections}
        return junit(self.title, [Suite(f"SPEC {section}", found) for section, found in cases.items()])


def _case(result: Result) -> Case:
    texts = [str(departure) for departure in result.departures]
    return Case(
        name=f"{result.id}: {result.title}",
        ok=not texts,
        message=texts[0] if texts else "",
        details=tuple(texts[1:]),
        code=result.id,
        skipped=result.why,
    )


def _as_json(report: Report) -> bytes:
    """The whole report; its keys are `version` and those of `Report`, and `assume` has what was learned."""
    made = {
        "version": __version__,
        "target": report.target,
        "requests": report.requests,
        "spent": report.spent,
        "counts": {name.replace(" ", "_"): len(report.of(name)) for name in ("passed", "departs", "not exercised")},
        "results": [asdict(result) for result in report.results],
        "assume": {one.knob: {"value": one.value, "evidence": one.evidence} for one in report.learned},
        "unlearned": report.unlearned,
    }
    return (printable_json(json.dumps(made, indent=2)) + "\n").encode()


MARKS = {"passed": "ok     ", "departs": "DEPARTS", "not exercised": "-      "}


def line_of(result: Result) -> str:
    """One result: its line, and the departures and notes below it."""
    lines = [f"{MARKS[result.outcome]}  {result.section:<5} {result.id}: {result.title}"]
    lines += [f"           {departure}" for departure in result.departures]
    if result.why:
        lines.append(f"           not exercised: {result.why}")
    lines += [f"           note: {note}" for note in result.notes]
    return "\n".join(map(one_line, lines))


def names() -> str:
    """All checks, then all questions, each with the section of SPEC that it is about."""
    from simulator.contract.register import assumptions
    from simulator.staging.conform.checks import all_checks
    from simulator.staging.conform.run import all_questions

    knobs = {one.id: one for one in assumptions()}
    checks = [(one.section, one.id, one.title) for one in all_checks()]
    questions = [(knobs[one.id].spec, one.id, knobs[one.id].question) for one in all_questions()]
    rows = [["checks", *map(_row, checks)], ["questions", *map(_row, questions)]]
    return "\n\n".join("\n".join(part) for part in rows)


def _row(row: tuple[str, str, str]) -> str:
    section, name, title = row
    return f"  {section:<5} {name}: {title}"


def ending(report: Report) -> str:
    """What follows the results: the counts, and what was learned."""
    return "\n".join(_ending(report))


def _ending(report: Report) -> Iterator[str]:
    counts = ", ".join(f"{len(report.of(outcome))} {word}" for outcome, word in _COUNTED)
    spent = f"; at most {report.spent} MYR spent" if report.spent != "0.00" else ""
    yield f"\n{counts}, with {report.requests} requests{spent}"
    if block := assume_block(report.learned):
        yield "\nWhat the service does where the specification is silent, for a scenario:\n"
        yield block
    if report.unlearned:
        yield "Not learned:"
        yield from (one_line(f"  {knob}: {why}") for knob, why in report.unlearned.items())


_COUNTED: tuple[tuple[Outcome, str], ...] = (
    ("passed", "passed"),
    ("departs", "departed"),
    ("not exercised", "not exercised"),
)


SUITE = "reseller-sim conform"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; }
tr { border-top: 1px solid #ddd; } .departs td:first-child { color: #b00020; font-weight: bold; }
.passed td:first-child { color: #0a6b2d; } .not-exercised { color: #777; }
ul { margin: .2rem 0; } pre { background: #f4f4f4; padding: 1rem; overflow: auto; }
"""


def as_html(report: Report) -> bytes:
    """One page, everything escaped, without scripts and without anything from elsewhere."""
    rows = "\n".join(map(_html_row, sorted(report.results, key=lambda one: one.outcome != "departs")))
    block = assume_block(report.learned)
    counts = f"{len(report.of('passed'))} passed, {len(report.departed)} departed, "
    counts += f"{len(report.of('not exercised'))} not exercised, with {report.requests} requests"
    learned = f"<h2>For a scenario</h2>\n<pre>{_shown(block)}</pre>" if block else ""
    page = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{_shown(SUITE)}</title>
<style>{_STYLE}</style>
<h1>{_shown(report.target)}</h1>
<p>{_shown(f"reseller-sim {__version__}: {counts}")}</p>
<table>
<tr><th>outcome<th>section<th>check
{rows}
</table>
{learned}
</html>
"""
    return page.encode()


def _html_row(result: Result) -> str:
    texts = [*map(str, result.departures), *([result.why] if result.why else []), *result.notes]
    items = "".join(f"<li>{_shown(text)}</li>" for text in texts)
    more = f"<ul>{items}</ul>" if items else ""
    name = result.outcome.replace(" ", "-")
    what = f"<b>{_shown(result.id)}</b>: {_shown(result.title)}{more}"
    return f'<tr class="{name}"><td>{_shown(result.outcome)}<td>{_shown(result.section)}<td>{what}'


def _shown(text: str) -> str:
    return escape(printable(text))
