"""`reseller-sim call` and `sign`: one signed request, sent or shown."""

import json as json_module
import os
import sys
from collections.abc import Mapping
from http.client import responses
from typing import Any
from urllib.parse import quote, urlsplit

import click

from reseller_sim.exchange import Answer, Unanswered, Unreachable, exchange
from simulator.cli import values
from simulator.cli.control import DEFAULT_URL, SANDBOX_PREFIX, start_advice
from simulator.cli.flags import json_flag, option, own_option, request_flags
from simulator.cli.output import echo, echo_json, echo_value, print_to_stderr, printable_body
from simulator.cli.usage import CannotStart, verb, wrong_usage
from simulator.cli.values import Integer
from simulator.control.curl import curl_command
from simulator.options import CONTROL_PATH
from simulator.short_text import whole_line
from simulator.staging.signed_requests import CannotSign, Credentials, SignedRequest, sign, with_bearer
from simulator.whole_files import CannotRead, content_of

TIMEOUT_S = 60.0
BYTES_MAX = 10 * 1024 * 1024


class LinesOfVariable(click.types.StringParamType):
    """Texts; in an environment variable one per line."""

    envvar_list_splitter = "\n"


def _headers(texts: tuple[str, ...]) -> dict[str, str]:
    """`Name: value` each; the last one of a name wins."""
    found = {}
    for text in texts:
        name, colon, value = text.partition(":")
        is_name = colon and name.replace("-", "").replace("_", "").isalnum()
        if not (is_name and text.isascii() and value.strip().isprintable()):
            raise ValueError(f"{text!r} is not a header such as 'X-Api-Version: 2026-09-16'")
        found[name] = value.strip()
    return found


@verb(
    "call",
    'POST /v2/topup -d \'{"refid":"r1","product":"RELOAD","account":"0123456789","amount":10}\'',
    "GET '/v2/catalog?is_active=true' -H 'X-Api-Version: 2026-09-16' | jq .products",
)
@request_flags
@option(
    "--bearer",
    metavar="TOKEN",
    parse=values.token,
    help="Send this IdToken of POST /v2/token instead of a signature (deprecated).",
)
@option(
    "--header",
    "-H",
    metavar="'NAME: VALUE'",
    type=LinesOfVariable(),
    multiple=True,
    parse=_headers,
    help="An additional header; it replaces a generated header of that name.",
)
@own_option("--include", "-i", is_flag=True, help="Print all headers of the response, not only the simulator's.")
@json_flag(help="Print one JSON object with status, headers and body.")
def call_command(bearer: str | None, header: dict[str, str], include: bool, json: bool, **asked: Any) -> int:
    """The body goes to stdout, indented on a terminal; the status and the simulator's headers (X-Sim-*) go to stderr.
    Without flags, the request goes to the default sandbox on port 8080, with the default credentials; under exec, to
    the simulator of exec. Control characters in a response are escaped. Exit code 1 means that the response was an
    error, 3 that no response came.
    """
    request = signed_request(**asked)
    if bearer is not None:
        request = with_bearer(request, bearer)
    answer = _exchange(request, header)
    if json:
        echo_value({"status": answer.status, "headers": dict(answer.headers), "body": _decoded(answer.body)})
    else:
        print_to_stderr(f"{answer.status} {responses.get(answer.status, '')}".rstrip())
        for name, value in answer.headers.items():
            if include or name.startswith("x-sim-"):
                print_to_stderr(whole_line(f"{name}: {value}"))
        _print_body(answer.body)
    return 0 if 200 <= answer.status < 300 else 1


def _exchange(request: SignedRequest, more: Mapping[str, str]) -> Answer:
    """Send it. Raises `CannotStart` without a complete answer."""
    address, replaced = urlsplit(request.url).netloc, {name.lower() for name in more}
    headers = {name: value for name, value in request.headers.items() if name.lower() not in replaced} | dict(more)
    try:
        return exchange(request.method, request.url, request.body or None, headers, TIMEOUT_S)
    except Unreachable as error:
        raise CannotStart(f"cannot connect to {address} ({error}){start_advice(error)}") from None
    except Unanswered as error:
        text = f"{address} closed the connection before a complete response"
        if isinstance(error.__cause__, TimeoutError):
            text = f"{address} did not respond within {TIMEOUT_S:g} seconds"
        raise CannotStart(f"{text} ({error}): repeat a payment with the same refid") from None


def _decoded(body: bytes) -> Any:
    """Return the value of a JSON body; a body of another kind as text."""
    try:
        return json_module.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _print_body(body: bytes) -> None:
    stdout = sys.stdout.buffer
    shown = printable_body(body, indents=stdout.isatty())
    stdout.write(shown if shown.endswith(b"\n") or not shown else shown + b"\n")
    stdout.flush()


@verb("sign", "POST /v2/topup -d @payment.json --key KEY --secret SECRET", "GET /v2/balance | tail -n 1 | sh")
@request_flags
@option("--timestamp", type=Integer(0), help="X-Timestamp in Unix seconds; by default now.")
@option("--nonce", metavar="TEXT", help="X-Nonce; by default a new nonce.")
@json_flag(help="Print one JSON object instead.")
def sign_command(json: bool, **asked: Any) -> None:
    """The request is not sent. Compare the canonical string with your client's. The curl command comes last, on its own
    line; it is valid for 5 minutes and a single use.
    """
    request = signed_request(**asked)
    curl = curl_command(request.method, request.url, request.headers, request.body)
    if json:
        fields = {"method": request.method, "url": request.url, "canonical_string": request.canonical}
        echo_json(json_module.dumps(fields | {"headers": request.headers, "curl": curl}))
    else:
        headers = [f"{name}: {value}" for name, value in request.headers.items()]
        echo("\n".join([request.canonical, "", *headers, "", curl]))


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
        return sign(method, base_url, path, read_input(data), credentials(key, secret), timestamp, nonce)
    except CannotSign as wrong:
        raise wrong_usage(wrong) from None


def read_input(text: str | None, what: str = "the body", bytes_max: int = BYTES_MAX) -> bytes:
    """Return the bytes of a flag: literal, of the file of @FILE, or of stdin for -. Unreadable input is a usage
    error."""
    if text == "-":
        return read_stdin(bytes_max)
    if text is not None and text.startswith("@"):
        return read_file(text[1:], what, bytes_max)
    return _bounded(os.fsencode(text or ""), what, bytes_max)


def credentials(key: str | None, secret: str | None) -> Credentials:
    """Return the given key and secret, or the credentials of the default scenario. A key without a secret is a usage
    error, and vice versa."""
    if key is not None and secret is not None:
        return Credentials(key, secret)
    if key is not None or secret is not None:
        missing = "--secret" if secret is None else "--key"
        raise wrong_usage(f"{missing} is missing: give both, or neither")
    return default_credentials()


def default_credentials() -> Credentials:
    """Return the first active key of the default scenario."""
    from simulator.scenario.library import load_scenario

    keys = (key for reseller in load_scenario("default").resellers for key in reseller.keys)
    return next(Credentials(key.key, key.secret) for key in keys if key.state == "active")


def read_file(name: str, what: str = "the body", bytes_max: int = BYTES_MAX) -> bytes:
    """Return the bytes of a regular file, which messages call `what`. Anything else is a usage error, also a device, a
    pipe or a folder."""
    try:
        return content_of(name, bytes_max)
    except CannotRead as wrong:
        raise wrong_usage(f"{what} {name!r} {wrong}") from None


def read_stdin(bytes_max: int = BYTES_MAX) -> bytes:
    """Return all of stdin. Unreadable input is a usage error."""
    try:
        raw = sys.stdin.buffer.read(bytes_max + 1)
    except OSError as error:
        raise wrong_usage(f"stdin cannot be read: {error.strerror or error}") from None
    return _bounded(raw, "stdin", bytes_max)


def _bounded(raw: bytes, what: str, bytes_max: int) -> bytes:
    """Return the bytes. More than `bytes_max` are a usage error."""
    if len(raw) > bytes_max:
        raise wrong_usage(f"{what} has more than {bytes_max} bytes")
    return raw
