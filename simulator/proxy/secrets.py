"""The secrets that the proxy knows: those given to it, and those that went by. They are hidden in all that it shows."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulator.control.masking import Mask
from simulator.proxy.facts import members
from simulator.runtime.known_secrets import FormerSecrets
from simulator.wire.secrets import Secrets
from simulator.wire.tokens import PATHS

WEBHOOK_PATH: Final = "/v2/balance-webhook"
_WEBHOOKS_MAX: Final = 20
_TOKENS: Final = frozenset({"AccessToken", "IdToken", "RefreshToken", "password", "refresh_token"})


class SeenSecrets:
    """`given` are those of the operator; `keys` are API keys, which may be shown whole. `webhooks` are the latest
    secrets that the service gave out for webhooks."""

    def __init__(self, given: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        self.webhooks: deque[str] = deque(maxlen=_WEBHOOKS_MAX)
        self._given = Secrets(given)
        self._keys = frozenset(keys)
        self._seen = FormerSecrets()

    @property
    def mask(self) -> Mask:
        """What hides them all."""
        return Mask((), self._keys, self.secrets)

    @property
    def secrets(self) -> tuple[Secrets, ...]:
        """Their indexes."""
        return (self._given, *self._seen.generations)

    def learn(self, path: str, body: bytes, answer: bytes) -> None:
        """Take those of a call: webhook secrets, tokens and passwords."""
        if path.startswith(WEBHOOK_PATH):
            secret = members(answer).get("webhook_secret")
            if isinstance(secret, str) and secret and secret not in self.webhooks:
                self.webhooks.append(secret)
                self._seen.add([secret])
        elif path in PATHS:
            self._seen.add([text for part in (body, answer) for text in _texts(members(part), 3)])


def _texts(found: Any, depth: int) -> Iterator[str]:
    for name, value in found.items():
        if name in _TOKENS and isinstance(value, str):
            yield value
        elif isinstance(value, dict) and depth:
            yield from _texts(value, depth - 1)
