"""Notes for X-Sim-Diagnosis and the journal: no duplicates, and only the first of many similar sentences."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from simulator.api.call import Call, Endpoint, Problems
from simulator.api.versions import version_problem
from simulator.auth import headers as names
from simulator.contract.body import looks_like_json, repeated_keys
from simulator.contract.query import TOO_MANY_PARAMETERS, admits_several, decode_query, flag, has_too_many, parameters
from simulator.contract.schemas import Schema
from simulator.domain.model.catalog import OptionList, Product
from simulator.domain.model.details import NAMES_MAX, Detail
from simulator.domain.model.likeness import nearest
from simulator.domain.model.pricing import data_source
from simulator.domain.queries import not_on_sale
from simulator.redaction import Secrets, redact, redact_urls
from simulator.runtime.journal import Exchange
from simulator.wire.diagnoses import sentence, shown


def note(call: Call, text: str, told: str = "") -> None:
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


def hide_secrets(exchange: Exchange, own: Secrets) -> None:
    """Redact the secrets of a request's own sandbox from its diagnosis. A replay knows no others and must produce the
    same text; `diagnosis_for_client` redacts the others."""
    if exchange.diagnosis and not _is_in_own_words(exchange.diagnosis):
        exchange.diagnosis = redact_urls(redact(exchange.diagnosis, (own,)))
    if exchange.told:
        exchange.told = redact_urls(redact(exchange.told, (own,)))


def diagnosis_for_client(exchange: Exchange, others: Iterable[Secrets]) -> str:
    """Return the diagnosis for the header of an answer, without the secrets of `others` either."""
    told = exchange.told or exchange.diagnosis
    return told if not told or _is_in_own_words(told) else redact(told, others)


def _is_in_own_words(text: str) -> bool:
    from simulator.auth.diagnose import OWN_WORDS  # imported lazily, as in `authentication`

    return text in OWN_WORDS


def note_problems(call: Call, problems: Problems) -> None:
    """Note the problems of a refused request's parameters."""
    for name, texts in problems.items():
        note(call, f"{name or 'the request'} {' and '.join(texts)}")


def note_some(call: Call, said: Iterable[str], count: int, what: str) -> None:
    """Note the first of `count` lazily generated sentences, and the number of the others; `what` is what they have in
    common."""
    for text in islice(said, NAMES_MAX):
        note(call, text)
    if count > NAMES_MAX:
        note(call, f"and {count - NAMES_MAX} more that {what}")


def hint(wrong: str, known: Iterable[str], sent: Collection[str] = ()) -> str:
    """Return `; did you mean X?` when one of `known` is similar and was not sent already, else nothing."""
    return suggestion(nearest(wrong, known), sent)


def suggestion(likely: str, sent: Collection[str] = ()) -> str:
    """Return `; did you mean X?` for a likely name, unless it is empty or was sent already."""
    return f"; did you mean {likely}?" if likely and likely not in sent else ""


def explain(call: Call, detail: Detail | None, rule: str = "") -> None:
    """Note the domain's detail; without a detail, the name of the rule that refused, if any."""
    if detail is not None:
        note(call, sentence(detail))
    elif rule:
        note(call, f"the rule {shown(rule)} refused it")


def no_product(call: Call, code: str) -> str:
    """Return a sentence that no product has this code, with the code that was probably meant."""
    return sentence(not_on_sale(call.sandbox.core.state, None, code))


def not_listed(call: Call, code: str, product: Product | None) -> str:
    """Return why an endpoint does not show a product, and which of the endpoint's parameters would show it."""
    if product is None:
        return no_product(call, code)
    known, asked = parameters(call.endpoint.schema), call.fields
    if not product.is_hidden or ("include_hidden" in known and flag(asked, "include_hidden")):
        state = "active" if product.is_active else "inactive"
        return f"{code} is {state}" + ("; include_inactive=true shows it" if "include_inactive" in known else "")
    if "include_hidden" not in known:
        return f"{code} is hidden"
    if product.is_active or flag(asked, "include_inactive"):
        return f"{code} is hidden; include_hidden=true shows it"
    return f"{code} is hidden and inactive; include_hidden=true and include_inactive=true show it"


def no_biller(code: str, every: OptionList, listed: OptionList) -> str:
    """Return why no listed biller has this code; `every` includes billers that are not listed."""
    biller = every.by_code.get(code)
    if biller is None:
        return f"no biller {shown(code)}{hint(code, listed.by_code)}"
    return f"biller {code} is {'active, and is_active=false was asked for' if biller.is_active else 'inactive'}"


def no_delivery(call: Call, job: str) -> str:
    """Return why this reseller has no delivery with this id."""
    log, owner = call.sandbox.core.state.deliveries, call.owner.code
    if found := log.find(job):
        whose = f"belongs to reseller {found.reseller}, not to {owner}" if found.reseller else "is of a catalog event"
        return f"delivery {job} {whose}"
    of_event = [one for one in log if one.event.id == job and one.reseller == owner]
    if of_event:
        return f"{job} is the id of an event; its latest delivery is {of_event[-1].id}"
    likely = log.find(job.lower())
    return f"no delivery {shown(job)}{suggestion(likely.id if likely and likely.reseller == owner else '')}"


# Longer bodies are not searched for repeated members, which would delay other requests; no valid body is longer.
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
    """Note unknown parameters of a query; cheap without them."""
    known, sent = parameters(endpoint.schema), call.fields
    if sent.keys() <= known.keys():
        return
    further = _of_data_source(call)
    unknown = [name for name in sent if name not in known and name not in further]
    said = (_no_parameter(name) + _of_parameters(name, known, sent) for name in unknown)
    note_some(call, said, len(unknown), UNKNOWN)


def note_lost_plus(call: Call) -> None:
    """Note values that begin with a blank, which was probably a plus, as in `+60…`; cheap without them."""
    for name, value in call.fields.items() if b"=+" in call.exchange.query else ():
        if isinstance(value, str) and value[:1] == " " and value[1:2].isdigit():
            note(call, f"{_quoted(name)} begins with a blank, since a + in a query is one: write %2B")


def note_ignored_members(call: Call) -> None:
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


def _named(call: Call, unknown: Collection[str], known: Mapping[str, Schema]) -> Iterator[str]:
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


def _extras(call: Call, known: Mapping[str, Schema]) -> Collection[str]:
    """Return the extras of this product, or of any product when it is unknown."""
    if "extras" not in known:
        return ()
    product = call.owner.sees(call.sandbox.core.state.catalog, str(call.fields.get("product")))
    extras: Collection[str] = product.fulfillment.extras if product else known["extras"]["properties"]
    return extras


def _of_data_source(call: Call) -> Collection[str]:
    """Return the parameters that the catalog defines for a select field (SPEC 2.1)."""
    product = call.sandbox.core.state.catalog.products.get(str(call.fields.get("product_code")))
    source = product and data_source(product, str(call.fields.get("field_id")))
    return source.params.keys() if source else ()
