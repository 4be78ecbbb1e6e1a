"""`/_sim/sandboxes/{id}/explain`: the expected signature of a request, and why the given signature differs.

The request is given as its parts or as a curl command. It is not sent, and changes nothing.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from simulator.auth import headers as names
from simulator.auth.autopsy.signing_steps import TEXT_BYTES_MAX
from simulator.auth.canonical import body_hash, canonical_query, canonical_string, signature
from simulator.auth.headers import joined
from simulator.auth.signature import Denied, check_headers
from simulator.control.autopsies import STRING_CHARS_MAX, RequestParts, as_bytes, rendered, request_parts, search
from simulator.control.curl import ARGUMENT_BYTES_MAX, NotCurl, curl_command, read_command
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import (
    InvalidInput,
    base_url,
    bytes_of,
    decoded,
    refuse_lost_sandbox,
    reply,
    sandboxes_of,
    validated,
)
from simulator.domain.model.resellers import ApiKey, Reseller
from simulator.redaction import Mask
from simulator.runtime.background import in_background, place
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import url_prefix
from simulator.short_text import shortened

SCHEMA: Final = "explain-request"
_PIECES: Final = {
    "version": "the version of the scheme, always v1",
    "timestamp": f"{names.WRITTEN_TIMESTAMP} as it was sent: Unix seconds",
    "nonce": f"{names.WRITTEN_NONCE} as it was sent: 16 to 128 of a-z A-Z 0-9 - _",
    "method": "the method in capitals",
    "query": "what follows the ?, sorted by key, without parameters that have no =",
    "body_hash": "the Base64 of the SHA-256 of the body as it is sent, or of nothing",
}
"""The pieces of the canonical string, each with its origin."""
_PARTS: Final = ("method", "path", "headers", "body", "body_base64")

JudgeUnsigned = Callable[[LiveSandbox, str, str, Mapping[bytes, bytes]], tuple[str, str] | None]
"""Returns the service's verdict on a request without an API key, by method, path and headers: `valid` or the code of
the refusal, and the reason; None without a verdict."""


def read_parts(raw: bytes) -> RequestParts:
    """Return the request in a JSON body, given as its parts or as a curl command. Raises `InvalidInput`."""
    wanted = decoded(raw, SCHEMA)
    body = as_bytes(wanted.get("body", ""))
    if "curl" in wanted:
        if beside := next((name for name in _PARTS if name in wanted), ""):
            raise InvalidInput(f"{beside} is in the curl command; send one of the two", beside)
        try:
            pasted = read_command(wanted["curl"])
        except NotCurl as wrong:
            raise InvalidInput(str(wrong), "curl") from None
        pairs = [[name, value] for name, _, value in (line.partition(":") for line in pasted.headers)]
        body = pasted.body
        wanted |= validated({"method": pasted.method, "path": pasted.target, "headers": pairs}, SCHEMA)
    elif missing := next((name for name in ("method", "path") if name not in wanted), ""):
        raise InvalidInput(f"{missing} is missing; send method and path, or curl", missing)
    elif "body_base64" in wanted:
        if body:
            raise InvalidInput("body_base64 is the body in Base64; send one of the two", "body_base64")
        body = _decoded(wanted, "body_base64")
    written = wanted.get("headers", [])
    given = request_parts(
        wanted["method"], wanted["path"], written.items() if isinstance(written, dict) else written, body
    )
    if sum(len(name) + len(value) for name, value in given.headers) > TEXT_BYTES_MAX:
        raise InvalidInput(f"the headers have more than {TEXT_BYTES_MAX} bytes", "headers")
    headers = given.headers
    if "key" in wanted:
        headers = [pair for pair in headers if pair[0] != names.API_KEY] + [(names.API_KEY, as_bytes(wanted["key"]))]
    secret = _decoded(wanted, "secret") if "secret" in wanted else None
    if secret == b"":
        raise InvalidInput("secret is empty; without it the sandbox's own secret is used", "secret")
    canonical = as_bytes(wanted["canonical"]) if "canonical" in wanted else None
    return given._replace(headers=headers, secret=secret, canonical=canonical)


def _decoded(wanted: dict[str, Any], name: str) -> bytes:
    try:
        return b64decode(wanted[name].strip(), validate=True)
    except ValueError:
        raise InvalidInput(f"{name} must be Base64", name) from None


class GivenKey(NamedTuple):
    """A key with a secret that was given for it."""

    secret_bytes: bytes
    state: str = "active"


class _KeyedRequest(NamedTuple):
    """A given request with the sandbox's record of its key."""

    given: RequestParts
    headers: dict[bytes, bytes]
    key: str
    named: tuple[Reseller, ApiKey] | None
    key_record: GivenKey | ApiKey | None


async def explain(request: Request, live: LiveSandbox) -> Response:
    """Explain a request. Raises `InvalidInput` for an invalid request, and `Busy`."""
    refuse_other_parameters(request)
    raw = await bytes_of(request)
    with place(len(raw)):
        given = await in_background(read_parts, raw)
        hashed = await in_background(body_hash, given.body)
    refuse_lost_sandbox(request)
    headers = dict(joined(given.headers))
    key = headers.get(names.API_KEY, b"").decode("latin-1")
    named = live.core.state.keys.get(key)
    known = None if named is None else named[1]
    asked = _KeyedRequest(given, headers, key, named, known if given.secret is None else GivenKey(given.secret))
    shown = _described(live, asked, hashed, sandboxes_of(request).mask_of(live), base_url(request))
    if key:
        return reply(shown | await _judged(live, asked))
    judge: JudgeUnsigned = request.app.state.judge_unsigned
    unsigned = judge(live, given.method, unquote(given.path.decode("utf-8", "replace")), headers)
    verdict = unsigned and {"verdict": unsigned[0], "message": unsigned[1], "autopsy": None}
    return reply(shown | (verdict or await _judged(live, asked)))


def _described(live: LiveSandbox, asked: _KeyedRequest, hashed: bytes, mask: Mask, base: str) -> dict[str, Any]:
    given, headers, key_record = asked.given, asked.headers, asked.key_record
    timestamp, nonce = headers.get(names.TIMESTAMP, b""), headers.get(names.NONCE, b"")
    parts = (timestamp, nonce, given.method.upper().encode(), canonical_query(given.query), hashed)
    to_sign = canonical_string(*parts)
    secret = key_record.secret_bytes if key_record else None
    path = given.path.decode("utf-8", "replace")
    sent = headers.get(names.SIGNATURE)
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in given.headers)
    return {
        "request": {
            "method": given.method,
            "path": mask.path(path),
            "query": mask.query(path, given.query),
            "headers": [[mask.text(name), mask.header(name, value)] for name, value in pairs],
            "body_bytes": len(given.body),
        },
        "key": {
            "api_key": mask.header(names.API_KEY.decode(), asked.key) or None,
            "reseller": asked.named[0].code if asked.named else None,
            "known": asked.named is not None,
            "state": asked.named[1].state.value if asked.named else None,
        },
        "canonical": {
            "text": _text(to_sign),
            "parts": [
                {"name": name, "value": _text(value), "why": why}
                for (name, why), value in zip(_PIECES.items(), (b"v1", *parts), strict=True)
            ],
        },
        "expected_signature": signature(secret, to_sign) if secret and timestamp and nonce else None,
        "given_signature": None if sent is None else _text(sent),
        "curl": _curl(live, asked, secret, hashed, base) if secret and len(given.body) <= ARGUMENT_BYTES_MAX else None,
    }


def _text(value: bytes) -> str:
    return shortened(value.decode("utf-8", "replace"), STRING_CHARS_MAX)


def _curl(live: LiveSandbox, asked: _KeyedRequest, secret: bytes, hashed: bytes, base: str) -> str:
    """Return the request as a command for this sandbox, with a fresh signature."""
    given = asked.given
    signing = {names.API_KEY, *names.SIGNATURE_HEADERS, b"host", b"content-length"}
    kept = {name.decode("latin-1"): value.decode("latin-1") for name, value in given.headers if name not in signing}
    written = (names.WRITTEN_TIMESTAMP, names.WRITTEN_NONCE, names.WRITTEN_SIGNATURE)
    values = map(bytes.decode, fresh_signature(live, secret, given.method, given.query, hashed))
    headers = kept | {names.WRITTEN_API_KEY: asked.key, **dict(zip(written, values, strict=True))}
    target = given.path + (b"?" + given.query if given.query else b"")
    url = base + url_prefix(live.id) + target.decode("utf-8", "replace")
    return curl_command(given.method.upper(), url, headers, given.body)


def fresh_signature(
    live: LiveSandbox, secret: bytes, method: str, query: bytes, hashed: bytes
) -> tuple[bytes, bytes, bytes]:
    """Return the timestamp, the nonce and the signature of a request that is signed again now."""
    stamp, nonce = str(int(live.signing_time().timestamp())).encode(), f"again-{uuid4().hex}".encode()
    to_sign = canonical_string(stamp, nonce, method.upper().encode(), canonical_query(query), hashed)
    return stamp, nonce, signature(secret, to_sign).encode()


async def _judged(live: LiveSandbox, asked: _KeyedRequest) -> dict[str, Any]:
    """Return the verdict of the service, a code of SPEC 5.2 or `valid`, with the autopsy of the signature if there is
    one."""
    now_s = live.signing_time().timestamp()
    tolerance_s = live.scenario.limits.timestamp_tolerance.total_seconds()
    checked = check_headers(asked.headers, asked.key_record, now_s, tolerance_s)
    is_signed = all(asked.headers.get(name) for name in names.SIGNATURE_HEADERS)
    found = None
    if asked.key_record and asked.key_record.secret_bytes and is_signed:
        found = await search(live, asked.given._replace(secret=asked.key_record.secret_bytes), asked.named)
    if isinstance(checked, Denied):
        verdict, message = checked.code, checked.diagnosis or checked.message
    elif found is None or not found.is_right:
        assert found is not None, "a signature that was checked is one"
        verdict, message = "invalid_signature", found.sentence
    elif asked.named is not None and _is_used(live, *asked.named, checked.nonce, checked.timestamp_s):
        verdict = "nonce_reused"
        message = "the signature is right, but this nonce was used before: each request needs its own"
    else:
        verdict, message = "valid", "the signature is right"
    return {"verdict": verdict, "message": message, "autopsy": found and rendered(found)}


def _is_used(live: LiveSandbox, reseller: Reseller, key: ApiKey, nonce: bytes, timestamp_s: int) -> bool:
    state = live.core.state
    scope = reseller.code if state.nonces_by_reseller else key.key
    return state.nonces.is_spent(scope, nonce, timestamp_s, live.clock.now())
