"""`reseller-sim serve` and `health`: the simulator in the foreground, and whether one answers."""

import gc
import re
import signal
import sys
from collections.abc import Iterable
from os import environ
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from simulator.cli import values
from simulator.cli.control import NOT_READY, Control
from simulator.cli.flags import json_flag, option, own_option, running_flags
from simulator.cli.output import echo_value, give_up, print_line, print_to_stderr
from simulator.cli.process import end_with_stdin, exit_quietly_when_stopped, raise_file_limit
from simulator.cli.server_flags import ServerFlags, server_flags, shared_server_flags
from simulator.cli.usage import VARIABLES, CannotStart, Refused, notify, verb
from simulator.cli.values import Span

if TYPE_CHECKING:
    from simulator.cli.event_writer import EventWriter


# Kubernetes sets such variables for each Service, which may be named `reseller-sim`.
_OF_SERVICES: Final = re.compile(r"(\w+_)?(SERVICE_(HOST|PORT\w*)|PORT(_\d+_\w+)?)")
PAUSE_S = 0.05
HEALTH, READY = "/health", "/ready"


@verb("serve")
@server_flags()
@shared_server_flags
@option("--watch", is_flag=True, help="Reload the scenario when its file, or a file that it extends, is saved.")
@option("--until-stdin-ends", is_flag=True, help="Stop when stdin ends, for example because the parent program ended.")
@option(
    "--data-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Store the sandboxes in this folder, and restore them at the start.",
)
@option(
    "--durability",
    type=click.Choice(["process", "power"]),
    default="process",
    help="process: keep all data if the process is killed. power: also after a power cut.",
)
@option(
    "--store",
    metavar="URL",
    help="Keep the sandboxes in PostgreSQL, and share them with other servers: postgresql://USER@HOST/DATABASE.",
)
@option(
    "--lease",
    type=Span(1, 600),
    default="15s",
    help="With --store: if this server does not renew its lease for this long, another takes its sandboxes over.",
)
@option(
    "--store-grace",
    type=Span(0, 24 * 3600),
    default="60s",
    help="With --store: how long /_sim shows the state in memory while PostgreSQL does not answer.",
)
@option(
    "--advertise",
    metavar="URL",
    parse=values.server_address,
    help="With --store: the address at which other servers reach this server.  [default: the address that reaches "
    "PostgreSQL]",
)
@option(
    "--drain",
    type=Span(0, 3600),
    default=0.0,
    show_default=False,
    help="After SIGTERM or Ctrl-C, keep answering for this long, while /_sim/ready reports 503; a second signal stops "
    "the server at once.",
)
@json_flag(help="Print a line of JSON when the server is ready; the lines of --log go to stderr.")
@option("--quiet", is_flag=True, help="Do not print the lines for requests, statuses, callbacks and webhooks.")
@option(
    "--log",
    type=click.Choice(["text", "json"]),
    help="The form of the lines for requests, statuses, callbacks and webhooks.  [default: text; off with --json]",
)
@click.pass_context
def serve_command(
    ctx: click.Context, /, json: bool, watch: bool, quiet: bool, log: str | None, until_stdin_ends: bool, **flags: Any
) -> int:
    """Run the simulator.

    SCENARIO is a file or the name of a bundled scenario, by default `default`. When the server is ready, it prints its
    address, its test credentials and a signed request that you can paste. Then it prints a line for each request,
    status, callback and webhook when it happens. Ctrl-C or SIGTERM stops the server, with exit code 0.

    \b
    Examples:
      reseller-sim serve
      reseller-sim serve mine.yaml --port 9000 --clock manual --start 2027-01-10T23:59:00+08:00
      reseller-sim serve mine.yaml --watch
      reseller-sim serve mine.yaml --data-dir data
      reseller-sim serve --store postgresql://sim@db.example.com/sim
      reseller-sim serve --port 0 --json > ready.json
      reseller-sim serve --quiet
      reseller-sim serve --log json | jq 'select(.kind == "callback")'
      reseller-sim serve --host 0.0.0.0 --allow-host simulator
      reseller-sim serve --tls-cert cert.pem --tls-key key.pem --control-tokens tokens
    """
    exit_quietly_when_stopped()
    if until_stdin_ends:
        end_with_stdin()
    gc.disable()  # objects created at start-up stay: scanning them repeatedly would take a tenth of the time
    from simulator.cli import banner
    from simulator.cli.process import log_as_json
    from simulator.cli.server import Running, prepare
    from simulator.cli.server_files import reads_again, reload_on_hangup
    from simulator.runtime.scenario_watch import ScenarioWatch

    if log == "json":
        log_as_json()
    raise_file_limit()
    if unknown := unknown_variables(ctx.command, environ):
        notify(unknown)
    names_scenario = ctx.get_parameter_source("scenario") is not ParameterSource.DEFAULT
    wanted = ServerFlags(**flags, names_scenario=names_scenario)
    unwritable: list[OSError] = []
    showing: list[EventWriter] = []

    def on_ready(running: Running) -> None:
        is_drawn = wanted.control_token is None and wanted.control_token_file is None
        try:
            if json:
                click.echo(banner.json_line(running))
            elif log == "json":
                click.echo(banner.log_line(running, shows_token=is_drawn))
            else:
                click.echo(banner.page(running))
        except OSError as error:  # without the first line no user would learn the URL
            unwritable.append(error)
            running.server.should_exit = True
            give_up(sys.stdout)
        if files is not None:
            files.start()
        if not (quiet or unwritable or (json and log is None)):
            from simulator.cli.event_writer import (
                EventWriter,  # imports the renderer of events, which only these lines need
            )

            stream = sys.stderr if json else sys.stdout  # whose only text is then the first line, for programs
            gate = running.folder.gate if running.folder is not None else None
            showing.append(EventWriter(running.app.sandboxes, stream, as_json=log == "json", gate=gate))

    def on_stop() -> None:
        for each in showing:
            each.end()

    files = None
    if watch:
        files = ScenarioWatch(
            wanted.scenario,
            lambda scenario: running.app.load(scenario),
            lambda lines: print_to_stderr("\n".join(lines)),
        )
    if reads_again(wanted):
        signal.signal(signal.SIGHUP, lambda *_: None)  # SIGHUP before the server is ready has no effect
    running = prepare(wanted, on_ready, on_stop)
    reload_on_hangup(wanted, running.app, running.server)
    running.server.run()
    if unwritable:
        raise CannotStart(f"stdout cannot be written: {unwritable[0].strerror}")
    return 3 if running.failures else 0


def unknown_variables(command: click.Command, names: Iterable[str]) -> str:
    """Return a line about the names that neither `command` nor another verb reads; empty if all are known."""
    own = {f"{VARIABLES}_{parameter.name}".upper() for parameter in command.params}
    given = {name for name in names if name.startswith(f"{VARIABLES}_") and name.isascii() and name.isprintable()}
    unknown = {name for name in given - own if not _OF_SERVICES.fullmatch(name.removeprefix(f"{VARIABLES}_"))}
    if unknown:  # which imports the modules of all verbs
        from simulator.cli.main import cli

        unknown -= _variables_of(cli)
    return f"unknown environment variables, ignored: {', '.join(sorted(unknown))}"[:300] if unknown else ""


def _variables_of(command: click.Command) -> set[str]:
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        below = (command.get_command(ctx, name) for name in command.list_commands(ctx))
        return set().union(*(_variables_of(each) for each in below if each is not None))
    found: set[str] = set()
    for flag in command.params:
        if isinstance(flag, click.Option) and flag.allow_from_autoenv:
            found.add(f"{VARIABLES}_{flag.name}".upper())
        found.update([flag.envvar] if isinstance(flag.envvar, str) else flag.envvar or ())
    return found


@verb("health")
@own_option(
    "--wait",
    "wait_s",
    type=Span(0, 3600),
    default=0.0,
    show_default=False,
    help="Retry for this long until a simulator answers.",
)
@own_option("--ready", is_flag=True, help="Print whether requests may be sent, or the reason why not.")
@option("--tls-cert", metavar="FILE", help="The simulator's own certificate, for any host name.")
@running_flags
@json_flag(help="Print the answer of the control API.")
def health_command(wait_s: float, ready: bool, tls_cert: str | None, json: bool, **running: Any) -> None:
    """Check whether a simulator answers.

    Needs no token: use it as a container's health check, or to wait in a script until a simulator has started. Exit
    code 3 means that no simulator answers. With --ready, exit code 1 means that it is starting or stopping. For a
    server with TLS on the same machine, pass its certificate with --tls-cert; the certificate need not be valid for
    127.0.0.1.

    \b
    Examples:
      reseller-sim health
      reseller-sim health --url http://simulator:8080
      reseller-sim health --wait 30s
      reseller-sim health --ready --wait 30s
      reseller-sim health --url https://127.0.0.1:8443 --tls-cert cert.pem
    """
    control = Control(certificate=tls_cert, **running)
    answer = _asked(control, READY if ready else HEALTH, monotonic() + wait_s)
    if json:
        echo_value(answer)
    else:
        does = "is ready" if ready else "answers"
        print_line(f"reseller-sim {answer['version']} {does} at {control.base}")


def _asked(control: Control, path: str, until: float) -> Any:
    """Return the answer. Raises the last error at this time of the monotonic clock."""
    while True:
        try:
            return control.ask("GET", path, is_root=True)
        except (CannotStart, Refused) as no:
            if monotonic() >= until or (isinstance(no, Refused) and no.code not in NOT_READY):
                raise
        sleep(PAUSE_S)
