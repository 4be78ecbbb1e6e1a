"""The flags of a server: its address, scenario, access control, and options for teams."""

import re
from collections.abc import Callable
from datetime import datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

import click

from simulator.cli import completion, values
from simulator.cli.flags import UTC_FLAG, Decorated, all_of, option
from simulator.cli.usage import VARIABLES
from simulator.cli.values import Number, Port, Span, Whole
from simulator.options import DEFAULT_PORT, LOOPBACK

SEED_MAX = 2**63 - 1
_ROOT = re.compile(r"(?:/[A-Za-z0-9._~-]{1,100}){1,10}")
_FILE = click.Path(dir_okay=False, path_type=Path)


class ServerFlags(NamedTuple):
    """The server options of `serve` and `exec`, as `server_flags` passes them; what only `serve` has comes last."""

    scenario: str
    host: str
    port: int
    clock: values.Clock | None
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
    help="Allowed receivers of callbacks: all but metadata services of clouds, or public addresses only.  "
    "[default: public with a control token or on an address other than loopback, otherwise any]",
)
_CONTROL = [
    option(
        "--control-token",
        metavar="TOKEN",
        parse=values.token,
        help="The bearer token that /_sim requires. Without it, /_sim is open on a loopback address; on any other "
        "address the server generates a token and prints it.",
    ),
    option(
        "--control-token-file",
        metavar="FILE",
        parse=values.token_in_file,
        help="A file with the token, so that `ps` does not show the token; this flag overrides --control-token.",
    ),
    option(
        "--allow-host",
        metavar="NAME",
        multiple=True,
        parse=values.host_names,
        help="An additional host name that /_sim accepts.",
    ),
]


def server_flags(port: int = DEFAULT_PORT, *, port_variable: bool = True) -> Callable[[Decorated], Decorated]:
    """Return the argument SCENARIO and the flags of a server, one keyword for each field of `ServerFlags`."""
    decorators = [
        click.argument(
            "scenario", default="default", envvar=f"{VARIABLES}_SCENARIO", shell_complete=completion.scenarios
        ),
        *_listening(port, port_variable=port_variable),
        option(
            "--clock",
            metavar="real|manual|xN",
            parse=values.clock_mode,
            shell_complete=completion.clock_modes,
            help="Follow the wall clock, move only when advanced, or run N times as fast.",
        ),
        option(
            "--start",
            metavar="ISO",
            parse=values.time,
            help="The time at which the sandbox's clock starts; by default the current time.",
        ),
        option("--seed", type=Whole(0, SEED_MAX), help="The seed of all randomness."),
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
        option(
            "--sandbox-ttl",
            type=Span(),
            help="Delete sandboxes that are idle for this long.",
        ),
        option(
            "--scenarios",
            metavar="DIR",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="`sandbox new` and POST /_sim/sandboxes may load scenario files from this folder only.",
        ),
        option(
            "--tape-budget",
            metavar="MIB",
            type=Whole(0, 1024 * 1024),
            help="The memory limit of the tapes of all sandboxes together.  [default: 1024]",
        ),
    ]
    return all_of([*decorators, UTC_FLAG])


def _listening(port: int, *, port_variable: bool = True) -> list[Callable[[Any], Any]]:
    """Return where a server listens: `host`, `port`."""
    return [
        option(
            "--host",
            metavar="ADDRESS",
            default=LOOPBACK,
            parse=values.listening_address,
            help="The address to listen on.",
        ),
        option(
            "--port",
            cls=Port,
            metavar="PORT",
            type=Whole(0, 65535),
            default=port,
            show_envvar=port_variable,
            allow_from_autoenv=port_variable,
            help="The port to listen on; 0 selects a free one.",
        ),
    ]


going_on_flags = all_of([*_listening(DEFAULT_PORT), *_CONTROL, _CALLBACKS])
"""The flags of a server that has its scenario from elsewhere: where it listens, its control API, `callbacks`."""


def other_server_flags(port: int) -> Callable[[Decorated], Decorated]:
    """Return the flags of a server other than the simulator: its address, and access to its control API."""
    return all_of([*_listening(port, port_variable=False), *_CONTROL])


def _networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses and networks. A value may list several, separated by commas."""
    found = tuple(one.strip() for text in texts for one in text.split(","))
    for one in found:
        try:
            network = ip_network(one)
        except ValueError:
            example = "such as 10.0.0.5, 10.0.0.0/24 or fd00::/8"
            text = f"{values.shown(one)} is not an address or network {example}, without bits after its prefix"
            raise ValueError(text) from None
        if network.prefixlen == 0:
            raise ValueError(f"{one} is everybody: name the proxies")
    return found


def _root_path(text: str) -> str:
    root = text.rstrip("/")
    if root and _ROOT.fullmatch(root) is None:
        raise ValueError(f"{values.shown(text)} is not a path such as /sim, of letters, digits, . _ ~ -")
    if root.startswith(("/_sim", "/s/", "/v1", "/v2")) or root == "/s":
        raise ValueError(f"{root} is one of the server's own paths: choose another")
    return root


shared_server_flags = all_of(
    [
        option("--tls-cert", type=_FILE, help="Serve https with this certificate and its chain, in PEM."),
        option("--tls-key", type=_FILE, help="The certificate's key. SIGHUP reloads both files."),
        option(
            "--control-tokens",
            type=_FILE,
            help="A file of tokens for /_sim, one per line: NAME read|full TOKEN [sandbox=ID]. SIGHUP reloads it.",
        ),
        option(
            "--trusted-forwarders",
            metavar="ADDRESS|NETWORK",
            multiple=True,
            parse=_networks,
            help="A proxy whose X-Forwarded-For, -Proto and -Host headers are trusted.",
        ),
        option(
            "--root-path",
            metavar="PATH",
            default="",
            show_default=False,
            parse=_root_path,
            help="The path prefix of the proxy, such as /sim.",
        ),
        option(
            "--quota-transactions",
            type=Whole(0, 10_000_000),
            help="The maximum number of payments in a sandbox; 0 means no limit.",
        ),
        option(
            "--quota-bytes",
            type=Whole(0, 2**40),
            help="The maximum size of the inputs that a sandbox stores, in bytes; 0 means no limit.",
        ),
        option(
            "--quota-rate",
            type=Number(0, 1_000_000),
            help="The maximum number of requests per second to a sandbox; 0 means no limit.",
        ),
    ]
)
"""The flags of a server that a team shares: `tls_cert`, `tls_key`, `control_tokens`, `trusted_forwarders`, `root_path`,
and the three quotas, whose bounds are those of POST /_sim/sandboxes."""
