"""Why a request was refused or answered otherwise than it was meant, for `X-Sim-Diagnosis` and the journal."""

from simulator.api.call import Call
from simulator.api.notes import hint, note, suggestion
from simulator.contract.query import flag, parameters
from simulator.domain.model.catalog import OptionList, Product
from simulator.domain.model.details import Detail
from simulator.domain.queries import not_on_sale
from simulator.wire.diagnoses import sentence, shown


def explain(call: Call, detail: Detail | None, rule: str = "") -> None:
    """Note the domain's detail; without one, the name of the rule that refused, if any."""
    if detail is not None:
        note(call, sentence(detail))
    elif rule:
        note(call, f"the rule {shown(rule)} refused it")


def no_product(call: Call, code: str) -> str:
    """Say that no product has this code, and which one was probably meant."""
    return sentence(not_on_sale(call.sandbox.core.state, None, code))


def not_listed(call: Call, code: str, product: Product | None) -> str:
    """Why an endpoint does not show a product, and which of the endpoint's parameters would make it do so."""
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
    """Why no listed biller has this code; `every` includes the others."""
    biller = every.by_code.get(code)
    if biller is None:
        return f"no biller {shown(code)}{hint(code, listed.by_code)}"
    return f"biller {code} is {'active, and is_active=false was asked for' if biller.is_active else 'inactive'}"


def no_delivery(call: Call, job: str) -> str:
    """Why this reseller has no delivery of this id."""
    log, owner = call.sandbox.core.state.deliveries, call.owner.code
    if found := log.find(job):
        whose = f"belongs to reseller {found.reseller}, not to {owner}" if found.reseller else "is of a catalog event"
        return f"delivery {job} {whose}"
    of_event = [one for one in log if one.event.id == job and one.reseller == owner]
    if of_event:
        return f"{job} is the id of an event; its latest delivery is {of_event[-1].id}"
    likely = log.find(job.lower())
    return f"no delivery {shown(job)}{suggestion(likely.id if likely and likely.reseller == owner else '')}"
