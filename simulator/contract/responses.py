"""Validates responses against an OpenAPI document: status, content type, every member of the body."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from simulator.contract.body import BadJson, decode_any
from simulator.contract.openapi import load, path_pattern
from simulator.contract.schemas import Schema, resolved_in
from simulator.contract.validator import Validator, beginning
from simulator.short_text import SENTENCE_CHARS_MAX, shortened

MISTAKE = 500
"""The status of a mistake of ours, which any request may meet."""

# Statuses of checks that precede routing, and so apply to unknown paths and methods.
_BEFORE_ROUTING = {401: "Unauthorized", 403: "Forbidden", 404: "UnknownSandbox", 409: "SandboxReset"}

_validators: dict[int, tuple[Schema, Validator]] = {}

_OF_CONDITIONS = ("/if/properties", "/then/properties", "/else/properties")


class ContractDeparture(NamedTuple):
    """A part of a response that its schema does not allow: the member (dotted), the expected and the actual value. A
    member that the contract does not describe `is_unknown`; clients ignore it."""

    field: str
    expected: str
    actual: str
    is_unknown: bool = False


def departures(
    document: str, method: str, path: str, status: int, content_type: str, body: bytes
) -> Iterator[ContractDeparture]:
    """Yield the departures of a response of any deployment from the document, member by member; its headers are not
    judged. `path` has neither query nor sandbox prefix. A response that only a simulator gives departs."""
    answer = described(load(document), method.lower(), path, status)
    if answer is None or "x-simulator-only" in answer:
        yield ContractDeparture("the status", "one that the contract has", str(status))
        return
    media = answer.get("content")
    if media is None:
        if body:
            yield ContractDeparture("the body", "empty", f"{len(body)} bytes")
    elif (content := media.get(media_type(content_type))) is None:
        yield ContractDeparture("the header Content-Type", " or ".join(media), content_type or "absent")
    else:
        yield from body_departures(content["schema"], body)


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def body_departures(wanted: Schema, body: bytes) -> Iterator[ContractDeparture]:
    """Yield the departures of a JSON body from a schema that stays loaded.

    For a large body, only the beginning of each list and object is searched: at most twenty departures, or the first
    departure alone when it lies later. Unknown members are searched in the same part."""
    checker = validator_of(wanted)
    try:
        value = decode_any(body, outline_max=len(body))
    except BadJson as bad:
        yield ContractDeparture("the body", "JSON", str(bad))
        return
    if not checker.is_valid(value):
        explained = checker.problems(value, explain_large=True)
        yield from (
            ContractDeparture(path or "the body", "; ".join(texts), _shown(value, path))
            for path, texts in explained.items()
        )
        return
    for where, name in undescribed(checker, beginning(value)):
        yield ContractDeparture(
            f"{where}/{name}".strip("/").replace("/", "."), "not in the contract", "present", is_unknown=True
        )


def _shown(value: Any, dotted: str) -> str:
    """Return the value of a dotted member, shortened; `absent` where it leads nowhere."""
    for token in dotted.split(".") if dotted else ():
        if isinstance(value, list) and token.isdigit() and int(token) < len(value):
            value = value[int(token)]
        elif isinstance(value, dict) and token in value:
            value = value[token]
        else:
            return "absent"
    return shortened(str(value) if not isinstance(value, str) else repr(value), SENTENCE_CHARS_MAX)


def described(whole: dict[str, Any], method: str, path: str, status: int) -> dict[str, Any] | None:
    shared = whole["components"]["responses"]
    item = path_item(whole, path)
    if status == MISTAKE:
        found = shared.get("Unexpected")
    elif item is None:
        found = shared.get("NotFound" if status == 404 else _BEFORE_ROUTING.get(status))
    elif method not in item:
        found = shared.get("MethodNotAllowed" if status == 405 else _BEFORE_ROUTING.get(status))
    else:
        found = item[method]["responses"].get(str(status))
    return None if found is None else resolved_in(whole, found)


def path_item(whole: dict[str, Any], path: str) -> dict[str, Any] | None:
    """Return the path item of a concrete path; literal paths take precedence over templates, and of two templates that
    match the longer path, as `{n}.curl` over `{n}`."""
    paths: dict[str, dict[str, Any]] = whole["paths"]
    if path in paths:
        return paths[path]
    found = [template for template in paths if path_pattern(template).fullmatch(path)]
    return paths[max(found, key=len)] if found else None


def validator_of(wanted: Schema) -> Validator:
    """Return the validator of a part of a loaded document, cached: compiling one takes longer than what it then
    validates."""
    found = _validators.get(id(wanted))
    if found is None:
        found = _validators[id(wanted)] = (wanted, Validator(wanted))  # the part stays alive, and so its id is its own
    return found[1]


def _known_members(notes: list[Any]) -> dict[str, set[str]]:
    """Return the described members by location, without locations that allow others.

    A schema that allows no others leaves no note of its members, so a place that only a condition notes is left out.
    """
    known: dict[str, set[str]] = {}
    is_open: set[str] = set()
    is_described: set[str] = set()
    for note in notes:
        names, keyword = note["annotations"], note["schemaLocation"].rpartition("/")[2]
        if isinstance(names, list) and keyword == "properties":
            known.setdefault(note["instanceLocation"], set()).update(names)
            if not note["schemaLocation"].endswith(_OF_CONDITIONS):
                is_described.add(note["instanceLocation"])
        elif isinstance(names, list) and keyword == "additionalProperties":
            is_open.add(note["instanceLocation"])
    return {where: names for where, names in known.items() if where in is_described - is_open}


def undescribed(checker: Validator, value: Any) -> Iterator[tuple[str, str]]:
    """Members, anywhere in a valid `value`, of described objects that the contract does not name: place and name."""
    return _undescribed(value, "", _known_members(checker.evaluate(value).annotations()))


def _undescribed(value: Any, where: str, known: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _undescribed(item, f"{where}/{index}", known)
    elif isinstance(value, dict):
        for name, member in value.items():
            if where in known and name not in known[where]:
                yield where, name
            yield from _undescribed(member, f"{where}/{name.replace('~', '~0').replace('/', '~1')}", known)
