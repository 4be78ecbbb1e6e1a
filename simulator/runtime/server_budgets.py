"""What the sandboxes of a server have together: budgets of memory."""

from math import inf
from typing import NamedTuple

from simulator.persistence.tape.tape import TapeBudget
from simulator.runtime.inbox_budget import InboxBudget
from simulator.runtime.inbox_messages import Inbox
from simulator.runtime.inboxes import server_budget


class ServerBudgets(NamedTuple):
    """Those of their inboxes, and of their tapes."""

    inboxes: InboxBudget[Inbox]
    tapes: TapeBudget


def server_budgets(tapes_bytes_max: float | None = None) -> ServerBudgets:
    """Those of a server."""
    return ServerBudgets(server_budget(), TapeBudget() if tapes_bytes_max is None else TapeBudget(tapes_bytes_max))


def unshared_budgets() -> ServerBudgets:
    """Those of a sandbox that is rebuilt beside the others: its tape is as long as that from which it is."""
    return server_budgets(inf)
