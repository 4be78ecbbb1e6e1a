"""A server from the flags of `serve` or `exec`: built, bound, and described once it answers."""

import gc
import secrets
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast

import msgspec

from simulator.app import App, build_app
from simulator.cli.process import hide_secrets, print_server_note, tune_gc
from simulator.cli.server_files import tls_of, tokens_of
from simulator.cli.server_flags import ServerFlags
from simulator.cli.usage import CannotStart
from simulator.cli.values import WILDCARDS
from simulator.control import render
from simulator.control.metrics import early_answers
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.options import CONTROL_PATH, Options
from simulator.runtime.clock import effective_rate
from simulator.runtime.events import Action
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.operations import DRAINING, REBUILDING, STARTING, STOPPING
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.reading.nodes import ScenarioError
from simulator.server.serve import CannotListen, Server, host_for_clients, make_server

if TYPE_CHECKING:
    from simulator.persistence.data_folder import DataFolder
    from simulator.persistence.errors import StoreError
    from simulator.persistence.store import Durability
    from simulator.postgres.cluster import Cluster


MIB = 1024 * 1024


class Running(msgspec.Struct, frozen=True):
    """A server that is bound to its port; `server.run()` starts it."""

    server: Server
    app: App
    folder: "DataFolder | Cluster | None" = None
    failures: list[str] = msgspec.field(default_factory=list)  # of its data folder, after which it stops
    certificate: str = ""  # the file that it speaks TLS with; also what a client may trust

    @property
    def url(self) -> str:
        """Return the URL for clients on this machine."""
        return self.server.url

    @property
    def control_url(self) -> str:
        """Return the URL of the control API, ending in `/_sim`."""
        return self.url + CONTROL_PATH

    @property
    def control_token(self) -> str | None:
        """Return the control API's token; None when it is open."""
        return self.app.options.control_token

    @property
    def sandbox(self) -> LiveSandbox:
        """Return the default sandbox."""
        return self.app.sandboxes.default

    def resellers(self) -> list[dict[str, Any]]:
        """Return the default sandbox's resellers, as the control API shows them."""
        return [render.reseller(one) for one in self.sandbox.core.state.resellers.values()]


def prepare(
    flags: ServerFlags,
    on_ready: Callable[[Running], None],
    on_stop: Callable[[], object] = lambda: None,
    *,
    keeps_coverage: bool = False,
    scenario: Scenario | None = None,
) -> Running:
    """Load the scenario, unless one is given, and bind the port; `on_ready` is called once the server answers,
    `on_stop` when it is about to stop. Raises `CannotStart`."""

    def ready() -> None:
        tune_gc()
        on_ready(running)

    try:
        folder = _store(flags, lambda: running)
        options = options_of(flags)._replace(keeps_coverage=keeps_coverage)
        app = build_app(options, scenario=scenario, wrap_sender=None if folder is None else folder.gated)
        app.use_tokens(options.control_token, tokens_of(flags))
        server = make_server(
            app,
            flags.host,
            flags.port,
            on_ready=ready,
            on_stop=lambda: _stopping(app, on_stop),
            on_notice=lambda text: note_foreign(app, text),
            gate=None if folder is None else folder.gate,
            tls=tls_of(flags),
        )
        server.drain_s, server.on_drain = flags.drain, partial(setattr, app.operations, "not_ready", DRAINING)
        if flags.store is not None:
            cluster = cast("Cluster", folder)
            host = cluster.own_host if flags.host in WILDCARDS else flags.host
            cluster.url = flags.advertise or f"http://{host_for_clients(host)}:{server.port}"
            app.join_cluster(cluster)
        if folder is not None:
            _rebuild(server, app, folder, follows_scenario=flags.names_scenario)
    except ScenarioError as error:
        raise CannotStart.of_problems(error.problems) from None
    except DomainError as error:
        raise CannotStart(f"the scenario cannot be used: {error.message}") from None
    except CannotListen as error:
        raise CannotStart(error) from None
    app.options = app.options._replace(url=server.url)
    hide_secrets(lambda: app.sandboxes.secrets)
    budget = app.sandboxes.budgets.tapes
    used = f"the tape budget is used up (--tape-budget, {budget.bytes_max / MIB:g} MiB): new requests are not recorded"
    budget.on_passed = lambda: print_server_note(f"{used}; reset or delete sandboxes to free space")
    running = Running(server, app, folder, certificate=str(flags.tls_cert or ""))
    return running


def note_foreign(app: App, text: str) -> None:
    """Note in `default` that a client spoke something else than HTTP/1.1, which no sandbox received."""
    live = app.sandboxes.default
    live.events.note(Action("not_http", live.clock.now(), text))


def _store(flags: ServerFlags, running: "Callable[[], Running]") -> "DataFolder | Cluster | None":
    """Return the open folder or database that sandboxes are to be kept in, if any."""
    if flags.data_dir is None and flags.store is None:
        return None
    if flags.data_dir is not None and flags.store is not None:
        raise CannotStart("--data-dir and --store exclude each other")
    from simulator.persistence.data_folder import DataFolder
    from simulator.persistence.errors import StoreError
    from simulator.persistence.store import Durability

    def on_failure(error: StoreError) -> None:
        print_server_note(f"{error}; the server stops, and all that was answered is kept")
        running().failures.append(str(error))
        running().server.should_exit = True

    try:
        durability: Durability = "power" if flags.durability == "power" else "process"
        if flags.data_dir is not None:
            return DataFolder(flags.data_dir, durability, on_failure, print_server_note)
        return _cluster(flags, durability, on_failure)
    except StoreError as error:
        raise CannotStart(error) from None


def _cluster(flags: ServerFlags, durability: "Durability", on_failure: "Callable[[StoreError], None]") -> "Cluster":
    """Return the part of this server in a cluster. Raises `StoreError`."""
    if flags.tls_cert is not None:
        raise CannotStart("the servers of --store ask each other by http: TLS is for their proxy, not for --tls-cert")
    try:
        from simulator.postgres.cluster import Cluster
    except ImportError as error:
        if error.name not in ("psycopg", "psycopg_pool"):
            raise
        raise CannotStart("--store needs psycopg: pip install 'reseller-sim[postgres]'") from None
    times = {"lease_s": flags.lease, "grace_s": flags.store_grace}
    return Cluster(str(flags.store), durability, on_failure, print_server_note, **times)


def _rebuild(server: Server, app: App, folder: "DataFolder | Cluster", *, follows_scenario: bool) -> None:
    """Keep in the folder, once all that is in it was rebuilt, which may take long: meanwhile probes are answered."""
    from simulator.persistence.errors import StoreError
    from simulator.persistence.restoration import CannotResume

    app.operations.not_ready = REBUILDING
    server.answer_early(early_answers(app.operations, app.options.root_path))
    try:
        folder.keep(app, follows=app.options.scenario if follows_scenario else "")
    except BaseException as error:
        server.close()
        if isinstance(error, CannotResume | StoreError):
            raise CannotStart(error) from None
        raise
    if DEFAULT in folder.sandboxes and (line := ignored_flags(app, folder.path, follows_scenario=follows_scenario)):
        print_server_note(line)
    app.operations.not_ready = STARTING


def _stopping(app: App, on_stop: Callable[[], object]) -> None:
    gc.disable()  # what it would free goes with the process
    app.operations.not_ready = STOPPING
    on_stop()
    app.sandboxes.end_waits()


def options_of(flags: ServerFlags) -> Options:
    """Return the options of the application that these flags ask for."""
    hosts = flags.allow_host if flags.host in WILDCARDS else (*flags.allow_host, flags.host)
    mode, rate = flags.clock or (None, None)
    return Options(
        scenario=flags.scenario,
        mode=mode,
        rate=rate,
        start=flags.start,
        seed=flags.seed,
        control_token=_control_token(flags),
        allowed_hosts=hosts,
        public_callbacks_only=(flags.callbacks or _default_callbacks(flags)) == "public",
        callbacks_ca=flags.callbacks_ca,
        trust_forwarded=flags.trust_forwarded,
        sandbox_ttl_s=flags.sandbox_ttl,
        scenarios=flags.scenarios,
        callback=flags.callback,
        trusted_forwarders=flags.trusted_forwarders or (),
        root_path=flags.root_path or "",
        quotas=(flags.quota_transactions, flags.quota_bytes, flags.quota_rate),
        is_tls=flags.tls_cert is not None,
        tapes_bytes_max=None if flags.tape_budget is None else flags.tape_budget * MIB,
    )


def of_one_command(flags: ServerFlags) -> ServerFlags:
    """Return the flags of a server for a single command. Its generated token does not change the default of
    `--callbacks`."""
    without = flags._replace(control_token=None, control_token_file=None, control_tokens=None)
    return flags._replace(callbacks=flags.callbacks or _default_callbacks(without))


def _default_callbacks(flags: ServerFlags) -> str:
    """Return the default of `--callbacks`: `public` for a shared server, which must not call addresses of its own
    network."""
    return "public" if flags.control_tokens is not None or _control_token(flags) is not None else "any"


def _control_token(flags: ServerFlags) -> str | None:
    """Return the configured token. Without any, generate a token if the server is reachable from other machines."""
    given = flags.control_token if flags.control_token_file is None else flags.control_token_file.token
    return given if given or flags.control_tokens is not None else token_for(flags.host)


def token_for(host: str) -> str | None:
    """Return a new control token; None for a loopback address, which is reachable only from this machine."""
    try:
        is_loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    return None if is_loopback else secrets.token_urlsafe(24)


def ignored_flags(app: App, folder: object, *, follows_scenario: bool) -> str:
    """Return a line about the flags that differ from the existing sandbox; empty if all agree. If the sandbox follows
    its scenario, `--callback` is part of it."""
    options, live = app.options, app.sandboxes.get(DEFAULT)
    state, resellers = live.core.state, live.spec.scenario.resellers
    of_others = {
        "--seed": options.seed not in (None, state.seed),
        "--clock": options.mode is not None
        and (options.mode, effective_rate(options.mode, options.rate or 1.0)) != (live.clock.mode, live.clock.rate),
        "--start": options.start not in (None, live.beginning.started),
        "--callback": not follows_scenario
        and options.callback is not None
        and any(one.callback.url != options.callback for one in resellers),
    }
    flags = [flag for flag, is_of_another in of_others.items() if is_of_another]
    own = "its own" if len(flags) == 1 else "its own of each"
    return f"{', '.join(flags)}: ignored, since {folder} has the sandbox {DEFAULT} already, with {own}" if flags else ""
