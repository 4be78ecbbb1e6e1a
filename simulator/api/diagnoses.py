"""What the answer's body does not say, for `X-Sim-Diagnosis` and the journal: why it was refused, what was ignored."""

from collections.abc import Set

from simulator.api.call import Call
from simulator.api.notes import hint, note
from simulator.contract.schemas import schema
from simulator.domain.model.details import Detail
from simulator.wire.diagnoses import sentence, shown

NAMED_MAX = 5


def members(schema_name: str) -> frozenset[str]:
    """The members that a request may have, as its schema describes them."""
    return frozenset(schema(schema_name)["properties"])


def explain(call: Call, detail: Detail | None, rule: str = "") -> None:
    """Say what the domain found; where it found nothing, that the rule of this name refused, if there is one."""
    if detail is not None:
        note(call, sentence(detail))
    elif rule:
        note(call, f"the rule {shown(rule)} refused it")


def note_ignored(call: Call, known: Set[str]) -> None:
    """Say which members of the body are none of `known`; cheap when there are none."""
    if call.fields.keys() <= known:
        return
    for name in sorted(call.fields.keys() - known)[:NAMED_MAX]:
        note(call, f"{shown(name)} is not known here and was ignored{hint(name, known)}")
