"""Sharded servers: the list of all their sandboxes, and creating a sandbox at the server that owns it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import error
from simulator.domain.errors import Busy
from simulator.runtime.background import in_background
from simulator.runtime.sandboxes import DEFAULT
from simulator.shards.asking import ASKED_BY, Answer, NotAnsweredError, ask
from simulator.shards.servers import Server
from simulator.shards.shards import Shards
from simulator.wire.money import encode

LIST_TIMEOUT_S: Final = 5.0
LISTS_TIMEOUT_S: Final = 15.0
CREATE_TIMEOUT_S: Final = 60.0
ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024
LISTS_BYTES_MAX: Final = 64 * 1024 * 1024
ASKED_AT_ONCE: Final = 16
LISTS_AT_ONCE: Final = 4
MISPLACED_SHOWN: Final = 100

_PASSED_ON = ("host", "authorization", "content-type")


class _Named(msgspec.Struct):
    id: str


class _List(msgspec.Struct):
    sandboxes: list[msgspec.Raw]


@dataclass(slots=True)
class _ServerPart:
    """The part of a server: its sandboxes by their ids, or the reason why they are unknown."""

    server: Server
    rows: list[tuple[str, msgspec.Raw]] = field(default_factory=list)
    reason: str | None = None
    size: int = 0


def shards_of(request: Request) -> Shards | None:
    """Return the servers that share the sandboxes. Return None for a single server, and for a request from another
    shard, which gets the local answer."""
    shards: Shards | None = request.app.state.shards
    return None if ASKED_BY in request.headers else shards


class Lists:
    """Joins lists, a few at a time: each may take megabytes."""

    running = 0

    @classmethod
    async def joined(cls, request: Request, shards: Shards, own: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the sandboxes of all servers, each from its owner, and the list of servers. `own` are the rows of this
        server. Raises `Busy`."""
        if cls.running >= LISTS_AT_ONCE:
            raise Busy("too_busy", f"{cls.running} lists of all servers are being made; ask again later")
        cls.running += 1
        try:
            parts = await _parts(request, shards, own)
        finally:
            cls.running -= 1
        rows, servers = [], []
        for part in parts:
            owned = [(id_, row) for id_, row in part.rows if shards.owner(id_) is part.server]
            rows += [row for _, row in owned]
            servers.append(_row(part, len(owned), [id_ for id_, _ in part.rows if id_ != DEFAULT], shards))
        return {"sandboxes": rows, "servers": servers}


def _row(part: _ServerPart, owned: int, ids: list[str], shards: Shards) -> dict[str, Any]:
    misplaced = [id_ for id_ in ids if shards.owner(id_) is not part.server]
    return {
        "name": part.server.name,
        "url": part.server.url,
        "answered": part.reason is None,
        "reason": part.reason,
        "sandboxes": owned,
        "misplaced": misplaced[:MISPLACED_SHOWN],
        "left_out": len(misplaced[MISPLACED_SHOWN:]),
    }


async def _parts(request: Request, shards: Shards, own: Sequence[Mapping[str, Any]]) -> list[_ServerPart]:
    parts = [_ServerPart(one) for one in shards.servers.values()]
    at_once = asyncio.Semaphore(ASKED_AT_ONCE)

    async def fill(part: _ServerPart) -> None:
        if part.server is shards.own:
            part.rows = [(row["id"], msgspec.Raw(encode(row))) for row in own]
            return
        async with at_once:
            left = LISTS_BYTES_MAX - sum(one.size for one in parts)
            try:
                await _fill(part, request, shards, min(left, ANSWER_BYTES_MAX))
            except NotAnsweredError as error:
                part.reason = f"{part.server.name} {error}"

    tasks = [asyncio.create_task(fill(part)) for part in parts]
    _, late = await asyncio.wait(tasks, timeout=LISTS_TIMEOUT_S)
    for task, part in zip(tasks, parts, strict=True):
        if task in late:
            task.cancel()
            part.reason = f"{part.server.name} had not answered when the list had taken {LISTS_TIMEOUT_S:g} s"
        else:
            task.result()
    return parts


async def _fill(part: _ServerPart, request: Request, shards: Shards, bytes_max: int) -> None:
    """Request the sandboxes of a server for its part. Raises `NotAnsweredError`."""
    headers = _headers(request, shards)
    answer = await ask(part.server, "GET", "/_sim/sandboxes", headers, timeout_s=LIST_TIMEOUT_S, bytes_max=bytes_max)
    if answer.status != 200:
        raise NotAnsweredError(f"answered {answer.status}; all servers need the same control token and host names")
    part.size = len(answer.body)
    try:
        part.rows = await in_background(_rows, answer.body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise NotAnsweredError("gave an answer that is no list of sandboxes") from None


def _rows(body: bytes) -> list[tuple[str, msgspec.Raw]]:
    body.decode()  # the rows are passed on as they are
    rows = msgspec.json.decode(body, type=_List).sandboxes
    return [(msgspec.json.decode(row, type=_Named).id, row) for row in rows]


async def created_elsewhere(request: Request, raw: bytes, wanted: Mapping[str, Any]) -> Response | None:
    """Return the answer of the server that owns the new sandbox, by its id or, for a fork, by the original's id; None
    when this server owns it. `raw` is the body, `wanted` its content."""
    shards = shards_of(request)
    named = wanted["fork"].get("of") if "fork" in wanted else wanted.get("id")
    if shards is None or not isinstance(named, str):
        return None
    owner = shards.owner(named)
    if owner is shards.own:
        return None
    target = "/_sim/sandboxes" + (f"?{request.url.query}" if request.url.query else "")
    headers = _headers(request, shards)
    try:
        answer = await ask(owner, "POST", target, headers, raw, timeout_s=CREATE_TIMEOUT_S, bytes_max=ANSWER_BYTES_MAX)
    except NotAnsweredError as reason:
        return unreachable(owner, str(reason))
    return _passed_on(answer)


def unreachable(owner: Server, reason: str) -> Response:
    """Return a 503 for a sandbox whose server does not answer."""
    answer = error(503, "shard_unreachable", f"this belongs to the server {owner.name}, which {reason}")
    answer.headers["retry-after"] = "1"
    return answer


def _passed_on(answer: Answer) -> Response:
    again = {"retry-after": answer.retry_after} if answer.retry_after else {}
    return Response(answer.body, answer.status, {"content-type": answer.content_type, **again})


def _headers(request: Request, shards: Shards) -> dict[str, str]:
    passed_on = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
    return {**passed_on, "x-forwarded-proto": request.url.scheme, ASKED_BY: shards.own.name}
