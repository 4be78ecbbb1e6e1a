"""The tape of a run's sandbox, while its server runs."""

from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from simulator.options import CONTROL_PATH
from simulator.runtime.sandboxes import DEFAULT

TIMEOUT_S = 10.0
TAPE_BYTES_MAX = 64 * 1024 * 1024
OK = 200


def fetched(url: str, token: str | None) -> bytes | None:
    """The tape of the default sandbox; None when there is none to have."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    asked = Request(f"{url}{CONTROL_PATH}/sandboxes/{DEFAULT}/tape", headers=headers)  # noqa: S310  # our own server
    try:
        with build_opener(ProxyHandler({})).open(asked, timeout=TIMEOUT_S) as answer:
            content: bytes = answer.read(TAPE_BYTES_MAX + 1)
            return content if answer.status == OK and len(content) <= TAPE_BYTES_MAX else None
    except (URLError, OSError):
        return None
