"""A callback or webhook as its receiver got it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reseller_sim.arguments import checked
from reseller_sim.decoding import decoded
from reseller_sim.webhooks import Verdict, verify_webhook

UNCHECKED = Verdict(False, "no secret was given; name it with verify(secret)")
UNSIGNED = Verdict(False, "it has no header webhook-signature, as transaction callbacks have none")


@dataclass(frozen=True)
class Message:
    """A received request: its number from 1, when it came, the names of `headers` in lower case, the status that it was
    answered with (None for a connection that was ended), and what is known of its `signature`."""

    n: int
    at: datetime
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    status: int | None = None
    signature: Verdict = field(default=UNCHECKED)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The decoded body. Raises `ValueError` when it is no JSON."""
        return decoded(self.body)

    @property
    def data(self) -> Mapping[str, Any]:
        """What a callback or an event says: the member `data` of its body, or with GET its query and the JSON in its
        `message`, which has the status by name; empty for anything else."""
        if self.method == "GET":
            return {**self.query, **_members(self.query.get("message", ""))}
        found = _members(self.body)
        inner = found.get("data", found)
        return inner if isinstance(inner, dict) else {}

    @checked
    def verify(self, secret: str) -> Verdict:
        """Judge its signature by a webhook's secret; the timestamp is compared with the present."""
        return verify_webhook(secret, self.headers, self.body)


def _members(text: str | bytes) -> dict[str, Any]:
    try:
        found = decoded(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def from_inbox(item: Mapping[str, Any], path: str) -> Message:
    """A message of an inbox, as the control API shows it."""
    headers: dict[str, str] = {}
    for name, value in item["headers"]:
        headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
    at, body = datetime.fromisoformat(item["at"]), item["body"].encode()
    signature = UNCHECKED if "webhook-signature" in headers else UNSIGNED
    return Message(item["n"], at, item["method"], path, item["query"], headers, body, item.get("status"), signature)
