"""The replies of inboxes: a list for each inbox, the last of which repeats."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from simulator.domain.model.http_statuses import WITHOUT_BODY
from simulator.domain.model.inboxes import INBOX_NAME, InboxReply
from simulator.scenario.reading.reader import Reader

DELAY_MAX = timedelta(minutes=5)


def inboxes(section: Reader) -> Mapping[str, tuple[InboxReply, ...]]:
    """The replies of each inbox that is named."""
    found: dict[str, tuple[InboxReply, ...]] = {}
    for name, entry in section.entries():
        if not INBOX_NAME.fullmatch(name):
            text = f"an inbox's name has 1 to 64 letters, digits, '.', '_' or '-', not {name[:100]!r}"
            entry.problem("bad_inbox_name", text, at_key=True)
        found[name] = tuple(_reply(item) for item in entry.items())
    return MappingProxyType(found)


def _reply(item: Reader) -> InboxReply:
    status, body = item["status"].integer(200), item["body"].text()
    if status in WITHOUT_BODY and body:
        item["body"].problem("misplaced", f"an answer with status {status} has no body")
    delay = item["delay"].duration()
    if delay > DELAY_MAX:
        item["delay"].problem("out_of_range", f"an inbox waits at most {DELAY_MAX.seconds // 60} minutes")
    return InboxReply(status, delay, body)
