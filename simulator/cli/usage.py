"""How a verb ends that could not do its work, and what it says of wrong usage."""

from functools import partial
from os import environ
from typing import ClassVar, Final

import click
from click.core import ParameterSource

from simulator.domain.model.likeness import nearest
from simulator.options import DEFAULT_PORT, LOOPBACK


class CannotStart(click.ClickException):
    """The start failed, or there was no answer; exit code 3."""

    exit_code: ClassVar[int] = 3


class Refused(click.ClickException):
    """The answer is no; exit code 1. `code` is that of the control API's error, if it said so."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


SPELT = {"remove": "rm", "delete": "rm", "del": "rm", "create": "new", "make": "new", "add": "new", "ls": "list"}
SWITCHES = {"help": "--help", "version": "--version"}


class Actions(click.Group):
    """A verb with further words; an unknown one gets the word that was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the right word."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            meant = SPELT.get(args[0])
            near = meant if meant in self.commands else nearest(args[0], self.commands)
            hint = f"did you mean {self.name} {near}?" if near else f"choose one of {', '.join(self.commands)}"
            raise click.UsageError(f"there is no verb '{self.name} {args[0]}'; {hint}", ctx)
        return super().resolve_command(ctx, args)


def of_former_output(wrong: click.UsageError) -> str | None:
    """Return the message for a file at `--output`, with what writes to a file; None for other mistakes."""
    param = getattr(wrong, "param", None)
    if param is None or param.name != "output" or wrong.ctx is None:
        return None
    file = "--to FILE" if any(one.name == "to" for one in wrong.ctx.command.params) else "> FILE"
    return f"{wrong.format_message().rstrip('.')}; {file} writes to a file"


def of_unknown_flag(wrong: click.UsageError) -> str | None:
    """What to write instead of a flag that does not exist; None when there is nothing better to say than click does."""
    if not isinstance(wrong, click.NoSuchOption) or wrong.ctx is None:
        return None
    flags = {name for one in wrong.ctx.command.params for name in one.opts}
    if wrong.option_name == "--port" and "--url" in flags:
        return f"there is no --port here: give the simulator's address, such as --url http://{LOOPBACK}:{DEFAULT_PORT}"
    if wrong.option_name in ("--json", "--output") and "--json-report" in flags:
        return f"there is no {wrong.option_name} here: the file of the result is --json-report FILE"
    if wrong.option_name[1:].isdecimal():
        what = "a number or a duration" if wrong.ctx.command.name == "advance" else "a number"
        return f"what begins with {wrong.option_name} is below 0: write {what} above 0"
    near = nearest(wrong.option_name, sorted(flags))
    return f"there is no option {wrong.option_name}" + (f"; did you mean {near}?" if near else "")


INVALID = "Invalid value for "


def text_of(wrong: click.UsageError) -> str:
    """One line; a value that a variable has is said to be the variable's, since nobody wrote the flag."""
    text = of_unknown_flag(wrong) or of_former_output(wrong) or " ".join(wrong.format_message().split())
    variable = _variable(wrong)
    return text.replace(INVALID, f"Invalid value of {variable}, for ", 1) if variable else text


def _variable(wrong: click.UsageError) -> str | None:
    param, ctx = getattr(wrong, "param", None), wrong.ctx
    if not isinstance(param, click.Parameter) or param.name is None or ctx is None:
        return None
    if ctx.get_parameter_source(param.name) is not ParameterSource.ENVIRONMENT:
        return None
    names = [param.envvar] if isinstance(param.envvar, str) else [*(param.envvar or ())]
    return next((name for name in names if environ.get(name)), f"{ctx.auto_envvar_prefix}_{param.name}".upper())


VARIABLES: Final = "RESELLER_SIM"
_SETTINGS: Final = {"auto_envvar_prefix": VARIABLES, "max_content_width": 100}
verb = partial(click.command, context_settings=_SETTINGS)
verb_group = partial(click.group, cls=Actions, context_settings=_SETTINGS)
