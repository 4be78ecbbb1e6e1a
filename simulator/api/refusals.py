"""Refusals that are the same for every endpoint, and the notes that explain answers in X-Sim-Diagnosis and the journal:
no duplicates, and only the first of many similar sentences."""

import re
from collections.abc import Collection, Iterable
from itertools import islice

from simulator.api.call import ApiCall, Problems, Reply
from simulator.api.clients import is_listed_address
from simulator.auth.signature import BODY_BYTES_MAX, Denied
from simulator.contract.query import admits_several, flag, parameters
from simulator.domain.model.catalog import OptionList, Product
from simulator.domain.model.details import NAMES_MAX, Detail
from simulator.domain.model.likeness import nearest
from simulator.domain.model.resellers import Reseller
from simulator.domain.queries import not_on_sale
from simulator.redaction import Secrets, redact, redact_urls
from simulator.runtime.journal import UNEXPECTED, Exchange
from simulator.runtime.operations import report
from simulator.shortened import shortened
from simulator.wire import error_bodies
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
    """Redact the secrets of a request's own sandbox from its diagnosis. Return the diagnosis for the header of the
    answer, without the secrets of `others` either: a replay, which knows no others, must record the same text."""
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


BODY_BOUND = f"at most {BODY_BYTES_MAX} bytes are read"
_VERSION = re.compile(r"^/v[0-9]+(?=/)")
_CONTROL = re.compile(r"/_?sim+(?:/|$)")
_PREFIX = re.compile(r"/s/[^/]+(?:/|$)", re.IGNORECASE)
CONSOLE_HINT = " The simulator's own pages are at /_sim/."
ENCODED = "cannot be read: the service does not support Content-Encoding; send plain JSON, without this header"
UNKNOWN_PRODUCT = "must be a product of the catalog"


def deny(call: ApiCall, refusal: Denied) -> Reply:
    """Return the endpoint's answer to failed authentication, with its reason in the journal."""
    call.exchange.error = refusal.code
    call.exchange.diagnosis, call.exchange.told = refusal.diagnosis, refusal.told
    return Reply(401, call.endpoint.denied(refusal.code, refusal.message))


def refuse(call: ApiCall, status: int, code: str, text: str, diagnosis: str = "") -> Reply:
    """Return a refusal `{error, message}`, with its code and diagnosis in the journal."""
    call.exchange.error = code
    if diagnosis:
        call.exchange.diagnosis = diagnosis
    return Reply(status, error_bodies.coded(code, text))


def refuse_input(call: ApiCall, problems: Problems) -> Reply:
    """Return the endpoint's refusal of invalid input, usually 400 `{message, errors}` (SPEC 7.1); note the problems."""
    note_problems(call, problems)
    invalid = call.endpoint.invalid
    return refuse_parameters(problems) if invalid is None else invalid(call, problems)


def refuse_parameters(problems: Problems) -> Reply:
    """Return 400 `{message, errors}` when the diagnosis has other words."""
    return Reply(400, error_bodies.parameters("Some parameters are invalid.", problems))


def refuse_address_of(call: ApiCall, reseller: Reseller) -> Reply | None:
    """Return 403 when the reseller's allowlist excludes this client (SPEC 8).

    The answer names neither the reseller nor the list: a key alone proves nothing.
    """
    allowlist, client = reseller.settings.ip_allowlist, call.exchange.client
    if not allowlist or is_listed_address(client, allowlist):
        return None
    shown = ", ".join(allowlist[:NAMES_MAX]) + (", ..." if len(allowlist) > NAMES_MAX else "")
    call.exchange.told = f"{client} is not on the list of addresses that may use these credentials"
    diagnosis = f"{client} is not in the ip_allowlist of {reseller.code}: {shown}"
    return refuse(call, 403, "ip_not_allowed", f"Requests from {client} are not allowed for this account.", diagnosis)


def unknown_path(call: ApiCall, known: list[str]) -> Reply:
    """Return 404 for a path that the service does not have."""
    path, hint = call.exchange.path, ""
    if repeated := _repeated_prefix(call):
        note(call, repeated)
    elif _CONTROL.match(path):
        note(call, "the control API is below /_sim of the server, without a sandbox before it")
        hint = " The control API is below /_sim/."
    else:
        by_name = {_VERSION.sub("", each): each for each in known}
        likely = by_name.get(nearest(_VERSION.sub("", path.lower()), by_name), "")
        note(call, f"the service has no such path{suggestion(likely)}")
        hint = f" Did you mean {likely}?" if likely else CONSOLE_HINT if path == "/" else ""
    return Reply(404, error_bodies.parameters(f"There is no such path.{hint}", {}))


def _repeated_prefix(call: ApiCall) -> str:
    """Return the error of a path that repeats a sandbox's prefix; empty for any other path."""
    found = _PREFIX.match(call.exchange.path)
    prefix = call.exchange.prefix
    if not prefix or found is None:
        return ""
    own = prefix[prefix.rindex("/s/") :]
    again, rest = found[0].rstrip("/"), "/" + call.exchange.path[found.end() :]
    is_own = again.lower() == own.lower()
    begins = f"{_shown(own)} twice" if again == own else f"{_shown(own)} and then {_shown(again)}"
    text = f"the path begins with {begins}"
    if not is_own:
        return f"{text}; a request names one sandbox"
    links = "links of a list have the sandbox's path already: resolve them against the host, not against the base URL"
    return f"{text}: send {_shown(own + rest)}; {links}"


def wrong_method(call: ApiCall, allowed: list[str]) -> Reply:
    """Return 405 with the path's allowed methods."""
    text = ", ".join(sorted(allowed))
    note(call, f"the path has another method; use {text}")
    body = error_bodies.parameters(f"{call.exchange.method} is not possible here; use {text}.", {})
    return Reply(405, body, ((b"allow", text.encode()),))


def unknown_sandbox(sandbox_id: str, call: ApiCall) -> Reply:
    """Return 404 for the URL of a sandbox that does not exist."""
    note(call, f"there is no sandbox {_shown(sandbox_id)}; GET /_sim/sandboxes lists them")
    return refuse(call, 404, "unknown_sandbox", f"There is no sandbox {_shown(sandbox_id)} at this address.")


def lost_sandbox(call: ApiCall) -> Reply:
    """Return 404 for a request whose sandbox was deleted before execution, 409 if it was reset or rewound."""
    if call.sandbox.is_deleted:
        text = f"The sandbox {_shown(call.sandbox.id)} was deleted before this request was carried out."
        return Reply(404, error_bodies.coded("unknown_sandbox", text))
    event = "server was stopped" if call.sandbox.driver.is_stopping else f"sandbox was {call.sandbox.last_ending}"
    return refuse(call, 409, "sandbox_reset", f"The {event} before this request was carried out.")


def failed(call: ApiCall, error: Exception) -> Reply:
    """Return 500 for an unexpected exception, and log it. A replay repeats the recorded answer, since the place of the
    exception is another one in another version."""
    recorded = call.request.recorded
    if recorded is not None and recorded.error == UNEXPECTED:
        for name in ("error", "diagnosis", "told", "rule", "refid", "trxid"):
            setattr(call.exchange, name, getattr(recorded, name))
        return Reply(recorded.status, recorded.content)
    diagnosis = f"a mistake of the simulator, please report it: {report(error, 'a request')}"
    text = "An internal error occurred; the server's log has the stack. The request may have been carried out."
    return refuse(call, 500, "unexpected", text, diagnosis)


def unknown_rule(call: ApiCall, name: str) -> Reply:
    """Return 400 for a request that selects a rule that does not exist."""
    note(call, f"no rule {shown(name)}{hint(name, call.sandbox.core.state.rule_names())}")
    text = f"X-Sim-Rule names {_shown(name)}, but the sandbox has no rule of that name."
    return refuse(call, 400, "unknown_rule", text)


def _shown(name: str) -> str:
    """Return client input for a message, truncated to the length of a name."""
    return repr(shortened(name, ellipsis="…"))
