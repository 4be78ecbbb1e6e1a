"""Several servers that share a store: the list of all their sandboxes, and where a new sandbox is created."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from starlette.requests import Request

from simulator.domain.errors import Busy
from simulator.runtime.background import in_background
from simulator.wire.money import encode

FORWARDED_KEY: Final = "reseller_sim.forwarded"
"""The key in the scope of a request that another server has forwarded."""

LISTS_AT_ONCE: Final = 4

Application = Any
"""An ASGI application, which answers a request instead of a response."""


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


class _Named(msgspec.Struct):
    id: str


class _List(msgspec.Struct):
    sandboxes: list[msgspec.Raw]


def servers_of(request: Request) -> Servers | None:
    """Return the servers that share the sandboxes. Return None for a single server, and for a request that another
    server has forwarded, which gets the local answer."""
    servers: Servers | None = request.app.state.servers
    return None if FORWARDED_KEY in request.scope else servers


class Lists:
    """Joins lists, a few at a time: each may take megabytes."""

    running = 0

    @classmethod
    async def joined(cls, request: Request, servers: Servers, own: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the sandboxes of all servers, and the list of servers. `own` are the rows of this server. Raises
        `Busy`."""
        if cls.running >= LISTS_AT_ONCE:
            raise Busy("too_busy", f"{cls.running} lists of all servers are being made; ask again later")
        cls.running += 1
        try:
            others = await servers.lists(request)
        finally:
            cls.running -= 1
        rows = {row["id"]: msgspec.Raw(encode(row)) for row in own}
        shown = [_shown(servers.own_url, len(rows))]
        for other in others:
            found, reason = await in_background(_rows, other)
            shown.append(_shown(other.url, len(found), reason))
            rows = found | rows
            await asyncio.sleep(0)
        return {"sandboxes": [rows[name] for name in sorted(rows)], "servers": shown}


def _shown(url: str, count: int, reason: str | None = None) -> dict[str, Any]:
    return {"url": url, "answered": reason is None, "reason": reason, "sandboxes": count}


def _rows(other: OtherList) -> tuple[dict[str, msgspec.Raw], str | None]:
    if other.reason is not None:
        return {}, other.reason
    try:
        rows = msgspec.json.decode(other.body, type=_List).sandboxes
        return {msgspec.json.decode(row, type=_Named).id: row for row in rows}, None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}, "gave an answer that is not a list of sandboxes"
