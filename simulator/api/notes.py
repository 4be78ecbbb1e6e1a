"""The notes that explain answers in X-Sim-Diagnosis and the journal, without duplicates."""

from collections.abc import Collection, Iterable

from simulator.api.call import ApiCall, Problems
from simulator.auth import headers as names
from simulator.contract import surplus
from simulator.contract.query import parameters, whole
from simulator.domain.model.details import Detail
from simulator.domain.model.pricing import data_source
from simulator.domain.queries import not_on_sale
from simulator.wire.diagnoses import sentence, shown
from simulator.wire.formats import api_version

SIZE_DEFAULT = 100


def note(call: ApiCall, text: str, public_text: str = "") -> None:
    """Add a sentence to a request's diagnosis, unless already present. The header has `public_text` instead, if
    set: for a caller who has not proved their identity."""
    exchange = call.exchange
    if public_text or exchange.public_diagnosis:
        exchange.public_diagnosis = _with(exchange.public_diagnosis or exchange.diagnosis, public_text or text)
    exchange.diagnosis = _with(exchange.diagnosis, text)


def _with(noted: str, text: str) -> str:
    if f"; {text};" in f"; {noted};":
        return noted
    return f"{noted}; {text}" if noted else text


def note_each(call: ApiCall, sentences: Iterable[str]) -> None:
    """Note several sentences."""
    for text in sentences:
        note(call, text)


def note_problems(call: ApiCall, problems: Problems) -> None:
    """Note the problems of a refused request's parameters, with the value that was probably meant."""
    for name, texts in problems.items():
        values = surplus.value_hint(call.endpoint.schema, name, call.fields.get(name))
        note(call, f"{name or 'the request'} {' and '.join(texts)}{values}")


def explain(call: ApiCall, detail: Detail | None, rule: str = "") -> None:
    """Note the domain's detail; without a detail, the name of the rule that refused, if any."""
    if detail is not None:
        note(call, sentence(detail))
    elif rule:
        note(call, f"the rule {shown(rule)} refused it")


def no_product(call: ApiCall, code: str) -> str:
    """Return a sentence that no product has this code, with the code that was probably meant."""
    return sentence(not_on_sale(call.sandbox.core.state, None, code))


def note_ignored_parts(call: ApiCall) -> None:
    """Note a body or a query that the endpoint does not read, and an invalid API version."""
    note_each(call, surplus.unread_parts(call.endpoint.source, call.exchange.query, call.exchange.body))
    version = call.headers.get(names.API_VERSION)
    if version is not None and api_version(version) is None:
        sent = shown(version.decode("latin-1"))
        note(call, f"X-API-Version {sent!r} is not a date of the form yyyy-MM-dd and was ignored")


def note_ignored_parameters(call: ApiCall) -> None:
    """Note unknown parameters of a query, and values that lost a plus; cheap without them."""
    schema, sent = call.endpoint.schema, call.fields
    if not sent.keys() <= parameters(schema).keys():
        product = call.sandbox.core.state.catalog.products.get(str(sent.get("product_code")))
        source = product and data_source(product, str(sent.get("field_id")))  # has parameters of its own (SPEC 2.1)
        note_each(call, surplus.unknown_parameters(schema, sent, source.params if source else ()))
    if b"+" in call.exchange.query:
        note_each(call, surplus.lost_pluses(sent))


def note_ignored_members(call: ApiCall) -> None:
    """Note unknown and repeated members of the body; cheap without them."""
    schema, sent, body, is_form = call.endpoint.schema, call.fields, call.exchange.body, call.endpoint.source == "form"
    if not sent or not body:
        return
    if not sent.keys() <= parameters(schema).keys():
        form = surplus.unknown_fields(schema, sent) if is_form else None
        note_each(call, form or surplus.unknown_members(schema, sent, _extras(call)))
    note_each(call, surplus.repeated_members(schema, body, sent, is_form))


def _extras(call: ApiCall) -> Collection[str]:
    """Return the extras of this product, or of any product when it is unknown."""
    extras = parameters(call.endpoint.schema).get("extras")
    if extras is None:
        return ()
    product = call.owner.sees(call.sandbox.core.state.catalog, str(call.fields.get("product")))
    known: Collection[str] = product.fulfillment.extras if product else extras["properties"]
    return known


def note_filters(call: ApiCall, names: Iterable[str], every: int, what: str) -> None:
    """Note that the filters of these names leave none of `every` records."""
    used = [name for name in names if call.fields.get(name)]
    if used and every:
        note(call, f"no {what} matches {' and '.join(used)}; without a filter there are {every}")


def page_size(call: ApiCall, parameter: str, maximum: int, assumption: str) -> tuple[int, dict[str, list[str]]]:
    """Return the size of a page, at most `maximum`, and the errors of the parameter. Too large a size is reduced and
    noted, or is an error when `assumption` of the register says `reject`."""
    size = whole(call.fields, parameter, SIZE_DEFAULT)
    if size <= maximum:
        return size, {}
    if call.sandbox.core.state.assumes(assumption, "reject"):
        return maximum, {parameter: [f"must be at most {maximum}"]}
    note(call, f"a {parameter} of {size} was reduced to {maximum}, the maximum of a page")
    return maximum, {}
