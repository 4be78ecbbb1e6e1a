"""`reseller-sim explain`: why a request is refused for its credentials, and how to mend it."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from simulator.auth import headers as names
from simulator.auth.autopsy.report import Autopsy, autopsy
from simulator.auth.autopsy.search import BY_ID
from simulator.auth.autopsy.signing_steps import TEXT_BYTES_MAX, Other
from simulator.auth.canonical import body_hash, canonical_string, signature
from simulator.auth.form import FIX
from simulator.auth.headers import joined
from simulator.auth.signature import Denied, check_headers
from simulator.cli import values
from simulator.cli.call import read_file, read_input, read_stdin
from simulator.cli.control import DEFAULT_URL, Control
from simulator.cli.flags import control_flags, json_flag, option, own_option
from simulator.cli.output import echo, echo_value
from simulator.cli.usage import CannotStart, verb, wrong_usage
from simulator.control.autopsies import RequestParts, rendered, request_parts
from simulator.control.curl import NotCurl, PastedRequest, read_command, read_words
from simulator.control.explanation_endpoints import GivenKey
from simulator.control.http import InvalidInput
from simulator.domain.model.instants import sandbox_time
from simulator.redaction import redact_urls
from simulator.scenario.library import load_scenario
from simulator.short_text import whole_line
from simulator.staging.signed_requests import CannotSign, secret_bytes
from simulator.wire.token_answers import PATHS

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")
NOTHING = "the journal has no refused request; `reseller-sim requests` lists all requests"
TOLERANCE_S = 300.0
LINE_CHARS_MAX = 300
_OF_SIGNATURE = ("invalid_signature", "invalid_signature_format")

Known = Mapping[str, tuple[str, str]]  # secrets, in Base64, and codes of resellers, by keys


def _read_time(text: str) -> float:
    """Return the Unix seconds of `--at`."""
    try:
        if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", text):
            return float(text)
        return sandbox_time(text).timestamp()
    except (ValueError, OverflowError):
        what = "neither Unix seconds nor a time such as 2026-10-01T12:00:00Z"
        raise ValueError(f"{values.shown(text)} is {what}") from None


@verb(
    "explain",
    "--last --string @signed.txt",
    "-- curl -X POST http://127.0.0.1:8080/v2/topup -H 'X-Api-Key: ...' -d @body.json",
)
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
@own_option(
    "--at",
    metavar="TIME",
    parse=_read_time,
    help="When the request was sent, in Unix seconds or ISO 8601.  [default: now]",
)
@own_option("--last", is_flag=True, help="Explain the last refused request of the journal (status 4xx).")
@control_flags
@json_flag(help="Print one JSON object.")
def explain_command(
    control: Control,
    words: tuple[str, ...],
    header: tuple[str, ...],
    data: str | None,
    secret: str | None,
    string: str | None,
    at: float | None,
    last: bool,
    json: bool,
) -> int:
    """Give a request as METHOD and PATH with its headers and body, as a curl command in the arguments or on stdin (-),
    or as the number of a request in the journal (its X-Sim-Request-Id). The request is not sent. The verb names up to
    two mistakes that explain the wrong signature, and prints the string that your client should sign; with --string, it
    compares this with the string that your client signed. Without --secret, it uses the secret that the running
    simulator or the default scenario has for the key. Exit code 0 means that the signature is right, 1 that it is
    wrong, 3 that no simulator answered.
    """
    named = values.number_of(words[0]) if len(words) == 1 else None
    if last and words:
        raise wrong_usage(f"--last takes no {words[0]!r}: it finds the request itself")
    if string == "-" and (data == "-" or words == ("-",)):
        raise wrong_usage("stdin can be read once: give --string @FILE")
    given = _given(string)
    if last or named is not None:
        _refuse_given("needs METHOD and PATH; a recorded request has its own", "header", "data", "secret", "at")
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
    key = os.fsdecode(headers.get(names.API_KEY, b""))
    asks_for_tokens = request.method.upper() == "POST" and os.fsdecode(parts.path) in PATHS  # SPEC 4.2, 4.3
    if not key and (asks_for_tokens or names.AUTHORIZATION in headers):
        _refuse_given("needs a signed request; this request has no X-Api-Key", "secret", "string", "at")
        accepted = "this endpoint takes no credentials in its headers"
        problems = []
        if not asks_for_tokens:
            verdict, accepted = _verdict(control, request)
            problems = [] if verdict == "valid" else [(verdict, accepted)]
        made = explained(problems)
    else:
        now_s = time.time() if at is None else at
        is_default = control.base == DEFAULT_URL and control.sandbox == "default"
        known = default_secrets() if is_default else {}
        if secret is None and key and key not in known and ", " not in key:
            known = _known_to(control, key)
        made, accepted = explain_request(parts, known, secret, now_s, given), ""
    if json:
        echo_value(made)
    else:
        found = {problem["code"]: problem["message"] for problem in made["problems"]}
        signed = None if made["is_right"] else made["signature"]
        lines = [f"{request.method} {redact_urls(request.target)}", *lines_of(found, made["autopsy"], signed)]
        echo("\n".join(map(whole_line, [*lines, accepted] if made["is_right"] and accepted else lines)))
    return 0 if made["is_right"] else 1


def _verdict(control: Control, request: PastedRequest) -> tuple[str, str]:
    """Return the verdict of a running simulator on a request without an API key, and the reason, since only that
    simulator knows its tokens. Tokens do not cover the body."""
    headers = [[name, value] for name, _, value in (line.partition(":") for line in request.headers)]
    asked = {"method": request.method, "path": request.target, "headers": headers}
    try:
        found = control.ask("POST", "/explain", asked)
    except CannotStart as missing:
        raise CannotStart(f"{missing.text}; only a running simulator knows which tokens it issued") from None
    return found["verdict"], found["message"]


def _refuse_given(why: str, *flags: str) -> None:
    """Refuse flags that would be ignored, unless a variable sets them."""
    context = click.get_current_context()
    for name in flags:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise wrong_usage(f"--{name} {why}")


def _known_to(control: Control, key: str) -> dict[str, tuple[str, str]]:
    """Return the secrets that a running simulator has, by their keys, with the codes of their resellers."""
    try:
        shown = control.ask("GET", "")
    except CannotStart as missing:
        raise CannotStart(f"{missing.text}; or give the secret of {key} with --secret") from None
    return {row["api_key"]: (row["api_secret"], row["code"]) for row in shown["resellers"] if row["api_secret"]}


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


def _request(words: tuple[str, ...], header: tuple[str, ...], data: str | None) -> PastedRequest:
    is_text = words == ("-",) or (len(words) == 1 and " " in words[0])
    try:
        if is_text or (words and words[0].endswith(("curl", "curl.exe"))):
            _refuse_given("needs METHOD and PATH; a curl command has its own", "header", "data")
            if not is_text:
                return read_words(list(words), read_file)
            return read_command(os.fsdecode(read_stdin()) if words == ("-",) else words[0], read_file)
    except NotCurl as wrong:
        raise wrong_usage(wrong) from None
    if len(words) == 2 and words[0].upper() in METHODS and words[1].startswith(("/", "http://", "https://")):
        return PastedRequest(words[0], words[1], header, read_input(data))
    raise wrong_usage(
        "give METHOD and PATH, such as GET /v2/balance, with -d for a body, or a request's number, curl or --last"
    )


def _of_journal(exchange: dict[str, Any], as_json: bool) -> int:
    found = exchange.get("autopsy")
    is_right = not (exchange["error"] or exchange["status"] >= 400) if found is None else found["is_right"]
    if as_json:
        facts = {name: exchange[name] for name in ("n", "method", "path", "status", "error", "diagnosis")}
        echo_value(facts | {"is_right": is_right, "autopsy": found})
        return 0 if is_right else 1
    query = f"?{exchange['query']}" if exchange["query"] else ""
    lines = [f"request {exchange['n']}: {exchange['method']} {exchange['path']}{query}, {exchange['status']}"]
    if found is not None or exchange["error"]:
        lines += lines_of({exchange["error"]: exchange["diagnosis"]} if exchange["error"] else {}, found)
    elif not is_right:
        lines.append(f"it was refused: {exchange['diagnosis'] or 'the journal has no more about it'}")
    else:
        lines.append("it was not refused" + (f": {exchange['diagnosis']}" if exchange["diagnosis"] else ""))
    echo("\n".join(map(whole_line, lines)))
    return 0 if is_right else 1


def default_secrets() -> Known:
    """Return the keys of the default scenario."""
    resellers = load_scenario("default").resellers
    return {key.key: (key.secret, each.code) for each in resellers for key in each.keys if key.secret}


def parts_of(request: PastedRequest) -> RequestParts:
    """Return the parts of a request. Anything else is a usage error."""
    pairs = []
    for line in request.headers:
        name, colon, value = line.partition(":")
        if not (colon and name.strip()):
            raise wrong_usage(f"{line!r} is not a header: give 'NAME: VALUE'")
        pairs.append((name, value))
    try:
        return request_parts(request.method, request.target, pairs, request.body)
    except InvalidInput as wrong:
        raise wrong_usage(wrong.message) from None


def explained(problems: list[tuple[str, str]], found: Autopsy | None = None, signed: str = "") -> dict[str, Any]:
    """Return the explanation of a request as JSON: problems as codes and sentences, the autopsy of its signature, and
    the correct signature, if the headers are valid."""
    return {
        "is_right": not problems and (found is None or found.is_right),
        "problems": [{"code": code, "message": text} for code, text in problems],
        "autopsy": found and rendered(found),
        "signature": signed or None,
    }


def explain_request(
    request: RequestParts, known: Known, secret: str | None, now_s: float, given: bytes | None
) -> dict[str, Any]:
    """Explain a request that is sent at `now_s`. Without `secret`, the secret of the key is looked up in `known`.
    `given` is the string that the client says it signed."""
    headers = joined(request.headers)
    key = os.fsdecode(headers.get(names.API_KEY, b""))
    if secret is not None and not secret.strip():
        raise wrong_usage("--secret is empty; give the key's secret in Base64")
    secret_text = secret if secret is not None else known.get(key, ("", ""))[0]
    try:
        held = GivenKey(secret_bytes(secret_text.strip())) if secret_text else None
    except CannotSign as wrong:
        raise wrong_usage(wrong) from None
    problems: list[tuple[str, str]] = []
    checked = check_headers(headers, held, now_s, TOLERANCE_S)
    if isinstance(checked, Denied):
        problems.append((checked.code, _reason(checked, headers, known, secret_given=secret is not None)))
    if held is None or not all(headers.get(name) for name in names.SIGNATURE_HEADERS):
        return explained(problems)
    sent = request._replace(secret=held.secret_bytes)
    found = autopsy(sent.facts(_others(known, key), hashed=body_hash(request.body)), given)
    if not found.is_right and "invalid_signature_format" not in dict(problems):
        problems.append(("invalid_signature", found.sentence))
    is_sendable = all(code in _OF_SIGNATURE for code, _ in problems)
    signed = signature(held.secret_bytes, canonical_string(*found.expected)) if is_sendable else ""
    return explained(problems, found, signed)


def _reason(denied: Denied, headers: Mapping[bytes, bytes], known: Known, *, secret_given: bool) -> str:
    if denied.code == "invalid_api_key" and not secret_given:
        key = headers[names.API_KEY].decode("utf-8", "replace")
        return f"no secret is known for the key {key}; give --secret"
    if denied.code == "timestamp_expired" and "clock" in denied.diagnosis:
        return f"{denied.diagnosis}; --at says when it was sent, if that was not now"
    return denied.diagnosis or denied.message


def _others(known: Known, own: str) -> Iterator[Other]:
    """Yield the secrets of other keys, as far as they are Base64."""
    for key, (text, code) in known.items():
        try:
            if key != own:
                yield Other(f"the key {key} of {code}", secret_bytes(text))
        except CannotSign:
            continue


def lines_of(problems: Mapping[str, str], found: Mapping[str, Any] | None, signed: str | None = None) -> Iterator[str]:
    """Yield the explanation of a request as lines of text: its problems by their codes, the autopsy of its signature in
    the form of the control API, and the right signature."""
    for code, text in problems.items():
        if found is None or code not in _OF_SIGNATURE:
            yield f"{code}: {text}"
    if found is None:
        return
    code = next((code for code in problems if code in _OF_SIGNATURE), "")
    of_form = problems.get("invalid_signature_format", "")
    sentence = found["sentence"] if found["mistakes"] or not of_form else of_form
    yield f"{code}: {sentence}" if code else str(sentence)
    if found["is_right"]:
        return
    fixes = dict.fromkeys(BY_ID[mistake].fix for mistake in found["mistakes"] if mistake in BY_ID)
    yield from (f"fix: {fix}" for fix in fixes or (FIX if of_form else found["fix"],))
    yield from _comparison(found)
    if signed:
        yield f"signature  {signed}"


def _comparison(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the expected string, and the strings that the client signed and gave."""
    expected, nearest, compared = found["expected"]["canonical_string"], found["nearest"], found["compared"]
    if nearest is not None and nearest["canonical_string"] != expected:
        yield from _difference("signed", nearest["canonical_string"], expected, nearest["at"])
    elif compared is None or compared["is_expected"]:
        yield f"expected   {expected}"
    if compared is None:
        return
    if compared["sentence"] != found["sentence"]:
        yield str(compared["sentence"])
        if compared["fix"] not in ("", found["fix"]):
            yield f"fix: {compared['fix']}"
    if not compared["is_expected"]:
        yield from _difference("yours", compared["canonical_string"], expected, compared["at"])


def _difference(title: str, signed: str, expected: str, at: int) -> Iterator[str]:
    """Two strings below each other, and a caret below the first difference."""
    start = max(0, at - LINE_CHARS_MAX // 2)
    cut = "…" if start else ""
    yield f"{'expected':<11}{cut}{whole_line(expected[start : start + LINE_CHARS_MAX])}"
    yield f"{title:<11}{cut}{whole_line(signed[start : start + LINE_CHARS_MAX])}"
    width = len(whole_line(signed[start:at])) if at <= len(signed) else 0
    yield " " * (max(len(title), 11) + len(cut) + width) + "^"
