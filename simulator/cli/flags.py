"""Flags that several verbs share; each can be set by a variable RESELLER_SIM_<FLAG>."""

import os
from collections.abc import Callable
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from reseller_sim.times import UTC_VARIABLE
from simulator.cli import complete, values
from simulator.cli.errors import CannotStart as CannotStart  # where the verbs import it from
from simulator.cli.hints import Actions
from simulator.cli.numbers import Port, Whole
from simulator.cli.spans import Span
from simulator.cli.staging_flags import staging_flags
from simulator.options import DEFAULT_PORT, LOOPBACK

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

VARIABLES = "RESELLER_SIM"
SEED_MAX = 2**63 - 1
TAPE_BUDGET_MAX = 1024 * 1024

_SETTINGS = {"auto_envvar_prefix": VARIABLES, "max_content_width": 100}
verb = partial(click.command, context_settings=_SETTINGS)
verb_group = partial(click.group, cls=Actions, context_settings=_SETTINGS)
option = partial(click.option, show_envvar=True)
# Without a variable: the flag of another verb has the same name and another meaning.
own_option = partial(click.option, allow_from_autoenv=False)


def json_flag(*, help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--output text|json` and its short form `--json`, as the keyword `json`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_format(*args: Any, output: str, json: bool, **flags: Any) -> Any:
            return function(*args, json=_wants_json(output, json=json), **flags)

        forms = click.Choice(["text", "json"], case_sensitive=False)
        with_output = option("--output", type=forms, default="text", show_default=True, help="The form of the output.")
        return option("--json", is_flag=True, help=help)(with_output(with_format))

    return decorate


def _wants_json(output: str, *, json: bool) -> bool:
    """The command line takes precedence over both variables."""
    ctx = click.get_current_context()
    is_text = ctx.get_parameter_source("output") is ParameterSource.COMMANDLINE and output == "text"
    if is_text and ctx.get_parameter_source("json") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--json is --output json: leave it or --output text out", ctx)
    return (json or output == "json") and not is_text


class ServerFlags(NamedTuple):
    """The server options of `serve` and `exec`, as `server_flags` passes them; what only `serve` has comes last."""

    scenario: str
    host: str
    port: int
    clock: values.ClockMode | None
    start: datetime | None
    seed: int | None
    control_token: str | None
    control_token_file: values.TokenFile | None
    allow_host: tuple[str, ...]
    callbacks: str | None
    trust_forwarded: bool
    sandbox_ttl: float | None
    scenarios: Path | None
    callback: str | None
    tape_budget: int | None = None
    callbacks_ca: Path | None = None
    data_dir: Path | None = None
    durability: str = "process"
    tls_cert: Path | None = None
    tls_key: Path | None = None
    control_tokens: Path | None = None
    trusted_forwarders: tuple[str, ...] = ()
    root_path: str = ""
    drain: float = 0.0
    shards: Path | None = None
    shard: str | None = None
    quota_transactions: int | None = None
    quota_bytes: int | None = None
    quota_rate: float | None = None
    names_scenario: bool = False  # the user does, and not the default


def server_flags(port: int = DEFAULT_PORT, *, port_variable: bool = True) -> Callable[[Decorated], Decorated]:
    """The argument SCENARIO and the flags of a server, one keyword for each field of `ServerFlags`."""
    decorators = [
        click.argument(
            "scenario", default="default", envvar=f"{VARIABLES}_SCENARIO", shell_complete=complete.scenarios
        ),
        *_listening(port, port_variable=port_variable),
        option(
            "--clock",
            metavar="real|manual|xN",
            callback=values.clock_mode,
            shell_complete=complete.clock_modes,
            help="Follow the wall clock, move only when advanced, or run N times as fast.",
        ),
        option(
            "--start",
            metavar="ISO",
            callback=values.time,
            help="The sandbox's time when it starts; by default the present.",
        ),
        option("--seed", metavar="N", type=Whole(0, SEED_MAX), help="The seed of all randomness."),
        *_control(),
        _callbacks_flag(),
        option(
            "--callbacks-ca",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            callback=values.ca_file,
            help="More certificate authorities, in PEM, that receivers of callbacks may have their certificates from.",
        ),
        option(
            "--callback",
            metavar="URL",
            callback=values.target,
            help="Where the callbacks of all the scenario's resellers go, by POST; or inbox:NAME.",
        ),
        option("--trust-forwarded", is_flag=True, help="Take a client's address from X-Forwarded-For."),
        option(
            "--sandbox-ttl",
            metavar="DURATION",
            type=Span(),
            help="Delete a sandbox that is idle for so long.",
        ),
        option(
            "--scenarios",
            metavar="DIR",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="The folder of scenario files that `sandbox new` and POST /_sim/sandboxes may name, and no others.",
        ),
        option(
            "--tape-budget",
            metavar="MIB",
            type=Whole(0, TAPE_BUDGET_MAX),
            help="How much memory the tapes of all sandboxes may take together.  [default: 1024]",
        ),
    ]
    return _all_of([*decorators, UTC_FLAG])


def _listening(port: int, *, port_variable: bool = True) -> list[Callable[[Any], Any]]:
    """Where a server listens: `host`, `port`."""
    return [
        option(
            "--host",
            metavar="ADDRESS",
            default=LOOPBACK,
            show_default=True,
            callback=values.listening_address,
            help="The address to listen on.",
        ),
        option(
            "--port",
            cls=Port,
            metavar="PORT",
            type=Whole(0, 65535),
            default=port,
            show_default=True,
            show_envvar=port_variable,
            allow_from_autoenv=port_variable,
            help="The port to listen on; 0 selects a free one.",
        ),
    ]


def shared_server_flags(function: Decorated) -> Decorated:
    """The flags of a server that a team shares: see `staging_flags`."""
    return _all_of(staging_flags(option))(function)


def _callbacks_flag() -> Callable[[Any], Any]:
    return option(
        "--callbacks",
        type=click.Choice(["any", "public"]),
        help="Where callbacks may go: anywhere but to addresses of clouds' metadata, or to public addresses only.  "
        "[default: public with a control token or on an address other than loopback, otherwise any]",
    )


def _control() -> list[Callable[[Any], Any]]:
    """Who may use a server's control API: `control_token`, `control_token_file`, `allow_host`."""
    return [
        option(
            "--control-token",
            metavar="TOKEN",
            callback=values.token,
            help="The bearer token that /_sim requires. On a loopback address it is open unless this is given; on any "
            "other a token is generated and printed.",
        ),
        option(
            "--control-token-file",
            metavar="FILE",
            callback=values.token_in_file,
            help="A file with this token, which then appears in no list of processes; it wins over --control-token.",
        ),
        option(
            "--allow-host",
            metavar="NAME",
            multiple=True,
            callback=values.host_names,
            help="One more host name that /_sim accepts.",
        ),
    ]


def going_on_flags(function: Decorated) -> Decorated:
    """The flags of a server that has its scenario from elsewhere: where it listens, its control API, `callbacks`."""
    return _all_of([*_listening(DEFAULT_PORT), *_control(), _callbacks_flag()])(function)


def control_flags(port: int) -> Callable[[Decorated], Decorated]:
    """The flags of a server that is no simulator: where it listens, and who may use its control API."""
    return _all_of([*_listening(port, port_variable=False), *_control()])


def running_flags(function: Decorated) -> Decorated:
    """The flags of a verb that asks a running simulator: `url`, `sandbox`, `control_token`."""
    sandbox = option(
        "--sandbox",
        metavar="ID",
        default="default",
        show_default=True,
        shell_complete=complete.sandboxes,
        help="The sandbox.",
    )
    return _all_of([_url("simulator"), sandbox, _TOKEN, UTC_FLAG])(function)


def watching_flags(function: Decorated) -> Decorated:
    """The same of a verb that follows what happens in one sandbox, or in all: `sandbox` is then None."""
    text = "Only this sandbox.  [default: all of them]"
    sandbox = option("--sandbox", metavar="ID", shell_complete=complete.sandboxes, help=text)
    return _all_of([_url("simulator"), sandbox, _TOKEN, UTC_FLAG])(function)


def _set_utc(ctx: click.Context, param: click.Parameter, is_utc: bool) -> None:
    if is_utc and UTC_VARIABLE not in os.environ:
        os.environ[UTC_VARIABLE] = "1"
        ctx.call_on_close(partial(os.environ.pop, UTC_VARIABLE, None))


UTC_FLAG = option("--utc", is_flag=True, expose_value=False, callback=_set_utc, help="Show times in UTC, not in GMT+8.")


def _url(whose: str) -> Callable[[Any], Any]:
    text = f"The {whose}'s address.  [default: http://{LOOPBACK}:{DEFAULT_PORT}]"
    return option("--url", metavar="URL", help=text)


TOKEN_VARIABLES = (f"{VARIABLES}_TOKEN", f"{VARIABLES}_CONTROL_TOKEN")
"""The second one is the variable of `serve`, so that one variable can serve both sides."""

_TOKEN = option(
    "--token",
    "control_token",
    metavar="TOKEN",
    envvar=TOKEN_VARIABLES,
    callback=values.token,
    help="The control API's token, if it has one.",
)


def request_flags(function: Decorated) -> Decorated:
    """METHOD, PATH and the flags of one signed request: `method`, `path`, `data`, `url`, `sandbox`, `key`, `secret`."""
    decorators = [
        click.argument("method", shell_complete=complete.methods),
        click.argument("path", shell_complete=complete.paths),
        option("--data", "-d", metavar="BODY|@FILE|-", help="The body: literal, from a file, or from stdin."),
        _url("service"),
        option(
            "--sandbox", metavar="ID", shell_complete=complete.sandboxes, help="The sandbox, when --url names none."
        ),
        option("--key", metavar="KEY", help="The API key.  [default: the default scenario's]"),
        option("--secret", metavar="SECRET", help="Its secret, in Base64.  [default: the default scenario's]"),
    ]
    return _all_of(decorators)(function)


def _all_of(decorators: list[Callable[[Any], Any]]) -> Callable[[Decorated], Decorated]:
    def decorate(function: Decorated) -> Decorated:
        for each in reversed(decorators):
            function = each(function)
        return function

    return decorate
