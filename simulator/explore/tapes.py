"""The tape of a run's sandbox, while its server runs."""

from reseller_sim.exchange import Unanswered, exchange
from simulator.options import CONTROL_PATH
from simulator.runtime.sandboxes import DEFAULT

TIMEOUT_S = 10.0
OK = 200


def fetched(url: str, token: str | None) -> bytes | None:
    """The tape of the default sandbox; None when there is none to have."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = exchange("GET", f"{url}{CONTROL_PATH}/sandboxes/{DEFAULT}/tape", None, headers, TIMEOUT_S)
    except Unanswered:
        return None
    return answer.body if answer.status == OK else None
