"""The violations of an OpenAPI document by a response of ours: status, headers, content type, members of the body."""

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.contract.body import BadJson, decode_any
from simulator.contract.openapi import load
from simulator.contract.responses import (
    described,
    media_type,
    undescribed,
    validator_of,
)
from simulator.contract.schemas import Schema, compiled, resolved_in
from simulator.short_text import SENTENCE_CHARS_MAX

EVENT_STREAM = "text/event-stream"
"""The media type of server-sent events. The schema describes the JSON data of each event."""

FILE = "application/octet-stream"
"""The media type of compressed files, which no schema describes."""

_judged: dict[tuple[int, bytes], list[str]] = {}


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
    answer = described(load(document), method.lower(), path, status)
    if answer is None:
        return [f"{method} {path}: the contract has no {status}"]
    problems = [] if headers is None else list(_header_problems(load(document), answer, headers))
    media = answer.get("content")
    if media is None:
        return problems + (["the body should be empty"] if body else [])
    content = media.get(media_type(content_type))
    if content is None:
        return [*problems, f"the content type should be {' or '.join(media)}, not {content_type!r}"]
    kind, schema = media_type(content_type), content["schema"]
    if kind == FILE:
        return problems + ([] if body.startswith(b"\x1f\x8b") else ["the body is not compressed by gzip"])
    if kind == EVENT_STREAM:
        events = _data_of_events(body)
        return problems + [
            problem for each in events for problem in _body_problems(schema["contentSchema"], each, is_text=False)
        ]
    return problems + _body_problems(schema, body, is_text=kind == "text/plain")


def _data_of_events(stream: bytes) -> list[bytes]:
    """Return the data of each complete event of a stream. The end of an interrupted stream is ignored."""
    whole = stream[: stream.rfind(b"\n\n") + 1]
    return [line.removeprefix(b"data: ") for line in whole.split(b"\n") if line.startswith(b"data:")]


def _header_problems(whole: dict[str, Any], answer: dict[str, Any], headers: Mapping[str, str]) -> Iterator[str]:
    for name, reference in answer.get("headers", {}).items():
        wanted = resolved_in(whole, reference)
        value = headers.get(name.lower())
        if value is None:
            if wanted.get("required"):
                yield f"the header {name} is missing"
        elif not validator_of(wanted["schema"]).is_valid(value):
            yield f"the header {name} should not be {value[:SENTENCE_CHARS_MAX]!r}"


def _body_problems(wanted: Schema, body: bytes, is_text: bool) -> list[str]:
    """Cached: half of the answers in a run of all tests have the body of an earlier one."""
    found = _judged.get((id(wanted), body))
    if found is None:
        validator_of(wanted)  # which keeps the schema alive, and so its id is its own
        try:
            found = _value_problems(wanted, body.decode() if is_text else decode_any(body, outline_max=len(body)))
        except (BadJson, UnicodeDecodeError) as bad:
            found = [str(bad)]
        _judged[id(wanted), body] = found
    return found


def _value_problems(wanted: Schema, value: Any) -> list[str]:
    checker = validator_of(wanted)
    if not checker.is_valid(value):
        return [
            f"{'/'.join(map(str, error.instance_path)) or 'the body'}: {error.message[:SENTENCE_CHARS_MAX]}"
            for error in compiled(wanted).iter_errors(value)
        ]
    return [f"{where or 'the body'}: {name!r} is not in the contract" for where, name in undescribed(checker, value)]
