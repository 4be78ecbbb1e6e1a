"""Notes ignored parts of a request in `X-Sim-Diagnosis` and in the journal, and suggests the name that was meant.

The contract's schema of the endpoint's input says which names are known, so a valid request costs one comparison of
sets. A suggestion is a name that this endpoint or product accepts and that was not sent already.
"""

from collections.abc import Collection, Iterator, Mapping

from simulator.api.call import Call, Endpoint
from simulator.api.notes import hint, note, note_some, suggestion
from simulator.api.versions import version_problem
from simulator.auth import headers as names
from simulator.contract.body import looks_like_json, repeated_keys
from simulator.contract.query import TOO_MANY_PARAMETERS, admits_several, decode_query, has_too_many, parameters
from simulator.contract.schemas import Schema
from simulator.domain.model.likeness import nearest
from simulator.domain.model.options import data_source
from simulator.wire.diagnoses import shown

# A longer body is not searched for repeated members, since that would delay other requests; no valid one is longer.
REPEATS_BYTES_MAX = 1_000_000

UNKNOWN = "are unknown"


def note_unread(call: Call, endpoint: Endpoint) -> None:
    """Note a body or a query that the endpoint does not read, and an invalid API version."""
    exchange, source = call.exchange, endpoint.source
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


def note_unknown_parameters(call: Call, endpoint: Endpoint) -> None:
    """Note unknown parameters of a query; cheap when there are none."""
    known, sent = parameters(endpoint.schema), call.fields
    if sent.keys() <= known.keys():
        return
    further = _of_data_source(call)
    unknown = [name for name in sent if name not in known and name not in further]
    said = (_no_parameter(name) + _of_parameters(name, known, sent) for name in unknown)
    note_some(call, said, len(unknown), UNKNOWN)


def note_ignored_members(call: Call) -> None:
    """Note unknown and repeated members of the body; cheap when there are none."""
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
    """A name as a sentence names it, in quotes where blanks around it would not be seen."""
    return shown(name) if name == name.strip() else f"'{shown(name)}'"


def _of_parameters(name: str, known: Mapping[str, Schema], sent: Collection[str]) -> str:
    """Suggest the parameter that was probably meant, else list all."""
    single = name.removesuffix("[]")
    if single != name and single in known and single not in sent:
        return f"; send {single} itself{', once for each value' if admits_several(known[single]) else ''}"
    return hint(name, known, sent) or f"; known: {', '.join(known)}"


def _named(call: Call, unknown: Collection[str], known: Mapping[str, Schema]) -> Iterator[str]:
    """A sentence for each unknown member, with a suggestion from the known members and from those of `extras`."""
    extras = call.fields.get("extras")
    given = {*call.fields, *(f"extras.{name}" for name in (extras if isinstance(extras, dict) else ()))}
    meant = {name: f"extras.{name}" for name in _extras(call, known)}
    meant |= {name: name for name in known if name != "extras" or meant}
    for name in unknown:
        yield f"{_member(name)} is unknown and was ignored{suggestion(meant.get(nearest(name, meant), ''), given)}"


def _unnamed(unknown: Collection[str], known: Mapping[str, Schema], sent: Collection[str]) -> Iterator[str]:
    """The same without names at the token endpoints: a name there may be a password, or a part of one after an &."""
    every = f"; known: {', '.join(known)}"
    for name in unknown:
        yield f"an unknown member was ignored{hint(name, known, sent) or every}"


def _extras(call: Call, known: Mapping[str, Schema]) -> Collection[str]:
    """The extras of this product, or of any product when it is unknown."""
    if "extras" not in known:
        return ()
    product = call.owner.sees(call.sandbox.core.state.catalog, str(call.fields.get("product")))
    extras: Collection[str] = product.fulfillment.extras if product else known["extras"]["properties"]
    return extras


def _of_data_source(call: Call) -> Collection[str]:
    """The parameters that the catalog defines for a select field (SPEC 2.1)."""
    product = call.sandbox.core.state.catalog.products.get(str(call.fields.get("product_code")))
    source = product and data_source(product, str(call.fields.get("field_id")))
    return source.params.keys() if source else ()
