"""The `Deprecation` header on what SPEC 9 calls deprecated: legacy endpoints, and requests with a token."""

from simulator.api.exchange import Call, Reply
from simulator.wire.tokens import deprecation


def marked_deprecated(call: Call, reply: Reply) -> Reply:
    """The reply with the header, unless the scenario leaves it out."""
    form = call.sandbox.scenario.assume.get("deprecation-header", "rfc9745")
    if form == "none":
        return reply
    headers = (*reply.headers, (b"deprecation", deprecation(form)))
    return Reply(reply.status, reply.body, headers, reply.ending)
