"""`reseller-sim serve` and `health`: the simulator in the foreground, and whether one answers."""

import gc
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from os import environ
from time import monotonic, sleep
from typing import Any, Final

import click

from reseller_sim.exchange import Trust
from simulator.cli.control import NOT_READY, Control
from simulator.cli.flags import asking_flags, json_flag, option, own_option
from simulator.cli.output import echo_value, print_line, print_to_stderr
from simulator.cli.process import end_with_stdin, exit_quietly_when_stopped, raise_file_limit, use_log_format
from simulator.cli.server_flags import ServerFlags, names_scenario, server_flags, team_flags
from simulator.cli.usage import VARIABLES, BadResult, CannotStart, notify, verb
from simulator.cli.values import Span
from simulator.cli.verbs import VERBS

# Kubernetes sets such variables for each Service, which may be named `reseller-sim`.
_OF_SERVICES: Final = re.compile(r"(\w+_)?(SERVICE_(HOST|PORT\w*)|PORT(_\d+_\w+)?)")
PAUSE_S = 0.05


@verb("serve", "mine.yaml --watch --clock manual", "--host 0.0.0.0 --allow-host simulator --data-dir data")
@server_flags()
@team_flags(option)
@option("--watch", is_flag=True, help="Reload the scenario when its file, or a file that it extends, is saved.")
@option("--until-stdin-ends", is_flag=True, help="Stop when stdin ends, for example because the parent program ended.")
@option(
    "--drain",
    type=Span(0, 3600),
    default="0s",
    help="After SIGTERM or Ctrl-C, answer for this long, while /_sim/ready reports 503; a second signal ends it.",
)
@json_flag(help="Print a line of JSON when the server is ready; the lines of --log go to stderr.")
@option("--quiet", is_flag=True, help="Do not print the lines for requests, statuses, callbacks and webhooks.")
@option("--log", type=click.Choice(["text", "json"]), help="The form of these lines.  [default: text; off with --json]")
@click.pass_context
def serve_command(
    ctx: click.Context, /, json: bool, watch: bool, quiet: bool, log: str | None, until_stdin_ends: bool, **flags: Any
) -> int:
    """SCENARIO is a file or the name of a bundled scenario, by default `default`. When the server is ready, it prints
    its address, its test credentials and a signed request that you can paste. Then it prints a line for each request,
    status, callback and webhook when it happens. Ctrl-C or SIGTERM stops the server, with exit code 0. SIGHUP reloads
    the certificate, its key, and the files of tokens.
    """
    exit_quietly_when_stopped()
    if until_stdin_ends:
        end_with_stdin()
    gc.disable()  # objects created at start-up stay: scanning them repeatedly would take a tenth of the time
    from simulator.cli import banner
    from simulator.cli.server import BoundServer, prepare
    from simulator.runtime.scenario_watch import ScenarioWatch

    use_log_format(is_json=log == "json")
    raise_file_limit()
    if unknown := unknown_variables(ctx.command, environ):
        notify(unknown)
    wanted = ServerFlags(**flags, names_scenario=names_scenario(ctx))
    at_end = ExitStack()

    def on_ready(running: BoundServer) -> None:
        is_drawn = wanted.control_token is None and wanted.control_token_file is None
        shown = banner.json_line(running) if json else banner.page(running)
        if log == "json" and not json:
            shown = banner.log_line(running, shows_token=is_drawn)
        if not running.announce(shown):
            return
        if files is not None:
            files.start()
        if not quiet and (log is not None or not json):
            from simulator.cli.event_writer import EventWriter  # imports the renderer of events for these lines alone

            stream = sys.stderr if json else sys.stdout  # whose only text is then the first line, for programs
            gate = running.folder.gate if running.folder is not None else None
            at_end.callback(EventWriter(running.app.sandboxes, stream, as_json=log == "json", gate=gate).end)

    files = None
    if watch:
        files = ScenarioWatch(
            wanted.scenario,
            lambda scenario: running.app.load(scenario),
            lambda lines: print_to_stderr("\n".join(lines)),
        )
    if wanted.tls_cert or wanted.control_tokens or wanted.control_token_file:
        signal.signal(signal.SIGHUP, lambda *_: None)  # SIGHUP before the server is ready has no effect
    running = prepare(wanted, on_ready, at_end.close)
    running.server.run()
    return 3 if running.failures else 0


def unknown_variables(command: click.Command, names: Iterable[str]) -> str:
    """Return a line about the names that neither `command` nor another verb reads; empty if all are known."""
    given = {name for name in names if name.startswith(f"{VARIABLES}_") and name.isascii() and name.isprintable()}
    of_services = {name for name in given if _OF_SERVICES.fullmatch(name.removeprefix(f"{VARIABLES}_"))}
    unknown = given - of_services - set(_variables_of(command))
    if unknown:  # which imports the modules of all verbs
        from simulator.cli.main import cli

        verbs = (cli.get_command(click.Context(cli), name) for name in VERBS)
        unknown -= {variable for verb in verbs if verb is not None for variable in _variables_of(verb)}
    return f"unknown environment variables, ignored: {', '.join(sorted(unknown))}"[:300] if unknown else ""


def _variables_of(command: click.Command) -> Iterator[str]:
    for flag in command.params:
        if isinstance(flag.envvar, str):
            yield flag.envvar
        elif flag.envvar:
            yield from flag.envvar
        elif isinstance(flag, click.Option) and flag.allow_from_autoenv:
            yield f"{VARIABLES}_{flag.name}".upper()


@verb("health", "--ready --wait 30s", "--url https://127.0.0.1:8443 --tls-cert cert.pem")
@own_option("--wait", "wait_s", type=Span(0, 3600), default="0s", help="Retry for this long until a simulator answers.")
@own_option("--ready", is_flag=True, help="Print whether requests may be sent, or the reason why not.")
@option("--tls-cert", metavar="FILE", help="The simulator's own certificate, for any host name.")
@asking_flags
def health_command(control: Control, wait_s: float, ready: bool, tls_cert: str | None, json: bool) -> None:
    """Needs no token: use it as a container's health check, or to wait in a script until a simulator has started. Exit
    code 3 means that no simulator answers; with --ready, exit code 1 means that it is starting or stopping.
    """
    control.client.trust = Trust(tls_cert, is_only=True) if tls_cert else None
    until = monotonic() + wait_s
    while True:
        try:
            answer = control.ask("GET", "/ready" if ready else "/health", is_root=True)
            break
        except (CannotStart, BadResult) as no:
            if monotonic() >= until or (isinstance(no, BadResult) and no.code not in NOT_READY):
                raise
        sleep(PAUSE_S)
    if json:
        echo_value(answer)
    else:
        does = "is ready" if ready else "answers"
        print_line(f"reseller-sim {answer['version']} {does} at {control.base}")
