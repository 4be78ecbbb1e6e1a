"""The coverage of sandboxes as text."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from simulator.cli.server import Running
from simulator.control.results import coverage_shown
from simulator.redaction import redact
from simulator.shortened import whole_line


def coverage_page(running: Running) -> str:
    """Return the coverage of all sandboxes that the server had."""
    coverage = running.app.sandboxes.coverage()
    secrets = running.app.sandboxes.secrets
    return coverage_text(coverage_shown(coverage), coverage.sandboxes, lambda line: whole_line(redact(line, secrets)))


def coverage_text(coverage: Mapping[str, Any], sandboxes: int = 1, shown: Callable[[str], str] = whole_line) -> str:
    """Render coverage, as the control API returns it, in lines, each as `shown` makes it."""
    endpoints = [one for one in coverage["endpoints"] if "*" not in (one["method"], one["path"])]
    outcomes = groupby((one for one in coverage["outcomes"] if not one["met"]), key=lambda one: one["group"])
    missed: dict[tuple[str, str], Iterable[str]] = {
        ("rules", "chosen"): _missed_rules(coverage["rules"]),
        ("magic", "met"): (f"…{one['digits']}: {one['outcome']}" for one in coverage["magic"] if not one["met"]),
        ("endpoints", "called"): (f"{one['method']} {one['path']}" for one in endpoints if not one["calls"]),
        ("outcomes", "met"): (f"{group}: {'; '.join(one['text'] for one in members)}" for group, members in outcomes),
    }
    lines = [f"coverage of {sandboxes} sandbox{'es' * (sandboxes != 1)}"]
    for (name, verb), parts in missed.items():
        met, total = coverage["summary"][name]["met"], coverage["summary"][name]["total"]
        lines += [f"  {name}: {met} of {total} {verb}", *(f"    never {one}" for one in parts)] if total else []
    answered = [_answers(one) for one in coverage["endpoints"] if one["calls"]]
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
