"""The flags of a server: its address, scenario, access control and options for teams; and its options from them."""

import re
import secrets
from collections.abc import Callable
from datetime import datetime
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click
from click.core import ParameterSource

from simulator.cli import completion, values
from simulator.cli.flags import UTC_FLAG, Decorated, all_of, option, own_option
from simulator.cli.usage import VARIABLES
from simulator.cli.values import WILDCARDS, Integer, Number, Port, Span
from simulator.options import DEFAULT_PORT, LOOPBACK, Options

MIB = 1024 * 1024
_ROOT = re.compile(r"(?:/[A-Za-z0-9._~-]{1,100}){1,10}")
_FILE = click.Path(dir_okay=False, path_type=Path)


class ServerFlags(NamedTuple):
    """The server options of `serve` and `exec`, as `server_flags` and `team_flags` pass them; `drain` is of `serve`."""

    scenario: str
    host: str
    port: int
    clock: values.Clock | None = None
    start: datetime | None = None
    seed: int | None = None
    control_token: str | None = None
    control_token_file: values.TokenFile | None = None
    allow_host: tuple[str, ...] = ()
    callbacks: str | None = None
    trust_forwarded: bool = False
    sandbox_ttl: float | None = None
    scenarios: Path | None = None
    callback: str | None = None
    tape_budget: int | None = None
    callbacks_ca: Path | None = None
    data_dir: Path | None = None
    durability: Literal["process", "power"] = "process"
    tls_cert: Path | None = None
    tls_key: Path | None = None
    control_tokens: Path | None = None
    trusted_forwarders: tuple[str, ...] = ()
    root_path: str = ""
    drain: float = 0.0
    store: str | None = None
    lease: float = 15.0
    store_grace: float = 60.0
    advertise: str | None = None
    quota_transactions: int | None = None
    quota_bytes: int | None = None
    quota_rate: float | None = None
    names_scenario: bool = False  # the user does, and not the default


_CALLBACKS = option(
    "--callbacks",
    type=click.Choice(["any", "public"]),
    help="Where callbacks may go: to public addresses only, or to any but metadata services of clouds.  "
    "[default: public with a control token or on an address other than loopback, otherwise any]",
)
_CONTROL = [
    option(
        "--control-token",
        metavar="TOKEN",
        parse=values.token,
        help="The bearer token that /_sim requires.  [default: none on a loopback address, otherwise generated]",
    ),
    option(
        "--control-token-file",
        metavar="FILE",
        parse=values.token_in_file,
        help="A file with the token, which `ps` does not show; it overrides --control-token.",
    ),
    option(
        "--allow-host",
        metavar="NAME",
        multiple=True,
        parse=values.host_names,
        help="An additional host name that /_sim accepts.",
    ),
]


def sandbox_start(option: Callable[..., Callable[[Any], Any]]) -> list[Callable[[Any], Any]]:
    """Return how a sandbox starts: `clock`, `start`, `seed`. `option` declares a flag."""
    return [
        option(
            "--clock",
            metavar="real|manual|xN",
            parse=values.clock_mode,
            shell_complete=completion.clock_modes,
            help="Follow the wall clock, move only when advanced, or run N times as fast; by default as the scenario.",
        ),
        option("--start", metavar="ISO", parse=values.time, help="The time of its start; by default the current time."),
        option("--seed", type=Integer(0, 2**63 - 1), help="The seed of all randomness; by default the scenario's."),
    ]


def server_flags(port: int = DEFAULT_PORT) -> Callable[[Decorated], Decorated]:
    """Return the argument SCENARIO and the flags of any simulator, as keywords with the names of `ServerFlags`."""
    return all_of(
        [
            click.argument(
                "scenario", default="default", envvar=f"{VARIABLES}_SCENARIO", shell_complete=completion.scenarios
            ),
            *_listening(port),
            *sandbox_start(option),
            *_CONTROL,
            _CALLBACKS,
            option(
                "--callbacks-ca",
                type=click.Path(exists=True, dir_okay=False, path_type=Path),
                parse=values.ca_file,
                help="Additional certificate authorities for receivers of callbacks, in PEM.",
            ),
            option(
                "--callback",
                metavar="URL",
                parse=values.target,
                help="The receiver of all callbacks of the scenario's resellers, by POST: a URL or inbox:NAME.",
            ),
            option("--trust-forwarded", is_flag=True, help="Take a client's address from X-Forwarded-For."),
            option("--sandbox-ttl", type=Span(), help="Delete sandboxes that are idle for this long."),
            option(
                "--scenarios",
                metavar="DIR",
                type=click.Path(exists=True, file_okay=False, path_type=Path),
                help="The only folder whose scenario files `sandbox new` and POST /_sim/sandboxes may load.",
            ),
            option(
                "--tape-budget",
                metavar="MIB",
                type=Integer(0, 1024 * 1024),
                help="The memory limit of the tapes of all sandboxes together.  [default: 1024]",
            ),
            UTC_FLAG,
        ]
    )


def _listening(port: int) -> list[Callable[[Any], Any]]:
    """Return where a server listens: `host`, `port`. RESELLER_SIM_PORT is about the servers whose default is 8080."""
    port_option = option if port == DEFAULT_PORT else own_option
    settings: dict[str, Any] = {"cls": Port, "metavar": "PORT", "type": Integer(0, 65535), "default": port}
    parse = values.listening_address
    return [
        option("--host", metavar="ADDRESS", default=LOOPBACK, parse=parse, help="The address to listen on."),
        port_option("--port", **settings, help="The port to listen on; 0 selects a free port."),
    ]


going_on_flags = all_of([*_listening(DEFAULT_PORT), *_CONTROL, _CALLBACKS])
"""The flags of a server that has its scenario from elsewhere: where it listens, its control API, `callbacks`."""


def other_server_flags(port: int) -> Callable[[Decorated], Decorated]:
    """Return the flags of a server other than the simulator: its address, and access to its control API."""
    return all_of([*_listening(port), *_CONTROL])


def _networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses and networks. A value may list several, separated by commas."""
    found = tuple(part.strip() for text in texts for part in text.split(","))
    for one in found:
        try:
            network = ip_network(one)
        except ValueError:
            example = "such as 10.0.0.5, 10.0.0.0/24 or fd00::/8"
            text = f"{values.shown(one)} is not an address or network {example}, without bits after its prefix"
            raise ValueError(text) from None
        if network.prefixlen == 0:
            raise ValueError(f"{one} contains every address: name the proxies")
    return found


def _root_path(text: str) -> str:
    root = text.rstrip("/")
    if root and _ROOT.fullmatch(root) is None:
        raise ValueError(f"{values.shown(text)} is not a path such as /sim, of letters, digits, . _ ~ -")
    if root.startswith(("/_sim", "/s/", "/v1", "/v2")) or root == "/s":
        raise ValueError(f"{root} is a path of the server itself: choose another")
    return root


def team_flags(option: Callable[..., Callable[[Any], Any]]) -> Callable[[Decorated], Decorated]:
    """Return the flags of a server that keeps its sandboxes or that a team shares, one keyword for each of the other
    fields of `ServerFlags`. `option` declares a flag. The bounds of the quotas are those of POST /_sim/sandboxes."""
    return all_of(
        [
            option("--tls-cert", type=_FILE, help="Serve https with this certificate and its chain, in PEM."),
            option("--tls-key", type=_FILE, help="The certificate's key, in PEM."),
            option(
                "--control-tokens",
                type=_FILE,
                help="A file of tokens for /_sim, one per line: NAME read|full TOKEN [sandbox=ID].",
            ),
            option(
                "--trusted-forwarders",
                metavar="ADDRESS|NETWORK",
                multiple=True,
                parse=_networks,
                help="A proxy whose X-Forwarded-For, -Proto and -Host headers are trusted.",
            ),
            option("--root-path", metavar="PATH", parse=_root_path, help="The path prefix of the proxy, such as /sim."),
            option(
                "--quota-transactions", type=Integer(0, 10_000_000), help="The most payments in a sandbox; 0: no limit."
            ),
            option("--quota-bytes", type=Integer(0, 2**40), help="The most bytes of inputs in a sandbox; 0: no limit."),
            option(
                "--quota-rate", type=Number(0, 1_000_000), help="The most requests a second to a sandbox; 0: no limit."
            ),
            option(
                "--data-dir",
                metavar="DIR",
                type=click.Path(file_okay=False, path_type=Path),
                help="Store the sandboxes in this folder, and restore them at the start.",
            ),
            option(
                "--durability",
                type=click.Choice(["process", "power"]),
                default="process",
                help="process: keep all data if the process is killed. power: also after a power cut.",
            ),
            option(
                "--store",
                metavar="URL",
                help="Share the sandboxes with other servers: postgresql://USER@HOST/DATABASE.",
            ),
            option(
                "--lease",
                type=Span(1, 600),
                default="15s",
                help="With --store: after this silence another server takes over.",
            ),
            option(
                "--store-grace",
                type=Span(0, 24 * 3600),
                default="60s",
                help="With --store: how long /_sim shows the state in memory while PostgreSQL does not answer.",
            ),
            option(
                "--advertise",
                metavar="URL",
                parse=values.server_address,
                help="With --store: this server's address for the others.  "
                "[default: the address that reaches PostgreSQL]",
            ),
        ]
    )


def names_scenario(ctx: click.Context) -> bool:
    """Return whether the user names the scenario, so that a stored sandbox follows it."""
    return ctx.get_parameter_source("scenario") is not ParameterSource.DEFAULT


def options_of(flags: ServerFlags) -> Options:
    """Return the options of the application that these flags ask for."""
    hosts = flags.allow_host if flags.host in WILDCARDS else (*flags.allow_host, flags.host)
    mode, rate = flags.clock or (None, None)
    shared = {name: value for name, value in flags._asdict().items() if name in Options._fields and value is not None}
    own = {
        "mode": mode,
        "rate": rate,
        "control_token": _control_token(flags),
        "allowed_hosts": hosts,
        "public_callbacks_only": (flags.callbacks or _default_callbacks(flags)) == "public",
        "sandbox_ttl_s": flags.sandbox_ttl,
        "quotas": (flags.quota_transactions, flags.quota_bytes, flags.quota_rate),
        "is_tls": flags.tls_cert is not None,
        "tapes_bytes_max": None if flags.tape_budget is None else flags.tape_budget * MIB,
    }
    return Options(**shared | own)


def of_one_command(flags: ServerFlags) -> ServerFlags:
    """Return the flags of a server for a single command. A token does not change the default of `--callbacks`. The
    command has a token of its own beside a list of tokens."""
    without = flags._replace(control_token=None, control_token_file=None, control_tokens=None)
    has_token = flags.control_token is not None or flags.control_token_file is not None
    token = flags.control_token if has_token or flags.control_tokens is None else secrets.token_urlsafe(24)
    return flags._replace(callbacks=flags.callbacks or _default_callbacks(without), control_token=token)


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
