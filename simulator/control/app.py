"""The control API as an ASGI application: its route table, its guard, and the redaction of its answers."""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import Route

from simulator.control import (
    catalog,
    clock,
    deliveries,
    events,
    explain,
    inboxes,
    metrics,
    pages,
    requests,
    resellers,
    results,
    sandboxes,
    scenario,
    tapes,
    transactions,
)
from simulator.control.access import Guard, admit
from simulator.control.http import (
    Forbidden,
    error,
    on_domain_error,
    on_http_error,
    on_scenario_error,
    on_unexpected,
    refusal,
)
from simulator.control.sandboxes import Servers
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.persistence.replay.player import RequestReplay
from simulator.persistence.rewinding import Rewinder
from simulator.redaction import redact_urls
from simulator.runtime.background import in_background
from simulator.runtime.inboxes import INBOX_PATH
from simulator.runtime.operations import Operations, report
from simulator.runtime.sandboxes import Sandboxes
from simulator.runtime.traces import caller, trace_of
from simulator.scenario.client_files import ClientFiles
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.scenario_files import ScenarioFolder

HEALTH_PATH = "/_sim/health"
READY_PATH = "/_sim/ready"
DOCS_PATH = "/_sim/docs"
OPEN_PATHS = (HEALTH_PATH, READY_PATH, "/openapi.json", "/_sim/openapi.json", DOCS_PATH, "/", "/_sim", "/_sim/")
OPEN_PREFIXES = (INBOX_PATH, DOCS_PATH + "/", pages.FILES_PATH + "/", *pages.PAGE_PREFIXES)
SANDBOXES_PATH = "/_sim/sandboxes/"
ONE = SANDBOXES_PATH + "{sandbox}"


class AnyMethod(Route):
    """A route that accepts every method, even unknown ones."""

    def __init__(self, path: str, endpoint: Any) -> None:
        super().__init__(path, endpoint)
        self.methods = set()


class Unmasked(Route):
    """A route whose answers are not masked: they return credentials to callers that may create them, are the same for
    all callers, or mask themselves."""


ROUTES = [
    Route(HEALTH_PATH, metrics.health, methods=["GET"]),
    Route(READY_PATH, metrics.ready, methods=["GET"]),
    Unmasked("/_sim/metrics", metrics.show_metrics, methods=["GET"]),
    Route("/openapi.json", pages.reseller_document, methods=["GET"]),
    Route("/_sim/openapi.json", pages.control_document, methods=["GET"]),
    Unmasked("/_sim/assumptions", pages.register, methods=["GET"]),
    Unmasked("/_sim/scenario.schema.json", scenario.schema, methods=["GET"]),
    Route("/_sim/scenarios", scenario.list_all, methods=["GET"]),
    Route("/_sim/scenarios/check", scenario.check, methods=["POST"]),
    Unmasked("/_sim/scenarios/{name}", scenario.show, methods=["GET"]),
    Route("/_sim/scenarios/{name}", scenario.save, methods=["PUT"]),
    Unmasked("/_sim/sandboxes", sandboxes.list_all, methods=["GET"]),
    Unmasked("/_sim/sandboxes", sandboxes.create, methods=["POST"]),
    Unmasked(ONE, sandboxes.show, methods=["GET"]),
    Route(ONE, sandboxes.delete, methods=["DELETE"]),
    Unmasked(ONE + "/reset", sandboxes.reset, methods=["POST"]),
    Route(ONE + "/marks", tapes.list_marks, methods=["GET"]),
    Route(ONE + "/marks", tapes.add_mark, methods=["POST"]),
    Route(ONE + "/marks/{mark}", tapes.remove_mark, methods=["DELETE"]),
    Unmasked(ONE + "/rewind", tapes.rewind, methods=["POST"]),
    Route(ONE + "/clock", clock.show, methods=["GET"]),
    Route(ONE + "/clock", clock.put, methods=["PUT"]),
    Route(ONE + "/clock/advance", clock.advance, methods=["POST"]),
    Route(ONE + "/clock/advance", clock.stop, methods=["DELETE"]),
    Route(ONE + "/due", clock.list_due, methods=["GET"]),
    Route(ONE + "/holds", scenario.list_holds, methods=["GET"]),
    Route(ONE + "/holds/{name}/release", scenario.release, methods=["POST"]),
    Route(ONE + "/rules", scenario.list_rules, methods=["GET"]),
    Route(ONE + "/rules", scenario.add_rule, methods=["POST"]),
    Route(ONE + "/rules/{rule}", scenario.remove_rule, methods=["DELETE"]),
    Route(ONE + "/magic", scenario.show_magic, methods=["GET"]),
    Route(ONE + "/network/{product}", catalog.put_network, methods=["PUT"]),
    Route(ONE + "/resellers", resellers.list_all, methods=["GET"]),
    Unmasked(ONE + "/resellers", resellers.add, methods=["POST"]),
    Route(ONE + "/resellers/{code}/deposits", resellers.deposit, methods=["POST"]),
    Route(ONE + "/resellers/{code}/settings", resellers.change_settings, methods=["PATCH"]),
    Unmasked(ONE + "/resellers/{code}/api-keys", resellers.add_api_key, methods=["POST"]),
    Route(ONE + "/resellers/{code}/api-keys/{key}", resellers.revoke_api_key, methods=["DELETE"]),
    Route(ONE + "/catalog", catalog.list_products, methods=["GET"]),
    Route(ONE + "/catalog/products/{code}", catalog.change_product, methods=["PATCH"]),
    Route(ONE + "/catalog/categories/{id}", catalog.change_category, methods=["PATCH"]),
    Route(ONE + "/catalog/groups/{id}", catalog.change_group, methods=["PATCH"]),
    Route(ONE + "/explain", explain.explain, methods=["POST"]),
    Route(ONE + "/requests", requests.list_all, methods=["GET"]),
    Route(ONE + "/requests.har", requests.as_har, methods=["GET"]),
    Unmasked(ONE + "/requests/{n}.curl", requests.as_curl, methods=["GET"]),
    Route(ONE + "/requests/{n}", requests.show, methods=["GET"]),
    Route(ONE + "/requests/{n}/replay", requests.replay, methods=["POST"]),
    Route(ONE + "/transactions", transactions.list_all, methods=["GET"]),
    Route(ONE + "/transactions/{trxid}", transactions.show, methods=["GET"]),
    Route(ONE + "/transactions/{trxid}/callbacks", deliveries.send_callback, methods=["POST"]),
    Route(ONE + "/figures", results.show_figures, methods=["GET"]),
    Route(ONE + "/ledger", resellers.list_ledger, methods=["GET"]),
    Route(ONE + "/callbacks", deliveries.list_callbacks, methods=["GET"]),
    Route(ONE + "/deliveries", deliveries.list_deliveries, methods=["GET"]),
    Route(ONE + "/deliveries/{job}", deliveries.show_delivery, methods=["GET"]),
    Route(ONE + "/deliveries/{job}/replay", deliveries.replay, methods=["POST"]),
    Route(ONE + "/probes", deliveries.send_probes, methods=["POST"]),
    Route(ONE + "/notifications", deliveries.list_notifications, methods=["GET"]),
    Unmasked("/_sim/events", events.of_all, methods=["GET"]),
    Unmasked(ONE + "/events", events.of_sandbox, methods=["GET"]),
    Unmasked(ONE + "/tape", tapes.show, methods=["GET"]),
    Route(ONE + "/invariants", sandboxes.invariants, methods=["GET"]),
    Route(ONE + "/coverage", results.show_coverage, methods=["GET"]),
    Route(ONE + "/audit", results.show_audit, methods=["GET"]),
    Route(ONE + "/expectations", results.show_expectations, methods=["GET"]),
    Route(ONE + "/inbox", inboxes.list_all, methods=["GET"]),
    Route(ONE + "/inbox/{name}", inboxes.show, methods=["GET"]),
    Route(ONE + "/inbox/{name}", inboxes.set_replies, methods=["PUT"]),
    Route(ONE + "/inbox/{name}", inboxes.clear, methods=["DELETE"]),
    AnyMethod(INBOX_PATH + "{sandbox}/{name}", inboxes.receive),
]

# Files of web pages, which are not part of the API.
PAGES = [
    Route(DOCS_PATH, pages.docs_asset, methods=["GET"]),
    Route(DOCS_PATH + "/{name}", pages.docs_asset, methods=["GET"]),
    Route("/", pages.at_the_root, methods=["GET"]),
    Route("/_sim", pages.at_the_door, methods=["GET"]),
    Route("/_sim/", pages.page, methods=["GET"]),
    Route(pages.FILES_PATH + "/{name:path}", pages.asset, methods=["GET"]),
    *(AnyMethod(f"/_sim/s/{{sandbox}}/{version}/{{rest:path}}", pages.of_the_service) for version in ("v1", "v2")),
    *(Route(prefix + "{view:path}", pages.page, methods=["GET"]) for prefix in pages.PAGE_PREFIXES),
]


UNMASKED = frozenset(route.endpoint for route in ROUTES if isinstance(route, Unmasked))
ERRORS_FROM = 400
SLICE_BYTES = 16 * 1024
LONG_BYTES = 256 * 1024
"""A longer row, such as a message of a megabyte, is masked in a thread. Secrets that are added meanwhile may be missed:
they cannot occur in a text that was rendered before."""


class MaskedSend:
    """ASGI's `send` for a request, with the secrets of its sandbox redacted.

    Each message of a body is masked separately, so a secret must not be split. A long answer is masked in slices, so
    that the event loop is not blocked. A slice ends at a line end, which is never within a JSON string: lists arrive
    with a row per line, and are sent as a single line.
    """

    def __init__(self, scope: Any, send: Any, sandboxes_: Sandboxes) -> None:
        self._scope = scope
        self._send = send
        self._sandboxes = sandboxes_
        self._start: Any = None

    async def __call__(self, message: Any) -> None:
        """Send a message; the head of the answer waits for the beginning of its body, which determines its length."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        body, start = message.get("body", b""), self._start
        is_error = start is not None and start["status"] >= ERRORS_FROM
        if body and (is_error or self._scope.get("endpoint") not in UNMASKED):
            # An error may quote an address with credentials.
            message["body"] = await self._masked(redact_urls(body.decode()).encode() if is_error else body)
        if start is not None:
            self._start = None
            length = len(message.get("body", b""))
            if length != len(body):
                start["headers"] = [
                    (name, b"%d" % length if name == b"content-length" else value) for name, value in start["headers"]
                ]
            await self._send(start)
        await self._send(message)

    async def _masked(self, body: bytes) -> bytes:
        live = self._sandboxes.find(self._scope.get("path_params", {}).get("sandbox", ""))
        mask = self._sandboxes.mask_of(live)
        masked = []
        for part in _slices(body):
            text = mask.answer(part) if len(part) <= LONG_BYTES else await in_background(mask.answer, part)
            masked.append(text.replace(b"\n", b""))
            if len(body) > SLICE_BYTES:
                await asyncio.sleep(0)
        return b"".join(masked)


def _slices(body: bytes) -> Iterator[bytes]:
    """Yield slices of a JSON text, which end at line ends."""
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + SLICE_BYTES)
        end = len(body) if end < 0 else end
        yield body[start:end]
        start = end


class ControlApp:
    """`/_sim` as an ASGI application. `default_scenario` is the scenario of a new sandbox that names none, and
    `scenarios` the folder whose files new sandboxes may name. `resend` sends a request of a journal to the reseller
    API; `judge_unsigned` returns the API's verdict on the credentials of a request without an API key. `replayer`
    replays the requests of a tape, and `rewinder` returns to moments of a tape. `operations` has the state of the
    server, and `servers` are those that share the sandboxes."""

    def __init__(
        self,
        sandboxes_: Sandboxes,
        default_scenario: Scenario,
        guard: Guard,
        resend: requests.Resend,
        judge_unsigned: explain.JudgeUnsigned,
        replayer: RequestReplay,
        rewinder: Rewinder,
        operations: Operations,
        scenarios: Path | None = None,
        servers: Servers | None = None,
    ) -> None:
        self.guard = guard
        self._answers = count(1)
        self._app = Starlette(
            routes=[*ROUTES, *PAGES],
            exception_handlers={
                DomainError: on_domain_error,
                ScenarioError: on_scenario_error,
                HTTPException: on_http_error,
                Exception: on_unexpected,
            },
        )
        self._app.router.redirect_slashes = False
        self._answered = operations.answered
        files = None if scenarios is None else ClientFiles(ScenarioFolder.of_scenarios(scenarios))
        self.state = state = self._app.state
        state.guard, state.operations, state.servers, state.client_files = guard, operations, servers, files
        state.sandboxes, state.default_scenario = sandboxes_, default_scenario
        state.resend, state.judge_unsigned = resend, judge_unsigned
        state.replayer, state.rewinder = replayer, rewinder

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that the guard accepts, or whose path is open, with a request id of its own."""

        async def send_with_id(message: Any) -> None:
            if message["type"] == "http.response.start":
                self._answered[message["status"]] = self._answered.get(message["status"], 0) + 1
                request_id = b"control-%d" % next(self._answers)
                message["headers"] = [*message.get("headers", ()), (b"x-sim-request-id", request_id)]
            await send(message)

        masked: Any = send_with_id
        path = scope["path"]
        if path not in OPEN_PATHS and not path.startswith(OPEN_PREFIXES):
            try:
                admit(scope, self.guard.access(Headers(scope=scope)))
            except Forbidden as forbidden:
                await refusal(forbidden)(scope, receive, send_with_id)
                return
            # When decoded, it would add a segment to the path and name another resource: DELETE of a sandbox
            # `a/inbox/b`.
            if b"%2f" in scope.get("raw_path", b"").partition(b"?")[0].lower():
                answer = error(404, "unknown_path", "a name in this path has a slash, which no name can have")
                await answer(scope, receive, send_with_id)
                return
            if scope["method"] in ("GET", "HEAD") and path.startswith(SANDBOXES_PATH):
                sandbox = self.state.sandboxes.find(path[len(SANDBOXES_PATH) :].partition("/")[0])
                if sandbox is not None:
                    await sandbox.catch_up()  # what the running clock has made due happens before a read
            masked = MaskedSend(scope, send_with_id, self.state.sandboxes)
        token = caller.set(trace_of(scope["headers"]))
        try:
            await self._app(scope, receive, masked)
        except Exception as failure:  # it was answered; Starlette raises it again for the server's log
            report(failure, "a control request")
        finally:
            caller.reset(token)
