"""A Postman collection, format 2.1: one JSON document, which Postman imports and newman runs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from simulator.contract.postman.plan import API_KEY, BEARER, SIGNATURE, Collection, Folder, Parameter, Request

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_BEARER = {"type": "bearer", "bearer": [{"key": "token", "value": "{{control_token}}", "type": "string"}]}

# What a script begins with, each line where it is needed. An answer may have no body.
_NAMES = {
    "status": "const status = pm.response.code;",
    "answer": "const answer = pm.response.text() ? pm.response.json() : null;",
    "recall(": "const recall = (name) => pm.variables.get(name);",
    "remember(": "const remember = (name, value) => pm.collectionVariables.set(name, value);",
    "check(": "const check = (name, holds) => pm.test(name, () => pm.expect(holds(), pm.response.text()).to.be.true);",
}


def render(collection: Collection) -> str:
    """The collection as JSON text. Its ids follow from names, so that the same contract gives the same bytes."""
    variables = collection.settings | collection.remembered
    script = (files(__package__) / "sign.js").read_text("utf-8").splitlines()
    whole = {
        "info": {
            "_postman_id": _id(collection, ""),
            "name": collection.title,
            "description": collection.description,
            "schema": SCHEMA,
        },
        "item": [_folder(collection, one) for one in collection.folders],
        "event": [_script("prerequest", script)] if collection.is_signed else [],
        "variable": [{"key": key, "value": value, "type": "string"} for key, value in variables.items()],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _folder(collection: Collection, folder: Folder) -> dict[str, Any]:
    return {
        "name": folder.name,
        "id": _id(collection, folder.name),
        "description": folder.description,
        "item": [_item(collection, folder, one) for one in folder.requests],
    }


def _item(collection: Collection, folder: Folder, request: Request) -> dict[str, Any]:
    return {
        "name": request.name,
        "id": _id(collection, f"{folder.name}/{request.id}"),
        "event": [_script("test", _checks(request))],
        "request": _request(request),
        "response": [],
    }


def _request(request: Request) -> dict[str, Any]:
    headers = [*_listed(request.headers)]
    if request.authentication == SIGNATURE:
        headers.insert(0, {"key": API_KEY, "value": "{{api_key}}"})
    if request.body:
        headers.append({"key": "Content-Type", "value": "application/json"})
    described: dict[str, Any] = {
        "method": request.method,
        "header": headers,
        "url": {
            "raw": f"{{{{base_url}}}}{request.path}{request.sent_query}",
            "host": ["{{base_url}}"],
            "path": request.path.removeprefix("/").split("/"),
            "query": [*_listed(request.query)],
        },
        "auth": _BEARER if request.authentication == BEARER else {"type": "noauth"},
        "description": request.documentation,
    }
    if request.body:
        described["body"] = {"mode": "raw", "raw": request.body, "options": {"raw": {"language": "json"}}}
    return described


def _listed(parameters: Iterable[Parameter]) -> Iterable[Mapping[str, Any]]:
    for one in parameters:
        switched_off = {} if one.sent else {"disabled": True}
        yield {"key": one.name, "value": one.value, "description": one.description} | switched_off


def _checks(request: Request) -> list[str]:
    """Return the script that checks an answer and keeps what later requests need."""
    body = [*_judged(request), *_remembered(request)]
    said = "\n".join(body)
    return [*(line for name, line in _NAMES.items() if name in said), *body]


def _judged(request: Request) -> list[str]:
    expected = " or ".join(str(one) for one in request.statuses)
    lines = [f'check("the status is {expected}", () => {json.dumps(request.statuses)}.includes(status));']
    return lines + [f"check({json.dumps(name)}, () => {condition});" for name, condition in request.checks.items()]


def _remembered(request: Request) -> Sequence[str]:
    """Only an answer that is right has them, and only some such answers."""
    if not request.remembers:
        return ()
    kept = ", ".join(f"{name}: {value}" for name, value in request.remembers.items())
    return (
        "if (status < 300) {",
        f"  const seen = {{ {kept} }};",
        "  for (const name of Object.keys(seen)) {",
        "    if (seen[name] !== undefined && seen[name] !== null) remember(name, seen[name]);",
        "  }",
        "}",
    )


def _script(listen: str, lines: list[str]) -> dict[str, Any]:
    return {"listen": listen, "script": {"type": "text/javascript", "exec": lines}}


def _id(collection: Collection, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"reseller-sim/{collection.document}/{name}"))
