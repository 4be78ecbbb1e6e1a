"""A server from the flags of `serve` or `exec`: built, bound, described once it answers, and its files reloaded."""

import asyncio
import gc
import os
import ssl
import stat
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from simulator.app import App, build_app
from simulator.cli.certificates import context_of, expiry_of
from simulator.cli.early_probes import EarlyAnswers
from simulator.cli.output import give_up
from simulator.cli.process import hide_secrets, print_server_note, tune_gc
from simulator.cli.server_flags import MIB, ServerFlags, options_of
from simulator.cli.usage import CannotStart, wrong_usage
from simulator.cli.values import WILDCARDS, token_of
from simulator.control import render
from simulator.control.access import parsed_tokens
from simulator.control.metrics import early_answers
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.persistence.errors import StoreError
from simulator.runtime.background import in_background
from simulator.runtime.clock import effective_rate
from simulator.runtime.events import Action
from simulator.runtime.operations import DRAINING, REBUILDING, STARTING, STOPPING
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.reading.nodes import ScenarioError
from simulator.server.serve import CannotListen, Server, host_for_clients, make_server
from simulator.server.transports import TlsSettings
from simulator.whole_files import content_of

if TYPE_CHECKING:
    from simulator.persistence.data_folder import DataFolder
    from simulator.postgres.cluster import Cluster

    Store = DataFolder | Cluster


KEPT = "the server stops; everything that it answered is stored"


class BoundServer(msgspec.Struct, frozen=True):
    """A server that is bound to its port; `server.run()` starts it."""

    server: Server
    app: App
    folder: "Store | None" = None
    failures: list[str] = msgspec.field(default_factory=list)
    certificate: str = ""  # the file that it speaks TLS with; also what a client may trust

    @property
    def url(self) -> str:
        """Return the URL for clients on this machine."""
        return self.server.url

    @property
    def control_token(self) -> str | None:
        """Return the control API's token; None when it is open."""
        return self.app.options.control_token

    def announce(self, text: str) -> bool:
        """Print the first lines. If they cannot be written, no user would learn the URL: stop, and return False."""
        try:
            click.echo(text)
        except OSError as error:
            give_up(sys.stdout)
            self.fail(f"stdout cannot be written: {error.strerror}")
            return False
        return True

    def fail(self, text: str) -> None:
        """Report a failure, and stop."""
        print_server_note(text)
        self.failures.append(text)
        self.server.should_exit = True

    def resellers(self) -> list[dict[str, Any]]:
        """Return the default sandbox's resellers, as the control API shows them."""
        return [render.reseller(reseller) for reseller in self.app.sandboxes.default.core.state.resellers.values()]


def prepare(
    flags: ServerFlags,
    on_ready: Callable[[BoundServer], None],
    on_stop: Callable[[], object] = lambda: None,
    *,
    keeps_coverage: bool = False,
    scenario: Scenario | None = None,
) -> BoundServer:
    """Load the scenario, unless a scenario is given, and bind the port; `on_ready` is called once the server answers,
    `on_stop` when it is about to stop. Raises `CannotStart`."""

    def ready() -> None:
        tune_gc()
        on_ready(running)

    def stop() -> None:
        gc.disable()  # what it would free goes with the process
        app.operations.not_ready = STOPPING
        on_stop()
        app.sandboxes.end_waits()

    try:
        folder = _store(flags, lambda error: running.fail(f"{error}; {KEPT}"))
        options = options_of(flags)._replace(keeps_coverage=keeps_coverage)
        app = build_app(options, scenario=scenario, wrap_sender=None if folder is None else folder.gated)
        if flags.control_token_file is not None:
            _warn_of_readers(flags.control_token_file.path)
        app.use_tokens(options.control_token, _secrets(flags.control_tokens, parsed_tokens) or ())
        server = make_server(
            app,
            flags.host,
            flags.port,
            on_ready=ready,
            on_stop=stop,
            on_notice=lambda text: note_foreign(app, text),
            gate=None if folder is None else folder.gate.is_open,
            tls=_tls(flags),
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
    budget = app.sandboxes.surroundings.tape_budget
    used = f"the tape budget is used up (--tape-budget, {budget.bytes_max / MIB:g} MiB): new requests are not recorded"
    budget.on_passed = lambda: print_server_note(f"{used}; reset or delete sandboxes to free space")
    running = BoundServer(server, app, folder, certificate=str(flags.tls_cert or ""))
    _reload_on_hangup(flags, running)
    return running


def note_foreign(app: App, text: str) -> None:
    """Note in `default` that a client spoke something else than HTTP/1.1, which no sandbox received."""
    live = app.sandboxes.default
    live.events.note(Action("not_http", live.clock.now(), text))


def _store(flags: ServerFlags, on_failure: Callable[[StoreError], None]) -> "Store | None":
    """Return the open folder or database that sandboxes are to be kept in, if any."""
    if flags.data_dir is None and flags.store is None:
        return None
    if flags.data_dir is not None and flags.store is not None:
        raise CannotStart("--data-dir and --store exclude each other")
    if flags.store is not None and flags.tls_cert is not None:
        raise CannotStart("servers with --store call each other by http: use TLS at their proxy instead of --tls-cert")
    try:
        if flags.data_dir is not None:
            from simulator.persistence.data_folder import DataFolder

            return DataFolder(flags.data_dir, flags.durability, on_failure, print_server_note)
        from simulator.postgres.cluster import Cluster

        times = {"lease_s": flags.lease, "grace_s": flags.store_grace}
        return Cluster(str(flags.store), flags.durability, on_failure, print_server_note, **times)
    except StoreError as error:
        raise CannotStart(error) from None
    except ImportError as error:
        if error.name not in ("psycopg", "psycopg_pool"):
            raise
        raise CannotStart("--store needs psycopg: pip install 'reseller-sim[postgres]'") from None


def _rebuild(server: Server, app: App, folder: "Store", *, follows_scenario: bool) -> None:
    """Keep in the folder, once all that is in it was rebuilt, which may take long: meanwhile probes are answered."""
    from simulator.persistence.restoration import CannotResume

    app.operations.not_ready = REBUILDING
    if server.tls is None:  # within TLS even probes wait until the application has started
        probes = early_answers(app.operations, app.options.root_path)
        server.take_accepted = EarlyAnswers(server.listener, probes).end
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
        and any(reseller.callback.url != options.callback for reseller in resellers),
    }
    flags = [flag for flag, is_of_another in of_others.items() if is_of_another]
    return f"{', '.join(flags)}: ignored, since {folder} has the sandbox {DEFAULT} already" if flags else ""


def _reload_on_hangup(flags: ServerFlags, running: BoundServer) -> None:
    """Reload the server's files on SIGHUP, if it has any, outside the event loop. An invalid file changes nothing.
    Raises `CannotStart`."""
    if flags.tls_cert is not None:
        _look_at_times(flags.tls_cert, running.app)
    files, lock, reloads = list(_files(flags, running)), asyncio.Lock(), set[asyncio.Task[None]]()

    async def reload() -> None:
        async with lock:
            for name, read, use in files:
                try:
                    use(await in_background(read))
                    print_server_note(f"SIGHUP: {name} is reloaded")
                except CannotStart as wrong:
                    print_server_note(f"SIGHUP: {wrong.text}; {name} is unchanged")

    def on_hangup() -> None:
        task = asyncio.get_running_loop().create_task(reload())
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    if files:  # otherwise SIGHUP ends the server, as it ends any program
        running.server.on_hangup = on_hangup


def _files(flags: ServerFlags, running: BoundServer) -> Iterator[tuple[str, Callable[[], Any], Callable[[Any], None]]]:
    """Yield the files that SIGHUP reloads: the name, what reads it, and what applies it, in the event loop."""
    app, cert, tls = running.app, flags.tls_cert, running.server.tls
    if cert is not None and tls is not None:

        def use(context: ssl.SSLContext) -> None:
            tls.context = context
            _look_at_times(cert, app)

        yield "the certificate", partial(_context, flags), use
    if flags.control_tokens is not None:
        read = partial(_secrets, flags.control_tokens, parsed_tokens)
        yield "the list of tokens", read, lambda found: app.use_tokens(app.options.control_token, found)
    if flags.control_token_file is not None:
        read_one = partial(_secrets, flags.control_token_file.path, token_of)
        yield "the control token", read_one, lambda found: app.use_tokens(found, app.tokens)


def _tls(flags: ServerFlags) -> TlsSettings | None:
    """Return the settings of TLS, if the flags ask for it. Raises `CannotStart`, and a usage error if the certificate
    or the key is missing."""
    if (flags.tls_cert is None) != (flags.tls_key is None):
        missing = "--tls-key" if flags.tls_key is None else "--tls-cert"
        raise wrong_usage(f"{missing} is missing: give both, or neither")
    return None if flags.tls_cert is None else TlsSettings(_context(flags))


def _context(flags: ServerFlags) -> ssl.SSLContext:
    cert, key = cast("tuple[Path, Path]", (flags.tls_cert, flags.tls_key))
    _warn_of_readers(key)
    return context_of(cert, key)


def _look_at_times(cert: Path, app: App) -> None:
    """Record the certificate's expiry in the metrics, and print a warning if it is over. The server uses it
    nevertheless: some clients ignore the dates, and a test may need an expired certificate."""
    ends = expiry_of(cert)
    app.operations.certificate_ends_s = ends.timestamp()
    if ends <= datetime.now(UTC):
        when = f"the certificate expired on {ends:%Y-%m-%d at %H:%M:%S} UTC"
        print_server_note(f"{cert}: {when}: clients refuse it; replace it and send SIGHUP")


def _secrets(path: str | Path | None, parse: Callable[[bytes], Any]) -> Any:
    """Return what a file of secrets has; None without a file. Raises `CannotStart`."""
    if path is None:
        return None
    _warn_of_readers(path)
    try:
        return parse(content_of(path))
    except ValueError as wrong:  # of the reader or the parser
        raise CannotStart(f"{path}: {wrong}") from None


def _warn_of_readers(path: str | Path) -> None:
    """Say on stderr that others than its owner can read a file with secrets, if they can."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        who = "everybody" if mode & stat.S_IROTH else "its group"
        print_server_note(f"{path}: {who} can read this secret; chmod 600 {path}")
