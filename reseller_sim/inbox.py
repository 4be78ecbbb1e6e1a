"""An inbox of a sandbox: what it received, and waiting for more."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reseller_sim.clocks import real_monotonic
from reseller_sim.control import CONTROL_PATH, TIMEOUT_S, below, wrong_answer
from reseller_sim.messages import Message, from_inbox

if TYPE_CHECKING:
    from reseller_sim.sandbox import Sandbox

POLL_S_MAX = 300.0


class Inbox:
    """The inbox `name` of a sandbox."""

    def __init__(self, sandbox: "Sandbox", name: str) -> None:
        self._sandbox = sandbox
        self._path = below("/inbox", name)
        self._address = f"{CONTROL_PATH}/inbox/{sandbox.id}/{name}"

    def messages(self, timeout_s: float) -> Iterator[Message]:
        """Every message, oldest first, waiting for more until `timeout_s` seconds have passed."""
        ends, left_s, cursor = real_monotonic() + timeout_s, timeout_s, 0
        while True:
            poll_s = min(left_s, POLL_S_MAX)
            query = {"cursor": cursor, "wait_for": 1, "timeout": round(poll_s, 3)}
            items = self._sandbox.ask("GET", self._path, query=query, timeout_s=poll_s + TIMEOUT_S)["items"]
            for item in items:
                if item["n"] <= cursor:
                    raise wrong_answer("GET", self._sandbox.control_url + self._path, "an earlier message again")
                cursor = item["n"]
                yield from_inbox(item, self._address)
            if not items:
                left_s -= poll_s  # the server has waited it out, whatever a clock says
                if left_s <= 0:
                    return
            left_s = max(0.0, min(left_s, ends - real_monotonic()))
