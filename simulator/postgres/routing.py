"""Passes each request to the application of this server, or to the server that owns its sandbox."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from simulator.control.http import error
from simulator.control.sandbox_endpoints import FORWARDED_KEY, Application, OtherList
from simulator.options import CONTROL_PATH, DOCUMENT_PATH
from simulator.postgres.cluster import Cluster
from simulator.postgres.forwarding import (
    MARK,
    NOT_OWNER,
    Forwarder,
    NotForwarded,
    OwnerLost,
    accept,
    body_of,
    is_forwarded,
)
from simulator.postgres.leases import Peer
from simulator.postgres.owners import Elsewhere, Unavailable
from simulator.runtime.sandboxes import DEFAULT, SANDBOX_PREFIX, drawn_id, is_sandbox_id
from simulator.server.message import is_browser_at_root
from simulator.server.responder import responder_of

SANDBOX_PATHS: Final = (SANDBOX_PREFIX, f"{CONTROL_PATH}/sandboxes/", f"{CONTROL_PATH}/inbox/")
OF_ALL: Final = (f"{CONTROL_PATH}/sandboxes", f"{CONTROL_PATH}/events")
_READS: Final = frozenset({"GET", "HEAD"})
LIST_BYTES_MAX: Final = 16 * 1024 * 1024
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def sandbox_of(path: str) -> str | None:
    """Return the id of the sandbox that a path names, which may not exist; None for a path of the server itself."""
    for prefix in SANDBOX_PATHS:
        if path.startswith(prefix):
            return path[len(prefix) :].partition("/")[0]
    return None if path in (CONTROL_PATH, DOCUMENT_PATH) or path.startswith(CONTROL_PATH + "/") else DEFAULT


class Router:
    """Answers every request of a server: by `here`, its application, or by another server."""

    def __init__(self, cluster: Cluster, here: App) -> None:
        self.cluster = cluster
        self._here = here
        self._forwarder: Forwarder | None = None
        cluster.on_servers = self._keep

    def _keep(self, servers: Collection[int]) -> None:
        if self._forwarder is not None:
            self._forwarder.keep(servers)

    @property
    def forwarder(self) -> Forwarder:
        """Return the forwarder of this event loop."""
        if self._forwarder is None:
            self._forwarder = Forwarder()
        return self._forwarder

    def is_here(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether the application can answer a request of the reseller API at once."""
        return self.cluster.owns(sandbox_of(path) or "") and not is_forwarded(headers)

    async def close(self) -> None:
        """Close the connections to other servers."""
        if self._forwarder is not None:
            await self._forwarder.close()

    def figures(self) -> dict[str, float]:
        """Return the figures for the metrics."""
        cluster = self.cluster
        return {
            "store_up": int(cluster.trouble is None),
            "store_commits_total": cluster.store.commits,
            "store_outages_total": cluster.store.outages,
            "leases_lost_total": cluster.leases_lost,
            "takeovers_total": cluster.owners.takeovers,
            "forwarded_total": 0 if self._forwarder is None else self._forwarder.count,
        }

    @property
    def own_url(self) -> str:
        """Return the address of this server for the others."""
        return self.cluster.url

    async def lists(self, request: Request) -> list[OtherList]:
        """See `Servers`."""
        try:
            peers = await self.cluster.peers()
        except Unavailable:
            return []
        others = [peer for peer in peers if peer.id != self.cluster.store.server_id]
        return list(await asyncio.gather(*(self._list(peer, request.scope) for peer in others)))

    async def _list(self, peer: Peer, scope: Scope) -> OtherList:
        try:
            return OtherList(peer.url, await self.forwarder.rows(peer, scope, LIST_BYTES_MAX))
        except NotForwarded as no:
            return OtherList(peer.url, reason=str(no))

    async def place(self, request: Request, raw: bytes, wanted: dict[str, Any]) -> Application | None:
        """See `Servers`. A fork is created by the owner of its original."""
        wanted.setdefault("id", drawn_id())
        names = [wanted["fork"]["of"]] if "fork" in wanted else []
        for name, creates in [*((name, False) for name in names), (wanted["id"], True)]:
            try:
                if is_sandbox_id(name):
                    await self.cluster.settle(name, creates=creates)
            except Elsewhere as other:
                if FORWARDED_KEY in request.scope:
                    text = f"another server has a sandbox {name!r}, or had it within the last 10 minutes"
                    return error(409, "sandbox_exists", text, "id")
                return partial(self.forward, other.peer, name, raw)
            except Unavailable as no:
                return _unavailable(no.code, no.message)
        return None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if is_forwarded(scope["headers"]):
            found = accept(scope, self.cluster.secret)
            if found is None:
                await _not_owner(scope, receive, send)
                return
            scope.update(client=(found.client, 0), scheme=found.scheme)
            scope[FORWARDED_KEY] = True
        if is_browser_at_root(scope["method"], scope["path"], dict(scope["headers"])):
            sandbox_id = None
        else:
            sandbox_id = sandbox_of(scope["path"])
        if sandbox_id is None:
            await self._of_server(scope, receive, send)
        elif self.cluster.owns(sandbox_id) or not is_sandbox_id(sandbox_id):
            await self._here(scope, receive, send)
        elif FORWARDED_KEY in scope and self.cluster.trouble is None:
            await _not_owner(scope, receive, send)
        else:
            await self._settled(sandbox_id, scope, receive, send)

    async def forward(
        self, peer: Peer, sandbox_id: str, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Forward a request that was read, or answer it when the sandbox turns out to be owned here."""
        for is_last in (False, True):
            try:
                await self.forwarder.forward(peer, scope, body, send)
                return
            except NotForwarded as no:
                reason = str(no)
            except OwnerLost:
                if scope["method"] not in _READS:
                    text = "the owner of this sandbox was lost before it answered; the request may have been executed"
                    await error(504, "owner_lost", text)(scope, receive, send)
                    return
                reason = "was lost"
            self.cluster.owners.forget(sandbox_id)
            if is_last:
                break
            try:
                await self.cluster.settle(sandbox_id)
            except Elsewhere as other:
                peer = other.peer
            except Unavailable as no:
                await _unavailable(no.code, no.message)(scope, receive, send)
                return
            else:
                await self._here(scope, _replay(body, receive), send)
                return
        text = f"the owner of this sandbox, {peer.url}, {reason}; send the request again"
        await _unavailable("owner_unreachable", text)(scope, receive, send)

    async def _settled(self, sandbox_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.cluster.settle(sandbox_id)
        except Elsewhere as other:
            responder = responder_of(scope)
            if responder is not None and scope["method"] in _READS:
                responder.cancel_when_left()
            body = await body_of(receive)
            if body is not None:
                await self.forward(other.peer, sandbox_id, body, scope, receive, send)
        except Unavailable as no:
            is_read = scope["method"] in _READS and scope["path"].startswith(CONTROL_PATH)
            if is_read and self.cluster.may_read(sandbox_id):
                await self._ungated(self._here, scope, receive, send)
            else:
                await self._ungated(_unavailable(no.code, no.message), scope, receive, send)
        else:
            await self._here(scope, receive, send)

    async def _of_server(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer about the server itself, or all sandboxes, which is possible while PostgreSQL does not answer, too."""
        trouble, is_of_all = self.cluster.trouble, scope["path"] in OF_ALL
        is_read = scope["method"] in _READS
        if trouble is not None and (not is_read or (is_of_all and self.cluster.store.unsaved_lives())):
            await self._ungated(_unavailable(trouble.code, trouble.message), scope, receive, send)
        elif trouble is not None or (is_read and not is_of_all):
            await self._ungated(self._here, scope, receive, send)
        else:
            await self._here(scope, receive, send)

    async def _ungated(self, app: Any, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer while other answers wait for PostgreSQL."""
        responder = responder_of(scope)
        if responder is not None:
            responder.leave_gate(is_free=True)
        try:
            await app(scope, receive, send)
        finally:
            if responder is not None:
                responder.leave_gate(is_free=False)


def _unavailable(code: str, message: str) -> Any:
    answer = error(503, code, message)
    answer.headers["retry-after"] = "1"
    return answer


async def _not_owner(scope: Scope, receive: Receive, send: Send) -> None:
    text = "this server does not own the sandbox, and a request is forwarded once only"
    answer = error(NOT_OWNER, "not_owner", text)
    answer.headers[MARK.decode()] = "refused"
    await answer(scope, receive, send)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that begins with a body that was read."""
    is_read = False

    async def receive_again() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
