"""What the answer's body does not say, for `X-Sim-Diagnosis` and the journal: why it was refused, what was ignored."""

from collections.abc import Set

from simulator.api.call import Call
from simulator.contract.schemas import schema
from simulator.domain.model.details import Detail, near
from simulator.wire.diagnoses import sentence, shown

NAMED_MAX = 5


def members(schema_name: str) -> frozenset[str]:
    """The members that a request may have, as its schema describes them."""
    return frozenset(schema(schema_name)["properties"])


def note(call: Call, text: str) -> None:
    """Say one thing more about this request."""
    before = call.exchange.diagnosis
    call.exchange.diagnosis = f"{before}; {text}" if before else text


def explain(call: Call, known: Set[str], detail: Detail | None, rule: str = "", *, is_refused: bool = False) -> None:
    """Say what the domain found, and which members that are none of `known` were ignored; of a refusal that has no
    detail, that the rule did it."""
    if detail is not None:
        note(call, sentence(detail))
    elif is_refused and rule:
        note(call, f"the rule {shown(rule)} refused it")
    for name in sorted(call.fields.keys() - known)[:NAMED_MAX]:
        likely = near(name, known)
        note(call, f"{shown(name)} is not known here and was ignored" + (f"; did you mean {likely}?" if likely else ""))
