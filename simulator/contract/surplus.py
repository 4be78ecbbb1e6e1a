"""Sentences about the surplus of a request: paths that the service does not have, and parts, parameters and members
that its endpoint does not read. They name what was probably meant, and only the first of many similar names appear."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from simulator.contract.body import looks_like_json, repeated_keys
from simulator.contract.query import admits_several, parameters
from simulator.contract.schemas import Schema
from simulator.domain.model.details import NAMES_MAX
from simulator.domain.model.likeness import nearest
from simulator.short_text import shortened

# Longer bodies are not searched for repeated members, which would delay other requests; no valid body is longer.
REPEATS_BYTES_MAX = 1_000_000

_VERSION = re.compile(r"^/v[0-9]+(?=/)")
_CONTROL = re.compile(r"/_?sim+(?:/|$)")
_SANDBOX = re.compile(r"/s/[^/]+(?:/|$)", re.IGNORECASE)


def hint(wrong: str, known: Iterable[str], sent: Collection[str] = ()) -> str:
    """Return `; did you mean X?` when one of `known` is similar and was not sent already, else nothing."""
    return suggestion(nearest(wrong, known), sent)


def suggestion(likely: str, sent: Collection[str] = ()) -> str:
    """Return `; did you mean X?` for a likely name, unless it is empty or was sent already."""
    return f"; did you mean {likely}?" if likely and likely not in sent else ""


def value_hint(name: str, parameter: str, sent: object) -> str:
    """Suggest values for a parameter of the schema `name` that has several values in one text, or a value like a listed
    one."""
    wanted = parameters(name).get(parameter)
    if wanted is None or not isinstance(sent, str):
        return ""
    if "," in sent and admits_several(wanted):
        return f"; send {parameter} once for each value"
    listed = [value for each in (wanted, *wanted.get("anyOf", ())) for value in each.get("enum", ()) if value]
    return hint(sent, map(str, listed))


def first_of(sentences: Iterable[str], count: int, what: str) -> Iterator[str]:
    """Yield the first of `count` lazily generated sentences, and the number of the others; `what` is what they have in
    common."""
    yield from islice(sentences, NAMES_MAX)
    if count > NAMES_MAX:
        yield f"and {count - NAMES_MAX} more that {what}"


def unknown_path(path: str, prefix: str, known: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """Return sentences about a path that is not `known`, below its sandbox's `prefix`, and advice for the answer."""
    if prefix and (repeated := _SANDBOX.match(path)):
        pair = f"{cited(prefix[prefix.rindex('/s/') :])} and {cited(repeated[0].rstrip('/'))}"
        first = f"the path names two sandboxes, {pair}; links of a list have the sandbox's path already"
        return (first, "resolve them against the host, not against the base URL"), ""
    if _CONTROL.match(path):
        sentence = "the control API is below /_sim of the server, without a sandbox before it"
        return (sentence,), " The control API is below /_sim/."
    by_name = {_VERSION.sub("", each): each for each in known}
    likely = by_name.get(nearest(_VERSION.sub("", path.lower()), by_name), "")
    pages = " The simulator's own pages are at /_sim/." if path == "/" else ""
    sentence = f"the service has no such path{suggestion(likely)}"
    return (sentence,), f" Did you mean {likely}?" if likely else pages


def cited(text: str) -> str:
    """Return client input in quotes, cut to the length of a name."""
    return repr(shortened(text, ellipsis="…"))


def unread_parts(source: str, query: bytes, body: bytes) -> Iterator[str]:
    """Yield sentences about a body and a query that an endpoint does not read; `source` is where its input is."""
    if body and source in ("query", ""):
        yield f"a body was sent, but {'the parameters belong in the query' if source else 'this endpoint reads none'}"
    if query and source != "query":
        yield f"a query was sent, but {'the members belong in the body' if source else 'this endpoint reads none'}"


def unknown_parameters(name: str, sent: Collection[str], further: Collection[str]) -> Iterator[str]:
    """Yield sentences about parameters that neither the schema `name` nor `further` has."""
    known = parameters(name)
    unknown = [each for each in sent if each not in known and each not in further]
    sentences = (
        f"unknown parameter {_quoted(each) or 'without a name'}{_of_parameters(each, known, sent)}" for each in unknown
    )
    return first_of(sentences, len(unknown), "are unknown")


def lost_pluses(sent: Mapping[str, object]) -> Iterator[str]:
    """Yield sentences about parameters with a blank that was probably a plus, as in `+60…` and in a URL."""
    for name, value in sent.items():
        if not isinstance(value, str):
            continue
        begins = value[:1] == " " and value[1:2].isdigit()
        if begins or (" " in value and "://" in value):
            has = "begins with" if begins else "has"
            yield f"{_quoted(name)} {has} a blank, since + in a query means a blank: write %2B"


def unknown_members(name: str, sent: Mapping[str, object], extras: Collection[str]) -> Iterator[str]:
    """Yield sentences about members of a JSON body that the schema `name` does not have; `extras` are the known members
    of its `extras`."""
    known, own = parameters(name), sent.get("extras")
    unknown = sorted(sent.keys() - known.keys())
    present = {*sent, *(f"extras.{each}" for each in (own if isinstance(own, dict) else ()))}
    meant = {each: f"extras.{each}" for each in extras}
    meant |= {each: each for each in known if each != "extras" or meant}
    absent = [each for each in known if each not in present and each != "extras"]
    likely = ((each, nearest(each, absent) or meant.get(nearest(each, meant), "")) for each in unknown)
    sentences = (f"{_member(each)} is unknown and was ignored{suggestion(near, present)}" for each, near in likely)
    return first_of(sentences, len(unknown), "are unknown")


def unknown_fields(name: str, sent: Collection[str]) -> Iterator[str]:
    """Yield sentences about unknown members of a form without their names, since a name may be part of a password."""
    known = parameters(name)
    unknown = sorted(set(sent) - known.keys())
    every = f"; known: {', '.join(known)}"
    sentences = (f"an unknown member was ignored{hint(each, known, sent) or every}" for each in unknown)
    return first_of(sentences, len(unknown), "are unknown")


def repeated_members(name: str, body: bytes, sent: dict[str, Any], is_form: bool) -> Iterator[str]:
    """Yield sentences about members of a JSON body that were sent several times. Where a form is read, too, unknown
    names may be part of a password."""
    if (is_form and not looks_like_json(body)) or len(body) > REPEATS_BYTES_MAX:
        return iter(())
    repeated, known = repeated_keys(body, sent), parameters(name)
    sentences = (
        f"{'a member' if is_form and each not in known else _member(each)} was sent {n} times; the last one counts"
        for each, n in repeated.items()
    )
    return first_of(sentences, len(repeated), "were sent several times")


def _member(name: str) -> str:
    return _quoted(name) or "a member without a name"


def _quoted(name: str) -> str:
    """Return a name for a sentence, in quotes where blanks around it would not be visible."""
    return shortened(name) if name == name.strip() else f"'{shortened(name)}'"


def _of_parameters(name: str, known: Mapping[str, Schema], sent: Collection[str]) -> str:
    """Suggest the parameter that was probably meant, else list all parameters."""
    single = name.removesuffix("[]")
    if single != name and single in known and single not in sent:
        return f"; send {single} itself{', once for each value' if admits_several(known[single]) else ''}"
    return hint(name, known, sent) or f"; known: {', '.join(known)}"
