"""DNS lookups that never block the event loop, each other, or the exit of the process."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from simulator.http_client.slots import Slots

MAX_LOOKUPS = 128
"""The maximum number of concurrent lookups. A cancelled lookup still runs until the system's resolver returns."""

_RESOLVER = ("the system's resolver", 0)

Lookup = Callable[[str], Sequence[str]]
"""A blocking function that returns the IP addresses of a host name, in the order to try. Raises OSError without any."""


def system_lookup(host: str) -> list[str]:
    """Return the addresses from the system's resolver, hosts file included."""
    # As bytes, because a str would go through Python's own older IDNA codec.
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class NameResolver:
    """A resolver that runs each lookup in its own thread. Concurrent requests for the same name share a lookup.

    `Slots` shares the threads fairly among owners: slow lookups delay only their own owner. The threads are daemons, so
    an unresponsive name server delays neither other lookups, as it would in the loop's small pool, nor the exit of the
    process. Results are not cached after a lookup has ended.
    """

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._under_way: dict[str, asyncio.Future[Sequence[str] | OSError]] = {}
        self._slots = Slots(MAX_LOOKUPS, per_receiver=MAX_LOOKUPS)

    async def addresses(self, host: str, owner: str = "") -> Sequence[str]:
        """Return the addresses of `host`, at least one. Raises OSError."""
        if host not in self._under_way:
            await self._slots.take(owner, _RESOLVER)
            if host in self._under_way:  # another task has started in the meantime
                self._slots.give_back(owner, _RESOLVER)
            else:
                loop = asyncio.get_running_loop()
                self._under_way[host] = loop.create_future()
                try:
                    threading.Thread(target=self._run, args=(loop, host, owner), name="lookup", daemon=True).start()
                except RuntimeError:
                    del self._under_way[host]
                    self._slots.give_back(owner, _RESOLVER)
                    raise OSError("the system has no thread left for a lookup") from None
        answer = await asyncio.shield(self._under_way[host])
        if isinstance(answer, OSError):
            raise answer
        return answer

    def _run(self, loop: asyncio.AbstractEventLoop, host: str, owner: str) -> None:
        answer: Sequence[str] | OSError = OSError("the lookup failed")
        try:
            answer = self._lookup(host) or OSError("the name has no address")
        except OSError as error:
            answer = error
        finally:
            with suppress(RuntimeError):  # the loop was closed in the meantime; no task awaits the result
                loop.call_soon_threadsafe(self._end, host, owner, answer)

    def _end(self, host: str, owner: str, answer: Sequence[str] | OSError) -> None:
        self._slots.give_back(owner, _RESOLVER)
        future = self._under_way.pop(host)
        if not future.done():
            future.set_result(answer)
