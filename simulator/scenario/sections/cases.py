"""What a rule of `voids` or `disputes` decides: acceptance, message, and how a void ends."""

from functools import partial

from simulator.domain.model.cases import REFUND_AFTER, CaseThen
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.templates import template

ACCEPTED = "Success"


def void(item: Reader) -> CaseThen:
    """The `then` of a void. An accepted void ends after a delay, by default with a refund; a refused one ends at
    once."""
    is_accepted = _is_accepted(item)
    refund_after, refused_after = item["refund_after"], item["refused_after"]
    for given in (refund_after, refused_after):
        if given.is_given and not is_accepted:
            given.problem("misplaced", "only a void with status Success ends later", at_key=True)
    if refund_after.is_given and refused_after.is_given:
        text = "a void ends with 'refund_after' or with 'refused_after', not both"
        refused_after.problem("misplaced", text, at_key=True)
    is_refunded = is_accepted and not refused_after.is_given
    return CaseThen(
        is_accepted,
        item["message"].parsed(partial(template, field_name="message"), "bad_template"),
        refund_after.duration(REFUND_AFTER) if is_refunded else None,
        refused_after.optional_duration(),
    )


def dispute(item: Reader) -> CaseThen:
    """The `then` of a dispute."""
    message = item["message"].parsed(partial(template, field_name="message"), "bad_template")
    return CaseThen(_is_accepted(item), message)


def _is_accepted(item: Reader) -> bool:
    status = item["status"]
    if item.is_mapping and not status.is_given:
        item.problem("missing_key", "'status' is missing")
    return status.text() == ACCEPTED
