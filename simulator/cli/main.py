"""The command `reseller-sim`: its verbs, imported when they are called, and its exit codes."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from simulator import __version__
from simulator.cli.output import give_up, open_what_is_closed, print_to_stderr
from simulator.cli.usage import PROGRAM, text_of
from simulator.cli.verbs import GROUPS, VERBS

INTERRUPTED = 130
UNWRITABLE = 3


class Verbs(click.Group):
    """Finds a verb in its module; prints errors as one line on stderr."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of `VERBS`."""
        return list(VERBS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown verb with a suggestion."""
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from simulator.domain.model.likeness import nearest  # only here: help stays fast

            likely = nearest(args[0], VERBS)
            hint = f" (did you mean {likely!r}?)" if likely else ""
            raise click.UsageError(f"there is no verb {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb; None for an unknown name."""
        if cmd_name not in VERBS:
            return None
        module = import_module(f"simulator.cli.{VERBS[cmd_name].module}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs in groups, without importing them."""
        width = max(map(len, VERBS))
        for group in GROUPS:
            with formatter.section(group):
                formatter.write_dl(
                    [(f"{name:<{width}}", verb.help) for name, verb in VERBS.items() if verb.group == group]
                )

    def main(  # type: ignore[override]  # the overloads of click differ only in the result by standalone_mode
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit. The exit code is the verb's return value, 0 for None."""
        program = prog_name or PROGRAM
        try:
            code: int = super().main(args, program, **extra | {"standalone_mode": False}) or 0
            sys.stdout.flush()  # detects a full disk while it can still be reported
        except click.exceptions.NoArgsIsHelpError as missing:
            missing.show()
            code = missing.exit_code
        except click.UsageError as wrong:
            path = wrong.ctx.command_path if wrong.ctx else program
            _blame(f"{path}: {text_of(wrong)} (see {path} --help)")
            code = wrong.exit_code
        except click.ClickException as refused:
            _blame(refused.format_message())
            code = refused.exit_code
        except click.Abort:
            code = INTERRUPTED
        except OSError as error:  # verbs report the errors that they expect themselves
            give_up(sys.stdout)
            print_to_stderr(f"{program}: {error.filename or 'stdout cannot be written'}: {error.strerror or error}")
            code = UNWRITABLE
        sys.exit(code)


def _blame(text: str) -> None:
    """Print an error, which may repeat an address that was given, without the address's credentials."""
    from simulator.redaction import redact_urls

    print_to_stderr(redact_urls(text))


@click.command(
    cls=Verbs,
    options_metavar="",
    subcommand_metavar="VERB [OPTIONS]",
    epilog="If the help of a flag names an environment variable, the variable can set the flag, such as "
    "RESELLER_SIM_PORT for --port. Exit codes: 0 success, 1 a negative result, 2 wrong usage, 3 could not start.",
)
@click.version_option(__version__, "--version", "-V", prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli() -> None:
    """Simulate the reseller payments API: move its time, script its failures, and see why each thing happened.

    \b
    reseller-sim serve                               start a simulator on port 8080
    reseller-sim call GET /v2/balance                send a signed request to the simulator
    reseller-sim exec -- npm test                    run tests against a simulator of their own
    reseller-sim VERB --help                         print the help of a verb
    """


def main() -> NoReturn:
    """The entry point."""
    open_what_is_closed()
    cli.main(prog_name=PROGRAM)
