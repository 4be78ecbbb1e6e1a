"""The answer to a dispute or void (SPEC 2.10)."""

from typing import Any

from simulator.domain.model.answers import CaseAnswer


def answer(given: CaseAnswer) -> dict[str, Any]:
    """The body of a 200: `Success` when the request was accepted, else `Failed`."""
    status = "Success" if given.is_accepted else "Failed"
    return {"data": {"refid": given.transaction.refid, "status": status, "message": given.message}}
