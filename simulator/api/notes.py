"""The notes that explain answers in X-Sim-Diagnosis and the journal: no duplicates, and only the first of many similar
sentences. Notes about a request name what its endpoint does not read, and what was probably meant."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from itertools import islice

from simulator.api.call import ApiCall, Problems
from simulator.auth import headers as names
from simulator.contract.body import looks_like_json, repeated_keys
from simulator.contract.query import admits_several, parameters
from simulator.contract.schemas import Schema
from simulator.domain.model.details import NAMES_MAX, Detail
from simulator.domain.model.instants import day
from simulator.domain.model.likeness import nearest
from simulator.domain.model.pricing import data_source
from simulator.domain.queries import not_on_sale
from simulator.redaction import Secrets, redact, redact_urls
from simulator.runtime.journal import Exchange
from simulator.wire.diagnoses import sentence, shown


def note(call: ApiCall, text: str, told: str = "") -> None:
    """Add a sentence to a request's diagnosis, unless already present. The header has `told` instead, if set: for a
    caller who has not proved their identity."""
    exchange = call.exchange
    if told or exchange.told:
        exchange.told = _with(exchange.told or exchange.diagnosis, told or text)
    exchange.diagnosis = _with(exchange.diagnosis, text)


def _with(noted: str, text: str) -> str:
    if f"; {text};" in f"; {noted};":
        return noted
    return f"{noted}; {text}" if noted else text


def redact_diagnosis(exchange: Exchange, own: Secrets, others: Iterable[Secrets]) -> str:
    """Redact the secrets of a request's own sandbox in the recorded diagnosis. Return the diagnosis for the answer's
    header, where `others` are redacted, too. A replay does not know `others`, and must record the same text."""
    exchange.diagnosis = redact_urls(redact(exchange.diagnosis, (own,)))
    exchange.told = redact_urls(redact(exchange.told, (own,)))
    return redact(exchange.told or exchange.diagnosis, others)


def note_problems(call: ApiCall, problems: Problems) -> None:
    """Note the problems of a refused request's parameters, with the value that was probably meant."""
    for name, texts in problems.items():
        note(call, f"{name or 'the request'} {' and '.join(texts)}{_of_values(call, name)}")


def _of_values(call: ApiCall, name: str) -> str:
    """Suggest values for a parameter that has several values in one text, or a value like a listed one."""
    wanted, sent = parameters(call.endpoint.schema).get(name), call.fields.get(name)
    if wanted is None or not isinstance(sent, str):
        return ""
    if "," in sent and admits_several(wanted):
        return f"; send {name} once for each value"
    listed = [value for each in (wanted, *wanted.get("anyOf", ())) for value in each.get("enum", ()) if value]
    return hint(sent, map(str, listed))


def note_some(call: ApiCall, sentences: Iterable[str], count: int, what: str) -> None:
    """Note the first of `count` lazily generated sentences, and the number of the others; `what` is what they have in
    common."""
    for text in islice(sentences, NAMES_MAX):
        note(call, text)
    if count > NAMES_MAX:
        note(call, f"and {count - NAMES_MAX} more that {what}")


def hint(wrong: str, known: Iterable[str], sent: Collection[str] = ()) -> str:
    """Return `; did you mean X?` when one of `known` is similar and was not sent already, else nothing."""
    return suggestion(nearest(wrong, known), sent)


def suggestion(likely: str, sent: Collection[str] = ()) -> str:
    """Return `; did you mean X?` for a likely name, unless it is empty or was sent already."""
    return f"; did you mean {likely}?" if likely and likely not in sent else ""


def explain(call: ApiCall, detail: Detail | None, rule: str = "") -> None:
    """Note the domain's detail; without a detail, the name of the rule that refused, if any."""
    if detail is not None:
        note(call, sentence(detail))
    elif rule:
        note(call, f"the rule {shown(rule)} refused it")


def no_product(call: ApiCall, code: str) -> str:
    """Return a sentence that no product has this code, with the code that was probably meant."""
    return sentence(not_on_sale(call.sandbox.core.state, None, code))


# Longer bodies are not searched for repeated members, which would delay other requests; no valid body is longer.
REPEATS_BYTES_MAX = 1_000_000


UNKNOWN = "are unknown"


def note_ignored_parts(call: ApiCall) -> None:
    """Note a body or a query that the endpoint does not read, and an invalid API version."""
    exchange, source = call.exchange, call.endpoint.source
    if exchange.body and (source == "query" or not source):
        read = "the parameters belong in the query" if source else "this endpoint reads none"
        note(call, f"a body was sent, but {read}")
    if exchange.query and source != "query":
        read = "the members belong in the body" if source else "this endpoint reads none"
        note(call, f"a query was sent, but {read}")
    version = call.headers.get(names.API_VERSION)
    if version is not None and api_version(version) is None:
        sent = shown(version.decode("latin-1"))
        note(call, f"X-API-Version {sent!r} is not a date of the form yyyy-MM-dd and was ignored")


def note_unknown_parameters(call: ApiCall) -> None:
    """Note unknown parameters of a query; cheap without them."""
    known, sent = parameters(call.endpoint.schema), call.fields
    if sent.keys() <= known.keys():
        return
    further = _of_data_source(call)
    unknown = [name for name in sent if name not in known and name not in further]
    sentences = (
        f"unknown parameter {_quoted(name) or 'without a name'}{_of_parameters(name, known, sent)}" for name in unknown
    )
    note_some(call, sentences, len(unknown), UNKNOWN)


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
        sentences = _unnamed(unknown, known, sent) if source == "form" else _named(call, unknown, known)
        note_some(call, sentences, len(unknown), UNKNOWN)
    is_json = source == "body" or looks_like_json(body)
    if is_json and len(body) <= REPEATS_BYTES_MAX and (repeated := repeated_keys(body, sent)):
        shown_as = {name: _member(name) if source == "body" or name in known else "a member" for name in repeated}
        sentences = (f"{shown_as[name]} was sent {n} times; the last one counts" for name, n in repeated.items())
        note_some(call, sentences, len(repeated), "were sent several times")


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
