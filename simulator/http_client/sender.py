"""Sends callbacks and webhooks over HTTP: single attempts, limited in time and size, with the result as a value."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.domain.model.delivery_attempts import AttemptResult, OutgoingRequest
from simulator.http_client.addresses import AddressPolicy
from simulator.http_client.lookup import Lookup, NameResolver, system_lookup
from simulator.http_client.slots import Receiver, Slot, Slots, Turn
from simulator.http_client.targets import BadTarget, HttpTarget, parse_target

if TYPE_CHECKING:
    from simulator.http_client.client import Client

Attempt = Callable[[OutgoingRequest, float, str], Coroutine[Any, Any, AttemptResult]]


@lru_cache(maxsize=512)  # most jobs share a URL
def _receiver_of(url: str) -> Receiver:
    with suppress(BadTarget):  # the attempt will report that
        if isinstance(target := parse_target(url), HttpTarget):
            return target.host, target.port
    return "", 0


class HttpSender:
    """A sender of `OutgoingRequest` requests (SPEC 6.1, 6.3). It belongs to one event loop.

    Sandboxes share the connections fairly, see `Slots`. An address that `policy` forbids is never connected to, however
    it is written or resolved. Certificates are verified; `ca_file` adds authorities to the system's. The sender does
    not follow redirects, store cookies, or use proxies from the environment.
    """

    def __init__(
        self,
        policy: AddressPolicy | None = None,
        *,
        ca_file: Path | None = None,
        lookup: Lookup = system_lookup,
        slots: Slots | None = None,
    ) -> None:
        self._policy = policy or AddressPolicy()
        self._ca_file = ca_file
        self._names = NameResolver(lookup)
        self._slots = slots or Slots()
        self._client: Client | None = None
        self._attempt: Attempt | None = None
        self._closed = False

    def turn(self, url: str, owner: str = "") -> Turn:
        """Hold a slot of `owner` at the receiver of this URL; wait until a slot is free."""
        return Slot(self._slots, owner, _receiver_of(url))

    def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str = "") -> Coroutine[Any, Any, AttemptResult]:
        """Make one attempt of at most `timeout_s` seconds. Call this within `turn`.

        Network failures are returned as `AttemptResult`. Raises RuntimeError after `close`.
        """
        return (self._attempt or self._open())(outgoing, timeout_s, owner)

    def _open(self) -> Attempt:
        if self._closed:
            raise RuntimeError("the sender is closed")
        from simulator.http_client.attempts import attempt  # a few milliseconds, which most servers never need
        from simulator.http_client.client import Client
        from simulator.http_client.dialer import Dialer

        self._client = Client(Dialer(self._policy, self._names, self._ca_file))
        self._attempt = partial(attempt, self._client)
        return self._attempt

    async def close(self) -> None:
        """Close all connections. Cancel or await active attempts first."""
        self._closed = True
        client, self._client, self._attempt = self._client, None, None
        if client is not None:
            await client.close()
