"""The secrets that the proxy knows: those given to it, and those that went by. They are hidden in all that it shows."""

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final

from simulator.control.masking import Mask
from simulator.redaction import Secrets, members_in
from simulator.runtime.known_secrets import FormerSecrets
from simulator.staging.proxy.facts import members

WEBHOOK_PATH: Final = "/v2/balance-webhook"
_WEBHOOKS_MAX: Final = 20
CHARS_MAX: Final = 4096  # tokens are shorter; of a longer text the beginning is recognized
OF_BODY_MAX: Final = 50
SEARCHED_BYTES_MAX: Final = 64 * 1024  # a longer body is none that logs somebody in
SEEN_CHARS_MAX: Final = 4 * 1024 * 1024


class SeenSecrets:
    """`given` are those of the operator; `keys` are API keys, which may be shown whole. `webhooks` are the latest
    secrets that the service gave out for webhooks."""

    def __init__(self, given: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        self.webhooks: deque[str] = deque(maxlen=_WEBHOOKS_MAX)
        self._given = Secrets(given)
        self._keys = frozenset(keys)
        self._seen = FormerSecrets(SEEN_CHARS_MAX)

    @property
    def mask(self) -> Mask:
        """What hides them all."""
        return Mask((), self._keys, self.secrets)

    @property
    def secrets(self) -> tuple[Secrets, ...]:
        """Their indexes."""
        return (self._given, *self._seen.generations)

    def learn(self, path: str, body: bytes, answer: bytes) -> None:
        """Take those of a call: webhook secrets, tokens and passwords, wherever they were sent."""
        if path.startswith(WEBHOOK_PATH):
            secret = members(answer).get("webhook_secret")
            if isinstance(secret, str) and secret[:CHARS_MAX] == secret != "" and secret not in self.webhooks:
                self.webhooks.append(secret)
        for part in (body, answer):
            found = members_in(part[:SEARCHED_BYTES_MAX])
            self._seen.add(text[:CHARS_MAX] for text in islice(found, OF_BODY_MAX))
