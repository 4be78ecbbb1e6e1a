"""Flags that several verbs share; each can be set by a variable RESELLER_SIM_<FLAG>."""

import os
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from reseller_sim.formats import UTC_VARIABLE
from simulator.cli import completion, values
from simulator.cli.usage import VARIABLES
from simulator.options import DEFAULT_PORT, LOOPBACK

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _option(
    *names: str, parse: Callable[[Any], Any] | None = None, **settings: Any
) -> Callable[[Decorated], Decorated]:
    """Return the decorator of a flag. `parse` turns its text into a value, or raises `ValueError`."""
    if parse is not None:
        settings["callback"] = values.parsed(parse)
    return click.option(*names, **settings)


option = partial(_option, show_envvar=True)
# Without a variable, since a flag of another verb has the same name and a different meaning.
own_option = partial(_option, allow_from_autoenv=False)
# Without a variable, too: each file is about one run.
file_option = partial(own_option, type=click.Path(path_type=Path, dir_okay=False))
TOKEN_VARIABLES = (f"{VARIABLES}_TOKEN", f"{VARIABLES}_CONTROL_TOKEN")
"""The second variable is also the variable of `serve`, so a single variable serves both sides."""


output_flag = option(
    "--output",
    type=click.Choice(["text", "json"], case_sensitive=False),
    default="text",
    help="The form of the output.",
)
"""`--output text|json`, as the keyword `output`."""


def json_flag(*, help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--output text|json` and its short form `--json`, as the keyword `json`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_format(*args: Any, output: str, json: bool, **flags: Any) -> Any:
            # --output of the command line takes precedence.
            is_given = click.get_current_context().get_parameter_source("output") is ParameterSource.COMMANDLINE
            return function(*args, json=output == "json" or (json and not is_given), **flags)

        return option("--json", is_flag=True, help=help)(output_flag(with_format))

    return decorate


def all_of(decorators: list[Callable[[Any], Any]]) -> Callable[[Decorated], Decorated]:
    """Several decorators as a single decorator, in the order of the help."""

    def decorate(function: Decorated) -> Decorated:
        for each in reversed(decorators):
            function = each(function)
        return function

    return decorate


def _set_utc(ctx: click.Context, param: click.Parameter, is_utc: bool) -> None:
    if is_utc and UTC_VARIABLE not in os.environ:
        os.environ[UTC_VARIABLE] = "1"
        ctx.call_on_close(partial(os.environ.pop, UTC_VARIABLE, None))


UTC_FLAG = option("--utc", is_flag=True, expose_value=False, callback=_set_utc, help="Show UTC instead of GMT+8.")
_TOKEN = option(
    "--token",
    "control_token",
    metavar="TOKEN",
    envvar=TOKEN_VARIABLES,
    parse=values.token,
    help="The token of the control API, if required.",
)
_sandbox = partial(option, "--sandbox", metavar="ID", shell_complete=completion.sandboxes)
_SANDBOX = _sandbox(default="default", help="The id of the sandbox.")


def _url(whose: str) -> Callable[[Any], Any]:
    text = f"The {whose}'s address.  [default: http://{LOOPBACK}:{DEFAULT_PORT}]"
    return option("--url", metavar="URL", help=text)


running_flags = all_of([_url("simulator"), _SANDBOX, _TOKEN, UTC_FLAG])
"""The flags of a verb that asks a running simulator: `url`, `sandbox`, `control_token`."""

sandbox_flags = all_of([_SANDBOX, _TOKEN, UTC_FLAG])
"""The flags of `running_flags` without `url`."""

watching_flags = all_of(
    [_url("simulator"), _sandbox(help="Only this sandbox.  [default: all of them]"), _TOKEN, UTC_FLAG]
)
"""The flags of a verb that follows the events of a sandbox or of all sandboxes; `sandbox` is None for all."""

request_flags = all_of(
    [
        click.argument("method", shell_complete=completion.methods),
        click.argument("path", shell_complete=completion.paths),
        option("--data", "-d", metavar="BODY|@FILE|-", help="The body: literal, from a file, or from stdin."),
        _url("service"),
        _sandbox(help="The id of the sandbox, if --url does not name a sandbox."),
        option("--key", metavar="KEY", help="The API key.  [default: the default scenario's]"),
        option("--secret", metavar="SECRET", help="The key's secret, in Base64.  [default: the default scenario's]"),
    ]
)
"""METHOD, PATH and the flags of a signed request: `method`, `path`, `data`, `url`, `sandbox`, `key`, `secret`."""


def control_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the flags of `running_flags` as the keyword `control`: the control API that they lead to."""

    @wraps(function)
    def with_control(*args: Any, url: str | None, sandbox: str, control_token: str | None, **flags: Any) -> Any:
        from simulator.cli.control import Control

        control = Control(url, sandbox, control_token)
        with control.translate_errors():
            return function(*args, control=control, **flags)

    return running_flags(with_control)


def asking_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the flags of a verb that prints an answer of a running simulator: `control` and `json`."""
    return control_flags(json_flag(help="Print the answer of the control API.")(function))
