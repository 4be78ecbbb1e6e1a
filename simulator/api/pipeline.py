"""The one way through for every request of the reseller API, to be read from top to bottom.

bytes -> rate and address -> faults -> authenticate -> validate -> faults -> domain -> wire -> bytes, journal, driver
"""

from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any, Protocol

from simulator.api import refusals
from simulator.api.allowlist import refuse_address
from simulator.api.authentication import authenticate
from simulator.api.body import ClientGone, Receive
from simulator.api.deprecation import marked_deprecated
from simulator.api.exchange import Call, Endpoint, Problems, Reply
from simulator.api.faults import meet_fault, spoiled
from simulator.api.routes import Routes
from simulator.auth.signature import Denied
from simulator.contract.decode import BadJson, decode_object
from simulator.contract.form import decode_form
from simulator.contract.query import decode_query
from simulator.contract.validate import validator
from simulator.domain.faults import FaultThen
from simulator.runtime.journal import Exchange, reply_headers
from simulator.runtime.sandboxes import LiveSandbox
from simulator.wire.json import encode

Send = Callable[[Any], Awaitable[None]]
Scope = Mapping[str, Any]

Headers = list[tuple[bytes, bytes]]


class Connection(Protocol):
    """What can be done to a connection beside answering; our own server offers it."""

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole answer."""
        ...

    def abort(self) -> None:
        """Close without an answer."""
        ...

    async def cut(self, status: int, headers: Headers, body: bytes, after_bytes: int) -> None:
        """Promise the whole body, send its beginning, and close."""
        ...


class Pipeline:
    """Answers one request of one sandbox; `routes` says what there is, `connection_of` finds a request's connection."""

    def __init__(
        self,
        routes: Routes,
        connection_of: Callable[[Scope], Connection | None],
        *,
        trust_forwarded: bool = False,
    ) -> None:
        self._routes = routes
        self._connection_of = connection_of
        self._trust_forwarded = trust_forwarded

    async def __call__(
        self,
        sandbox: LiveSandbox,
        path: str,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        anonymous: LiveSandbox | None = None,
        refusal: Reply | None = None,
    ) -> None:
        """Answer, write the journal, hand what became due to the driver. `path` has no sandbox prefix.

        A request that is not authenticated belongs to `anonymous`, where its address led; a `refusal` is all that
        some requests get.
        """
        began = perf_counter()
        sandbox.is_touched = True
        now = sandbox.driver.catch_up()
        headers = _joined(scope["headers"])
        client = self._client(scope, headers)
        exchange = Exchange(now, scope["method"], path, scope["query_string"], scope["headers"], client)
        call = Call(sandbox, now, exchange, headers)
        try:
            reply = refusal or await self._reply(call, receive)
        except ClientGone:
            reply = Reply(0, b"", ending="gone")
        if call.is_deprecated:
            reply = marked_deprecated(call, reply)
        content = reply.body if isinstance(reply.body, bytes) else encode(reply.body)
        exchange.status, exchange.content = reply.status, content
        if anonymous is not None and call.reseller is None:
            sandbox = anonymous
        exchange.n = sandbox.journal.next_n()
        exchange.duration_us = round((perf_counter() - began) * 1e6)
        exchange.own_headers = reply.headers
        sandbox.journal.add(exchange)
        call.sandbox.driver.rearm()
        await self._send(reply, reply_headers(sandbox.id, exchange), content, scope, send)

    async def _reply(self, call: Call, receive: Receive) -> Reply:
        methods = self._routes.get(call.exchange.path)
        if methods is None:
            return refusals.unknown_path(call.exchange.path, list(self._routes))
        endpoint = methods.get(call.exchange.method)
        if endpoint is None:
            return refusals.wrong_method(call.exchange.method, list(methods))
        if refusal := _check_wanted_rule(call) or refuse_address(call):
            return refusal
        early = await meet_fault(call, needs_body=False)
        if early is not None and early.replaces_answer and not (early.after_commit or early.disconnect == "body"):
            return spoiled(early, Reply(0, b""))
        reply = await self._authenticated(call, endpoint, receive, early)
        return reply if early is None else spoiled(early, reply)

    async def _authenticated(self, call: Call, endpoint: Endpoint, receive: Receive, early: FaultThen | None) -> Reply:
        if refusal := await authenticate(call, endpoint, receive, early):
            return refusal
        if problems := _validate(call, endpoint):
            call.exchange.diagnosis = _explain(call, endpoint, problems)
            return endpoint.invalid(call, problems)
        late = await meet_fault(call, needs_body=True)
        call.sandbox.driver.catch_up()  # a slow body or a fault's delay took time
        if late is None:
            return endpoint.handle(call)
        if late.nonce_service_down and not call.is_unsigned:
            return refusals.nonce_service_down()
        if late.internal_error:
            return endpoint.denied(Denied("internal_error"))
        if late.replaces_answer and not (late.after_commit or late.disconnect == "body"):
            return spoiled(late, Reply(0, b""))
        return spoiled(late, endpoint.handle(call))

    async def _send(self, reply: Reply, headers: Headers, content: bytes, scope: Scope, send: Send) -> None:
        connection = self._connection_of(scope)
        if reply.ending == "gone":
            return
        if connection is None:
            if not reply.ending:
                await send({"type": "http.response.start", "status": reply.status, "headers": headers})
                await send({"type": "http.response.body", "body": content})
        elif not reply.ending:
            await connection.answer(reply.status, headers, content)
        elif reply.ending == "abort":
            connection.abort()
        else:
            await connection.cut(reply.status, headers, content, len(content) // 2)

    def _client(self, scope: Scope, headers: Mapping[bytes, bytes]) -> str:
        if self._trust_forwarded and (forwarded := headers.get(b"x-forwarded-for")):
            return forwarded.decode("latin-1").split(",")[0].strip()
        client = scope.get("client")
        return client[0] if client else ""


def _explain(call: Call, endpoint: Endpoint, problems: Problems) -> str:
    told = [f"{name} {' '.join(texts)}".strip() for name, texts in problems.items()]
    if endpoint.source == "query" and call.exchange.body:
        told.append("a body was sent, but the parameters belong in the query")
    return "; ".join(told)


def _joined(pairs: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers by name; what was sent twice is joined by a comma, which no format of ours lets through."""
    headers = dict(pairs)
    if len(headers) < len(pairs):
        headers = {}
        for name, value in pairs:
            headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def _check_wanted_rule(call: Call) -> Reply | None:
    wanted = call.headers.get(b"x-sim-rule")
    if wanted is None:
        return None
    name = wanted.decode("utf-8", "replace")
    call.exchange.wanted_rule = name
    return None if call.sandbox.core.has_rule(name) else refusals.unknown_rule(name)


def _validate(call: Call, endpoint: Endpoint) -> Problems:
    """Decode what the endpoint takes and hold it against its schema; the fields are in the call afterwards."""
    if not endpoint.schema:
        return {}
    if endpoint.source == "query":
        call.fields, problems = decode_query(call.exchange.query)
        return problems or validator(endpoint.schema).problems(call.fields)
    rejects = call.sandbox.core.state.assumes("duplicate-json-keys", "reject")
    if endpoint.source == "form":
        content_type = call.headers.get(b"content-type", b"")
        call.fields, problems = decode_form(content_type, call.exchange.body, reject_duplicates=rejects)
        return problems or validator(endpoint.schema).problems(call.fields)
    try:
        call.fields = decode_object(call.exchange.body, reject_duplicates=rejects)
    except BadJson as bad:
        return {"body": [str(bad)]}
    return validator(endpoint.schema).problems(call.fields)
