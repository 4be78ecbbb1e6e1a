"""Refusals that are the same for every endpoint."""

from simulator.api.call import ApiCall, Problems, Reply
from simulator.api.clients import is_listed_address
from simulator.api.notes import note, note_each, note_problems
from simulator.auth.signature import Denied
from simulator.contract import surplus
from simulator.domain.model.details import NAMES_MAX
from simulator.domain.model.resellers import Reseller
from simulator.runtime.journal import UNEXPECTED
from simulator.runtime.operations import report
from simulator.wire import error_bodies
from simulator.wire.diagnoses import shown

ENCODED = "cannot be read: the service does not support Content-Encoding; send plain JSON, without this header"
UNKNOWN_PRODUCT = "must be a product of the catalog"


def deny(call: ApiCall, refusal: Denied) -> Reply:
    """Return the endpoint's answer to failed authentication, with its reason in the journal."""
    call.exchange.error = refusal.code
    call.exchange.diagnosis, call.exchange.public_diagnosis = refusal.diagnosis, refusal.public_diagnosis
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
    """Return 400 `{message, errors}`, for callers that note a diagnosis of their own."""
    return Reply(400, error_bodies.parameters("Some parameters are invalid.", problems))


def refuse_address_of(call: ApiCall, reseller: Reseller) -> Reply | None:
    """Return 403 when the reseller's allowlist excludes this client (SPEC 8).

    The answer names neither the reseller nor the list: a key alone proves nothing.
    """
    allowlist, client = reseller.settings.ip_allowlist, call.exchange.client
    if not allowlist or is_listed_address(client, allowlist):
        return None
    shown = ", ".join(allowlist[:NAMES_MAX]) + (", ..." if len(allowlist) > NAMES_MAX else "")
    call.exchange.public_diagnosis = f"{client} is not on the list of addresses that may use these credentials"
    diagnosis = f"{client} is not in the ip_allowlist of {reseller.code}: {shown}"
    return refuse(call, 403, "ip_not_allowed", f"Requests from {client} are not allowed for this account.", diagnosis)


def unknown_path(call: ApiCall, known: list[str]) -> Reply:
    """Return 404 for a path that the service does not have."""
    sentences, advice = surplus.unknown_path(call.exchange.path, call.exchange.prefix, known)
    note_each(call, sentences)
    return Reply(404, error_bodies.parameters(f"There is no such path.{advice}", {}))


def wrong_method(call: ApiCall, allowed: list[str]) -> Reply:
    """Return 405 with the path's allowed methods."""
    text = ", ".join(sorted(allowed))
    note(call, f"the path has another method; use {text}")
    body = error_bodies.parameters(f"{call.exchange.method} is not possible here; use {text}.", {})
    return Reply(405, body, ((b"allow", text.encode()),))


def unknown_sandbox(sandbox_id: str, call: ApiCall) -> Reply:
    """Return 404 for the URL of a sandbox that does not exist."""
    note(call, f"there is no sandbox {surplus.cited(sandbox_id)}; GET /_sim/sandboxes lists them")
    return refuse(call, 404, "unknown_sandbox", f"There is no sandbox {surplus.cited(sandbox_id)} at this address.")


def lost_sandbox(call: ApiCall) -> Reply:
    """Return 404 for a request whose sandbox was deleted before execution, 409 if it was reset or rewound."""
    if call.sandbox.is_deleted:
        text = f"The sandbox {surplus.cited(call.sandbox.id)} was deleted before this request was carried out."
        return Reply(404, error_bodies.coded("unknown_sandbox", text))
    event = "server was stopped" if call.sandbox.driver.is_stopping else f"sandbox was {call.sandbox.last_ending}"
    return refuse(call, 409, "sandbox_reset", f"The {event} before this request was carried out.")


def failed(call: ApiCall, error: Exception) -> Reply:
    """Return 500 for an unexpected exception, and log it. A replay repeats the recorded answer, since another
    version reports another place of the exception."""
    recorded = call.request.recorded
    if recorded is not None and recorded.error == UNEXPECTED:
        for name in ("error", "diagnosis", "public_diagnosis", "rule", "refid", "trxid"):
            setattr(call.exchange, name, getattr(recorded, name))
        return Reply(recorded.status, recorded.content)
    diagnosis = f"a mistake of the simulator, please report it: {report(error, 'a request')}"
    text = "An internal error occurred; the server's log has the stack. The request may have been carried out."
    return refuse(call, 500, "unexpected", text, diagnosis)


def unknown_rule(call: ApiCall, name: str) -> Reply:
    """Return 400 for a request that selects a rule that does not exist."""
    note(call, f"no rule {shown(name)}{surplus.hint(name, call.sandbox.core.state.rule_names())}")
    text = f"X-Sim-Rule names {surplus.cited(name)}, but the sandbox has no rule of that name."
    return refuse(call, 400, "unknown_rule", text)
