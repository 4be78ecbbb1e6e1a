"""The command `reseller-sim`: its verbs, imported lazily, and its exit codes."""

import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from os import environ
from typing import Any, NoReturn

import click

from simulator import __version__
from simulator.cli.complete import VARIABLE
from simulator.cli.hints import SWITCHES
from simulator.cli.output import give_up, open_what_is_closed, print_to_stderr
from simulator.cli.wrong_usage import text_of
from simulator.domain.model.likeness import nearest

PROGRAM = "reseller-sim"
INTERRUPTED = 130
UNWRITABLE = 3

VERBS = {
    "serve": "Run the simulator.",
    "exec": "Run a command against a simulator of its own.",
    "explore": "Find the faults under which a command fails.",
    "tail": "Print what happens in a running simulator, as it happens.",
    "listen": "Pass callbacks and webhooks on to an address of yours.",
    "call": "Send one signed request and print the response.",
    "explain": "Say why a signature or another credential is refused.",
    "sign": "Print a request's canonical string, headers and curl command.",
    "advance": "Move the clock, and print what happened.",
    "clock": "Print the clock, set its mode, or stop an advance.",
    "requests": "Print the requests that a sandbox received.",
    "story": "Print all that happened to a payment.",
    "inbox": "Print what an inbox received, or program its replies.",
    "deposit": "Put money into a wallet.",
    "trigger": "Send a webhook or a callback now.",
    "rule": "Add, list and remove rules.",
    "hold": "List and release what rules hold.",
    "network": "Show, interrupt or restore a product's network.",
    "product": "Take a product on or off sale, or change it.",
    "sandbox": "Make, list and delete sandboxes.",
    "mark": "Name, list and forget moments of a sandbox.",
    "rewind": "Return a sandbox to a moment.",
    "fork": "Make a second sandbox that begins at a moment of another one.",
    "expectations": "Say whether a scenario's expectations are met.",
    "health": "Say whether a simulator answers.",
    "import": "Print a scenario that serves a real account's catalog.",
    "scenarios": "Print bundled scenarios, magic accounts or the JSON Schema.",
    "check": "Report the problems of scenario files.",
    "prove": "Play a finding of explore against a command.",
    "replay": "Rebuild a sandbox from its tape, and say what differs.",
    "data": "Check, move, remove, compact or back up a data folder.",
    "shard-config": "Print the HAProxy that makes several servers one.",
    "audit": "Check a client's behaviour against what the service asks of it.",
    "conform": "Check a deployment of the service against its contract.",
    "proxy": "Pass a client's requests to a deployment, and explain them.",
    "assumptions": "Print what the specification leaves open, and what we chose.",
    "openapi": "Print the contract as one OpenAPI 3.1 document.",
    "completion": "Print what completes this command in a shell.",
}


class Verbs(click.Group):
    """Finds a verb in the module of its name; prints errors as one line on stderr."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of `VERBS`."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb; None for an unknown name."""
        if cmd_name not in VERBS:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        command: click.Command = import_module(f"simulator.cli.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest verb for an unknown name."""
        if args[0] not in VERBS and not args[0].startswith("-"):
            near = SWITCHES.get(args[0]) or nearest(args[0], VERBS)
            hint = f"did you mean {near}?" if near else f"choose one of {', '.join(VERBS)}"
            raise click.UsageError(f"there is no verb {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def main(  # type: ignore[override]  # the overloads of click only tell apart what standalone_mode returns
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit. The exit code is the verb's return value, 0 for None."""
        extra["standalone_mode"] = False
        sys.exit(self._run(args, prog_name or PROGRAM, extra))

    def _run(self, args: Sequence[str] | None, prog_name: str, extra: dict[str, Any]) -> int:
        if VARIABLE in environ:
            import_module("simulator.cli.completion").use_own_classes()
        try:
            code: int = super().main(args, prog_name, **extra) or 0
            if sys.stdout is not None:
                sys.stdout.flush()  # detects a full disk while it can still be reported
            return code
        except click.exceptions.NoArgsIsHelpError as missing:
            missing.show()
            return missing.exit_code
        except click.UsageError as wrong:
            path = wrong.ctx.command_path if wrong.ctx else prog_name
            _blame(f"{path}: {text_of(wrong)} (see {path} --help)")
            return wrong.exit_code
        except click.ClickException as refused:
            _blame(refused.format_message())
            return refused.exit_code
        except click.Abort:
            return INTERRUPTED
        except OSError as error:  # verbs report the errors that they expect themselves
            give_up(sys.stdout)
            print_to_stderr(f"{prog_name}: stdout cannot be written: {error.strerror or error}")
            return UNWRITABLE


def _blame(text: str) -> None:
    """Print an error, which may repeat an address that was given, without the address's credentials."""
    from simulator.redaction import redact_urls

    print_to_stderr(redact_urls(text))


@click.command(
    cls=Verbs,
    options_metavar="",
    subcommand_metavar="VERB [OPTIONS]",
    epilog="An environment variable can set the flags whose help names one: RESELLER_SIM_PORT for --port. "
    "Exit codes: 0 success, 1 a negative result, 2 wrong usage, 3 could not start.",
)
@click.version_option(__version__, "--version", "-V", prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli() -> None:
    """A simulator of the reseller payments API: time that can be moved, failures that can be scripted, an explanation
    for everything that happened.

    \b
    reseller-sim serve                               answer on port 8080
    reseller-sim call GET /v2/balance                send it a signed request
    reseller-sim exec -- npm test                    run tests against a simulator of their own
    reseller-sim VERB --help                         print the help of a verb
    """


def main() -> NoReturn:
    """The entry point."""
    open_what_is_closed()
    cli.main(prog_name=PROGRAM)
