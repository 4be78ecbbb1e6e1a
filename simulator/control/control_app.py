"""The control API as an ASGI application: its route table, its guard, and the redaction of its answers."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from simulator.contract.openapi import CONTROL, OPENAPI
from simulator.control import (
    clock_endpoints,
    event_endpoints,
    explanation_endpoints,
    inbox_endpoints,
    journal_endpoints,
    metrics,
    notification_endpoints,
    product_endpoints,
    reseller_endpoints,
    result_endpoints,
    sandbox_endpoints,
    scenario_endpoints,
    tape_endpoints,
    transaction_endpoints,
    web_pages,
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
    sandbox_of,
)
from simulator.control.sandbox_endpoints import Servers
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.persistence.replay.player import RequestReplay
from simulator.persistence.rewinding import Rewinder
from simulator.redaction import redact_urls
from simulator.runtime.background import in_background
from simulator.runtime.inboxes import INBOX_PATH
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.operations import Operations, report
from simulator.runtime.sandboxes import Sandboxes
from simulator.runtime.traces import caller, trace_of
from simulator.scenario.client_files import ClientFiles
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.scenario_files import ScenarioFolder

DOCS_PATH = "/_sim/docs"
OPEN_PATHS = ("/_sim/health", "/_sim/ready", "/openapi.json", "/_sim/openapi.json", DOCS_PATH, "/", "/_sim", "/_sim/")
OPEN_PREFIXES = (INBOX_PATH, DOCS_PATH + "/", web_pages.FILES_PATH + "/", *web_pages.PAGE_PREFIXES)
SANDBOXES_PATH = "/_sim/sandboxes/"


SandboxEndpoint = Callable[[Request, LiveSandbox], Awaitable[Response]]


class AnyMethod(Route):
    """A route that accepts every method, even unknown methods."""

    def __init__(self, path: str, endpoint: Any) -> None:
        super().__init__(path, endpoint)
        self.methods = set()


class SandboxRoute(Route):
    """A route below a sandbox, which its endpoint gets."""

    def __init__(self, path: str, endpoint: SandboxEndpoint, method: str, *, is_masked: bool = True) -> None:
        async def answer(request: Request) -> Response:
            return await endpoint(request, sandbox_of(request))

        super().__init__(SANDBOXES_PATH + "{sandbox}" + path, answer, methods=[method])
        self.is_masked = is_masked


class UnmaskedRoute(Route):
    """A route whose answers are not masked: they return credentials to callers that may create them, are the same for
    all callers, or mask themselves."""

    is_masked = False


ROUTES = [
    Route("/_sim/health", metrics.health, methods=["GET"]),
    Route("/_sim/ready", metrics.ready, methods=["GET"]),
    UnmaskedRoute("/_sim/metrics", metrics.show_metrics, methods=["GET"]),
    Route("/openapi.json", partial(web_pages.document, OPENAPI), methods=["GET"]),
    Route("/_sim/openapi.json", partial(web_pages.document, CONTROL), methods=["GET"]),
    UnmaskedRoute("/_sim/assumptions", web_pages.register, methods=["GET"]),
    UnmaskedRoute("/_sim/scenario.schema.json", scenario_endpoints.schema, methods=["GET"]),
    Route("/_sim/scenarios", scenario_endpoints.list_all, methods=["GET"]),
    Route("/_sim/scenarios/check", scenario_endpoints.check, methods=["POST"]),
    UnmaskedRoute("/_sim/scenarios/{name}", scenario_endpoints.show, methods=["GET"]),
    Route("/_sim/scenarios/{name}", scenario_endpoints.save, methods=["PUT"]),
    UnmaskedRoute("/_sim/sandboxes", sandbox_endpoints.list_all, methods=["GET"]),
    UnmaskedRoute("/_sim/sandboxes", sandbox_endpoints.create, methods=["POST"]),
    SandboxRoute("", sandbox_endpoints.show, "GET", is_masked=False),
    Route(SANDBOXES_PATH + "{sandbox}", sandbox_endpoints.delete, methods=["DELETE"]),
    SandboxRoute("/reset", sandbox_endpoints.reset, "POST", is_masked=False),
    SandboxRoute("/marks", tape_endpoints.list_marks, "GET"),
    SandboxRoute("/marks", tape_endpoints.add_mark, "POST"),
    SandboxRoute("/marks/{mark}", tape_endpoints.remove_mark, "DELETE"),
    SandboxRoute("/rewind", tape_endpoints.rewind, "POST", is_masked=False),
    SandboxRoute("/clock", clock_endpoints.show, "GET"),
    SandboxRoute("/clock", clock_endpoints.put, "PUT"),
    SandboxRoute("/clock/advance", clock_endpoints.advance, "POST"),
    SandboxRoute("/clock/advance", clock_endpoints.stop, "DELETE"),
    SandboxRoute("/due", clock_endpoints.list_due, "GET"),
    SandboxRoute("/holds", scenario_endpoints.list_holds, "GET"),
    SandboxRoute("/holds/{name}/release", scenario_endpoints.release, "POST"),
    SandboxRoute("/rules", scenario_endpoints.list_rules, "GET"),
    SandboxRoute("/rules", scenario_endpoints.add_rule, "POST"),
    SandboxRoute("/rules/{rule}", scenario_endpoints.remove_rule, "DELETE"),
    SandboxRoute("/magic", scenario_endpoints.show_magic, "GET"),
    SandboxRoute("/network/{product}", product_endpoints.put_network, "PUT"),
    SandboxRoute("/resellers", reseller_endpoints.list_all, "GET"),
    SandboxRoute("/resellers", reseller_endpoints.add, "POST", is_masked=False),
    SandboxRoute("/resellers/{code}/deposits", reseller_endpoints.deposit, "POST"),
    SandboxRoute("/resellers/{code}/settings", reseller_endpoints.change_settings, "PATCH"),
    SandboxRoute("/resellers/{code}/api-keys", reseller_endpoints.add_api_key, "POST", is_masked=False),
    SandboxRoute("/resellers/{code}/api-keys/{key}", reseller_endpoints.revoke_api_key, "DELETE"),
    SandboxRoute("/catalog", product_endpoints.list_products, "GET"),
    SandboxRoute("/catalog/products/{code}", product_endpoints.change_product, "PATCH"),
    SandboxRoute("/catalog/categories/{id}", product_endpoints.change_category, "PATCH"),
    SandboxRoute("/catalog/groups/{id}", product_endpoints.change_group, "PATCH"),
    SandboxRoute("/explain", explanation_endpoints.explain, "POST"),
    SandboxRoute("/requests", journal_endpoints.list_all, "GET"),
    SandboxRoute("/requests.har", journal_endpoints.as_har, "GET"),
    SandboxRoute("/requests/{n}.curl", journal_endpoints.as_curl, "GET", is_masked=False),
    SandboxRoute("/requests/{n}", journal_endpoints.show, "GET"),
    SandboxRoute("/requests/{n}/replay", journal_endpoints.replay, "POST"),
    SandboxRoute("/transactions", transaction_endpoints.list_all, "GET"),
    SandboxRoute("/transactions/{trxid}", transaction_endpoints.show, "GET"),
    SandboxRoute("/transactions/{trxid}/callbacks", notification_endpoints.send_callback, "POST"),
    SandboxRoute("/figures", result_endpoints.show_figures, "GET"),
    SandboxRoute("/ledger", reseller_endpoints.list_ledger, "GET"),
    SandboxRoute("/callbacks", notification_endpoints.list_callbacks, "GET"),
    SandboxRoute("/deliveries", notification_endpoints.list_deliveries, "GET"),
    SandboxRoute("/deliveries/{job}", notification_endpoints.show_delivery, "GET"),
    SandboxRoute("/deliveries/{job}/replay", notification_endpoints.replay, "POST"),
    SandboxRoute("/probes", notification_endpoints.send_probes, "POST"),
    SandboxRoute("/notifications", notification_endpoints.list_notifications, "GET"),
    UnmaskedRoute("/_sim/events", event_endpoints.of_all, methods=["GET"]),
    SandboxRoute("/events", event_endpoints.of_sandbox, "GET", is_masked=False),
    SandboxRoute("/tape", tape_endpoints.show, "GET", is_masked=False),
    SandboxRoute("/invariants", sandbox_endpoints.invariants, "GET"),
    SandboxRoute("/coverage", result_endpoints.show_coverage, "GET"),
    SandboxRoute("/audit", result_endpoints.show_audit, "GET"),
    SandboxRoute("/expectations", result_endpoints.show_expectations, "GET"),
    SandboxRoute("/inbox", inbox_endpoints.list_all, "GET"),
    SandboxRoute("/inbox/{name}", inbox_endpoints.show, "GET"),
    SandboxRoute("/inbox/{name}", inbox_endpoints.set_replies, "PUT"),
    SandboxRoute("/inbox/{name}", inbox_endpoints.clear, "DELETE"),
    AnyMethod(INBOX_PATH + "{sandbox}/{name}", inbox_endpoints.receive),
]

# Files of web pages, which are not part of the API.
PAGES = [
    Route(DOCS_PATH, web_pages.docs_asset, methods=["GET"]),
    Route(DOCS_PATH + "/{name}", web_pages.docs_asset, methods=["GET"]),
    # Relative URLs, since a proxy may add a prefix. Clients other than browsers get the service's 404 at the root.
    Route("/", RedirectResponse("_sim/", 303, {"vary": "accept"}), methods=["GET"]),
    Route("/_sim", RedirectResponse("_sim/", 307), methods=["GET"]),
    Route("/_sim/", web_pages.page, methods=["GET"]),
    Route(web_pages.FILES_PATH + "/{name:path}", web_pages.asset, methods=["GET"]),
    *(AnyMethod(f"/_sim/s/{{sandbox}}/{version}/{{rest:path}}", web_pages.of_the_service) for version in ("v1", "v2")),
    *(Route(prefix + "{view:path}", web_pages.page, methods=["GET"]) for prefix in web_pages.PAGE_PREFIXES),
]


UNMASKED = frozenset(route.endpoint for route in ROUTES if not getattr(route, "is_masked", True))
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
        masked, start = [], 0
        while start < len(body):
            end = body.find(b"\n", start + SLICE_BYTES)
            part = body[start:end] if end > 0 else body[start:]
            start += len(part)
            text = mask.answer(part) if len(part) <= LONG_BYTES else await in_background(mask.answer, part)
            masked.append(text.replace(b"\n", b""))
            if start < len(body):
                await asyncio.sleep(0)
        return b"".join(masked)


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
        resend: journal_endpoints.Resend,
        judge_unsigned: explanation_endpoints.JudgeUnsigned,
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
        files = None if scenarios is None else ClientFiles(ScenarioFolder.of_scenarios(scenarios))
        self.state = state = self._app.state
        state.guard, state.operations, state.servers, state.client_files = guard, operations, servers, files
        state.sandboxes, state.default_scenario = sandboxes_, default_scenario
        state.resend, state.judge_unsigned = resend, judge_unsigned
        state.replayer, state.rewinder = replayer, rewinder

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that the guard accepts, or whose path is open, with a request id of its own."""
        answers: dict[int, int] = self.state.operations.answers

        async def send_with_id(message: Any) -> None:
            if message["type"] == "http.response.start":
                answers[message["status"]] = answers.get(message["status"], 0) + 1
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
                    await sandbox.process_due()  # what the running clock has made due happens before a read
            masked = MaskedSend(scope, send_with_id, self.state.sandboxes)
        token = caller.set(trace_of(scope["headers"]))
        try:
            await self._app(scope, receive, masked)
        except Exception as failure:  # it was answered; Starlette raises it again for the server's log
            report(failure, "a control request")
        finally:
            caller.reset(token)
