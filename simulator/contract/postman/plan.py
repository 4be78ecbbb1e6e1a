"""Which requests a collection has, in their order: a journey, then every operation of the contract in its tag's folder.

Everything but the journeys follows from the document: a new operation is in the collections as soon as it is there.
What deletes is in a last folder, latest first, so that the whole collection can be run from top to bottom.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from simulator.contract.endpoints import METHODS
from simulator.contract.openapi import bundled
from simulator.contract.postman import samples
from simulator.contract.postman.journeys import JOURNEYS, REMEMBERED, Step

SIGNATURE, BEARER, NONE = "signature", "bearer", "none"
API_KEY = "X-Api-Key"

# Variables that the pre-request script sets for each request.
OF_EACH_REQUEST = ("new_refid", "today")
# The value of a variable that no answer has set yet.
NOT_YET = "none-yet"

# Refusals that the contract has everywhere and a collection must not meet: of the caller, and of the method.
_NEVER_RIGHT = (401, 403, 405)
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query or a header; one that is not `sent` is only offered."""

    name: str
    value: str
    description: str = ""
    sent: bool = True

    @property
    def encoded(self) -> "Parameter":
        """As a query carries it. Variables stay as they are."""
        return replace(self, name=quote(self.name), value=quote(self.value, safe="{}:/,"))


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `path` begins with / and has variables, `body` is JSON text or empty, `authentication` one of
    `SIGNATURE`, `BEARER`, `NONE`; `meanings` says of each status what it means, `statuses` are those that are right."""

    id: str
    operation: str
    name: str
    method: str
    path: str
    description: str
    meanings: tuple[str, ...]
    query: tuple[Parameter, ...]
    headers: tuple[Parameter, ...]
    body: str
    authentication: str
    statuses: tuple[int, ...]
    checks: Mapping[str, str] = field(default_factory=dict)
    remembers: Mapping[str, str] = field(default_factory=dict)

    @property
    def documentation(self) -> str:
        """What it does, and what each status means, in Markdown."""
        return "\n".join([self.description, "", *(f"- {one}" for one in self.meanings)])

    @property
    def sent_query(self) -> str:
        """The query with the parameters that are sent; empty, or beginning with `?`."""
        sent = "&".join(f"{one.name}={one.value}" for one in self.query if one.sent)
        return f"?{sent}" if sent else ""


@dataclass(frozen=True, slots=True)
class Folder:
    """Requests under one name."""

    name: str
    description: str
    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """All requests of a document. `settings` are the variables that people set, with their defaults; `remembered`
    those that answers set, with the value before that."""

    document: str
    title: str
    description: str
    settings: dict[str, str]
    remembered: dict[str, str]
    folders: tuple[Folder, ...]

    @property
    def requests(self) -> Iterator[Request]:
        """Those of all folders."""
        for folder in self.folders:
            yield from folder.requests

    @property
    def is_signed(self) -> bool:
        """True when any request is."""
        return any(one.authentication == SIGNATURE for one in self.requests)


def plan(name: str, known: Mapping[str, str]) -> Collection:
    """The collection of a document (`OPENAPI`, `CONTROL`). `known` has the defaults of variables by their names, and
    may have more than are used."""
    document = bundled(name)
    plain = {one.operation: one for one in _operations(name, document)}
    folders = (_journey(name, plain), *_by_tag(document, plain), _deletes(plain))
    requests = [one for folder in folders for one in folder.requests]
    used = set(_used(requests))
    remembered = {variable for one in requests for variable in one.remembers}
    settings = {"base_url": document["servers"][0]["url"]} | {
        variable: value for variable, value in known.items() if variable in used - remembered
    }
    others = sorted((used | remembered) - set(settings) - set(OF_EACH_REQUEST))
    return Collection(
        document=name,
        title=document["info"]["title"],
        description=document["info"]["description"],
        settings=settings,
        remembered={variable: known.get(variable, NOT_YET) for variable in others},
        folders=folders,
    )


def _operations(name: str, document: Mapping[str, Any]) -> Iterator[Request]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                parameters = [*item.get("parameters", ()), *item[method].get("parameters", ())]
                described = [samples.resolved(document, one) for one in parameters]
                yield _request(name, document, path, method, item[method], described)


def _request(
    name: str,
    document: Mapping[str, Any],
    path: str,
    method: str,
    operation: Mapping[str, Any],
    parameters: Sequence[Mapping[str, Any]],
) -> Request:
    operation_id = operation["operationId"]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    statuses = [int(status) for status in operation["responses"]]
    return Request(
        id=operation_id,
        operation=operation_id,
        name=operation["summary"],
        method=method.upper(),
        path=samples.path(path),
        description=_description(operation),
        meanings=_meanings(document, operation),
        query=_parameters(document, parameters, "query"),
        headers=_parameters(document, parameters, "header"),
        body=_text(samples.body(document, content)) if content is not None else "",
        authentication=_authentication(document, operation),
        statuses=tuple(status for status in statuses if status < 500 and status not in _NEVER_RIGHT),
        remembers=REMEMBERED[name].get(operation_id, {}),
    )


def _parameters(
    document: Mapping[str, Any], described: Iterable[Mapping[str, Any]], place: str
) -> tuple[Parameter, ...]:
    found = (
        Parameter(
            one["name"],
            samples.parameter(document, one),
            one.get("description", ""),
            sent=one.get("required", False) or "x-sent" in one,
        )
        for one in described
        if one["in"] == place
    )
    return tuple(one.encoded if place == "query" else one for one in found)


def _authentication(document: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
    schemes = document["components"]["securitySchemes"]
    for requirement in operation.get("security", document["security"]):
        kinds = {schemes[one]["type"] for one in requirement}
        if kinds:
            return SIGNATURE if "apiKey" in kinds else BEARER
    return NONE


def _description(operation: Mapping[str, Any]) -> str:
    said: str = operation["description"]
    return f"Deprecated. {said}" if operation.get("deprecated") else said


def _meanings(document: Mapping[str, Any], operation: Mapping[str, Any]) -> tuple[str, ...]:
    answers = operation["responses"].items()
    return tuple(f"{status}: {samples.resolved(document, one)['description']}" for status, one in answers)


def _journey(name: str, plain: Mapping[str, Request]) -> Folder:
    steps = tuple(_step(plain[step.operation], number, step) for number, step in enumerate(JOURNEYS[name], 1))
    return Folder("Walkthrough", "Run these first, in this order: each uses what those before it have answered.", steps)


def _step(request: Request, number: int, step: Step) -> Request:
    query = {one.name: one for one in request.query if one.sent} | {
        key: Parameter(key, value).encoded for key, value in step.query.items()
    }
    headers = {one.name: one for one in request.headers if one.sent} | {
        key: Parameter(key, value) for key, value in step.headers.items()
    }
    return replace(
        request,
        id=f"{number:02d}-{request.operation}",
        name=step.title,
        query=tuple(query.values()),
        headers=tuple(headers.values()),
        body=_text(json.loads(request.body) | step.body) if request.body else "",
        statuses=step.statuses,
        checks=step.checks,
        remembers={**request.remembers, **step.remembers},
    )


def _by_tag(document: Mapping[str, Any], plain: Mapping[str, Request]) -> Iterator[Folder]:
    described = {tag["name"]: tag.get("description", "") for tag in document["tags"]}
    tags = {
        operation["operationId"]: operation["tags"][0]
        for item in document["paths"].values()
        for method, operation in item.items()
        if method in METHODS
    }
    for tag in [*described, *(one for one in dict.fromkeys(tags.values()) if one not in described)]:
        requests = tuple(request for id_, request in plain.items() if tags[id_] == tag and request.method != "DELETE")
        if requests:
            yield Folder(tag, described.get(tag, ""), requests)


def _deletes(plain: Mapping[str, Request]) -> Folder:
    requests = tuple(one for one in reversed([*plain.values()]) if one.method == "DELETE")
    return Folder("Clean-up", "What deletes, last, so that a run of everything can use it before.", requests)


def _used(requests: Iterable[Request]) -> Iterator[str]:
    """The variables in requests, and those that their authentication takes."""
    for one in requests:
        texts = [one.path, one.body, *(each.value for each in (*one.query, *one.headers))]
        yield from _VARIABLE.findall(" ".join(texts))
        yield from {SIGNATURE: ("api_key", "api_secret"), BEARER: ("control_token",), NONE: ()}[one.authentication]


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
