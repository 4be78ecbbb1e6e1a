"""The composition root: wires the parts of a server together. `cli/server` adds the parts of a shared server: the store
of the sandboxes, further tokens of the control API, and the cluster."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.routing import Route

from simulator.api import refusals
from simulator.api.call import ApiRequest, EncodedReply
from simulator.api.clients import ClientResolver
from simulator.api.pipeline import Pipeline
from simulator.api.request_replayer import RequestReplayer
from simulator.api.routes import RESELLER_ROUTES, judge_unsigned
from simulator.api.token_credentials import has_key_or_username, owner_at_root
from simulator.asgi import (
    ROOT_KEY,
    AsgiEndpoint,
    ProxyPrefix,
    api_request,
    create_mount,
    send_answer,
    strip_mount,
    use_forwarded,
)
from simulator.domain.model.scenario import Scenario
from simulator.http_client.addresses import AddressPolicy
from simulator.http_client.sender import HttpSender
from simulator.options import CONTROL_PATH, DOCUMENT_PATH, Options
from simulator.runtime.clock import MachineTime, Wall, wall_clock
from simulator.runtime.courier import Sender
from simulator.runtime.lives import SandboxSpec, quotas
from simulator.runtime.operations import STOPPING, Operations
from simulator.runtime.sandboxes import DEFAULT, SANDBOX_PREFIX, Sandboxes
from simulator.runtime.scenario_watch import switch_scenario
from simulator.scenario.library import load_scenario, with_callback
from simulator.server.message import REFUSAL_COUNTS, HttpRequest, is_browser_at_root
from simulator.server.responder import PendingAnswer, responder_of

if TYPE_CHECKING:
    from simulator.control.access import Token
    from simulator.control.control_app import ControlApp
    from simulator.persistence.data_folder import DataFolder
    from simulator.postgres.cluster import Cluster
    from simulator.postgres.routing import Router


def build_app(
    options: Options,
    clock: Wall | None = None,
    sender: Sender | None = None,
    *,
    scenario: Scenario | None = None,
    wrap_sender: Callable[[Sender], Sender] | None = None,
) -> "App":
    """Return the application. Raise `ScenarioError` for a scenario that cannot be loaded.

    `clock` is the wall clock of all sandboxes, by default the machine's. `sender` sends callbacks and webhooks, by
    default over HTTP, and `wrap_sender` wraps it. `scenario` replaces the scenario of the options.
    """
    clock = clock or MachineTime(wall_clock)
    scenario = load_scenario(options.scenario) if scenario is None else scenario
    if options.callback is not None:
        scenario = with_callback(scenario, options.callback)
    http = None
    if sender is None:
        sender = http = HttpSender(
            AddressPolicy(public_only=options.public_callbacks_only), ca_file=options.callbacks_ca
        )
    sender = sender if wrap_sender is None else wrap_sender(sender)
    sandboxes = Sandboxes(
        clock,
        sender,
        options.sandbox_ttl_s,
        keeps_coverage=options.keeps_coverage,
        tapes_bytes_max=options.tapes_bytes_max,
    )
    sandboxes.add_secrets([options.control_token] if options.control_token else [])
    sandboxes.quotas = quotas(*options.quotas)
    sandboxes.create(SandboxSpec(scenario, DEFAULT, options.seed, options.mode, options.rate, options.start))
    app = App(options, scenario, sandboxes, clock)
    app.http = http
    return app


class App(Starlette):
    """The simulator as a Starlette application.

    It can be mounted in another application, and started by any ASGI server. Without the lifespan protocol, as in
    `httpx.ASGITransport`, its first request starts it.

    Our own server first tries `answer_now`; every other request arrives by `__call__` (ASGI). `_is_control`
    decides which API a request belongs to. `_answer_control` passes it to the control API, or `_answer` selects its
    sandbox and calls the pipeline. In a cluster, `_cluster_router` forwards requests for sandboxes of other servers.

    Another prefix beside `/_sim` needs a constant in `options`, a route here, its case in `_is_control` and in
    `sandbox_of` (`postgres/routing`), and a refusal in the flag `--root-path` (`cli/server_flags`).
    """

    def __init__(self, options: Options, scenario: Scenario, sandboxes: Sandboxes, wall: Wall) -> None:
        endpoint = AsgiEndpoint(self._answer_here)
        super().__init__(
            routes=[  # middleware may read the route of a request; `_answer_here` does not depend on it
                Route(CONTROL_PATH, endpoint),
                create_mount(CONTROL_PATH, endpoint),
                Route(DOCUMENT_PATH, endpoint),
                create_mount(SANDBOX_PREFIX + "{sandbox}", endpoint),
                create_mount("/", endpoint),
            ],
            lifespan=App._lifespan,
        )
        self.router.redirect_slashes = False
        self.options = options
        self.scenario = scenario
        self.sandboxes = sandboxes
        self._cluster_router: Router | None = None  # forwards requests to the other servers of a cluster
        self.http: HttpSender | None = None  # closed when the application stops
        self.wall = wall
        self._machine_time = wall if isinstance(wall, MachineTime) else None  # None when the caller gave a clock
        self._proxy_prefix = ProxyPrefix(options.root_path)
        self._clients = ClientResolver(
            options.trusted_forwarders, trust_forwarded=options.trust_forwarded, is_tls=options.is_tls
        )
        self._pipeline = Pipeline(RESELLER_ROUTES, self._clients)
        self.replayer = RequestReplayer()
        self._control: ControlApp | None = None
        self._is_started = False
        self.operations = Operations(REFUSAL_COUNTS)
        self.store: DataFolder | Cluster | None = None
        self.tokens: tuple[Token, ...] = ()  # of the control API, besides the control token

    # Requests

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one ASGI request from any server."""
        if scope["type"] == "http":
            if not self._is_started:  # the server does not speak the lifespan protocol
                self._start()
                self.operations.not_ready = None
            scope = strip_mount(scope, self._proxy_prefix)
            if self._cluster_router is not None:
                await self._cluster_router(scope, receive, send)
                return
            if not self.user_middleware:
                # Nobody added middleware: skip Starlette's stack and routes, a third of the time of an answer.
                await self._answer_here(scope, receive, send)
                return
        await super().__call__(scope, receive, send)

    async def _answer_here(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request on this server. In a cluster, the router has found that its sandbox is here."""
        if _is_control(scope["method"], scope["path"], dict(scope["headers"])):
            await self._answer_control(scope, receive, send)
        else:
            request = api_request(scope, receive, self._proxy_prefix)
            await send_answer(scope, send, await self._answer(scope["path"], request, scope[ROOT_KEY]))

    def answer_now(self, http_request: HttpRequest, client: str) -> PendingAnswer | None:
        """Return the answer to a request of the reseller API, for our own server to write at once. Return None for a
        request that needs `__call__`: of the control API, for another server, or any request when middleware was added.
        The caller passes plain requests alone: no part of the path is encoded, and the body is whole."""
        if self.user_middleware:
            return None
        raw_path, _, query = http_request.target.partition(b"?")
        path, prefix = raw_path.decode("ascii"), self._proxy_prefix
        if prefix.root:
            path = prefix.below(path)
        if _is_control(http_request.method, path, http_request.by_name):
            return None
        if self._cluster_router is not None and not self._cluster_router.is_here(path, http_request.by_name):
            return None
        request = ApiRequest(
            method=http_request.method,
            query=query,
            headers=http_request.headers,
            by_name=http_request.by_name,
            client=client,
            source=http_request,
            body=http_request.body,  # type: ignore[arg-type]  # bytes, since it is whole
        )
        return self._answer(path, request, prefix.root)

    def _answer(self, path: str, request: ApiRequest, root: str) -> Coroutine[Any, Any, EncodedReply]:
        """Return the coroutine that answers a request in the sandbox that it selects: `/s/{id}/` names a sandbox;
        elsewhere it is `default` or the owner of the credentials."""
        if self._machine_time is not None and self._machine_time.is_running:
            # Notice now that the machine's clock was set: without requests, the clocks are compared once a minute.
            self._machine_time.compare()
        if path.startswith(SANDBOX_PREFIX):
            sandbox_id, _, rest = path[len(SANDBOX_PREFIX) :].partition("/")
            sandbox = self.sandboxes.find(sandbox_id)
            if sandbox is None:
                refuse = partial(refusals.unknown_sandbox, sandbox_id)
                return self._pipeline.answer(self.sandboxes.default, path, request, root, instead_of_steps=refuse)
            prefix = f"{root}{SANDBOX_PREFIX}{sandbox_id}"
            return self._pipeline.answer(sandbox, "/" + rest, request, prefix)
        if self.sandboxes.unique_keys:
            return self._answer_at_root(path, request, root)
        return self._pipeline.answer(self.sandboxes.default, path, request, root)

    async def _answer_at_root(self, path: str, request: ApiRequest, root: str) -> EncodedReply:
        """Answer at the root, where credentials may select a sandbox other than `default`."""
        default = self.sandboxes.default
        owner, request = await owner_at_root(self.sandboxes, default, path, request)
        if owner is default or has_key_or_username(path, request):
            return await self._pipeline.answer(owner, path, request, root)
        # A token selected the owner. If the token is forged, `default` records the request.
        return await self._pipeline.answer(owner, path, request, root, url_sandbox=default)

    # The control API

    async def _answer_control(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request of the control API, which may be stopped when its client leaves."""
        scope["root_path"] = ""  # the control API routes by whole paths
        if self._control is None:
            self._control = self._make_control()
        use_forwarded(scope, self._clients)
        responder = responder_of(scope)
        if responder is not None:
            scope.update(cancel_when_left=responder.cancel_when_left, abort=responder.abort)
            if scope["method"] == "GET":  # read-only, but may wait for minutes
                responder.cancel_when_left()
        await self._control(scope, receive, send)

    def _make_control(self) -> "ControlApp":
        """Return the control API, imported with its first request, so that the server starts sooner."""
        from simulator.control.access import Guard
        from simulator.control.control_app import ControlApp
        from simulator.persistence.rewinding import Rewinder

        rewinder = Rewinder(self.replayer, self.sandboxes.surroundings)
        return ControlApp(
            self.sandboxes,
            self.scenario,
            Guard(self.options.control_token, self.options.allowed_hosts, self.tokens),
            self.replayer.resend,
            judge_unsigned,
            self.replayer,
            rewinder,
            self.operations,
            self.options.scenarios,
            self._cluster_router,
        )

    # Changes while the server runs

    async def load(self, scenario: Scenario) -> tuple[str, ...]:
        """Switch the default and all new sandboxes to another scenario. Return descriptions of the changes that take
        effect only with a reset."""
        if self.options.callback is not None:
            scenario = with_callback(scenario, self.options.callback)
        deferred = await switch_scenario(self.sandboxes.default, scenario)
        self.scenario = scenario
        if self._control is not None:
            self._control.state.default_scenario = scenario
        return deferred

    def use_tokens(self, control_token: str | None, tokens: "tuple[Token, ...]") -> None:
        """Require these tokens in the control API from now on; former tokens stay redacted."""
        self.options = self.options._replace(control_token=control_token)
        self.tokens = tokens
        self.sandboxes.add_secrets([*([control_token] if control_token else []), *(token.secret for token in tokens)])
        if self._control is not None:
            self._control.guard.use(control_token, tokens)
            self.sandboxes.events.wake_all()

    def join_cluster(self, cluster: "Cluster") -> None:
        """Join a cluster: forward requests for sandboxes of its other servers to them."""
        from simulator.postgres.routing import Router

        self._cluster_router = Router(cluster, self._answer_here)
        self.operations.store_figures = self._cluster_router.figures

    # Start and stop

    def _start(self) -> None:
        """Start the store, the machine's time and the sandboxes on the running loop."""
        self._is_started = True
        if self.store is not None:
            self.store.start()
        if self._machine_time is not None:
            self._machine_time.on_step = self._note_wall_step
            self._machine_time.start()
        self.sandboxes.start(asyncio.get_running_loop().time)

    def _note_wall_step(self, step: timedelta) -> None:
        self.operations.wall_steps += 1
        self.sandboxes.wall_was_set(step)

    @asynccontextmanager
    async def _lifespan(self) -> AsyncIterator[None]:
        """Start, and stop at the end, when called by an ASGI server or `router.lifespan_context`. Raises RuntimeError
        after a stop."""
        if self.operations.not_ready == STOPPING:
            raise RuntimeError("this application was stopped, and its sandboxes ended: call build_app() for each start")
        if not self._is_started:  # else a request came first
            self._start()
        if self.store is not None:
            await self.store.start_snapshots()
        self.operations.not_ready = None
        try:
            yield
        finally:
            await self._stop()

    async def _stop(self) -> None:
        self.operations.not_ready = STOPPING
        self.operations.lag.close()
        if self._machine_time is not None:
            self._machine_time.close()
        if self.store is not None:
            await self.store.take_last_snapshots()
        await self.sandboxes.close()
        if self.http is not None:
            await self.http.close()
        if self._cluster_router is not None:
            await self._cluster_router.close()
        if self.store is not None:
            self.store.close()


def _is_control(method: str, path: str, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request belongs to the control API, which also serves the contract as a document, and the
    console to a browser at the root."""
    if path == "/":
        return is_browser_at_root(method, path, headers)
    return path.startswith(CONTROL_PATH + "/") or path in (CONTROL_PATH, DOCUMENT_PATH)
