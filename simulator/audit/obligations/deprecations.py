"""Deprecated features: endpoints, bearer tokens (SPEC 4.2, 5.4, 9)."""

from base64 import urlsafe_b64decode
from collections.abc import Iterator
from functools import cache

from simulator.audit.clauses import Finding, Occasion, obligation
from simulator.audit.client_traffic import Traffic
from simulator.audit.reading import bearer, header, inner, members, text
from simulator.auth import headers as names
from simulator.contract.openapi import OPENAPI, load

TOKEN_PATHS = ("/v2/token", "/v2/token/refresh")
ACCESS = "access"


@obligation
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


@obligation
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


@obligation
def signed_not_bearer(traffic: Traffic) -> Iterator[Occasion]:
    """Report the first request that has a bearer token and no API key."""
    is_found = False
    for call in traffic.calls:
        if header(call.headers, names.API_KEY):
            yield None
        elif bearer(call) and not is_found:
            is_found = True
            yield Finding((call.n,), f"request {call.n} carries a bearer token")
