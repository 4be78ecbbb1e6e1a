"""`/_sim/scenarios`: lists, shows, saves and checks scenario files.

Also the rules of the running sandbox with their counts, its magic accounts, and the answers and deliveries that rules
hold.
"""

import re
from pathlib import Path as FilePath
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from simulator.contract.files import data_dir
from simulator.contract.validator import validator
from simulator.control import render
from simulator.control.access import may_see_secrets, may_touch
from simulator.control.filters import query_of, refuse_other_parameters, waited
from simulator.control.http import (
    InvalidInput,
    body_of,
    bytes_of,
    cursor_of,
    decoded,
    page,
    refuse_lost_sandbox,
    reply,
)
from simulator.control.render import members
from simulator.control.sandbox_endpoints import files_of, is_yaml, needed_files
from simulator.domain.commands import AddRule, RemoveRule
from simulator.domain.model.rules import Rule, RuleCount, ScenarioOrigin, SourceLine
from simulator.runtime.background import in_background, place
from simulator.runtime.holds import HELD_S_MAX
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.build import COMPILER
from simulator.scenario.client_files import BUNDLED, FOLDER, ClientFiles, listed, save_text, text_of
from simulator.scenario.library import BODY, CheckResult, check_text, end_column
from simulator.scenario.lint.linter import NEVER_MATCHES, rule_findings
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.scenario.reading.scenario_files import ScenarioFolder, Unreadable, bundled_path, is_path
from simulator.scenario.reading.yaml_parser import load_text
from simulator.scenario.yaml import block

SUGGESTED: Final = re.compile(r"\(did you mean '([^']+)'\?\)")
LINE_CHARS_MAX: Final = 10_000  # per line that is searched for the end of a value


async def list_all(request: Request) -> Response:
    """List the bundled scenarios, and the files of the folder of `--scenarios`."""
    query, folder = query_of(request, "scenarios-query"), _folder(request)
    with place(0):
        rows, has_more = await in_background(listed, folder, cursor_of(query), query["limit"])
    shown = [members(row, "name", "description", "source") for row in rows]
    cursor = str(cursor_of(query) + len(rows)) if has_more else None
    return reply({"scenarios": shown, "has_folder": folder is not None, "cursor": cursor, "has_more": has_more})


async def show(request: Request) -> Response:
    """Return the source text of a scenario."""
    name, wanted = _file_name(request), query_of(request, "scenario-query").get("source")
    with place(0):
        found = await in_background(text_of, name, wanted, _folder(request))
    if found.source != BUNDLED:
        may_see_secrets(request, "a file of --scenarios")
    return reply({"name": name, "source": found.source, "text": found.text, "revision": found.revision})


async def save(request: Request) -> Response:
    """Save a text in the folder of `--scenarios`, if a sandbox can be created from it and the file has not changed
    meanwhile."""
    name = _file_name(request)
    refuse_other_parameters(request)
    may_touch(request, None)
    raw = await bytes_of(request)
    with place(len(raw)):
        wanted = await in_background(decoded, raw, "scenario-save-request")
        files = needed_files(request, "name")
        text = wanted["text"].encode("utf-8", "surrogatepass")
        checked = await in_background(check_text, text, files)
        if checked.errors:
            raise ScenarioError([problem for problem in checked.problems if problem in checked.errors])
        revision = await in_background(save_text, name, text, wanted.get("revision"), files.folder)
    return reply({"name": name, "source": FOLDER, "revision": revision})


async def check(request: Request) -> Response:
    """Return the problems of a text, which is the body or a member of it. Raises `Busy` when too many are being
    checked."""
    refuse_other_parameters(request)
    raw = await bytes_of(request)
    with place(len(raw)):
        text, below = (raw, "") if is_yaml(request) else await in_background(_wanted, raw)
        if below:
            needed_files(request, "extends_dir")
        return reply(await in_background(_answer, text, files_of(request), below))


async def schema(request: Request) -> Response:
    """Return the JSON Schema of scenario files, for completion in editors."""
    text = await in_background((data_dir("contracts") / "scenario.schema.json").read_bytes)
    return Response(text, media_type="application/json")


def _file_name(request: Request) -> str:
    name: str = request.path_params["name"]
    if name == "check":  # a path of its own, which takes POST alone
        raise HTTPException(405)
    return name


def _folder(request: Request) -> ScenarioFolder | None:
    files = files_of(request)
    return None if files is None else files.folder


def _wanted(raw: bytes) -> tuple[bytes, str]:
    """Return the text in a JSON body, or the text of its document, and the folder that file names in it are relative
    to."""
    wanted = decoded(raw, "scenario-check-request")
    if ("text" in wanted) == ("document" in wanted):
        raise InvalidInput("text is the scenario in YAML; send it, or document instead", "text")
    text = wanted["text"] if "text" in wanted else "\n".join(block(wanted["document"])) + "\n"
    return text.encode("utf-8", "surrogatepass"), wanted.get("extends_dir", "")


def _answer(text: bytes, files: ClientFiles | None, below: str) -> dict[str, Any]:
    try:
        found = check_text(text, files, below)
    except Unreadable as error:
        message = f"extends_dir is a folder below the folder of --scenarios: {error.reason}"
        raise InvalidInput(message, "extends_dir") from None
    shown = text.decode("utf-8", "replace")
    lines = shown.removeprefix("\ufeff").splitlines() if found.problems else []
    rows = [_problem(problem, found, lines) for problem in found.problems]
    return {"ok": not rows, "loads": not found.errors, "problems": rows, "document": _document(text), "text": shown}


def _document(text: bytes) -> Any:
    """Return the values of a text as JSON; None if it is not YAML."""
    try:
        return load_text(text, BODY).root.plain()
    except ScenarioError:
        return None


def _problem(problem: Problem, found: CheckResult, lines: list[str]) -> dict[str, Any]:
    is_here = problem.source == BODY and 0 < problem.line <= len(lines)
    suggested = SUGGESTED.search(problem.message)
    return {
        "file": None if problem.source == BODY else problem.source,
        **members(problem, "line", "column"),
        "end_column": end_column(lines[problem.line - 1][:LINE_CHARS_MAX], problem.column) if is_here else None,
        **members(problem, "path", "code", "message"),
        "suggestion": suggested[1] if suggested else None,
        "severity": "error" if problem in found.errors else "warning",
    }


async def show_magic(request: Request, live: LiveSandbox) -> Response:
    """Return the meaning of the last digits of an account: `outcomes` by `OO`, `durations` in seconds by `D`."""
    refuse_other_parameters(request)
    magic = live.scenario.magic
    outcomes = [{"digits": digits, "outcome": text} for digits, text in magic.outcomes.items()]
    durations = [{"digit": digit, "seconds": span.total_seconds()} for digit, span in magic.durations.items()]
    return reply({"outcomes": outcomes, "durations": durations})


async def list_rules(request: Request, live: LiveSandbox) -> Response:
    """List the rules in evaluation order, each with its source text, how often its `when` matched and how often it was
    chosen."""
    query, origin = query_of(request, "rules-query"), live.scenario.origin
    listed = ((section, *entry) for section, book in live.core.state.books.items() for entry in book.counted_rules())
    return reply(await page("rules", query, listed, lambda entry: _rule_row(origin, *entry)))


def _rule_row(origin: ScenarioOrigin | None, section: str, rule: Rule[Any], count: RuleCount) -> dict[str, Any]:
    row: dict[str, Any] = {"section": section, "id": rule.id, "name": rule.name or None, "fallback": rule.fallback}
    written = rule.written()
    text = "\n".join(block({section: [written]})) + "\n"
    row["place"] = _place(rule.place, origin)
    return row | {"matched": count.matched, "chosen": count.chosen, "rule": written, "yaml": text}


def _place(line: SourceLine | None, origin: ScenarioOrigin | None) -> dict[str, Any] | None:
    """Return the source line of a rule, with its file in `/_sim/scenarios`, if any."""
    found = render.place(line)
    if line is None or found is None:
        return None
    written: dict[str, str] | None = None
    path = FilePath(line.file)
    if line.file == str(bundled_path(path.stem)):
        written = {"source": "bundled", "name": path.stem}
    elif is_path(line.file) and not path.is_absolute() and (origin is None or origin.source == "folder"):
        written = {"source": "folder", "name": line.file}
    return found | {"scenario": written}


async def add_rule(request: Request, live: LiveSandbox) -> Response:
    """Insert a rule before all others, unless no request can meet it."""
    raw = await bytes_of(request)
    with place(len(raw)):
        wanted = await in_background(decoded, raw, "rule-request")
        findings = await in_background(_prepare, live, wanted)
    refuse_lost_sandbox(request)
    if never := [problem for problem in findings if problem.code in NEVER_MATCHES]:
        raise ScenarioError(never)
    rule: Rule[Any] = await live.settle_and_apply(AddRule(wanted["section"], wanted["rule"]))
    return reply({"id": rule.id, "warnings": [f"{finding.path}: {finding.message}" for finding in findings]}, 201)


def _prepare(live: LiveSandbox, wanted: dict[str, Any]) -> list[Problem]:
    """Compile a rule for the command that will add it, and return the problems that `check` finds. Raises
    `ScenarioError`."""
    section, document, state = wanted["section"], wanted["rule"], live.core.state
    COMPILER.prepare_rule(section, document, state.catalog.products, state.resellers, state.scenario.timelines)
    is_manual, timeout = not live.clock.runs, live.scenario.limits.integration_timeout
    return rule_findings(section, document, is_manual=is_manual, timeout=timeout)


async def remove_rule(request: Request, live: LiveSandbox) -> Response:
    """Remove a rule; transactions that began under it continue."""
    await live.settle_and_apply(RemoveRule(request.path_params["rule"]))
    return Response(status_code=204)


async def list_holds(request: Request, live: LiveSandbox) -> Response:
    """List the held items, first come first; with `wait_for`, wait until that many are held or the timeout passes."""
    query = query_of(request, "holds-query")
    name = query.get("name", "")
    holds = live.holds
    complete = await waited(request, live, query, lambda: lambda: len(holds.of(name)), holds.notifier)
    rows, now = [], live.clock.wall()
    for held in holds.of(name):
        waited_s = max(0.0, (now - held.wall).total_seconds())
        row = render.members(held, "name", "kind", "what", "refid")
        row |= {"job": held.job or None, "since": render.moment(held.since), "waited": round(waited_s, 3)}
        rows.append(row | {"ends_in": round(max(0.0, HELD_S_MAX - waited_s), 3)})
    return reply({"holds": rows, "complete": complete})


async def release(request: Request, live: LiveSandbox) -> Response:
    """Release the items that wait under a name: the first `count`, all by default."""
    refuse_other_parameters(request)
    wanted = await body_of(request, "release-request", may_be_empty=True)
    count = int(wanted["count"]) if "count" in wanted else None
    holds, name = live.holds, request.path_params["name"]
    readable = name.encode("utf-8", "replace").decode()  # bytes of a path that are not UTF-8 are lone surrogates
    for text in validator("holds-query").problems({"name": readable}).get("name", ()):
        raise InvalidInput(f"name {text}", "name")
    released = holds.release(name, count)
    return reply({"released": released, "held": len(holds.of(name)) - released})
