"""The explanation of a request's credentials: problems of the headers, and the autopsy of the signature."""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any, NamedTuple

from simulator.auth import headers as names
from simulator.auth.autopsy.report import Autopsy, autopsy
from simulator.auth.autopsy.search import BY_ID
from simulator.auth.autopsy.signing_steps import Other
from simulator.auth.canonical import body_hash, canonical_string, signature
from simulator.auth.form import FIX
from simulator.auth.headers import joined
from simulator.auth.signature import BODY_BYTES_MAX, Denied, check_headers
from simulator.cli.usage import wrong_usage
from simulator.control.autopsies import RequestParts, rendered, request_parts
from simulator.control.curl import Pasted
from simulator.control.http import InvalidInput
from simulator.domain.model.instants import sandbox_time
from simulator.domain.model.likeness import nearest
from simulator.redaction import redact_urls
from simulator.scenario.library import load_scenario
from simulator.staging.signing import CannotSign, secret_bytes
from simulator.wire.token_answers import PATHS

TOLERANCE_S = 300.0
LINE_CHARS_MAX = 300
_OF_SIGNATURE = ("invalid_signature", "invalid_signature_format")

Known = Mapping[str, tuple[str, str]]  # secrets, in Base64, and codes of resellers, by keys


class _Key(NamedTuple):
    secret_bytes: bytes
    state: str = "active"


def default_secrets() -> Known:
    """Return the keys of the default scenario."""
    resellers = load_scenario("default").resellers
    return {one.key: (one.secret, each.code) for each in resellers for one in each.keys if one.secret}


def read_time(text: str) -> float:
    """Unix seconds of `--at`. Anything else is a usage error."""
    try:
        if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", text):
            return float(text)
        return sandbox_time(text).astimezone(UTC).timestamp()
    except (ValueError, OverflowError) as wrong:
        what = "neither Unix seconds nor a time such as 2026-10-01T12:00:00Z"
        raise wrong_usage(f"--at: {text!r} is {what} ({wrong})") from None


def parts_of(request: Pasted) -> RequestParts:
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


def is_open(given: RequestParts) -> bool:
    """Return whether a request asks for tokens with credentials in its body alone (SPEC 4.2, 4.3)."""
    return given.method.upper() == "POST" and os.fsdecode(given.path) in PATHS


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
        held = _Key(secret_bytes(secret_text.strip())) if secret_text else None
    except CannotSign as wrong:
        raise wrong_usage(wrong) from None
    problems: list[tuple[str, str]] = []
    checked = check_headers(headers, held, now_s, TOLERANCE_S)
    if isinstance(checked, Denied):
        problems.append((checked.code, _reason(checked, headers, known, secret_given=secret is not None)))
    if len(request.body) > BODY_BYTES_MAX:
        problems.append(("body_too_large", "the body is over 10 MB"))
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
        if ", " in key:
            return f"X-Api-Key was sent more than once, or with a comma: {key}; send one key"
        near = nearest(key, known)
        return f"no secret is known for the key {key}" + (f"; did you mean {near}?" if near else "; give --secret")
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


def lines_of(method: str, target: str, made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the explanation of a request as lines of text."""
    yield f"{method} {redact_urls(target)}"
    if (upper := method.upper()) != method:
        yield f"the method {method} is taken as {upper}: METHOD is in capitals in the string to sign"
    problems = {problem["code"]: problem["message"] for problem in made["problems"]}
    for code, text in problems.items():
        if made["autopsy"] is None or code not in _OF_SIGNATURE:
            yield f"{code}: {text}"
    if made["autopsy"] is None:
        return
    code = next((code for code in problems if code in _OF_SIGNATURE), "")
    yield from lines_of_autopsy(code, made["autopsy"], problems.get("invalid_signature_format", ""))
    if made["signature"] and not made["is_right"]:
        yield f"signature  {made['signature']}"


def lines_of_autopsy(code: str, found: Mapping[str, Any], said: str = "") -> Iterator[str]:
    """Yield lines of text for an autopsy in the form of the control API. `said` describes a malformed X-Signature
    header; it replaces the sentence of an autopsy that found no known mistake."""
    sentence = found["sentence"] if found["mistakes"] or not said else said
    yield f"{code}: {sentence}" if code else str(sentence)
    if found["is_right"]:
        return
    for fix in dict.fromkeys(BY_ID[one].fix for one in found["mistakes"] if one in BY_ID) or (
        FIX if said else found["fix"],
    ):
        yield f"fix: {fix}"
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
    yield f"{'expected':<11}{cut}{_one(expected[start : start + LINE_CHARS_MAX])}"
    yield f"{title:<11}{cut}{_one(signed[start : start + LINE_CHARS_MAX])}"
    width = len(_one(signed[start:at])) if at <= len(signed) else 0
    yield " " * (max(len(title), 11) + len(cut) + width) + "^"


def _one(text: str) -> str:
    """Return a text with escaped control characters."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
