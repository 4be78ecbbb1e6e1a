"""`/_sim/sandboxes/{id}/explain`: the expected signature of a request, and why the given signature differs.

The request is given as its parts or as a curl command. It is not sent, and changes nothing.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from simulator.auth import headers as names
from simulator.auth.autopsy.signing_steps import Parts
from simulator.auth.canonical import body_hash, canonical_query, canonical_string, signature
from simulator.auth.headers import joined
from simulator.auth.signature import Denied, check_headers
from simulator.control.autopsies import (
    STRING_CHARS_MAX,
    RequestParts,
    as_bytes,
    others_of,
    query_rules,
    rendered,
    request_parts,
    search,
)
from simulator.control.curl import NotCurl, curl_command, read_command
from simulator.control.filters import refuse_other_parameters
from simulator.control.http import (
    InvalidInput,
    base_url,
    bytes_of,
    decoded,
    refuse_lost_sandbox,
    reply,
    sandbox_of,
    sandboxes_of,
    validated,
)
from simulator.domain.model.resellers import ApiKey, Reseller
from simulator.redaction import Mask
from simulator.runtime.background import in_background, place
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import DEFAULT
from simulator.shortened import shortened

SCHEMA: Final = "explain-request"
HEADERS_BYTES_MAX: Final = 64 * 1024
CURL_BODY_BYTES_MAX: Final = 64 * 1024
_VERSION: Final = "the version of the scheme, always v1"
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
    if sum(len(name) + len(value) for name, value in given.headers) > HEADERS_BYTES_MAX:
        raise InvalidInput(f"the headers have more than {HEADERS_BYTES_MAX} bytes", "headers")
    headers = given.headers
    if "key" in wanted:
        headers = [pair for pair in headers if pair[0] != names.API_KEY] + [(names.API_KEY, as_bytes(wanted["key"]))]
    secret = _decoded(wanted, "secret") if "secret" in wanted else None
    canonical = as_bytes(wanted["canonical"]) if "canonical" in wanted else None
    return given._replace(headers=headers, secret=secret, canonical=canonical)


def _decoded(wanted: dict[str, Any], name: str) -> bytes:
    try:
        return b64decode(wanted[name].strip(), validate=True)
    except ValueError:
        raise InvalidInput(f"{name} must be Base64", name) from None


class _GivenKey(NamedTuple):
    """A key with a secret that was given for it."""

    secret_bytes: bytes
    state: str = "active"


class _Asked(NamedTuple):
    """A given request with the sandbox's record of its key."""

    given: RequestParts
    headers: dict[bytes, bytes]
    named: tuple[Reseller, ApiKey] | None
    held: _GivenKey | ApiKey | None

    @property
    def key(self) -> str:
        return self.headers.get(names.API_KEY, b"").decode("latin-1")


async def explain(request: Request) -> Response:
    """Explain a request. Raises `InvalidInput` for an invalid request, and `Busy`."""
    live = sandbox_of(request)
    refuse_other_parameters(request)
    raw = await bytes_of(request)
    with place(len(raw)):
        given = await in_background(read_parts, raw)
        hashed = await in_background(body_hash, given.body)
    refuse_lost_sandbox(request)
    headers = dict(joined(given.headers))
    named = live.core.state.keys.get(headers.get(names.API_KEY, b"").decode("latin-1"))
    known = None if named is None else named[1]
    asked = _Asked(given, headers, named, known if given.secret is None else _GivenKey(given.secret))
    shown = _described(live, asked, hashed, sandboxes_of(request).mask_of(live), base_url(request))
    unsigned: JudgeUnsigned = request.app.state.judge_unsigned
    return reply(shown | (_judged_unsigned(live, asked, unsigned) or await _judged(live, asked, hashed)))


def _described(live: LiveSandbox, asked: _Asked, hashed: bytes, mask: Mask, base: str) -> dict[str, Any]:
    given, headers = asked.given, asked.headers
    parts = _parts(asked, hashed)
    to_sign = canonical_string(*parts)
    can_sign = bool(asked.held and asked.held.secret_bytes)
    is_whole = can_sign and bool(parts.timestamp and parts.nonce)
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
        "canonical": {"text": _text(to_sign), "parts": list(_pieces(given, parts))},
        "expected_signature": signature(asked.held.secret_bytes, to_sign) if asked.held and is_whole else None,
        "given_signature": None if sent is None else _text(sent),
        "curl": _curl(live, asked, hashed, base) if can_sign and len(given.body) <= CURL_BODY_BYTES_MAX else None,
    }


def _parts(asked: _Asked, hashed: bytes) -> Parts:
    headers, method = asked.headers, asked.given.method.upper().encode()
    query = canonical_query(asked.given.query)
    return Parts(headers.get(names.TIMESTAMP, b""), headers.get(names.NONCE, b""), method, query, hashed)


def _pieces(given: RequestParts, parts: Parts) -> Iterator[dict[str, str]]:
    """Yield the pieces of the string, each with its origin."""
    body = f"the {len(given.body)} bytes of the body as they are sent" if given.body else "nothing, as there is no body"
    whys: Iterable[tuple[str, bytes, str]] = (
        ("version", b"v1", _VERSION),
        ("timestamp", parts.timestamp, _of_header(names.WRITTEN_TIMESTAMP, parts.timestamp, "Unix seconds")),
        ("nonce", parts.nonce, _of_header(names.WRITTEN_NONCE, parts.nonce, "16 to 128 of a-z A-Z 0-9 - _")),
        ("method", parts.method, "the method in capitals"),
        ("query", parts.query, _of_query(given.query, parts.query)),
        ("body_hash", parts.hashed, f"the Base64 of the SHA-256 of {body}"),
    )
    yield from ({"name": name, "value": _text(value), "why": why} for name, value, why in whys)


def _of_header(name: str, value: bytes, what: str) -> str:
    return f"{name} as it was sent: {what}" if value else f"{name}, which is missing: {what}"


def _of_query(raw: bytes, canonical: bytes) -> str:
    if not raw:
        return "empty, as nothing follows a ?"
    if raw == canonical:
        return "what follows the ?, which is sorted by key already"
    return "what follows the ?, sorted by key, without parameters that have no ="


def _text(value: bytes) -> str:
    return shortened(value.decode("utf-8", "replace"), STRING_CHARS_MAX)


def _curl(live: LiveSandbox, asked: _Asked, hashed: bytes, base: str) -> str:
    """Return the request as a command for this sandbox, with a fresh signature."""
    assert asked.held is not None
    given, stamp = asked.given, str(int(live.signing_time().timestamp()))
    nonce, method = f"explained-{uuid4().hex}", given.method.upper()
    query = canonical_query(given.query)
    to_sign = canonical_string(stamp.encode(), nonce.encode(), method.encode(), query, hashed)
    signing = {names.API_KEY, *names.SIGNATURE_HEADERS, b"host", b"content-length"}
    kept = {name.decode("latin-1"): value.decode("latin-1") for name, value in given.headers if name not in signing}
    made = {
        names.WRITTEN_API_KEY: asked.key,
        names.WRITTEN_TIMESTAMP: stamp,
        names.WRITTEN_NONCE: nonce,
        names.WRITTEN_SIGNATURE: signature(asked.held.secret_bytes, to_sign),
    }
    prefix = "" if live.id == DEFAULT else f"/s/{live.id}"
    target = given.path + (b"?" + given.query if given.query else b"")
    return curl_command(method, base + prefix + target.decode("utf-8", "replace"), kept | made, given.body)


def _judged_unsigned(live: LiveSandbox, asked: _Asked, judge: JudgeUnsigned) -> dict[str, Any] | None:
    """Return the verdict on a request without an API key, None for any other request."""
    if asked.key:
        return None
    path = unquote(asked.given.path.decode("utf-8", "replace"))
    found = judge(live, asked.given.method, path, asked.headers)
    return found and {"verdict": found[0], "message": found[1], "autopsy": None}


async def _judged(live: LiveSandbox, asked: _Asked, hashed: bytes) -> dict[str, Any]:
    """Return the verdict of the service, a code of SPEC 5.2 or `valid`, with the autopsy of the signature if there is
    one."""
    now_s = live.signing_time().timestamp()
    tolerance_s = live.scenario.limits.timestamp_tolerance.total_seconds()
    checked = check_headers(asked.headers, asked.held, now_s, tolerance_s)
    is_signed = all(asked.headers.get(name) for name in names.SIGNATURE_HEADERS)
    found = None
    if asked.held and asked.held.secret_bytes and is_signed:
        others = others_of(live, *asked.named) if asked.named else ()
        facts = asked.given.facts(asked.held.secret_bytes, hashed, others, query_rules(live))
        found = await search(facts, asked.given.canonical)
    shown = None if found is None else rendered(found)
    if isinstance(checked, Denied):
        return {"verdict": checked.code, "message": checked.diagnosis or checked.message, "autopsy": shown}
    assert found is not None, "a signature that was checked is one"
    if not found.is_right:
        return {"verdict": "invalid_signature", "message": found.sentence, "autopsy": shown}
    if asked.named is not None and _is_used(live, *asked.named, checked.nonce, checked.timestamp_s):
        text = "the signature is right, but this nonce was used before: each request needs its own"
        return {"verdict": "nonce_reused", "message": text, "autopsy": shown}
    return {"verdict": "valid", "message": "the signature is right", "autopsy": shown}


def _is_used(live: LiveSandbox, reseller: Reseller, key: ApiKey, nonce: bytes, timestamp_s: int) -> bool:
    state = live.core.state
    scope = reseller.code if state.nonces_by_reseller else key.key
    return state.nonces.is_spent(scope, nonce, timestamp_s, live.clock.now())
