"""Render the contract as a Postman collection, format 2.1: one JSON document, which Postman imports and newman runs.

Each operation of a document is in the folder of its tag, after a walkthrough. Operations that delete are in the last
folder, in reverse order, so the whole collection can be run from top to bottom. `contracts/postman.yaml` has the
walkthrough, and the values that a run knows better than any example.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from simulator.contract.files import yaml_document
from simulator.contract.openapi import METHODS
from simulator.contract.schemas import resolved_in
from simulator.scenario.library import load_scenario
from tools.pages.bundle import bundle

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
SIGNATURE, BEARER, NONE = "signature", "bearer", "none"
OF_EACH_REQUEST = ("new_refid", "today")
"""Variables that the pre-request script sets for each request."""
NOT_YET = "none-yet"
"""The value of a variable that no answer has set yet."""

# Refusals that the contract has everywhere and a collection must not meet: of the caller, and of the method.
_NEVER_RIGHT = (401, 403, 405)
# Names of path parameters that need the preceding segment to be clear.
_UNSPECIFIC = ("code", "id", "n", "name")
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_VARIABLES_OF = {SIGNATURE: ("api_key", "api_secret"), BEARER: ("control_token",), NONE: ()}
_BEARER = {"type": "bearer", "bearer": [{"key": "token", "value": "{{control_token}}", "type": "string"}]}
# The first lines of a script, each only where it is needed. An answer may have no body.
_NAMES = {
    "status": "const status = pm.response.code;",
    "answer": "const answer = pm.response.text() ? pm.response.json() : null;",
    "recall(": "const recall = (name) => pm.variables.get(name);",
    "remember(": "const remember = (name, value) => pm.collectionVariables.set(name, value);",
    "check(": "const check = (name, holds) => pm.test(name, () => pm.expect(holds(), pm.response.text()).to.be.true);",
}

_Object = Mapping[str, Any]
Parameter = dict[str, Any]
"""A parameter of a query or a header in Postman's form. A `disabled` parameter is only offered."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `path` begins with / and has variables, `body` is JSON text or empty, `authentication` one of
    `SIGNATURE`, `BEARER`, `NONE`; `statuses` are the expected statuses."""

    id: str
    operation: str
    tag: str
    name: str
    method: str
    path: str
    description: str
    query: tuple[Parameter, ...]
    headers: tuple[Parameter, ...]
    body: str
    authentication: str
    statuses: tuple[int, ...]
    checks: Mapping[str, str] = field(default_factory=dict)
    remembers: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> Iterator[str]:
        """Yield the names of the variables in the request."""
        texts = [self.path, self.body, *(each["value"] for each in (*self.query, *self.headers))]
        yield from _VARIABLE.findall(" ".join(texts))
        yield from _VARIABLES_OF[self.authentication]


def as_json(name: str) -> str:
    """Return the collection of a document as a file."""
    return json.dumps(collection(name, example_values()), indent=1, ensure_ascii=False) + "\n"


def example_values() -> dict[str, str]:
    """Return the defaults of a collection's variables by their names: values of the default scenario."""
    scenario = load_scenario("default")
    reseller = scenario.resellers[0]
    key = next(one for one in reseller.keys if one.state == "active")
    product = next(iter(scenario.catalog.products.values()))
    assert product.account is not None
    assert product.pricing is not None
    assert product.denomination is not None
    group = scenario.catalog.groups[0]
    return {
        "api_key": key.key,
        "api_secret": key.secret,
        "username": reseller.users[0].username,
        "password": reseller.users[0].password,
        "product": product.code,
        "account": product.account.placeholder,
        "amount": product.denomination.split(",")[0],
        "field_id": product.pricing.id,
        "callback_url": reseller.callback.url,
        "callback_method": reseller.callback.method,
        "control_token": "",
        "reseller_code": reseller.code,
        "product_code": product.code,
        "category_id": group.categories[0].id,
        "group_id": group.id,
        "inbox_name": reseller.callback.url.removeprefix("inbox:"),
        "sandbox": "default",
        "request_n": "1",
    }


def collection(name: str, known: Mapping[str, str]) -> dict[str, Any]:
    """Return the collection of a document (`OPENAPI`, `CONTROL`). `known` has the defaults of variables by name, and
    may have unused variables. Ids are derived from names, so the same contract yields the same bytes."""
    document, own = bundle(name), _own()[name]
    plain = {request.operation: request for request in _operations(document, own["remembered"])}
    folders = [
        (
            "Walkthrough",
            "Run these first, in this order: each uses what those before it have answered.",
            [_step(plain[step["operation"]], number, step) for number, step in enumerate(own["walkthrough"], 1)],
        ),
        *_by_tag(document, plain.values()),
        (
            "Clean-up",
            "Deletions, which come last in a run of all folders.",
            [request for request in reversed(plain.values()) if request.method == "DELETE"],
        ),
    ]
    requests = [request for _, _, each in folders for request in each]
    is_signed = any(request.authentication == SIGNATURE for request in requests)
    script = Path(__file__).with_name("postman_sign.js").read_text("utf-8").splitlines()
    variables = _variables(requests, {**known, "base_url": document["servers"][0]["url"]})
    return {
        "info": {
            "_postman_id": _id(name, ""),
            "name": document["info"]["title"],
            "description": document["info"]["description"],
            "schema": SCHEMA,
        },
        "item": [
            {
                "name": title,
                "id": _id(name, title),
                "description": description,
                "item": [_item(f"{title}/{request.id}", name, request) for request in each],
            }
            for title, description, each in folders
        ],
        "event": [_script("prerequest", script)] if is_signed else [],
        "variable": [{"key": key, "value": value, "type": "string"} for key, value in variables.items()],
    }


@cache
def _own() -> dict[str, Any]:
    whole: dict[str, Any] = yaml_document("postman")
    return whole


def _variables(requests: Iterable[Request], known: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that people set, with their defaults, then the variables that answers set, with their first
    values."""
    remembered = {variable for request in requests for variable in request.remembers}
    used = {"base_url", *(variable for request in requests for variable in request.variables)}
    settings = {variable: value for variable, value in known.items() if variable in used - remembered}
    settings = {"base_url": known["base_url"]} | settings
    others = sorted((used | remembered) - set(settings) - set(OF_EACH_REQUEST))
    return settings | {variable: known.get(variable, NOT_YET) for variable in others}


def _operations(document: _Object, remembered: _Object) -> Iterator[Request]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                parameters = [*item.get("parameters", ()), *item[method].get("parameters", ())]
                described = [resolved_in(document, one) for one in parameters]
                yield _request(document, path, method, item[method], described, remembered)


def _request(
    document: _Object, path: str, method: str, operation: _Object, parameters: list[_Object], remembered: _Object
) -> Request:
    id_, answers = operation["operationId"], operation["responses"]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    meanings = (f"- {status}: {resolved_in(document, answer)['description']}" for status, answer in answers.items())
    said = ("Deprecated. " if operation.get("deprecated") else "") + operation.get("description", "")
    query, headers = ([one for one in parameters if one["in"] == place] for place in ("query", "header"))
    return Request(
        id=id_,
        operation=id_,
        tag=operation["tags"][0],
        name=operation["summary"],
        method=method.upper(),
        path=path_with_variables(path),
        description="\n".join([said, "", *meanings]),
        query=tuple(_encoded(_parameter(document, one)) for one in query),
        headers=tuple(_parameter(document, one) for one in headers),
        body="" if content is None else _text(body_of(document, content)),
        authentication=_authentication(document, operation),
        statuses=tuple(status for status in map(int, answers) if status < 500 and status not in _NEVER_RIGHT),
        remembers=remembered.get(id_, {}),
    )


def _authentication(document: _Object, operation: _Object) -> str:
    schemes = document["components"]["securitySchemes"]
    for requirement in operation.get("security", document["security"]):
        if kinds := {schemes[one]["type"] for one in requirement}:
            return SIGNATURE if "apiKey" in kinds else BEARER
    return NONE


def _parameter(document: _Object, described: _Object) -> Parameter:
    switched_off = {} if described.get("required", False) or "x-sent" in described else {"disabled": True}
    value, description = value_of(document, described), described.get("description", "")
    return {"key": described["name"], "value": value, "description": description} | switched_off


def _encoded(parameter: Parameter) -> Parameter:
    """As a query carries it. Variables stay as they are."""
    return parameter | {"key": quote(parameter["key"]), "value": quote(parameter["value"], safe="{}:/,")}


def value_of(document: _Object, described: _Object) -> str:
    """Return the text for a parameter of a query or header: the value that a run knows, the example, or the first value
    in the schema; otherwise empty."""
    schema = resolved_in(document, described.get("schema", {}))
    known, examples = _own()["known"], (described.get("example"), *schema.get("examples", ()))
    choices = (known.get(described["name"]), *examples, *schema.get("enum", ()), schema.get("default"))
    value = next((choice for choice in choices if choice is not None), "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def body_of(document: _Object, content: _Object) -> Any:
    """Return a body of this content of a media type: its example with what a run knows. A refid that is required is
    new."""
    value, required = content["example"], resolved_in(document, content.get("schema", {})).get("required", ())
    if not isinstance(value, Mapping):
        return value
    known = _own()["known"] | ({"refid": "{{new_refid}}"} if "refid" in required else {})
    return {name: known.get(name, member) for name, member in value.items()}


def path_with_variables(template: str) -> str:
    """Return a path whose parameters are variables; `/resellers/{code}` has `{{reseller_code}}`."""

    def variable(found: re.Match[str]) -> str:
        segment, name = found.groups()
        singular = re.sub(r"ies$", "y", segment).removesuffix("s").replace("-", "_")
        return f"{segment}/{{{{{f'{singular}_{name}' if name in _UNSPECIFIC else name}}}}}"

    return re.sub(r"([^/]+)/\{(\w+)\}", variable, template)


def _step(request: Request, number: int, step: _Object) -> Request:
    query = {one["key"]: one for one in request.query if "disabled" not in one}
    headers = {one["key"]: one for one in request.headers if "disabled" not in one}
    for name, value in step.get("query", {}).items():
        query[name] = _encoded({"key": name, "value": value, "description": ""})
    for name, value in step.get("headers", {}).items():
        headers[name] = {"key": name, "value": value, "description": ""}
    return replace(
        request,
        id=f"{number:02d}-{request.operation}",
        name=step["title"],
        query=tuple(query.values()),
        headers=tuple(headers.values()),
        body=_text(json.loads(request.body) | step.get("body", {})) if request.body else "",
        statuses=tuple(step.get("statuses", (200,))),
        checks=step.get("checks", {}),
        remembers={**request.remembers, **step.get("remembers", {})},
    )


def _by_tag(document: _Object, plain: Iterable[Request]) -> Iterator[tuple[str, str, list[Request]]]:
    described = {tag["name"]: tag.get("description", "") for tag in document["tags"]}
    for tag in dict.fromkeys([*described, *(request.tag for request in plain)]):
        if requests := [request for request in plain if request.tag == tag and request.method != "DELETE"]:
            yield tag, described.get(tag, ""), requests


def _item(place: str, document: str, request: Request) -> dict[str, Any]:
    headers, sent = list(request.headers), [one for one in request.query if "disabled" not in one]
    if request.authentication == SIGNATURE:
        headers.insert(0, {"key": "X-Api-Key", "value": "{{api_key}}"})
    if request.body:
        headers.append({"key": "Content-Type", "value": "application/json"})
    query = "&".join(f"{one['key']}={one['value']}" for one in sent)
    described: dict[str, Any] = {
        "method": request.method,
        "header": headers,
        "url": {
            "raw": f"{{{{base_url}}}}{request.path}{'?' if query else ''}{query}",
            "host": ["{{base_url}}"],
            "path": request.path.removeprefix("/").split("/"),
            "query": list(request.query),
        },
        "auth": _BEARER if request.authentication == BEARER else {"type": "noauth"},
        "description": request.description,
    }
    if request.body:
        described["body"] = {"mode": "raw", "raw": request.body, "options": {"raw": {"language": "json"}}}
    return {
        "name": request.name,
        "id": _id(document, place),
        "event": [_script("test", _checks(request))],
        "request": described,
        "response": [],
    }


def _checks(request: Request) -> list[str]:
    """Return the script that checks an answer and keeps what later requests need."""
    expected = " or ".join(map(str, request.statuses))
    lines = [f'check("the status is {expected}", () => {json.dumps(request.statuses)}.includes(status));']
    lines += [f"check({json.dumps(name)}, () => {condition});" for name, condition in request.checks.items()]
    if request.remembers:  # which only an answer that is right has, and only some such answers
        kept = ", ".join(f"{name}: {value}" for name, value in request.remembers.items())
        lines += [
            "if (status < 300) {",
            f"  const seen = {{ {kept} }};",
            "  for (const name of Object.keys(seen)) {",
            "    if (seen[name] !== undefined && seen[name] !== null) remember(name, seen[name]);",
            "  }",
            "}",
        ]
    said = "\n".join(lines)
    return [*(line for name, line in _NAMES.items() if name in said), *lines]


def _script(listen: str, lines: list[str]) -> dict[str, Any]:
    return {"listen": listen, "script": {"type": "text/javascript", "exec": lines}}


def _id(document: str, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"reseller-sim/{document}/{name}"))


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
