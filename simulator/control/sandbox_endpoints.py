"""`/_sim/sandboxes`: create, list, show, reset, delete; check the invariants; and the servers that share a store."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.access import access_of, may_touch
from simulator.control.filters import query_of, refuse_other_parameters
from simulator.control.http import (
    BODY_BYTES_MAX,
    InvalidInput,
    base_url,
    bytes_of,
    decoded,
    in_slices,
    parse_times,
    reply,
    sandboxes_of,
)
from simulator.control.tape_endpoints import MEDIA_TYPE, begin, fork
from simulator.domain.errors import Unacceptable
from simulator.domain.model.scenario import Scenario
from simulator.domain.reports.invariants import violations
from simulator.runtime.background import in_background, place
from simulator.runtime.clock import parse_mode
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import NO_QUOTAS, Quotas, SandboxSpec, quotas
from simulator.scenario.client_files import ClientFiles
from simulator.scenario.library import load_scenario, names, scenario_from_object, scenario_from_text, scenario_in
from simulator.scenario.lint.start import real_waits
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.scenario_files import ABSENT, TAPE_BYTES_MAX, Unreadable
from simulator.wire.formats import encode

FORWARDED_KEY: Final = "reseller_sim.forwarded"
"""The key in the scope of a request that another server has forwarded."""

LIST_BYTES: Final = 1024 * 1024
"""The assumed size of the lists of the other servers, which takes a quarter of the memory for long requests."""

Application = Any
"""An ASGI application, which answers a request instead of a response."""


YAML_TYPES = frozenset({"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})


async def list_all(request: Request) -> Response:
    """List the sandboxes that the token of the request permits; with `--store`, of all servers."""
    url, access = base_url(request), access_of(request)
    found = (live for live in sandboxes_of(request) if access.sandbox in (None, live.id))
    rows = await in_slices([render.sandbox(live, url, shows_secrets=access.may_change)] for live in found)
    servers: Servers | None = request.app.state.servers
    if servers is None or FORWARDED_KEY in request.scope:  # another server joins the lists
        return reply({"sandboxes": rows})
    return reply(await joined_lists(request, servers, rows))


async def create(request: Request) -> Application:
    """Create a sandbox, ready for use, from JSON or from a scenario in YAML. Raises `Busy` when too many are being
    created, and `Forbidden` when the token is for another sandbox."""
    is_tape = _media_type(request) == MEDIA_TYPE
    raw = await bytes_of(request, TAPE_BYTES_MAX if is_tape else BODY_BYTES_MAX)
    with place(len(raw)):
        if is_tape or is_yaml(request):
            wanted = query_of(request, "sandbox-tape-query" if is_tape else "sandbox-query")
        else:
            refuse_other_parameters(request)
            wanted = await in_background(decoded, raw, "sandbox-request", may_be_empty=True)
        may_touch(request, wanted.get("id"))
        if "fork" in wanted:
            may_touch(request, wanted["fork"]["of"])
        servers = request.app.state.servers
        if servers is not None and (answer := await servers.place(request, raw, wanted)) is not None:
            return answer
        if is_tape:
            live = await begin(request, raw, wanted, wanted.get("id"), "")
        elif is_yaml(request):
            live = await sandboxes_of(request).build(await _from_yaml(request, raw, wanted))
        else:
            live = await _from_json(request, wanted)
    live.start()
    warnings = [] if live.clock.runs else real_waits(live.scenario.document, live.scenario.limits)
    return reply(render.sandbox(live, base_url(request)) | {"warnings": warnings}, 201)


def is_yaml(request: Request) -> bool:
    """Return whether the body is a scenario file."""
    return _media_type(request) in YAML_TYPES


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _from_yaml(request: Request, raw: bytes, wanted: dict[str, Any]) -> SandboxSpec:
    """Return the spec of a sandbox from a scenario in the body, with the other parameters and overrides from the
    query."""
    clock = {"start": wanted["start"]} if "start" in wanted else {}
    if "clock" in wanted:
        clock["mode"], clock["rate"] = parse_mode(wanted["clock"])
    wanted["clock"] = clock
    wanted["audit"] = wanted.get("audit") != "false"
    return _spec(await in_background(scenario_from_text, raw, files_of(request)), wanted)


async def _from_json(request: Request, wanted: dict[str, Any]) -> LiveSandbox:
    wanted["quotas"] = _quotas(wanted.pop("quotas", {}), sandboxes_of(request).quotas)
    if "fork" in wanted:
        return await fork(request, wanted)
    if "tape" in wanted:
        return await _from_tape(request, wanted)
    default: Scenario = request.app.state.default_scenario
    scenario = await _scenario_from(request, wanted["scenario"]) if "scenario" in wanted else default
    return await sandboxes_of(request).build(_spec(scenario, wanted))


async def _from_tape(request: Request, wanted: dict[str, Any]) -> LiveSandbox:
    others = wanted.keys() - {"id", "tape", "quotas"}
    if others:
        raise InvalidInput("must be left out: the tape defines it", min(others))
    name, files = wanted["tape"]["file"], needed_files(request, "tape.file")
    try:
        content = await in_background(files.folder.tape, name)
    except Unreadable as error:
        raise Unacceptable("unknown_file", f"{error.reason}: {name!r}", "tape.file") from None
    if len(content) > TAPE_BYTES_MAX:
        raise Unacceptable("bad_tape", f"the file has more than {TAPE_BYTES_MAX} bytes", "tape.file")
    return await begin(request, content, wanted["tape"], wanted.get("id"), "tape.")


def _spec(scenario: Scenario, wanted: dict[str, Any]) -> SandboxSpec:
    clock = wanted.get("clock", {})
    return SandboxSpec(
        scenario=scenario,
        id=wanted.get("id"),
        seed=int(wanted["seed"]) if "seed" in wanted else None,  # 5.0 is a whole number, too
        mode=clock.get("mode") or ("xN" if "rate" in clock else None),
        rate=float(clock["rate"]) if "rate" in clock else None,
        start=parse_times(clock["start"], "clock.start").said if clock.get("start") is not None else None,
        unique_credentials=wanted.get("credentials") == "unique",
        is_audited=wanted.get("audit", True),
        quotas=wanted["quotas"] if isinstance(wanted.get("quotas"), Quotas) else NO_QUOTAS,
    )


async def _scenario_from(request: Request, wanted: str | dict[str, Any]) -> Scenario:
    """Return a scenario: a bundled one by name, an object, or a file of `--scenarios`; no other paths are allowed."""
    if isinstance(wanted, dict):
        if "file" in wanted:
            return await _scenario_in_file(request, wanted)
        return await in_background(scenario_from_object, wanted, files_of(request))
    if wanted not in names():
        hint = suggestion(wanted, names()) or f"; choose one of {', '.join(names())}"
        raise InvalidInput(f"there is no bundled scenario {wanted!r}{hint}", "scenario")
    return await in_background(load_scenario, wanted)


async def _scenario_in_file(request: Request, wanted: dict[str, Any]) -> Scenario:
    name = wanted["file"]
    if len(wanted) > 1 or not isinstance(name, str):
        raise InvalidInput('a scenario of a file is {"file": NAME}, without other keys', "scenario")
    files = needed_files(request, "scenario.file")
    try:
        return await in_background(scenario_in, files, name)
    except Unreadable as error:
        text = f"{error.reason}: {name!r}"
        if error.reason == ABSENT:
            near = suggestion(name, await in_background(files.folder.names))
            text = f"there is no file {name!r} in the folder of --scenarios{near}"
        raise Unacceptable("unknown_file", text, "scenario.file") from None


def files_of(request: Request) -> ClientFiles | None:
    """Return the folder of `--scenarios`, or None."""
    found: ClientFiles | None = request.app.state.client_files
    return found


def needed_files(request: Request, path: str) -> ClientFiles:
    """Return the folder of `--scenarios`. Raises `Unacceptable` without a folder; `path` is the input that needs it."""
    files = files_of(request)
    if files is None:
        text = "start the server with --scenarios DIR to use files; without it send the scenario itself"
        raise Unacceptable("no_scenarios_folder", text, path)
    return files


def _quotas(wanted: dict[str, Any], server: Quotas) -> Quotas:
    """Return the requested limits, which may not exceed the server's. Raises `InvalidInput`."""
    asked = quotas(int(wanted.get("transactions", 0)), int(wanted.get("bytes", 0)), wanted.get("rate"))
    for name in wanted:
        given, most = getattr(asked, name), getattr(server, name)
        if most is not None and (given is None or given > most):
            text = f"must be at most {most:g}, and not unlimited: the server limits every sandbox"
            raise InvalidInput(text, f"quotas.{name}")
    return asked


async def show(request: Request, live: LiveSandbox) -> Response:
    return reply(render.sandbox(live, base_url(request), shows_secrets=access_of(request).may_change))


async def delete(request: Request) -> Response:
    """Delete a sandbox."""
    await sandboxes_of(request).delete(request.path_params["sandbox"])
    return Response(status_code=204)


async def reset(request: Request, live: LiveSandbox) -> Response:
    """Return to the start of the scenario. Raises `Busy` when too many are being reset."""
    with place(0):
        await live.reset()
    return reply(render.sandbox(live, base_url(request)))


async def invariants(request: Request, live: LiveSandbox) -> Response:
    """Return the violated invariants of the ledger, as of this request."""
    found = await in_slices(violations(live.core.state))
    return reply({"ok": not found, "violations": found})


class OtherList(NamedTuple):
    """The list of another server, or the reason why it is missing."""

    url: str
    body: bytes = b""
    reason: str | None = None


class Servers(Protocol):
    """All servers, from the view of this server."""

    @property
    def own_url(self) -> str: ...

    async def lists(self, request: Request) -> Sequence[OtherList]:
        """Return the lists of the other servers."""
        ...

    async def place(self, request: Request, raw: bytes, wanted: dict[str, Any]) -> Application | None:
        """Own the name of a sandbox that is about to be created, and add it to `wanted`. Return None, or what answers
        instead because another server has to create it."""
        ...


async def joined_lists(request: Request, servers: Servers, own: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sandboxes of all servers, and the list of servers. `own` are the rows of this server. Raises `Busy`
    when a few lists are being joined already."""
    with place(LIST_BYTES):
        others = await servers.lists(request)
    rows = {row["id"]: msgspec.Raw(encode(row)) for row in own}
    shown = [_server_row(servers.own_url, len(rows))]
    for other in others:
        found, reason = await in_background(_rows_by_id, other)
        shown.append(_server_row(other.url, len(found), reason))
        rows = found | rows
        await asyncio.sleep(0)
    return {"sandboxes": [rows[name] for name in sorted(rows)], "servers": shown}


def _server_row(url: str, count: int, reason: str | None = None) -> dict[str, Any]:
    return {"url": url, "answered": reason is None, "reason": reason, "sandboxes": count}


def _rows_by_id(other: OtherList) -> tuple[dict[str, msgspec.Raw], str | None]:
    if other.reason is not None:
        return {}, other.reason
    try:
        rows = msgspec.json.decode(other.body, type=dict[str, list[msgspec.Raw]])["sandboxes"]
        return {msgspec.json.decode(row, type=dict[str, Any])["id"]: row for row in rows}, None
    except (msgspec.MsgspecError, UnicodeDecodeError, KeyError):
        return {}, "gave an answer that is not a list of sandboxes"
