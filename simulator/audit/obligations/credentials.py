"""Credentials, signatures and deprecations (SPEC 4.2, 5.1, 5.2, 5.4, 9)."""

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from urllib.parse import parse_qsl

from simulator.audit.clauses import Finding, Occasion
from simulator.audit.client_traffic import Traffic
from simulator.audit.readers import bearer, follows, form, header, inner, members, text
from simulator.auth import headers as names
from simulator.auth.signature import NONCE_BYTES_MAX, NONCE_BYTES_MIN
from simulator.contract.openapi import OPENAPI, load
from simulator.wire.traffic import Call

UNAUTHORIZED = 401
NONCE_WINDOW = timedelta(minutes=10)
OFF_MAX = timedelta(seconds=60)
TOKEN_PATH = "/v2/token"  # noqa: S105  # a path
REFUSED_KEYS = frozenset({"invalid_api_key", "hmac_not_configured", "decryption_error"})

_NONCE = re.compile(rb"[A-Za-z0-9_-]{%d,%d}" % (NONCE_BYTES_MIN, NONCE_BYTES_MAX))
_SECONDS = re.compile(rb"[0-9]{9,10}")
_MILLISECONDS = re.compile(rb"[0-9]{12,13}")
_CREDENTIAL = re.compile(
    r"(x-)?(api[-_]?(key|secret)|secret|signature|nonce|password|((access|id|refresh|auth)[-_]?)?token|authorization)",
    re.IGNORECASE,
)


def unique_nonces(traffic: Traffic) -> Iterator[Occasion]:
    """Compare nonces by API key. Refused requests count as well."""
    used: dict[tuple[bytes, bytes], Call] = {}
    for call in traffic.calls:
        nonce = header(call.headers, names.NONCE)
        if not nonce:
            continue
        key = header(call.headers, names.API_KEY), nonce
        before, used[key] = used.get(key), call
        if before is not None and call.at - before.at < NONCE_WINDOW:
            yield Finding((before.n, call.n), f"request {call.n} has the nonce of request {before.n}")
        else:
            yield None


def well_formed_headers(traffic: Traffic) -> Iterator[Occasion]:
    """Judge every request that has an API key."""
    for call in traffic.calls:
        if not header(call.headers, names.API_KEY):
            continue
        wrong = [text for text, is_right in _forms(call) if not is_right]
        yield Finding((call.n,), f"request {call.n}: {', '.join(wrong)}") if wrong else None


def _forms(call: Call) -> Iterator[tuple[str, bool]]:
    timestamp, nonce, signature = (header(call.headers, name) for name in names.SIGNATURE_HEADERS)
    is_in_milliseconds = _MILLISECONDS.fullmatch(timestamp) is not None
    yield "the timestamp is in milliseconds; send seconds", not is_in_milliseconds
    is_right = is_in_milliseconds or _SECONDS.fullmatch(timestamp) is not None
    yield "X-Timestamp is missing or is no Unix time in seconds", is_right
    yield "X-Nonce is missing or has another form", _NONCE.fullmatch(nonce) is not None
    yield "X-Signature is missing or does not begin with v1=", signature.startswith(b"v1=")


def clock_in_step(traffic: Traffic) -> Iterator[Occasion]:
    """Judge the timestamps that are numbers of seconds."""
    for call in traffic.calls:
        sent = header(call.headers, names.TIMESTAMP)
        if not _SECONDS.fullmatch(sent):
            continue
        off = datetime.fromtimestamp(int(sent), UTC) - (call.service_time or call.at)
        if abs(off) > OFF_MAX:
            seconds = f"{abs(off).total_seconds():.0f} s {'behind' if off < timedelta() else 'ahead'}"
            yield Finding((call.n,), f"the timestamp of request {call.n} is {seconds}")
        else:
            yield None


def no_credentials_in_query(traffic: Traffic) -> Iterator[Occasion]:
    """Report credentials by the names of parameters, and the API key as a value."""
    for call in traffic.calls:
        if not call.query:
            continue
        key = header(call.headers, names.API_KEY)
        parameters = parse_qsl(call.query.decode("latin-1"), keep_blank_values=True)
        found = sorted({name for name, _ in parameters if _CREDENTIAL.fullmatch(name)})
        if found:
            yield Finding((call.n,), f"request {call.n} has {', '.join(found)} in its query")
        elif key.decode("latin-1") in (value for _, value in parameters if value):
            yield Finding((call.n,), f"request {call.n} has its API key in its query")
        else:
            yield None


def refused_key_not_retried(traffic: Traffic) -> Iterator[Occasion]:
    """Report a request that the client repeats after its refusal arrived and that is refused for the same reason."""
    refused: dict[tuple[bytes, str, str, bytes, bytes], tuple[Call, str]] = {}
    for call in traffic.calls:
        if call.status != UNAUTHORIZED:
            continue
        error = text(members(call.answer), "error")
        if error not in REFUSED_KEYS:
            continue
        sent = (header(call.headers, names.API_KEY), call.method, call.path, call.query, call.body)
        before = refused.get(sent)
        if before is not None and before[1] == error and _follows(call, before[0]):
            yield Finding(
                (before[0].n, call.n), f"request {call.n} repeats request {before[0].n}, refused with {error}"
            )
        else:
            refused[sent] = call, error
            yield None


def refused_login_not_retried(traffic: Traffic) -> Iterator[Occasion]:
    """Report a user name and password that the client sends again after their refusal arrived."""
    refused: dict[tuple[str, str], Call] = {}
    for call in traffic.to("POST", TOKEN_PATH):
        sent = form(call.body)
        login = text(sent, "username"), text(sent, "password")
        before = refused.get(login)
        if before is not None and _follows(call, before):
            yield Finding((before.n, call.n), f"request {call.n} sends the credentials that {before.n} was refused for")
        else:
            yield None
        if call.status == UNAUTHORIZED:
            refused.setdefault(login, call)
        else:
            refused.pop(login, None)


def _follows(call: Call, before: Call) -> bool:
    return follows(call.at, before.at, before.at + timedelta(microseconds=before.duration_us))


TOKEN_PATHS = ("/v2/token", "/v2/token/refresh")
ACCESS = "access"


def id_token_only(traffic: Traffic) -> Iterator[Occasion]:
    """Judge tokens by how they were issued, and by their claim of use."""
    issued = {
        token for path in TOKEN_PATHS for call in traffic.to("POST", path) for token in _access_tokens(call.answer)
    }
    for call in traffic.calls:
        token = bearer(call)
        if not token:
            continue
        is_access = token.decode("latin-1") in issued or _use(token) == ACCESS
        yield Finding((call.n,), f"request {call.n} sends the AccessToken") if is_access else None


def _access_tokens(answer: bytes) -> Iterator[str]:
    found = members(answer)
    for where in (found, inner(found, "AuthenticationResult")):
        if token := text(where, "AccessToken"):
            yield token


def _use(token: bytes) -> str:
    """Return the claim of use of a JSON Web Token, without verification."""
    parts = token.split(b".")
    if len(parts) != 3:
        return ""
    try:
        claims = urlsafe_b64decode(parts[1] + b"==")
    except ValueError:
        return ""
    return text(members(claims), "token_use")


def no_deprecated_endpoints(traffic: Traffic) -> Iterator[Occasion]:
    """Judge every request. The evidence is the first request to each deprecated endpoint."""
    found = set()
    for call in traffic.calls:
        endpoint = call.method, call.path
        if endpoint not in _deprecated():
            yield None
        elif endpoint not in found:
            found.add(endpoint)
            yield Finding((call.n,), f"request {call.n} is {call.method} {call.path}")


@cache
def _deprecated() -> frozenset[tuple[str, str]]:
    return frozenset(
        (method.upper(), path)
        for path, item in load(OPENAPI)["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, dict) and operation.get("deprecated")
    )


def signed_not_bearer(traffic: Traffic) -> Iterator[Occasion]:
    """Report the first request that has a bearer token and no API key."""
    is_found = False
    for call in traffic.calls:
        if header(call.headers, names.API_KEY):
            yield None
        elif bearer(call) and not is_found:
            is_found = True
            yield Finding((call.n,), f"request {call.n} carries a bearer token")
