"""`/_sim` of the proxy: read-only journal, payment stories, callbacks, departures and audit of the relayed traffic."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from simulator.contract.openapi import PROXY
from simulator.control import metrics, web_pages
from simulator.control.access import Guard
from simulator.control.filters import matcher, numbered_record, query_of, refuse_other_parameters
from simulator.control.http import (
    Forbidden,
    base_url,
    cursor_of,
    error,
    lines,
    on_domain_error,
    on_http_error,
    on_unexpected,
    page,
    refusal,
    reply,
)
from simulator.control.journal_endpoints import as_script, har_parts
from simulator.domain.errors import DomainError, Unknown
from simulator.redaction import Mask
from simulator.runtime.background import in_background
from simulator.runtime.journal import BoundedLog, NumberedRecord, Tally
from simulator.runtime.operations import report
from simulator.staging.proxy import log_rows
from simulator.staging.proxy.log import Payment, SeenCall, SeenDeparture, SeenNotification
from simulator.staging.proxy.watcher import Watcher
from simulator.wire.formats import encode
from simulator.wire.traffic import Call, Notification

HEALTH_PATH = "/_sim/health"
OPEN_PATHS = (HEALTH_PATH, "/_sim/openapi.json")
UNKNOWN_PATH = (
    "this is `reseller-sim proxy`, which has no such path: `reseller-sim requests`, `story --json` and `audit` work"
    " with it, and docs/proxy.md has its paths"
)
ONE = f"/_sim/sandboxes/{log_rows.SANDBOX}"

Audit = Callable[[Sequence[Call], Sequence[Notification]], dict[str, Any]]
"""The endpoint that returns `{"ok", "obligations"}` for the relayed traffic."""

Record = TypeVar("Record", bound=NumberedRecord)

_OF_CALL: dict[str, Callable[[SeenCall], Any]] = {
    "method": attrgetter("call.method"),
    "path": attrgetter("call.path"),
    "status": attrgetter("status"),
    "trxid": attrgetter("call.trxid"),
    "refid": attrgetter("call.refid"),
    "error": attrgetter("error"),
}
_OF_NOTIFICATION: dict[str, Callable[[SeenNotification], str]] = {
    "kind": attrgetter("notification.kind"),
    "refid": attrgetter("notification.refid"),
    "trxid": attrgetter("notification.trxid"),
}
_OF_PAYMENT: dict[str, Callable[[Payment], str]] = {"refid": attrgetter("refid"), "trxid": attrgetter("trxid")}
_OF_DEPARTURE: dict[str, Callable[[SeenDeparture], Any]] = {
    "operation": attrgetter("operation"),
    "field": attrgetter("departure.field"),
    "request": lambda seen: seen.request or None,
    "callback": lambda seen: seen.callback or None,
}


class ProxyControl:
    """The control API over the records of `watcher`; `facts` describe the proxy in the list of sandboxes."""

    def __init__(self, watcher: Watcher, guard: Guard, audit: Audit, facts: dict[str, Any]) -> None:
        self._watcher, self._guard, self._audit, self._facts = watcher, guard, audit, facts
        log, listing = watcher.log, self._listing
        endpoints: dict[str, Callable[..., Any]] = {
            HEALTH_PATH: metrics.health,
            "/_sim/openapi.json": partial(web_pages.document, PROXY),
            "/_sim/sandboxes": self._list,
            ONE + "/requests": listing("requests", "observed-requests-query", log.calls, _OF_CALL, log_rows.request),
            ONE + "/requests.har": self._as_har,
            ONE + "/requests/{n}.curl": self._as_curl,
            ONE + "/requests/{n}": self._request,
            ONE + "/transactions": self._transactions,
            ONE + "/transactions/{trxid}": self._transaction,
            ONE + "/callbacks": listing(
                "callbacks", "observed-callbacks-query", log.notifications, _OF_NOTIFICATION, log_rows.notification
            ),
            ONE + "/departures": listing(
                "departures", "departures-query", log.departures, _OF_DEPARTURE, log_rows.departure
            ),
            ONE + "/audit": self._audited,
        }
        self.paths = tuple(endpoints)
        self._app = Starlette(
            routes=[Route(path, endpoint, methods=["GET"]) for path, endpoint in endpoints.items()],
            exception_handlers={
                DomainError: on_domain_error,
                HTTPException: partial(on_http_error, unknown=UNKNOWN_PATH),
                Exception: on_unexpected,
            },
        )
        self._app.router.redirect_slashes = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that the guard accepts; open paths need no token."""
        if scope["path"] not in OPEN_PATHS:
            try:
                self._guard.access(Headers(scope=scope))
            except Forbidden as forbidden:
                await refusal(forbidden)(scope, receive, send)
                return
        _, _, *parts = scope["path"].split("/")
        if parts[:1] == ["sandboxes"] and parts[1:2] not in ([], [log_rows.SANDBOX]):
            words = f"a proxy has a single sandbox, {log_rows.SANDBOX!r}"
            await error(404, "unknown_sandbox", words)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        except Exception as failure:  # it was answered; Starlette raises it again for the server's log
            report(failure, "a control request")

    @property
    def _mask(self) -> Mask:
        return self._watcher.secrets.mask

    async def _reply(self, body: dict[str, Any]) -> Response:
        """Answer without secrets. Rows are lines, each masked in a separate loop iteration."""
        mask = self._mask
        masked = []
        for line in encode(body).split(b"\n"):
            masked.append(mask.answer(line))
            await asyncio.sleep(0)
        return Response(b"".join(masked), media_type="application/json")

    async def _list(self, request: Request) -> Response:
        refuse_other_parameters(request)
        return reply({"sandboxes": [{"id": log_rows.SANDBOX, **self._facts}]})

    async def _as_har(self, request: Request) -> Response:
        """Return the latest requests that match as HAR 1.2."""
        query = query_of(request, "observed-har-query")
        mask, url = self._mask, base_url(request)
        found = filter(matcher(_OF_CALL, query), _before(self._watcher.log.calls, cursor_of(query)))
        parts = await har_parts(found, query["limit"], lambda seen: log_rows.exported(url, seen, mask))
        return Response(b"".join(map(mask.answer, parts)), media_type="application/json")

    async def _request(self, request: Request) -> Response:
        return await self._reply(log_rows.exchange(numbered_record(request, self._watcher.log.calls), self._mask))

    async def _as_curl(self, request: Request) -> Response:
        """Return a request as a command for a POSIX shell."""
        seen, mask, url = numbered_record(request, self._watcher.log.calls), self._mask, base_url(request)
        row = log_rows.exported(url, seen, mask)
        if seen.body_bytes != len(seen.call.body):  # a compressed body was unpacked
            headers = row["request"]["headers"]
            row["request"]["headers"] = [pair for pair in headers if pair[0].lower() != "content-encoding"]
        return PlainTextResponse(as_script(url, row, seen.call.body, log_rows.target(seen, mask)))

    def _listing(
        self,
        name: str,
        schema: str,
        log: BoundedLog[Record],
        filters: Mapping[str, Callable[[Record], Any]],
        row: Callable[[Record, Mask], dict[str, Any]],
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint for pages of a log, newest first; with `wait_for` it waits for that many matches."""

        async def list_rows(request: Request) -> Response:
            query, mask = query_of(request, schema), self._mask
            matches, wait_for, complete = matcher(filters, query), query["wait_for"], True
            if wait_for:
                found = Tally(log, matches)
                complete = await log.notifier.wait_until(lambda: found.count() >= wait_for, query["timeout"])
            rows = filter(matches, _before(log, cursor_of(query)))
            answer = await page(name, query, rows, lambda seen: row(seen, mask), lambda record: record.n)
            return await self._reply(answer | {"left_out": log.left_out, "complete": complete})

        return list_rows

    async def _transactions(self, request: Request) -> Response:
        """Return observed payments, newest first."""
        query, payments, mask = query_of(request, "observed-payments-query"), self._watcher.payments, self._mask
        found = filter(matcher(_OF_PAYMENT, query), payments.newest_first())
        answer = await page("transactions", query, found, lambda payment: log_rows.payment(payment, mask))
        return await self._reply(answer | {"left_out": payments.left_out})

    async def _transaction(self, request: Request) -> Response:
        """Return the story of a payment, by trxid or refid: its requests, answers and callbacks, in order."""
        refuse_other_parameters(request)
        payment = self._watcher.payments.find(request.path_params["trxid"])
        if payment is None:
            raise Unknown("unknown_transaction", "the proxy saw no such payment; ?refid= finds by refid")
        mask, log = self._mask, self._watcher.log
        calls = [seen for seen in map(log.calls.find, payment.calls) if seen is not None]
        callbacks = [seen for seen in map(log.notifications.find, payment.callbacks) if seen is not None]
        left_out = payment.calls_left_out + len(payment.calls) - len(calls)
        callbacks_left_out = payment.callbacks_left_out + len(payment.callbacks) - len(callbacks)
        departed = [found for seen in calls for found in seen.departures]
        story = log_rows.payment(payment, mask) | {
            "statuses": [log_rows.status(each, mask) for each in payment.statuses],
            "requests": await lines(calls, lambda seen: log_rows.request(seen, mask)),
            "requests_left_out": left_out,
            "callbacks": await lines(callbacks, lambda seen: log_rows.notification(seen, mask)),
            "callbacks_left_out": callbacks_left_out,
            "departures": [log_rows.departure_of(each, mask) for each in departed[:100]],
        }
        return await self._reply(story)

    async def _audited(self, request: Request) -> Response:
        refuse_other_parameters(request)
        log = self._watcher.log
        calls = [seen.call for seen in log.calls]
        notifications = [seen.notification for seen in log.notifications]
        found = await in_background(self._audit, calls, notifications)
        return await self._reply(found | {"left_out": log.calls.left_out + log.notifications.left_out})


def _before(log: BoundedLog[Record], cursor: int) -> list[Record]:
    """Return the records of a log before this number, newest first; all of them for 0."""
    return [record for record in reversed(log) if not cursor or record.n < cursor]
