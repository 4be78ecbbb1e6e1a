"""Explanations for `X-Sim-Diagnosis` and the journal: why a request was refused, and what was ignored."""

from collections.abc import Mapping, Sequence

from simulator.api.call import Call
from simulator.api.notes import hint, note, note_some
from simulator.contract.decode import repeated_keys
from simulator.contract.query import parameters
from simulator.contract.schemas import Schema
from simulator.domain.handlers.sold import not_on_sale
from simulator.domain.model.catalog import OptionList
from simulator.domain.model.details import Detail, near
from simulator.wire.diagnoses import sentence, shown

# Longer bodies are not searched for repeated members: no valid body is that long, and it would delay other requests.
REPEATS_BYTES_MAX = 1_000_000


def explain(call: Call, detail: Detail | None, rule: str = "") -> None:
    """Note the domain's detail; without one, the name of the rule that refused, if any."""
    if detail is not None:
        note(call, sentence(detail))
    elif rule:
        note(call, f"the rule {shown(rule)} refused it")


def note_ignored(call: Call) -> None:
    """Note unknown and repeated members of the body; cheap when there are none.

    Names of a form are not quoted: the rest of a password that contains & looks like a name.
    """
    endpoint, fields, body = call.endpoint, call.fields, call.exchange.body
    known = parameters(endpoint.schema)
    is_json = endpoint.source == "body"
    if not is_json:
        if endpoint.source == "query":
            return
        is_json = body.lstrip()[:1] == b"{"
    if not fields.keys() <= known.keys():
        if is_json:
            _note_unknown(call, sorted(fields.keys() - known.keys()), known)
        else:
            note(call, f"unknown members were ignored; known are {', '.join(known)}")
    if is_json and len(body) <= REPEATS_BYTES_MAX and (repeated := repeated_keys(body, fields)):
        said = (f"{_named(name)} was sent {times} times; the last one counts" for name, times in repeated.items())
        note_some(call, said, len(repeated), "were sent several times")


def no_product(call: Call, code: str) -> str:
    """Say that no product has this code, and which one was probably meant."""
    return sentence(not_on_sale(call.sandbox.core.state, None, code))


def no_biller(code: str, every: OptionList, listed: OptionList) -> str:
    """Why no listed biller has this code; `every` includes the others."""
    biller = every.by_code.get(code)
    if biller is None:
        return f"no biller {shown(code)}{hint(code, listed.by_code)}"
    return f"biller {code} is {'active, and is_active=false was asked for' if biller.is_active else 'inactive'}"


def _note_unknown(call: Call, unknown: Sequence[str], known: Mapping[str, Schema]) -> None:
    said = (f"{_named(name)} is unknown and was ignored{_hint(call, name, known)}" for name in unknown)
    note_some(call, said, len(unknown), "are not known")


def _named(name: str) -> str:
    return shown(name) or "a member without a name"


def _hint(call: Call, wrong: str, known: Mapping[str, Schema]) -> str:
    """Suggest a known member that was not sent, at the top level or within an object."""
    missing = [name for name in known if name not in call.fields]
    inner = {name: f"{outer}.{name}" for outer, one in known.items() for name in _missing(one, call.fields.get(outer))}
    likely = inner.get(wrong.casefold()) or near(wrong, missing) or inner.get(near(wrong, inner))
    return f"; did you mean {likely}?" if likely else ""


def _missing(wanted: Schema, sent: object) -> list[str]:
    """The members that are missing in an object."""
    return [name for name in wanted.get("properties", ()) if not (isinstance(sent, Mapping) and name in sent)]
