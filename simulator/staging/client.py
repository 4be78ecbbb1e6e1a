"""A signed, paced and bounded client of a deployment of the service.

Requests go one after another, at most `per_second` of them and `requests_max` in all. Nothing is followed, unpacked or
kept: no redirects, no cookies, no proxies of the environment. TLS certificates are verified.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import mktime_tz, parsedate_tz
from types import TracebackType

import aiohttp
from yarl import URL

from simulator.staging.manners import BODY_BYTES_MAX, TIMEOUT_S, NoAnswer, Pace, reason_of
from simulator.staging.signing import Credentials, SignedRequest, sign

TRIES_MAX = 5
TOO_MANY_REQUESTS, UNAVAILABLE = 429, 503
_CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Manners:
    """How much of a deployment a client takes: requests a second, requests in all, seconds for one exchange, seconds to
    wait when it says so, and bytes of a body."""

    per_second: float = 2.0
    requests_max: int = 5000
    timeout_s: float = TIMEOUT_S
    wait_s_max: float = 300.0
    body_bytes_max: int = BODY_BYTES_MAX


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response. The names of `headers` are in lower case; of a repeated one the last counts."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    elapsed_s: float = 0.0


class Spent(Exception):
    """The requests that were allowed are used up."""


class MustWait(Exception):
    """The deployment asks for a pause of `seconds`, which is longer than this client waits."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the service asks for a pause of {seconds:g} seconds")
        self.seconds = seconds


class Client:
    """Use it as `async with Client(base_url, credentials) as client`.

    `clock` gives seconds and `sleep` waits for some; tests replace both. `sent` counts the requests.
    """

    def __init__(
        self,
        base_url: str,
        credentials: Credentials,
        manners: Manners | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.sent = 0
        self._base_url = base_url
        self._credentials = credentials
        self._manners = manners or Manners()
        self._clock = clock
        self._sleep = sleep
        self._pace = Pace(self._manners.per_second)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> "Client":
        """Open it."""
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=self._manners.timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close its connections."""
        assert self._session is not None
        await self._session.close()

    async def get(self, target: str, headers: Mapping[str, str] | None = None) -> Answer:
        """GET a path with its query. A 429, and a 503, is asked again after its Retry-After, else after 1, 2, 4, 8
        seconds; the last one is returned.

        Raises `NoAnswer`, `Spent`, `MustWait`, and `CannotSign` for a base URL, a path or a secret that cannot be used.
        """
        for tries in range(1, TRIES_MAX):
            answer = await self.send(self.signed("GET", target), headers)
            if answer.status not in (TOO_MANY_REQUESTS, UNAVAILABLE):
                return answer
            await self._wait(retry_after(answer, time.time()) or 2.0 ** (tries - 1))
        return await self.send(self.signed("GET", target), headers)

    def signed(self, method: str, target: str, body: bytes = b"") -> SignedRequest:
        """A request of this client's, signed now. Raises `CannotSign`."""
        return sign(method, self._base_url, target, body, self._credentials)

    async def send(self, request: SignedRequest, headers: Mapping[str, str] | None = None) -> Answer:
        """One exchange, when its turn has come; `headers` are added or replace others. Raises `NoAnswer`, `Spent`."""
        if self.sent >= self._manners.requests_max:
            raise Spent(f"{self.sent} requests have been sent, which is all that were allowed")
        self.sent += 1
        if wait := self._pace.wait_s(self._clock()):
            await self._sleep(wait)
        started = self._clock()
        try:
            status, received, body = await self._exchange(request, dict(request.headers) | dict(headers or {}))
        except TimeoutError:
            raise NoAnswer(f"no complete answer within {self._manners.timeout_s:g} seconds") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(f"no complete answer ({reason_of(error)})") from None
        return Answer(status, received, body, self._clock() - started)

    async def _exchange(self, request: SignedRequest, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        assert self._session is not None, "use it as `async with`"
        url = URL(request.url, encoded=True)
        sent = self._session.request(
            request.method, url, data=request.body or None, headers=headers, allow_redirects=False
        )
        async with sent as response:
            body = bytearray()
            async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                body += chunk
                if len(body) > self._manners.body_bytes_max:
                    raise NoAnswer(f"the answer has more than {self._manners.body_bytes_max} bytes")
            return response.status, {name.lower(): value for name, value in response.headers.items()}, bytes(body)

    async def _wait(self, seconds: float) -> None:
        if seconds > self._manners.wait_s_max:
            raise MustWait(seconds)
        await self._sleep(seconds)


def retry_after(answer: Answer, now: float) -> float | None:
    """The seconds that an answer's Retry-After names, as a number or as a date; None without a usable one. `now` is in
    Unix seconds."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    date = parsedate_tz(text) if text else None
    return None if date is None else max(0.0, mktime_tz(date) - now)
