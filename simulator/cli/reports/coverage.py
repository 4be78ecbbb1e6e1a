"""Coverage as text: the covered and missed parts of a run, for the end of `exec --coverage`."""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any

from simulator.cli.server import Running
from simulator.redaction import redact
from simulator.shortened import whole_line


def page(running: Running) -> str:
    """Return the coverage of all sandboxes that the server had."""
    from simulator.control.verdicts import coverage_shown

    coverage = running.app.sandboxes.coverage()
    secrets = running.app.sandboxes.secrets
    return text(coverage_shown(coverage), coverage.sandboxes, lambda line: whole_line(redact(line, secrets)))


def text(coverage: Mapping[str, Any], sandboxes: int = 1, shown: Callable[[str], str] = whole_line) -> str:
    """Render coverage, as the control API returns it, in lines, each as `shown` makes it."""
    summary = coverage["summary"]
    lines = [f"coverage of {sandboxes} sandbox{'es' * (sandboxes != 1)}"]
    lines += _part("rules", "chosen", summary, _rules(coverage["rules"]))
    lines += _part("magic", "met", summary, (_magic(one) for one in coverage["magic"] if not one["met"]))
    lines += _part("endpoints", "called", summary, (_endpoint(one) for one in _real(coverage) if not one["calls"]))
    lines += _part("outcomes", "met", summary, _groups(coverage["outcomes"]))
    answered = [_answers(one) for one in coverage["endpoints"] if one["calls"]]
    lines += ["  answers", *(f"    {line}" for line in answered)] if answered else []
    return "\n".join(map(shown, lines))


def _part(name: str, verb: str, summary: Mapping[str, Any], missed: Iterable[str]) -> list[str]:
    met, total = summary[name]["met"], summary[name]["total"]
    never = [f"    never {one}" for one in missed]
    return [f"  {name}: {met} of {total} {verb}", *never] if total else []


def _real(coverage: Mapping[str, Any]) -> list[Any]:
    return [one for one in coverage["endpoints"] if "*" not in (one["method"], one["path"])]


def _rules(rules: list[Mapping[str, Any]]) -> Iterable[str]:
    """Rules that were never chosen, with their scenario when there are several."""
    has_several = len({rule["scenario"] for rule in rules}) > 1
    for rule in rules:
        if not rule["chosen"]:
            matched = f", though it matched {rule['matched']} times" if rule["matched"] else ""
            scenario = f" of {rule['scenario']}" if has_several else ""
            yield f"{rule['section']}{scenario}: {rule['name'] or rule['id']}{matched}"


def _magic(one: Mapping[str, Any]) -> str:
    return f"…{one['digits']}: {one['outcome']}"


def _endpoint(one: Mapping[str, Any]) -> str:
    return f"{one['method']} {one['path']}"


def _groups(outcomes: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    missed = [one for one in outcomes if not one["met"]]
    for group, members in groupby(missed, key=lambda one: one["group"]):
        yield f"{group}: {'; '.join(one['text'] for one in members)}"


def _answers(one: Mapping[str, Any]) -> str:
    name = "other paths" if one["path"] == "*" else _endpoint(one)
    never = f"; never {', '.join(one['never'])}" if one["never"] else ""
    return f"{name}: {', '.join(map(_answer, one['answers']))}{never}"


def _answer(one: Mapping[str, Any]) -> str:
    ending = {"abort": "closed without an answer", "cut": "cut", "gone": "left by the client"}.get(one["ending"], "")
    words = [str(one["status"]) if one["status"] else "", one["error"], ending, f"x{one['count']}"]
    return " ".join(filter(None, words))
