"""Notes for X-Sim-Diagnosis and the journal: no duplicates, and only the first of many similar sentences."""

from collections.abc import Collection, Iterable
from itertools import islice

from simulator.api.call import ApiCall, Problems
from simulator.contract.query import admits_several, flag, parameters
from simulator.domain.model.catalog import OptionList, Product
from simulator.domain.model.details import NAMES_MAX, Detail
from simulator.domain.model.likeness import nearest
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


def hide_secrets(exchange: Exchange, own: Secrets) -> None:
    """Redact the secrets of a request's own sandbox from its diagnosis. A replay knows no others and must produce the
    same text; `diagnosis_for_client` redacts the others."""
    if exchange.diagnosis:
        exchange.diagnosis = redact_urls(redact(exchange.diagnosis, (own,)))
    if exchange.told:
        exchange.told = redact_urls(redact(exchange.told, (own,)))


def diagnosis_for_client(exchange: Exchange, others: Iterable[Secrets]) -> str:
    """Return the diagnosis for the header of an answer, without the secrets of `others` either."""
    told = exchange.told or exchange.diagnosis
    return redact(told, others) if told else ""


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


def note_some(call: ApiCall, said: Iterable[str], count: int, what: str) -> None:
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


def explain(call: ApiCall, detail: Detail | None, rule: str = "") -> None:
    """Note the domain's detail; without a detail, the name of the rule that refused, if any."""
    if detail is not None:
        note(call, sentence(detail))
    elif rule:
        note(call, f"the rule {shown(rule)} refused it")


def no_product(call: ApiCall, code: str) -> str:
    """Return a sentence that no product has this code, with the code that was probably meant."""
    return sentence(not_on_sale(call.sandbox.core.state, None, code))


def not_listed(call: ApiCall, code: str, product: Product | None) -> str:
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


def no_delivery(call: ApiCall, job: str) -> str:
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
