"""A run of `conform` as a terminal shows it: whatever a service says, each departure is one line."""

from collections.abc import Iterator

from simulator.cli.output import one_line
from simulator.staging.conform.findings import Outcome, Report, Result, assume_block

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
