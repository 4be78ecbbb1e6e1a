"""Decodes bodies with their content type: JSON, or at some endpoints JSON or a form (SPEC 4.2)."""

from collections.abc import Container, Mapping
from functools import cache
from typing import Any

from simulator.contract.decode import BadJson, decode_object
from simulator.contract.query import decode_query, parameters, with_repeats
from simulator.contract.schemas import schema
from simulator.contract.validate import shortened, validator

JSON = b"application/json"
FORM = b"application/x-www-form-urlencoded"
FORM_BYTES_MAX = 64 * 1024
TYPE_CHARS_MAX = 60

# The members of a body, and its problems: texts by member, under `body` those of the whole.
Decoded = tuple[dict[str, Any], dict[str, list[str]]]


def read_members(
    name: str,
    content_type: bytes,
    body: bytes,
    *,
    may_be_form: bool = False,
    reject_duplicates: bool = False,
    any_type: bool = False,
) -> Decoded:
    """The members of a body without those that count as absent, and what is wrong with them by the schema
    `contracts/schemas/NAME.json`: texts by member. Absent are nulls and the optional texts that are blank."""
    decode = decode_form if may_be_form else decode_json
    members, problems = decode(content_type, body, reject_duplicates=reject_duplicates, any_type=any_type)
    if problems:
        return members, problems
    if _has_absent(members):
        members = _without_absent(members, _optional_texts(name))
    checker = validator(name)
    if checker.is_valid(members):
        return members, problems
    problems = checker.problems(members)
    if may_be_form and not looks_like_json(body):
        problems = with_repeats(name, members, problems)
    return members, problems


def looks_like_json(body: bytes) -> bool:
    """Whether a body that was accepted at an endpoint that reads forms, too, was JSON."""
    return body.lstrip()[:1] == b"{"


def decode_json(
    content_type: bytes, body: bytes, *, reject_duplicates: bool = False, any_type: bool = False
) -> Decoded:
    """The members of a JSON body.

    The content type must be JSON's or missing, unless `any_type`. The members are returned even if it is wrong.
    """
    try:
        members = decode_object(body, reject_duplicates=reject_duplicates)
    except BadJson as bad:
        members, problems = {}, {"body": [str(bad).removeprefix("the body ")]}
    else:
        problems = {}
    if content_type != JSON and body and not (any_type or _is_json(_media_type(content_type))):
        problems = {"body": [_mistyped(content_type, JSON.decode())]}
    return members, problems


def decode_form(
    content_type: bytes, body: bytes, *, reject_duplicates: bool = False, any_type: bool = False
) -> Decoded:
    """The members of a body: a form if the content type says so, else JSON. An empty body has none."""
    if len(body) > FORM_BYTES_MAX:
        return {}, {"body": [f"is longer than {FORM_BYTES_MAX} bytes"]}
    if not body:
        return {}, {}
    media_type = _media_type(content_type)
    if media_type == FORM and not (any_type and looks_like_json(body)):
        if looks_like_json(body):
            return {}, {"body": [f"looks like JSON, but was sent as {FORM.decode()}; send it as {JSON.decode()}"]}
        return decode_query(body)
    members, problems = decode_json(JSON, body, reject_duplicates=reject_duplicates)
    if not (any_type or _is_json(media_type)):
        problems = {"body": [_mistyped(content_type, f"{JSON.decode()} or {FORM.decode()}")]}
    return members, problems


def _media_type(content_type: bytes) -> bytes:
    return content_type.partition(b";")[0].strip().lower()


def _is_json(media_type: bytes) -> bool:
    return media_type in (b"", JSON) or media_type.endswith(b"+json")


def _mistyped(content_type: bytes, wanted: str) -> str:
    sent = shortened(content_type.decode("ascii", "backslashreplace"), TYPE_CHARS_MAX)
    return f"was sent as {sent}, but must be {wanted}"


@cache
def _optional_texts(name: str) -> frozenset[str]:
    required = schema(name).get("required", ())
    return frozenset(
        one for one, wanted in parameters(name).items() if wanted.get("type") == "string" and one not in required
    )


def _has_absent(members: Mapping[str, Any]) -> bool:
    for sent in members.values():  # a loop: this runs for every body, and any() takes three times as long
        if type(sent) is str:
            if not sent or sent.isspace():
                return True
        elif sent is None or (type(sent) is dict and _has_absent(sent)):
            return True
    return False


def _without_absent(members: Mapping[str, Any], optional: Container[str] | None = None) -> dict[str, Any]:
    """Leave out nulls, the blank ones of the `optional` texts, and all blank texts in objects."""
    return {
        name: _without_absent(sent) if type(sent) is dict else sent
        for name, sent in members.items()
        if sent is not None and not (type(sent) is str and (optional is None or name in optional) and not sent.strip())
    }
