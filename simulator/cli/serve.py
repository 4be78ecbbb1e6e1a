"""`reseller-sim serve`: the simulator in the foreground, until it is stopped."""

import gc
import signal
import sys
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from simulator.cli.flags import CannotStart, ServerFlags, json_flag, option, server_flags, shared_server_flags, verb
from simulator.cli.output import give_up, print_to_stderr
from simulator.cli.process import end_with_stdin, exit_quietly_when_stopped, raise_file_limit
from simulator.cli.spans import Span

if TYPE_CHECKING:
    from simulator.cli.showing import Showing

DRAIN_MAX_S = 3600.0


@verb("serve")
@server_flags()
@shared_server_flags
@option("--watch", is_flag=True, help="Reload the scenario whenever its file, or one that it extends, is saved.")
@option(
    "--until-stdin-ends", is_flag=True, help="Stop when stdin ends, as it does when the program that started it ends."
)
@option(
    "--data-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the sandboxes in this folder, and go on with those that are in it.",
)
@option(
    "--durability",
    type=click.Choice(["process", "power"]),
    default="process",
    show_default=True,
    help="What is kept survives a killed process, or a power cut as well.",
)
@option(
    "--drain",
    metavar="DURATION",
    type=Span(0, DRAIN_MAX_S),
    default=0.0,
    help="On SIGTERM or Ctrl-C, answer for so long still, but not to /_sim/ready; a second one stops at once.",
)
@option(
    "--shards",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The list of the servers that share the sandboxes, as `shard-config` takes it.",
)
@option("--shard", metavar="NAME", help="Which of these servers this one is.")
@json_flag(help="Print one line of JSON when it is ready, and nothing else but what --log asks for, on stderr.")
@option("--quiet", is_flag=True, help="Print no line for each request, status, callback and webhook.")
@option(
    "--log",
    type=click.Choice(["text", "json"]),
    help="How these lines are written.  [default: text; with --json there are none]",
)
@click.pass_context
def command(
    ctx: click.Context, /, json: bool, watch: bool, quiet: bool, log: str | None, until_stdin_ends: bool, **flags: Any
) -> int:
    """Run the simulator.

    SCENARIO is a file or the name of a bundled scenario, by default `default`. When it is ready it prints its
    address, its test credentials and a signed request to paste, then a line for each request, status, callback and
    webhook as it happens. Ctrl-C or SIGTERM stops it, with exit code 0.

    \b
    Examples:
      reseller-sim serve
      reseller-sim serve mine.yaml --port 9000 --clock manual --start 2027-01-10T23:59:00+08:00
      reseller-sim serve mine.yaml --watch
      reseller-sim serve mine.yaml --data-dir data
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
    from simulator.cli.logs import log_as_json
    from simulator.cli.running import Running, prepare
    from simulator.cli.staging import let_reload, reads_again
    from simulator.cli.unknown_variables import unknown_variables
    from simulator.runtime.watch import ScenarioWatch

    if log == "json":
        log_as_json()
    raise_file_limit()
    if unknown := unknown_variables(ctx.command, environ):
        _print_lines([f"reseller-sim {ctx.command.name}: {unknown}"])
    unwritable: list[OSError] = []
    showing: list[Showing] = []

    def first_line(running: Running) -> str:
        if not json and log == "json":
            is_drawn = wanted.control_token is None and wanted.control_token_file is None
            return banner.log_line(running, shows_token=is_drawn)
        return banner.json_line(running) if json else banner.page(running)

    def on_ready(running: Running) -> None:
        try:
            click.echo(first_line(running))
        except OSError as error:  # nobody would learn its URL
            unwritable.append(error)
            running.server.should_exit = True
            give_up(sys.stdout)
        if files is not None:
            files.start()
        if not (quiet or unwritable or (json and log is None)):
            from simulator.cli.showing import Showing  # with what renders events, for those that want lines

            stream = sys.stderr if json else sys.stdout  # whose first line alone is for programs then
            gate = running.folder.gate if running.folder is not None else None
            showing.append(Showing(running.app.sandboxes, stream, as_json=log == "json", gate=gate))

    def on_stop() -> None:
        for each in showing:
            each.end()

    files = (
        ScenarioWatch(flags["scenario"], lambda scenario: running.app.load(scenario), _print_lines) if watch else None
    )
    names_scenario = ctx.get_parameter_source("scenario") is not ParameterSource.DEFAULT
    wanted = ServerFlags(**flags, names_scenario=names_scenario)
    if reads_again(wanted):
        signal.signal(signal.SIGHUP, lambda *_: None)  # one that comes before it is ready has nothing to do
    running = prepare(wanted, on_ready, on_stop)
    let_reload(wanted, running.app, running.server)
    running.server.run()
    if unwritable:
        raise CannotStart(f"reseller-sim serve: stdout cannot be written: {unwritable[0].strerror}")
    return 3 if running.failures else 0


def _print_lines(lines: list[str]) -> None:
    print_to_stderr("\n".join(lines))  # one that cannot be written is no reason to stop serving
