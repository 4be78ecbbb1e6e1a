"""`/_sim/scenarios`: lists, shows, saves and checks scenario files; and magic accounts."""

import re
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from simulator.contract.files import data_dir
from simulator.control.access import may_see_secrets, may_touch
from simulator.control.filters import query_of, refuse_other_parameters
from simulator.control.http import InvalidInput, bytes_of, cursor_of, decoded, reply, sandbox_of
from simulator.control.render import members
from simulator.control.sandboxes import files_of, is_yaml, needed_files
from simulator.runtime.background import in_background, place
from simulator.scenario.client_files import BUNDLED, FOLDER, ClientFiles, listed, save_text, text_of
from simulator.scenario.library import BODY, CheckResult, check_text, end_column
from simulator.scenario.reading.load import load_text
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.scenario.reading.scenario_files import ScenarioFolder, Unreadable
from simulator.scenario.yaml import block

SUGGESTED: Final = re.compile(r"\(did you mean '([^']+)'\?\)")
CHECK: Final = "check"  # the last part of a path that has a method of its own, and no scenario's name
LINE_CHARS_MAX: Final = 10_000  # per line that is searched for the end of a value


async def list_all(request: Request) -> Response:
    """List the bundled scenarios, and the files of the folder of `--scenarios`."""
    query, folder = query_of(request, "scenarios-query"), _folder(request)
    with place(0):
        rows, has_more = await in_background(listed, folder, cursor_of(query), query["limit"])
    shown = [members(one, "name", "description", "source") for one in rows]
    cursor = str(cursor_of(query) + len(rows)) if has_more else None
    return reply({"scenarios": shown, "has_folder": folder is not None, "cursor": cursor, "has_more": has_more})


async def show(request: Request) -> Response:
    """Return the source text of a scenario."""
    if request.path_params["name"] == CHECK:
        raise HTTPException(405)
    name, wanted = request.path_params["name"], query_of(request, "scenario-query").get("source")
    with place(0):
        found = await in_background(text_of, name, wanted, _folder(request))
    if found.source != BUNDLED:
        may_see_secrets(request, "a file of --scenarios")
    return reply({"name": name, "source": found.source, "text": found.text, "revision": found.revision})


async def save(request: Request) -> Response:
    """Save a text in the folder of `--scenarios`, if a sandbox can be created from it and the file has not changed
    meanwhile."""
    name = request.path_params["name"]
    if name == CHECK:
        raise HTTPException(405)
    refuse_other_parameters(request)
    may_touch(request, None)
    raw = await bytes_of(request)
    with place(len(raw)):
        wanted = await in_background(decoded, raw, "scenario-save-request")
        files = needed_files(request, "name")
        text = _encoded(wanted["text"])
        checked = await in_background(check_text, text, files)
        if checked.errors:
            raise ScenarioError([one for one in checked.problems if one in checked.errors])
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
    return _encoded(text), wanted.get("extends_dir", "")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _answer(text: bytes, files: ClientFiles | None, below: str) -> dict[str, Any]:
    try:
        found = check_text(text, files, below)
    except Unreadable as error:
        message = f"extends_dir is a folder below the folder of --scenarios: {error.reason}"
        raise InvalidInput(message, "extends_dir") from None
    shown = text.decode("utf-8", "replace")
    lines = shown.removeprefix("\ufeff").splitlines() if found.problems else []
    rows = [_problem(one, found, lines) for one in found.problems]
    return {"ok": not rows, "loads": not found.errors, "problems": rows, "document": _document(text), "text": shown}


def _document(text: bytes) -> Any:
    """Return the values of a text as JSON; None if it is not YAML."""
    try:
        return load_text(text, BODY).root.plain()
    except ScenarioError:
        return None


def _problem(one: Problem, found: CheckResult, lines: list[str]) -> dict[str, Any]:
    is_here = one.source == BODY and 0 < one.line <= len(lines)
    suggested = SUGGESTED.search(one.message)
    return {
        "file": None if one.source == BODY else one.source,
        **members(one, "line", "column"),
        "end_column": end_column(lines[one.line - 1][:LINE_CHARS_MAX], one.column) if is_here else None,
        **members(one, "path", "code", "message"),
        "suggestion": suggested[1] if suggested else None,
        "severity": "error" if one in found.errors else "warning",
    }


async def show_magic(request: Request) -> Response:
    """Return the meaning of the last digits of an account: `outcomes` by `OO`, `durations` in seconds by `D`."""
    refuse_other_parameters(request)
    magic = sandbox_of(request).scenario.magic
    outcomes = [{"digits": digits, "outcome": text} for digits, text in magic.outcomes.items()]
    durations = [{"digit": digit, "seconds": span.total_seconds()} for digit, span in magic.durations.items()]
    return reply({"outcomes": outcomes, "durations": durations})
