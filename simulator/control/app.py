"""The control API as an ASGI application: its route table and its guard."""

from itertools import count
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route

from simulator.control import (
    api_docs,
    callbacks,
    catalog,
    clock,
    deliveries,
    due,
    events,
    explain,
    exports,
    figures,
    health,
    holds,
    inboxes,
    ledger,
    metrics,
    notifications,
    pages,
    requests,
    resellers,
    rules,
    sandboxes,
    scenario,
    tapes,
    transactions,
    verdicts,
)
from simulator.control.access import Forbidden, Guard, admitted, on_forbidden, still_allowed
from simulator.control.http import error, on_domain_error, on_http_error, on_scenario_error, on_unexpected
from simulator.control.masked_send import MaskedSend
from simulator.control.servers import Servers
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.http_client.targets import BadTarget
from simulator.persistence.replay.player import RequestReplay
from simulator.persistence.rewinding import Rewinder
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
UNAUTHORIZED = 401
TAKEN_BACK = "the token of this request was taken back, or may do something else, while it was waited for"
ONE = SANDBOXES_PATH + "{sandbox}"


class AnyMethod(Route):
    """A route that accepts every method, even unknown ones."""

    def __init__(self, path: str, endpoint: Any) -> None:
        super().__init__(path, endpoint)
        self.methods = set()


ROUTES = [
    Route(HEALTH_PATH, health.health, methods=["GET"]),
    Route(READY_PATH, health.ready, methods=["GET"]),
    Route("/_sim/metrics", metrics.show, methods=["GET"]),
    Route("/openapi.json", api_docs.reseller_document, methods=["GET"]),
    Route("/_sim/openapi.json", api_docs.control_document, methods=["GET"]),
    Route("/_sim/assumptions", api_docs.register, methods=["GET"]),
    Route("/_sim/scenario.schema.json", scenario.schema, methods=["GET"]),
    Route("/_sim/scenarios", scenario.list_all, methods=["GET"]),
    Route("/_sim/scenarios/check", scenario.check, methods=["POST"]),
    Route("/_sim/scenarios/{name}", scenario.show, methods=["GET"]),
    Route("/_sim/scenarios/{name}", scenario.save, methods=["PUT"]),
    Route("/_sim/sandboxes", sandboxes.list_all, methods=["GET"]),
    Route("/_sim/sandboxes", sandboxes.create, methods=["POST"]),
    Route(ONE, sandboxes.show, methods=["GET"]),
    Route(ONE, sandboxes.delete, methods=["DELETE"]),
    Route(ONE + "/reset", sandboxes.reset, methods=["POST"]),
    Route(ONE + "/marks", tapes.list_marks, methods=["GET"]),
    Route(ONE + "/marks", tapes.add_mark, methods=["POST"]),
    Route(ONE + "/marks/{mark}", tapes.remove_mark, methods=["DELETE"]),
    Route(ONE + "/rewind", tapes.rewind, methods=["POST"]),
    Route(ONE + "/clock", clock.show, methods=["GET"]),
    Route(ONE + "/clock", clock.put, methods=["PUT"]),
    Route(ONE + "/clock/advance", clock.advance, methods=["POST"]),
    Route(ONE + "/clock/advance", clock.stop, methods=["DELETE"]),
    Route(ONE + "/due", due.list_all, methods=["GET"]),
    Route(ONE + "/holds", holds.list_all, methods=["GET"]),
    Route(ONE + "/holds/{name}/release", holds.release, methods=["POST"]),
    Route(ONE + "/rules", rules.list_all, methods=["GET"]),
    Route(ONE + "/rules", rules.add, methods=["POST"]),
    Route(ONE + "/rules/{rule}", rules.remove, methods=["DELETE"]),
    Route(ONE + "/magic", scenario.show_magic, methods=["GET"]),
    Route(ONE + "/network/{product}", catalog.put_network, methods=["PUT"]),
    Route(ONE + "/resellers", resellers.list_all, methods=["GET"]),
    Route(ONE + "/resellers", resellers.add, methods=["POST"]),
    Route(ONE + "/resellers/{code}/deposits", resellers.deposit, methods=["POST"]),
    Route(ONE + "/resellers/{code}/settings", resellers.change_settings, methods=["PATCH"]),
    Route(ONE + "/resellers/{code}/api-keys", resellers.add_api_key, methods=["POST"]),
    Route(ONE + "/resellers/{code}/api-keys/{key}", resellers.revoke_api_key, methods=["DELETE"]),
    Route(ONE + "/catalog", catalog.list_products, methods=["GET"]),
    Route(ONE + "/catalog/products/{code}", catalog.change_product, methods=["PATCH"]),
    Route(ONE + "/catalog/categories/{id}", catalog.change_category, methods=["PATCH"]),
    Route(ONE + "/catalog/groups/{id}", catalog.change_group, methods=["PATCH"]),
    Route(ONE + "/explain", explain.explain, methods=["POST"]),
    Route(ONE + "/requests", requests.list_all, methods=["GET"]),
    Route(ONE + "/requests.har", exports.as_har, methods=["GET"]),
    Route(ONE + "/requests/{n}.curl", exports.as_curl, methods=["GET"]),
    Route(ONE + "/requests/{n}", requests.show, methods=["GET"]),
    Route(ONE + "/requests/{n}/replay", requests.replay, methods=["POST"]),
    Route(ONE + "/transactions", transactions.list_all, methods=["GET"]),
    Route(ONE + "/transactions/{trxid}", transactions.show, methods=["GET"]),
    Route(ONE + "/transactions/{trxid}/callbacks", callbacks.send, methods=["POST"]),
    Route(ONE + "/figures", figures.show, methods=["GET"]),
    Route(ONE + "/ledger", ledger.list_all, methods=["GET"]),
    Route(ONE + "/callbacks", callbacks.list_all, methods=["GET"]),
    Route(ONE + "/deliveries", deliveries.list_all, methods=["GET"]),
    Route(ONE + "/deliveries/{job}", deliveries.show, methods=["GET"]),
    Route(ONE + "/deliveries/{job}/replay", deliveries.replay, methods=["POST"]),
    Route(ONE + "/probes", deliveries.send_probes, methods=["POST"]),
    Route(ONE + "/notifications", notifications.list_all, methods=["GET"]),
    Route("/_sim/events", events.of_all, methods=["GET"]),
    Route(ONE + "/events", events.of_sandbox, methods=["GET"]),
    Route(ONE + "/tape", tapes.show, methods=["GET"]),
    Route(ONE + "/invariants", sandboxes.invariants, methods=["GET"]),
    Route(ONE + "/coverage", verdicts.show_coverage, methods=["GET"]),
    Route(ONE + "/audit", verdicts.show_audit, methods=["GET"]),
    Route(ONE + "/expectations", verdicts.show_expectations, methods=["GET"]),
    Route(ONE + "/inbox", inboxes.list_all, methods=["GET"]),
    Route(ONE + "/inbox/{name}", inboxes.show, methods=["GET"]),
    Route(ONE + "/inbox/{name}", inboxes.set_replies, methods=["PUT"]),
    Route(ONE + "/inbox/{name}", inboxes.clear, methods=["DELETE"]),
    AnyMethod(INBOX_PATH + "{sandbox}/{name}", inboxes.receive),
]

# Files of web pages, which are not part of the API.
PAGES = [
    Route(DOCS_PATH, api_docs.page, methods=["GET"]),
    Route(DOCS_PATH + "/{name}", api_docs.asset, methods=["GET"]),
    Route("/", pages.at_the_root, methods=["GET"]),
    Route("/_sim", pages.at_the_door, methods=["GET"]),
    Route("/_sim/", pages.page, methods=["GET"]),
    Route(pages.FILES_PATH + "/{name:path}", pages.asset, methods=["GET"]),
    *(AnyMethod(f"/_sim/s/{{sandbox}}/{version}/{{rest:path}}", pages.of_the_service) for version in ("v1", "v2")),
    *(Route(prefix + "{view:path}", pages.page, methods=["GET"]) for prefix in pages.PAGE_PREFIXES),
]


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
                BadTarget: inboxes.on_bad_target,
                Forbidden: on_forbidden,
                HTTPException: on_http_error,
                Exception: on_unexpected,
            },
        )
        self._app.router.redirect_slashes = False
        self._app.state.guard = guard
        self._app.state.sandboxes = sandboxes_
        self._app.state.default_scenario = default_scenario
        self._app.state.resend = resend
        self._app.state.judge_unsigned = judge_unsigned
        self._app.state.replayer = replayer
        self._app.state.rewinder = rewinder
        self._app.state.operations = operations
        self._answered = operations.answered
        files = None if scenarios is None else ClientFiles(ScenarioFolder.of_scenarios(scenarios))
        self._app.state.client_files = files
        self._app.state.servers = servers

    @property
    def default_scenario(self) -> Scenario:
        """Return the scenario of a new sandbox that names none."""
        scenario: Scenario = self._app.state.default_scenario
        return scenario

    @default_scenario.setter
    def default_scenario(self, scenario: Scenario) -> None:
        self._app.state.default_scenario = scenario

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that the guard accepts, or whose path is open, with a request id of its own."""

        async def send_with_id(message: Any) -> None:
            if message["type"] == "http.response.start":
                self._answered[message["status"]] = self._answered.get(message["status"], 0) + 1
                request_id = b"control-%d" % next(self._answers)
                message["headers"] = [*message.get("headers", ()), (b"x-sim-request-id", request_id)]
            await send(message)

        masked: Any = send_with_id
        if scope["path"] not in OPEN_PATHS and not scope["path"].startswith(OPEN_PREFIXES):
            access = self.guard.access(Headers(scope=scope))
            refusal = access if isinstance(access, Forbidden) else admitted(scope, access)
            if refusal is not None:
                answer = error(refusal.status, refusal.code, refusal.message)
                if refusal.status == UNAUTHORIZED:
                    answer.headers["www-authenticate"] = "Bearer"
                await answer(scope, receive, send_with_id)
                return
            # When decoded, it would add a segment to the path and name another resource: DELETE of a sandbox
            # `a/inbox/b`.
            if b"%2f" in scope.get("raw_path", b"").partition(b"?")[0].lower():
                answer = error(404, "unknown_path", "a name in this path has a slash, which no name can have")
                await answer(scope, receive, send_with_id)
                return
            if scope["method"] in ("GET", "HEAD"):
                await self._catch_up(scope["path"])
            masked = MaskedSend(scope, send_with_id, self._app.state.sandboxes)
            if scope["method"] in ("GET", "HEAD"):
                masked = self._while_allowed(scope, receive, masked)
        token = caller.set(trace_of(scope["headers"]))
        try:
            await self._app(scope, receive, masked)
        except Exception as failure:  # it was answered; Starlette raises it again for the server's log
            report(failure, "a control request")
        finally:
            caller.reset(token)

    def _while_allowed(self, scope: Any, receive: Any, send: Any) -> Any:
        """Return a `send` that checks the token again, since it may have been revoked while the answer waited."""
        is_allowed = still_allowed(Request(scope | {"app": self._app}))
        is_refused = False

        async def send_if_allowed(message: Any) -> None:
            nonlocal is_refused
            if message["type"] == "http.response.start" and not is_allowed():
                is_refused = True
                await error(UNAUTHORIZED, "control_token_required", TAKEN_BACK)(scope, receive, send)
            if not is_refused:
                await send(message)

        return send_if_allowed

    async def _catch_up(self, path: str) -> None:
        """Process the items that the running clock of the sandbox in this path has made due, before a read."""
        if path.startswith(SANDBOXES_PATH):
            sandbox = self._app.state.sandboxes.find(path[len(SANDBOXES_PATH) :].partition("/")[0])
            if sandbox is not None:
                await sandbox.catch_up()
