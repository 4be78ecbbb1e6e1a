"""`/_sim/sandboxes/{id}/notifications`: e-mails that the service would have sent."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.filters import page_of, query_of, refuse_unknown_reseller, wait_of
from simulator.control.http import page, reply, sandbox_of
from simulator.domain.model.domain_events import EmailNotification
from simulator.runtime.journal import Tally


def row(one: EmailNotification) -> dict[str, Any]:
    """Return an e-mail as JSON."""
    return {
        "n": one.n,
        "at": render.moment(one.at),
        "kind": one.kind.value,
        "reseller": one.reseller,
        "to": list(one.to),
        "subject": one.subject,
        "text": one.text,
        "trxid": one.trxid,
        "refid": one.refid,
    }


async def list_all(request: Request) -> Response:
    """Notifications, oldest first; with `wait_for`, once that many match or the timeout passes."""
    live = sandbox_of(request)
    query = query_of(request, "notifications-query")
    refuse_unknown_reseller(live, query)
    asked = page_of(query)
    wait_for, timeout_s = wait_of(query)
    kind, reseller = (query.get(name) for name in ("kind", "reseller"))
    log = live.core.state.notifications

    def matches(one: EmailNotification) -> bool:
        return kind in (None, one.kind) and reseller in (None, one.reseller)

    complete = True
    if wait_for:
        found = Tally(log, matches)
        # Both requests and the agenda cause notifications.
        complete = await live.wait_until(
            lambda: found.count() >= wait_for, timeout_s, live.driver.notifier, live.journal.notifier
        )
    later = (one for one in filter(matches, log) if one.n > asked.cursor)
    left_out = log.left_out
    answer = await page("notifications", asked, later, row, lambda one: one.n)
    return reply(answer | {"left_out": left_out, "complete": complete})
