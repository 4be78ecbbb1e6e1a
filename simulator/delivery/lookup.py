"""DNS lookups that never block the event loop, each other, or the exit of the process."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

MAX_LOOKUPS = 128
"""Concurrent lookups; an abandoned lookup continues in its thread until the system's resolver returns."""

Lookup = Callable[[str], Sequence[str]]
"""Blocking: the IP addresses of a host name, in the order to try them. Raises OSError when there are none."""


def system_lookup(host: str) -> list[str]:
    """The addresses from the system's resolver, hosts file included."""
    # As bytes, because a str would go through Python's own older IDNA codec.
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class NameResolver:
    """Resolves names, each in its own thread; concurrent requests for one name share the lookup.

    The threads are daemons: an unresponsive name server delays neither other lookups, as it would in the loop's small
    pool, nor the exit of the process. Results are not cached after a lookup has ended.
    """

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._under_way: dict[str, asyncio.Future[Sequence[str] | OSError]] = {}

    async def addresses(self, host: str) -> Sequence[str]:
        """The addresses of `host`, at least one; raises OSError."""
        answer = await asyncio.shield(self._under_way.get(host) or self._begin(host))
        if isinstance(answer, OSError):
            raise answer
        return answer

    def _begin(self, host: str) -> asyncio.Future[Sequence[str] | OSError]:
        if len(self._under_way) >= MAX_LOOKUPS:
            raise OSError(f"{MAX_LOOKUPS} other names are being looked up")
        loop = asyncio.get_running_loop()
        future = self._under_way[host] = loop.create_future()
        try:
            threading.Thread(target=self._run, args=(loop, host), name="lookup", daemon=True).start()
        except RuntimeError:
            del self._under_way[host]
            raise OSError("the system has no thread left for a lookup") from None
        return future

    def _run(self, loop: asyncio.AbstractEventLoop, host: str) -> None:
        answer: Sequence[str] | OSError = OSError("the lookup failed")
        try:
            answer = self._lookup(host) or OSError("the name has no address")
        except OSError as error:
            answer = error
        finally:
            with suppress(RuntimeError):  # the loop was closed meanwhile; nothing awaits the answer
                loop.call_soon_threadsafe(self._end, host, answer)

    def _end(self, host: str, answer: Sequence[str] | OSError) -> None:
        future = self._under_way.pop(host)
        if not future.done():
            future.set_result(answer)
