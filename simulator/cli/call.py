"""`reseller-sim call`: one signed request, sent, and its answer."""

import sys
from collections.abc import Mapping
from http.client import responses
from urllib.parse import urlsplit

import click

from reseller_sim.exchange import Answer, Unanswered, Unreachable, exchange
from simulator.cli import values
from simulator.cli.flags import CannotStart, option, own_option, request_flags, verb
from simulator.cli.output import one_line, print_to_stderr, printable_body
from simulator.cli.request import signed_request
from simulator.staging.signing import SignedRequest, with_bearer

TIMEOUT_S = 60.0


class Lines(click.types.StringParamType):
    """Texts; in an environment variable one per line."""

    envvar_list_splitter = "\n"


@verb("call")
@request_flags
@option(
    "--bearer",
    metavar="TOKEN",
    callback=values.token,
    help="Send this IdToken of POST /v2/token instead of a signature (deprecated).",
)
@option(
    "--header",
    "-H",
    metavar="'NAME: VALUE'",
    type=Lines(),
    multiple=True,
    callback=values.headers,
    help="One more header; it replaces a generated header of that name.",
)
@own_option("--include", "-i", is_flag=True, help="Print all headers of the response, not only the simulator's.")
def command(
    method: str,
    path: str,
    data: str | None,
    url: str | None,
    sandbox: str | None,
    key: str | None,
    secret: str | None,
    bearer: str | None,
    header: dict[str, str],
    include: bool,
) -> int:
    """Send one signed request and print the response.

    The body goes to stdout, indented when that is a terminal; the status and what the simulator adds (X-Sim-*) go to
    stderr. Without flags it talks to the default sandbox on port 8080 with the default credentials; under exec, to
    that simulator. --url may name a sandbox, such as http://127.0.0.1:8080/s/mine. Control characters in a response
    are escaped, in JSON without changing its meaning. Exit code 1 means that the response was an error, 3 that none
    came.

    \b
    Examples:
      reseller-sim call GET /v2/balance
      reseller-sim call POST /v2/topup -d '{"refid":"r1","product":"RELOAD","account":"0123456789","amount":10}'
      reseller-sim call GET '/v2/catalog?is_active=true' -H 'X-Api-Version: 2026-09-16' | jq .products
    """
    request = signed_request(method, path, data, url, sandbox, key, secret)
    if bearer is not None:
        request = with_bearer(request, bearer)
    answer = _exchange(request, header)
    print_to_stderr(f"{answer.status} {responses.get(answer.status, '')}".rstrip())
    for name, value in answer.headers.items():
        if include or name.startswith("x-sim-"):
            print_to_stderr(one_line(f"{name}: {value}"))
    _print_body(answer.body)
    return 0 if 200 <= answer.status < 300 else 1


def _exchange(request: SignedRequest, more: Mapping[str, str]) -> Answer:
    """Send it. Raises `CannotStart` without a complete answer."""
    address, replaced = urlsplit(request.url).netloc, {name.lower() for name in more}
    headers = {name: value for name, value in request.headers.items() if name.lower() not in replaced} | dict(more)
    try:
        return exchange(request.method, request.url, request.body or None, headers, TIMEOUT_S)
    except Unreachable as error:
        hint = "start `reseller-sim serve`, or name another address with --url"
        raise CannotStart(f"reseller-sim call: cannot connect to {address} ({error}): {hint}") from None
    except Unanswered as error:
        text = f"{address} closed the connection before a complete response"
        if isinstance(error.__cause__, TimeoutError):
            text = f"{address} did not respond within {TIMEOUT_S:g} seconds"
        raise CannotStart(f"reseller-sim call: {text} ({error}): repeat a payment with the same refid") from None


def _print_body(body: bytes) -> None:
    stdout = sys.stdout.buffer
    shown = printable_body(_indented(body) if stdout.isatty() else body)
    stdout.write(shown if shown.endswith(b"\n") or not shown else shown + b"\n")
    stdout.flush()


def _indented(body: bytes) -> bytes:
    """JSON indented, with its numbers untouched; anything else unchanged."""
    import msgspec

    try:
        return msgspec.json.format(body, indent=2)
    except msgspec.DecodeError:
        return body
