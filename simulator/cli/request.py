"""Builds a signed request from the flags of `call` and `sign`: body, URL, credentials."""

import os
from urllib.parse import quote

import click

from simulator.cli.bounded import CannotRead, read_file, read_stdin
from simulator.cli.errors import CannotStart
from simulator.options import CONTROL_PATH, DEFAULT_PORT, LOOPBACK
from simulator.staging.signing import CannotSign, Credentials, SignedRequest, sign

SANDBOX_PREFIX = "/s/"
DEFAULT_URL = f"http://{LOOPBACK}:{DEFAULT_PORT}"


def signed_request(
    method: str,
    path: str,
    data: str | None,
    url: str | None,
    sandbox: str | None,
    key: str | None,
    secret: str | None,
    timestamp: int | None = None,
    nonce: str | None = None,
) -> SignedRequest:
    """Build and sign the request. Input that cannot be signed is a usage error.

    A URL may end in `/_sim`, since RESELLER_SIM_URL does so for programs under `exec`. A `sandbox` is below it, unless
    the URL names one already.
    """
    base_url = (url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)
    if sandbox and SANDBOX_PREFIX not in base_url:
        base_url += SANDBOX_PREFIX + quote(sandbox, safe="")
    try:
        return sign(method, base_url, path, read_body(data), credentials(key, secret), timestamp, nonce)
    except CannotSign as wrong:
        raise click.UsageError(str(wrong), click.get_current_context()) from None


def read_body(data: str | None) -> bytes:
    """The bytes of `--data`. What cannot be read, or is over 10 MB, is a usage error."""
    try:
        if data == "-":
            return read_stdin()
        if data is not None and data.startswith("@"):
            return read_file(data[1:])
    except CannotRead as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    return os.fsencode(data or "")


def credentials(key: str | None, secret: str | None) -> Credentials:
    """The given key and secret, or those of the default scenario. One without the other is a usage error."""
    if key is not None and secret is not None:
        return Credentials(key, secret)
    if key is not None or secret is not None:
        missing = "--secret" if secret is None else "--key"
        raise click.UsageError(f"{missing} is missing: give both, or neither", click.get_current_context())
    return defaultcredentials()


def defaultcredentials() -> Credentials:
    """The first active key of the default scenario."""
    from simulator.scenario.library import load_scenario

    for reseller in load_scenario("default").resellers:
        for one in reseller.keys:
            if one.state == "active":
                return Credentials(one.key, one.secret)
    raise CannotStart("reseller-sim: the default scenario has no active API key: give --key and --secret")
