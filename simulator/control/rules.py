"""`/_sim/sandboxes/{id}/rules` and `…/holds`: rules of the running sandbox with their counts, and the answers and
deliveries that rules hold."""

from pathlib import Path as FilePath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.contract.validate import validator
from simulator.control import render
from simulator.control.filters import query_of, refuse_other_parameters, waited
from simulator.control.http import (
    InvalidInput,
    body_of,
    bytes_of,
    decoded,
    no_content,
    page,
    refuse_lost_sandbox,
    reply,
    sandbox_of,
)
from simulator.domain.commands import AddRule, RemoveRule
from simulator.domain.model.rules import Rule, RuleCount, ScenarioOrigin, SourceLine
from simulator.runtime.background import in_background, place
from simulator.runtime.holds import HELD_S_MAX
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.build import COMPILER
from simulator.scenario.lint.linter import NEVER_MATCHES, rule_findings
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.scenario.reading.scenario_files import bundled_path, is_path
from simulator.scenario.yaml import block


async def list_all(request: Request) -> Response:
    """List the rules in evaluation order, each with its source text, how often its `when` matched and how often it was
    chosen."""
    live = sandbox_of(request)
    query, origin = query_of(request, "rules-query"), live.scenario.origin
    listed = ((section, *entry) for section, book in live.core.state.books.items() for entry in book.counted_rules())
    return reply(await page("rules", query, listed, lambda entry: _row(origin, *entry)))


def _row(origin: ScenarioOrigin | None, section: str, rule: Rule[Any], count: RuleCount) -> dict[str, Any]:
    row: dict[str, Any] = {"section": section, "id": rule.id, "name": rule.name or None, "fallback": rule.fallback}
    written = rule.written()
    text = None if written is None else "\n".join(block({section: [written]})) + "\n"
    row["place"] = _place(rule.place, origin)
    return row | {"matched": count.matched, "chosen": count.chosen, "rule": written, "yaml": text}


def _place(one: SourceLine | None, origin: ScenarioOrigin | None) -> dict[str, Any] | None:
    """Return the source line of a rule, with its file in `/_sim/scenarios`, if any."""
    found = render.place(one)
    if one is None or found is None:
        return None
    written: dict[str, str] | None = None
    path = FilePath(one.file)
    if one.file == str(bundled_path(path.stem)):
        written = {"source": "bundled", "name": path.stem}
    elif is_path(one.file) and not path.is_absolute() and (origin is None or origin.source == "folder"):
        written = {"source": "folder", "name": one.file}
    return found | {"scenario": written}


async def add(request: Request) -> Response:
    """Insert a rule before all others, unless no request can meet it."""
    live = sandbox_of(request)
    raw = await bytes_of(request)
    with place(len(raw)):
        wanted = await in_background(decoded, raw, "rule-request")
        findings = await in_background(_prepare, live, wanted)
    refuse_lost_sandbox(request)
    if never := [problem for problem in findings if problem.code in NEVER_MATCHES]:
        raise ScenarioError(never)
    rule: Rule[Any] = await live.submit(AddRule(wanted["section"], wanted["rule"]))
    return reply({"id": rule.id, "warnings": [f"{one.path}: {one.message}" for one in findings]}, 201)


def _prepare(live: LiveSandbox, wanted: dict[str, Any]) -> list[Problem]:
    """Compile a rule for the command that will add it, and return the problems that `check` finds. Raises
    `ScenarioError`."""
    section, document, state = wanted["section"], wanted["rule"], live.core.state
    COMPILER.prepare_rule(section, document, state.catalog.products, state.resellers, state.scenario.timelines)
    is_manual, timeout = not live.clock.runs, live.scenario.limits.integration_timeout
    return rule_findings(section, document, is_manual=is_manual, timeout=timeout)


async def remove(request: Request) -> Response:
    """Remove a rule; transactions that began under it continue."""
    live = sandbox_of(request)
    await live.submit(RemoveRule(request.path_params["rule"]))
    return no_content()


async def list_holds(request: Request) -> Response:
    """List the held items, first come first; with `wait_for`, wait until that many are held or the timeout passes."""
    query = query_of(request, "holds-query")
    live, name = sandbox_of(request), query.get("name", "")
    holds = live.holds
    complete = await waited(request, query, lambda: lambda: len(holds.of(name)), holds.notifier)
    rows, now = [], live.clock.wall()
    for held in holds.of(name):
        waited_s = max(0.0, (now - held.wall).total_seconds())
        row = render.members(held, "name", "kind", "what", "refid")
        row |= {"job": held.job or None, "since": render.moment(held.since), "waited": round(waited_s, 3)}
        rows.append(row | {"ends_in": round(max(0.0, HELD_S_MAX - waited_s), 3)})
    return reply({"holds": rows, "complete": complete})


async def release(request: Request) -> Response:
    """Release the items that wait under a name: the first `count`, all by default."""
    refuse_other_parameters(request)
    wanted = await body_of(request, "release-request", may_be_empty=True)
    count = int(wanted["count"]) if "count" in wanted else None
    holds, name = sandbox_of(request).holds, request.path_params["name"]
    readable = name.encode("utf-8", "replace").decode()  # bytes of a path that are not UTF-8 are lone surrogates
    for text in validator("holds-query").problems({"name": readable}).get("name", ()):
        raise InvalidInput(text, "name")
    released = holds.release(name, count)
    return reply({"released": released, "held": len(holds.of(name)) - released})
