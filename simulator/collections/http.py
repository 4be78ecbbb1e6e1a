"""A `.http` file in the syntax of JetBrains' HTTP client, which httpYac runs too, with its script and environments."""

import json
from collections.abc import Iterator

from simulator.collections.checks import before_each, checks
from simulator.collections.plan import API_KEY, BEARER, CREDENTIALS, SIGNATURE, STAGING, Collection, Folder, Request

_SIGNED = (
    (API_KEY, "{{api_key}}"),
    ("X-Timestamp", "{{timestamp}}"),
    ("X-Nonce", "{{nonce}}"),
    ("X-Signature", "{{signature}}"),
)
_PLACE = "/* REMEMBERED */ {}"


def render(collection: Collection) -> dict[str, str]:
    """The files by their names. A person's own key and secret belong into `http-client.private.env.json`."""
    staging = {name: "" if name in CREDENTIALS else value for name, value in collection.settings.items()}
    environments = {"simulator": collection.settings, "staging": staging | {"base_url": STAGING}}
    script = before_each("http").replace(_PLACE, json.dumps(collection.remembered, indent=2))
    return {
        f"{'reseller' if collection.is_signed else 'control'}.http": "\n".join(_file(collection)),
        "before-each.js": script,
        "http-client.env.json": json.dumps(environments, indent=2) + "\n",
    }


def _file(collection: Collection) -> Iterator[str]:
    yield f"# {collection.title}: choose an environment of http-client.env.json, then run a request, or all of them."
    for folder in collection.folders:
        for request in folder.requests:
            yield ""
            yield from _request(folder, request)


def _request(folder: Folder, request: Request) -> Iterator[str]:
    yield f"### {folder.name}: {request.name}"
    yield f"# @name {request.id}"
    yield "# @no-auto-encoding"
    yield from (f"# {line}".rstrip() for line in request.description.splitlines())
    for kind, offered in (("query", request.query), ("header", request.headers)):
        yield from (f"# optional {kind} {one.name}={one.value}: {one.description}" for one in offered if not one.sent)
    yield "< ./before-each.js"
    yield f"{request.method} {{{{base_url}}}}{request.path}{request.sent_query}"
    yield from (f"{name}: {value}" for name, value in _headers(request).items())
    if request.body:
        yield from ("", request.body)
    yield from ("", "> {%", *checks("http", request), "%}")


def _headers(request: Request) -> dict[str, str]:
    """A request's own signature replaces the one of the script."""
    headers = dict(_SIGNED) if request.authentication == SIGNATURE else {}
    if request.authentication == BEARER:
        headers["Authorization"] = "Bearer {{control_token}}"
    if request.body:
        headers["Content-Type"] = "application/json"
    return headers | {one.name: one.value for one in request.headers if one.sent}
