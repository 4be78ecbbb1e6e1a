"""`reseller-sim explain`: why a request is refused for its credentials, and how to mend it."""

import os
import time
from typing import Any

import click

from simulator.auth.autopsy.signing_steps import TEXT_BYTES_MAX
from simulator.auth.headers import API_KEY, AUTHORIZATION, joined
from simulator.cli import values
from simulator.cli.call import read_file, read_input, read_stdin
from simulator.cli.control import DEFAULT_URL, Control
from simulator.cli.explanation import (
    default_secrets,
    explain_request,
    explained,
    is_open,
    lines_of,
    lines_of_autopsy,
    parts_of,
    read_time,
)
from simulator.cli.flags import control_flags, json_flag, option, own_option
from simulator.cli.output import echo, echo_value
from simulator.cli.usage import CannotStart, verb, wrong_usage
from simulator.control.curl import NotCurl, Pasted, read_command, read_words
from simulator.shortened import whole_line

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")
NOTHING = "the journal has no refused request; `reseller-sim requests` lists all requests"


@verb("explain")
@click.argument("words", nargs=-1, metavar="METHOD PATH | N | -- curl ... | -")
@own_option("--header", "-H", metavar="'NAME: VALUE'", multiple=True, help="A header of the request.")
@own_option(
    "--data", "-d", metavar="BODY|@FILE|-", help="The body of the request: literal, from a file, or from stdin."
)
@option(
    "--secret",
    metavar="SECRET",
    help="The key's secret, in Base64.  [default: the secret that the simulator has for the key]",
)
@own_option(
    "--string",
    metavar="TEXT|@FILE|-",
    help="The string that your client has signed, to compare it with the right string.",
)
@own_option("--at", metavar="TIME", help="When the request was sent: Unix seconds or ISO 8601.  [default: now]")
@own_option(
    "--last",
    is_flag=True,
    help="Explain the last refused request of the journal (status 4xx).",
)
@control_flags
@json_flag(help="Print one JSON object.")
def explain_command(
    control: Control,
    words: tuple[str, ...],
    header: tuple[str, ...],
    data: str | None,
    secret: str | None,
    string: str | None,
    at: str | None,
    last: bool,
    json: bool,
) -> int:
    """Explain why a signature or another credential is refused.

    Give a request in any of these ways: as METHOD and PATH, with the headers and the body that your client sends; as a
    curl command, in the arguments or on stdin (-); or as the number of a request in the journal of a running simulator
    (its X-Sim-Request-Id). The request is not sent. The verb searches for up to two mistakes that explain the wrong
    signature, and prints the string that your client should sign. With --string, it compares this with the string that
    your client signed. Without --secret, it uses the secret that the running simulator has for the key, or the default
    scenario's secret. Exit code 0 means that the signature is right, 1 that it is wrong, 3 that no simulator answered.

    \b
    Examples:
      reseller-sim explain --last
      reseller-sim explain 17 --sandbox mine
      reseller-sim explain --last --string @signed.txt
      reseller-sim explain -- curl -X POST http://127.0.0.1:8080/v2/topup -H 'X-Api-Key: ...' -d @body.json
      reseller-sim explain GET '/v2/catalog?is_active=true' -H 'X-Api-Key: ...' -H 'X-Timestamp: ...' --secret SECRET
    """
    named = values.number_of(words[0]) if len(words) == 1 else None
    if last and words:
        raise wrong_usage(f"--last takes no {words[0]!r}: it finds the request itself")
    if string == "-" and (data == "-" or words == ("-",)):
        raise wrong_usage("stdin can be read once: give --string @FILE")
    given = _given(string)
    if last or named is not None:
        _refuse_given("goes with METHOD and PATH; the journal has all of a request", "header", "data", "secret", "at")
        if last:
            rows = control.ask("GET", "/requests", query={"status_min": 400, "status_max": 499, "limit": 1})["requests"]
            named = rows[0]["n"] if rows else None
        if named is not None:
            query = None if given is None else {"string": os.fsdecode(given)}
            return _of_journal(control.ask("GET", f"/requests/{named}", query=query), json)
        echo("null" if json else NOTHING)
        return 1
    request = _request(words, header, data)
    parts = parts_of(request)
    headers = joined(parts.headers)
    key = os.fsdecode(headers.get(API_KEY, b""))
    if not key and (is_open(parts) or AUTHORIZATION in headers):
        _refuse_given("goes with a signature; the request has no X-Api-Key", "secret", "string", "at")
        accepted = "this endpoint takes no credentials in its headers"
        problems = []
        if not is_open(parts):
            verdict, accepted = _verdict(control, request)
            problems = [] if verdict == "valid" else [(verdict, accepted)]
        made = explained(problems)
    else:
        now_s = time.time() if at is None else read_time(at)
        is_default = control.base == DEFAULT_URL and control.sandbox == "default"
        known = default_secrets() if is_default else {}
        if secret is None and key and key not in known and ", " not in key:
            known = _known_to(control, key)
        made, accepted = explain_request(parts, known, secret, now_s, given), ""
    if json:
        echo_value(made)
    else:
        lines = [
            *lines_of(request.method, request.target, made),
            *([accepted] if made["is_right"] and accepted else []),
        ]
        echo("\n".join(map(whole_line, lines)))
    return 0 if made["is_right"] else 1


def _verdict(control: Control, request: Pasted) -> tuple[str, str]:
    """Return the verdict of a running simulator on a request without an API key, and the reason, since only that
    simulator knows its tokens. Tokens do not cover the body."""
    headers = [[name, value] for name, _, value in (line.partition(":") for line in request.headers)]
    asked = {"method": request.method, "path": request.target, "headers": headers}
    try:
        found = control.ask("POST", "/explain", asked)
    except CannotStart as missing:
        raise CannotStart(f"{missing.text}; only a running simulator knows which tokens it issued") from None
    return found["verdict"], found["message"]


def _refuse_given(why: str, *names: str) -> None:
    """Refuse flags that would be ignored, unless a variable sets them."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise wrong_usage(f"--{name} {why}")


def _known_to(control: Control, key: str) -> dict[str, tuple[str, str]]:
    """Return the secrets that a running simulator has, by their keys, with the codes of their resellers."""
    try:
        shown = control.ask("GET", "")
    except CannotStart as missing:
        raise CannotStart(f"{missing.text}; or give the secret of {key} with --secret") from None
    return {one["api_key"]: (one["api_secret"], one["code"]) for one in shown["resellers"] if one["api_secret"]}


def _given(string: str | None) -> bytes | None:
    """Return the string of `--string`. A line end after the string is removed, since files have it."""
    if string is None:
        return None
    given = read_input(string, "the string", TEXT_BYTES_MAX)
    if string.startswith(("@", "-")):
        given = given.removesuffix(b"\n").removesuffix(b"\r")
    if not given:
        raise wrong_usage("--string is empty; give what your client passes to the HMAC")
    return given


def _request(words: tuple[str, ...], header: tuple[str, ...], data: str | None) -> Pasted:
    is_text = words == ("-",) or (len(words) == 1 and " " in words[0])
    try:
        if is_text or (words and words[0].endswith(("curl", "curl.exe"))):
            _refuse_given("goes with METHOD and PATH; a curl command has its own", "header", "data")
            if not is_text:
                return read_words(list(words), read_file)
            return read_command(os.fsdecode(read_stdin()) if words == ("-",) else words[0], read_file)
    except NotCurl as wrong:
        raise wrong_usage(wrong) from None
    if len(words) == 2 and words[0].upper() in METHODS and words[1].startswith(("/", "http://", "https://")):
        return Pasted(words[0], words[1], header, read_input(data))
    raise wrong_usage(
        "give METHOD and PATH, such as GET /v2/balance, or the number of a request, a curl command, or --last"
    )


def _of_journal(exchange: dict[str, Any], as_json: bool) -> int:
    found = exchange.get("autopsy")
    is_right = not (exchange["error"] or exchange["status"] >= 400) if found is None else found["is_right"]
    if as_json:
        names = ("n", "method", "path", "status", "error", "diagnosis")
        told = {name: exchange[name] for name in names} | {"is_right": is_right, "autopsy": found}
        echo_value(told)
        return 0 if is_right else 1
    query = f"?{exchange['query']}" if exchange["query"] else ""
    lines = [f"request {exchange['n']}: {exchange['method']} {exchange['path']}{query}, {exchange['status']}"]
    if found is not None:
        of_form = exchange["diagnosis"] if exchange["error"] == "invalid_signature_format" else ""
        lines += lines_of_autopsy(exchange["error"], found, of_form)
    elif exchange["error"]:
        lines.append(f"{exchange['error']}: {exchange['diagnosis']}")
    elif not is_right:
        lines.append(f"it was refused: {exchange['diagnosis'] or 'the journal has no more about it'}")
    else:
        lines.append("it was not refused" + (f": {exchange['diagnosis']}" if exchange["diagnosis"] else ""))
    echo("\n".join(map(whole_line, lines)))
    return 0 if is_right else 1
