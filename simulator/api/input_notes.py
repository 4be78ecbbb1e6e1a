"""Notes about the parts of a request that its endpoint does not read, with the names that were probably meant."""

from collections.abc import Collection, Iterator, Mapping
from datetime import date

from simulator.api.call import ApiCall
from simulator.api.refusals import hint, note, note_some, suggestion
from simulator.auth import headers as names
from simulator.contract.body import looks_like_json, repeated_keys
from simulator.contract.query import (
    TOO_MANY_PARAMETERS,
    admits_several,
    decode_query,
    has_too_many,
    parameters,
)
from simulator.contract.schemas import Schema
from simulator.domain.model.instants import day, looks_like_day
from simulator.domain.model.likeness import nearest
from simulator.domain.model.pricing import data_source
from simulator.wire.diagnoses import shown

# Longer bodies are not searched for repeated members, which would delay other requests; no valid body is longer.
REPEATS_BYTES_MAX = 1_000_000


UNKNOWN = "are unknown"


def note_unread(call: ApiCall) -> None:
    """Note a body or a query that the endpoint does not read, and an invalid API version."""
    exchange, source = call.exchange, call.endpoint.source
    if exchange.body and (source == "query" or not source):
        read = "the parameters belong in the query" if source else "this endpoint reads none"
        note(call, f"a body was sent, but {read}")
    if exchange.query and source != "query":
        if source == "form":  # without names, which may contain a password
            note(call, "a query was sent, but the members belong in the body")
        elif has_too_many(exchange.query):
            note(call, f"the query {TOO_MANY_PARAMETERS}; this endpoint reads none")
        else:
            values, problems = decode_query(exchange.query)
            unknown = [*values, *problems]
            said = (f"{_no_parameter(name)}; this endpoint reads none" for name in unknown)
            note_some(call, said, len(unknown), UNKNOWN)
    if (version := call.headers.get(names.API_VERSION)) is not None and (problem := version_problem(version)):
        note(call, problem)


def note_unknown_parameters(call: ApiCall) -> None:
    """Note unknown parameters of a query; cheap without them."""
    known, sent = parameters(call.endpoint.schema), call.fields
    if sent.keys() <= known.keys():
        return
    further = _of_data_source(call)
    unknown = [name for name in sent if name not in known and name not in further]
    said = (_no_parameter(name) + _of_parameters(name, known, sent) for name in unknown)
    note_some(call, said, len(unknown), UNKNOWN)


def note_lost_plus(call: ApiCall) -> None:
    """Note values with a blank that was probably a plus, as in `+60…` and in a URL; cheap without them."""
    for name, value in call.fields.items() if b"+" in call.exchange.query else ():
        if not isinstance(value, str):
            continue
        begins = value[:1] == " " and value[1:2].isdigit()
        if begins or (" " in value and "://" in value):
            has = "begins with" if begins else "has"
            note(call, f"{_quoted(name)} {has} a blank, since a + in a query is one: write %2B")


def note_ignored_members(call: ApiCall) -> None:
    """Note unknown and repeated members of the body; cheap without them."""
    source, sent, body = call.endpoint.source, call.fields, call.exchange.body
    if not sent or not body:
        return
    known = parameters(call.endpoint.schema)
    if not sent.keys() <= known.keys():
        unknown = sorted(sent.keys() - known.keys())
        said = _unnamed(unknown, known, sent) if source == "form" else _named(call, unknown, known)
        note_some(call, said, len(unknown), UNKNOWN)
    is_json = source == "body" or looks_like_json(body)
    if is_json and len(body) <= REPEATS_BYTES_MAX and (repeated := repeated_keys(body, sent)):
        names_said = {name: _member(name) if source == "body" or name in known else "a member" for name in repeated}
        said = (f"{names_said[name]} was sent {times} times; the last one counts" for name, times in repeated.items())
        note_some(call, said, len(repeated), "were sent several times")


def _no_parameter(name: str) -> str:
    return f"unknown parameter {_quoted(name) or 'without a name'}"


def _member(name: str) -> str:
    return _quoted(name) or "a member without a name"


def _quoted(name: str) -> str:
    """Return a name for a sentence, in quotes where blanks around it would not be visible."""
    return shown(name) if name == name.strip() else f"'{shown(name)}'"


def _of_parameters(name: str, known: Mapping[str, Schema], sent: Collection[str]) -> str:
    """Suggest the parameter that was probably meant, else list all parameters."""
    single = name.removesuffix("[]")
    if single != name and single in known and single not in sent:
        return f"; send {single} itself{', once for each value' if admits_several(known[single]) else ''}"
    return hint(name, known, sent) or f"; known: {', '.join(known)}"


def _named(call: ApiCall, unknown: Collection[str], known: Mapping[str, Schema]) -> Iterator[str]:
    """Yield a sentence for each unknown member, with a suggestion from known members and extras."""
    extras = call.fields.get("extras")
    given = {*call.fields, *(f"extras.{name}" for name in (extras if isinstance(extras, dict) else ()))}
    meant = {name: f"extras.{name}" for name in _extras(call, known)}
    meant |= {name: name for name in known if name != "extras" or meant}
    absent = [name for name in known if name not in given and name != "extras"]
    for name in unknown:
        likely = nearest(name, absent) or meant.get(nearest(name, meant), "")
        yield f"{_member(name)} is unknown and was ignored{suggestion(likely, given)}"


def _unnamed(unknown: Collection[str], known: Mapping[str, Schema], sent: Collection[str]) -> Iterator[str]:
    """Yield sentences without the members' names, for token endpoints: a name there may be part of a password."""
    every = f"; known: {', '.join(known)}"
    for name in unknown:
        yield f"an unknown member was ignored{hint(name, known, sent) or every}"


def _extras(call: ApiCall, known: Mapping[str, Schema]) -> Collection[str]:
    """Return the extras of this product, or of any product when it is unknown."""
    if "extras" not in known:
        return ()
    product = call.owner.sees(call.sandbox.core.state.catalog, str(call.fields.get("product")))
    extras: Collection[str] = product.fulfillment.extras if product else known["extras"]["properties"]
    return extras


def _of_data_source(call: ApiCall) -> Collection[str]:
    """Return the parameters that the catalog defines for a select field (SPEC 2.1)."""
    product = call.sandbox.core.state.catalog.products.get(str(call.fields.get("product_code")))
    source = product and data_source(product, str(call.fields.get("field_id")))
    return source.params.keys() if source else ()


def api_version(header: bytes | None) -> date | None:
    """Return the requested date; None without a header and for an invalid date."""
    if header is None:
        return None
    try:
        return day(header.decode("latin-1"))
    except ValueError:
        return None


def version_problem(header: bytes) -> str:
    """Return why `X-API-Version` is ignored; empty when it is not."""
    if api_version(header) is not None:
        return ""
    sent = header.decode("latin-1")
    wrong = "is not an existing date" if looks_like_day(sent) else "does not have the form yyyy-MM-dd"
    return f"X-API-Version {shown(sent)!r} {wrong} and was ignored"
