"""Validates responses against an OpenAPI document: status, headers, content type, every member of the body."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.contract.body import BadJson, decode_any
from simulator.contract.openapi import load
from simulator.contract.sampling import named_members, sample
from simulator.contract.schemas import Schema, at_pointer, compiled
from simulator.contract.validate import Validator
from simulator.shortened import shortened

if TYPE_CHECKING:
    import jsonschema_rs

PROBLEM_CHARS_MAX = 300

UNKNOWN_TIMES = 10
"""Members that the contract does not describe are looked for in so many times as large a sample as errors are."""

MISTAKE = 500
"""The status of a mistake of ours, which any request may meet."""

EVENT_STREAM = "text/event-stream"
"""The media type of server-sent events; the schema is that of each event's data, in JSON."""

FILE = "application/octet-stream"
"""The media type of compressed files, which no schema describes."""

# Statuses of checks that precede routing, and so apply to unknown paths and methods.
_BEFORE_ROUTING = {401: "Unauthorized", 403: "Forbidden", 404: "UnknownSandbox", 409: "SandboxReset"}

_validators: "dict[int, tuple[Schema, jsonschema_rs.Draft202012Validator]]" = {}

_explainers: dict[int, tuple[Schema, Validator]] = {}

_judged: dict[tuple[int, bytes], list[str]] = {}

_OF_CONDITIONS = ("/if/properties", "/then/properties", "/else/properties")

_PARAMETER = re.compile(r"(\{[^}]*\})")


class Departure(NamedTuple):
    """What a response has that its schema does not allow: the member (dotted), what the contract wants, and what is
    there. A member that the contract does not describe `is_unknown`; clients ignore those."""

    field: str
    expected: str
    actual: str
    is_unknown: bool = False


def response_problems(
    document: str,
    method: str,
    path: str,
    status: int,
    content_type: str,
    body: bytes,
    headers: Mapping[str, str] | None = None,
) -> list[str]:
    """The violations of the document by a response; empty when it conforms.

    `path` has neither query nor sandbox prefix; `headers` have lower-case names, and are not checked when None. A
    member that the document does not describe is a violation, though clients ignore such members.
    """
    described = _described(load(document), method.lower(), path, status)
    if described is None:
        return [f"{method} {path}: the contract has no {status}"]
    problems = [] if headers is None else list(_header_problems(load(document), described, headers))
    media = described.get("content")
    if media is None:
        return problems + (["the body should be empty"] if body else [])
    content = media.get(_media_type(content_type))
    if content is None:
        return [*problems, f"the content type should be {' or '.join(media)}, not {content_type!r}"]
    kind, schema = _media_type(content_type), content["schema"]
    if kind == FILE:
        return problems + ([] if body.startswith(b"\x1f\x8b") else ["the body is not compressed by gzip"])
    if kind == EVENT_STREAM:
        events = _data_of_events(body)
        return problems + [
            problem for each in events for problem in _body_problems(schema["contentSchema"], each, is_text=False)
        ]
    return problems + _body_problems(schema, body, is_text=kind == "text/plain")


def departures(
    document: str, method: str, path: str, status: int, content_type: str, body: bytes
) -> Iterator[Departure]:
    """The same for a response of any deployment, member by member; its headers are not judged. What only a simulator
    answers departs."""
    described = _described(load(document), method.lower(), path, status)
    if described is None or "x-simulator-only" in described:
        yield Departure("the status", "one that the contract has", str(status))
        return
    media = described.get("content")
    if media is None:
        if body:
            yield Departure("the body", "empty", f"{len(body)} bytes")
    elif (content := media.get(_media_type(content_type))) is None:
        yield Departure("the header Content-Type", " or ".join(media), content_type or "absent")
    else:
        yield from body_departures(content["schema"], body)


def _data_of_events(stream: bytes) -> list[bytes]:
    """What each event of a stream says; a stream that was cut off may end with a part of one."""
    whole = stream[: stream.rfind(b"\n\n") + 1]
    return [line.removeprefix(b"data: ") for line in whole.split(b"\n") if line.startswith(b"data:")]


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def body_departures(wanted: Schema, body: bytes) -> Iterator[Departure]:
    """What a body in JSON has that a schema, one that stays loaded, does not allow.

    Of a large one the beginning is explained (`sampling`): at most twenty departures, or the first alone where that
    lies beyond; unknown members are looked for in ten times as much."""
    checker = _validator(wanted)
    try:
        value = decode_any(body, outline_max=len(body))
    except BadJson as bad:
        yield Departure("the body", "JSON", str(bad))
        return
    if not checker.is_valid(value):
        explained = _explainer(wanted).problems(value, explain_large=True)
        yield from (
            Departure(path or "the body", "; ".join(texts), _shown(value, path)) for path, texts in explained.items()
        )
        return
    part = sample(value, named_members(wanted), UNKNOWN_TIMES)
    known = _known_members(checker.evaluate(part).annotations())
    for where, name in _undescribed(part, "", known):
        yield Departure(
            f"{where}/{name}".strip("/").replace("/", "."), "not in the contract", "present", is_unknown=True
        )


def _shown(value: Any, dotted: str) -> str:
    """The value of a dotted member, shortened; `absent` where it leads nowhere."""
    for token in dotted.split(".") if dotted else ():
        if isinstance(value, list) and token.isdigit() and int(token) < len(value):
            value = value[int(token)]
        elif isinstance(value, dict) and token in value:
            value = value[token]
        else:
            return "absent"
    return shortened(str(value) if not isinstance(value, str) else repr(value), PROBLEM_CHARS_MAX)


def _described(whole: dict[str, Any], method: str, path: str, status: int) -> dict[str, Any] | None:
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
    return None if found is None else _resolved(whole, found)


def path_item(whole: dict[str, Any], path: str) -> dict[str, Any] | None:
    """The path item of a concrete path; literal paths take precedence over templates, and of two templates that match
    the longer one, as `{n}.curl` over `{n}`."""
    paths: dict[str, dict[str, Any]] = whole["paths"]
    if path in paths:
        return paths[path]
    found = [template for template in paths if _pattern(template).fullmatch(path)]
    return paths[max(found, key=len)] if found else None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile("".join("[^/]+" if part[:1] == "{" else re.escape(part) for part in _PARAMETER.split(template)))


def _resolved(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        part = at_pointer(whole, part["$ref"].removeprefix("#"))
    return part


def _header_problems(whole: dict[str, Any], described: dict[str, Any], headers: Mapping[str, str]) -> Iterator[str]:
    for name, reference in described.get("headers", {}).items():
        wanted = _resolved(whole, reference)
        value = headers.get(name.lower())
        if value is None:
            if wanted.get("required"):
                yield f"the header {name} is missing"
        elif not _validator(wanted["schema"]).is_valid(value):
            yield f"the header {name} should not be {value[:PROBLEM_CHARS_MAX]!r}"


def _validator(wanted: Schema) -> "jsonschema_rs.Draft202012Validator":
    """The validator of a part of a loaded document, cached: compiling one takes longer than what it then validates."""
    found = _validators.get(id(wanted))
    if found is None:
        found = _validators[id(wanted)] = (wanted, compiled(wanted))  # the part stays alive, and so its id is its own
    return found[1]


def _explainer(wanted: Schema) -> Validator:
    found = _explainers.get(id(wanted))
    if found is None:
        found = _explainers[id(wanted)] = (wanted, Validator(wanted))
    return found[1]


def _body_problems(wanted: Schema, body: bytes, is_text: bool) -> list[str]:
    """Cached: half of the answers in a run of all tests have the body of an earlier one."""
    found = _judged.get((id(wanted), body))
    if found is None:
        checker = _validator(wanted)  # which keeps the schema alive, and so its id is its own
        try:
            found = _value_problems(checker, body.decode() if is_text else decode_any(body, outline_max=len(body)))
        except (BadJson, UnicodeDecodeError) as bad:
            found = [str(bad)]
        _judged[id(wanted), body] = found
    return found


def _value_problems(checker: "jsonschema_rs.Draft202012Validator", value: Any) -> list[str]:
    if not checker.is_valid(value):
        return [
            f"{'/'.join(map(str, error.instance_path)) or 'the body'}: {error.message[:PROBLEM_CHARS_MAX]}"
            for error in checker.iter_errors(value)
        ]
    known = _known_members(checker.evaluate(value).annotations())
    return [f"{where or 'the body'}: {name!r} is not in the contract" for where, name in _undescribed(value, "", known)]


def _known_members(notes: list[Any]) -> dict[str, set[str]]:
    """The described members by location, without locations that allow others.

    A schema that allows no others leaves no note of its members, so where only a condition leaves one there are none.
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


def _undescribed(value: Any, where: str, known: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Members, anywhere in `value`, of described objects that the contract does not name."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _undescribed(item, f"{where}/{index}", known)
    elif isinstance(value, dict):
        for name, member in value.items():
            if where in known and name not in known[where]:
                yield where, name
            yield from _undescribed(member, f"{where}/{name.replace('~', '~0').replace('/', '~1')}", known)
