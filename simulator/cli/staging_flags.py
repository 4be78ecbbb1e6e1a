"""The flags of a server that a team shares: TLS, proxies before it, tokens with roles, and quotas of its sandboxes."""

import math
import re
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import click

from simulator.cli import values
from simulator.cli.numbers import Number, Whole

FORWARDERS_MAX = 64
TRANSACTIONS_MAX, BYTES_MAX, RATE_MAX = 10_000_000, 2**40, 1_000_000  # as in the contract of POST /_sim/sandboxes
_ROOT = re.compile(r"(?:/[A-Za-z0-9._~-]{1,100}){1,10}")
_FILE = click.Path(dir_okay=False, path_type=Path)


def staging_flags(option: Callable[..., Any]) -> list[Callable[[Any], Any]]:
    """`tls_cert`, `tls_key`, `control_tokens`, `trusted_forwarders`, `root_path`, and the three quotas."""
    return [
        option(
            "--tls-cert", metavar="FILE", type=_FILE, help="Speak https, with this certificate in PEM and its chain."
        ),
        option("--tls-key", metavar="FILE", type=_FILE, help="The certificate's key. SIGHUP reads both again."),
        option(
            "--control-tokens",
            metavar="FILE",
            type=_FILE,
            help="Tokens of /_sim, one a line: NAME read|full TOKEN [sandbox=ID]. SIGHUP reads it again.",
        ),
        option(
            "--trusted-forwarders",
            metavar="ADDRESS|NETWORK",
            multiple=True,
            callback=_networks,
            help="A proxy whose X-Forwarded-For, -Proto and -Host count.",
        ),
        option(
            "--root-path",
            metavar="PATH",
            default="",
            callback=_root_path,
            help="What such a proxy has before our paths, as /sim.",
        ),
        option(
            "--quota-transactions",
            metavar="N",
            type=Whole(0, TRANSACTIONS_MAX),
            help="How many payments a sandbox may have; 0 is no bound.",
        ),
        option(
            "--quota-bytes",
            metavar="N",
            type=Whole(0, BYTES_MAX),
            help="How many bytes of inputs a sandbox may keep; 0 is no bound.",
        ),
        option(
            "--quota-rate",
            metavar="N",
            type=Number(0, RATE_MAX),
            callback=_rate,
            help="How many requests a second a sandbox answers; 0 is no bound.",
        ),
    ]


def _rate(ctx: click.Context, param: click.Parameter, rate: float | None) -> float | None:
    if rate is not None and not math.isfinite(rate):
        raise click.BadParameter("a rate is a number of requests a second", ctx, param)
    return rate


def _networks(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Addresses and networks; several may stand in one value, with commas."""
    found = tuple(one.strip() for text in texts for one in text.split(","))
    if len(found) > FORWARDERS_MAX:
        raise click.BadParameter(f"there are {len(found)}, and at most {FORWARDERS_MAX}", ctx, param)
    for one in found:
        try:
            network = ip_network(one)
        except ValueError:
            example = "such as 10.0.0.5, 10.0.0.0/24 or fd00::/8"
            text = f"{values.shown(one)} is no address and no network {example}, with no bit set behind its prefix"
            raise click.BadParameter(text, ctx, param) from None
        if network.prefixlen == 0:
            raise click.BadParameter(f"{one} is everybody: name the proxies", ctx, param)
    return found


def _root_path(ctx: click.Context, param: click.Parameter, text: str) -> str:
    root = text.rstrip("/")
    if root and _ROOT.fullmatch(root) is None:
        raise click.BadParameter(
            f"{values.shown(text)} is no path such as /sim, of letters, digits, . _ ~ -", ctx, param
        )
    if root.startswith(("/_sim", "/s/", "/v1", "/v2")) or root == "/s":
        raise click.BadParameter(f"{root} is one of the server's own paths: choose another", ctx, param)
    return root
