"""One HTTP exchange: send a request, read a bounded answer, report how it ended.

Imports aiohttp, which takes a third of a second; `sender` imports this module lazily.
"""

import asyncio
import os
import re
from collections.abc import Iterable

import aiohttp
from yarl import URL

from simulator.delivery.addresses import AddressPolicy
from simulator.delivery.lookup import NameResolver
from simulator.delivery.pool import PROGRESS, DroppedError, RefusedAddressError, RequestProgress, open_session
from simulator.domain.model.effects import AttemptEnd, AttemptResult, Outgoing
from simulator.domain.model.http_statuses import WITHOUT_BODY

BODY_BYTES = 16 * 1024
"""The maximum of an answer's body that is read; a longer one closes the connection."""

HEADERS_CHARS = 8 * 1024
"""The maximum of an answer's headers that is stored."""

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# How the parser complains of bytes behind an answer whose own status line was good.
_BEHIND_THE_ANSWER = ("Bad status line", "Data after")
_HIDDEN_HEADERS = frozenset({"set-cookie", "set-cookie2"})


class Client:
    """An aiohttp session on the running loop, with the mapping of its errors."""

    def __init__(self, policy: AddressPolicy, names: NameResolver, *, verify_tls: bool) -> None:
        self._session = open_session(policy, names, verify_tls)

    async def exchange(self, outgoing: Outgoing, url: str, timeout_s: float) -> AttemptResult:
        """Send `outgoing` to `url`; connecting, sending and reading take at most `timeout_s` in total."""
        if not all(_HEADER_NAME.fullmatch(name) for name, _ in outgoing.headers):
            return AttemptResult(AttemptEnd.BLOCKED, error="the name of a header is not allowed in HTTP")
        progress = RequestProgress()
        token = PROGRESS.set(progress)
        try:
            async with asyncio.timeout(timeout_s):
                return await _converse(self._session, outgoing, url, progress)
        except TimeoutError:
            failed = AttemptResult(AttemptEnd.TIMEOUT, error=f"{_missing(progress)} within {timeout_s:g} s")
        except (DroppedError, aiohttp.ClientError, OSError) as error:
            failed = _failure(error, progress)
        except ValueError:
            failed = AttemptResult(
                AttemptEnd.BLOCKED, error="the method or the value of a header is not allowed in HTTP"
            )
        finally:
            PROGRESS.reset(token)
        return _answered_after_all(progress, failed)

    async def close(self) -> None:
        """Close all connections, including active ones."""
        await self._session.close()


async def _converse(
    session: aiohttp.ClientSession, outgoing: Outgoing, url: str, progress: RequestProgress
) -> AttemptResult:
    response = await _request(session, outgoing, url)
    try:
        status = progress.line.status
        if status is None:  # aiohttp also accepts RTSP, versions of HTTP with another framing, and status 0
            return AttemptResult(AttemptEnd.CONNECTION, error="the answer is not HTTP: Bad status line")
        progress.headers = _headers(response.raw_headers)
        await _read_body(response.content, progress.body)
    finally:
        response.close()  # a connection whose answer was read to its end is back in the pool already
    return AttemptResult(AttemptEnd.ANSWERED, status, _text(progress.body), headers=progress.headers)


def _answered_after_all(progress: RequestProgress, failed: AttemptResult) -> AttemptResult:
    """The status line decides: the rest may be too slow, truncated or malformed."""
    status = progress.line.status
    if status is None:
        return failed
    return AttemptResult(
        AttemptEnd.ANSWERED, status, _text(progress.body), error=failed.error, headers=progress.headers
    )


async def _request(session: aiohttp.ClientSession, outgoing: Outgoing, url: str) -> aiohttp.ClientResponse:
    """Send, and wait for the head of the answer."""
    return await session.request(
        outgoing.method,
        URL(url, encoded=True),
        headers=outgoing.headers,
        data=outgoing.body,
        allow_redirects=False,
    )


async def _read_body(content: aiohttp.StreamReader, kept: bytearray) -> None:
    """Read the body into `kept`, up to its end or to `BODY_BYTES`."""
    while len(kept) < BODY_BYTES and not content.at_eof():
        kept += await content.read(BODY_BYTES - len(kept))


def _text(body: bytearray) -> str:
    return body.decode("utf-8", "replace")


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """The answer's headers without its cookies, up to `HEADERS_CHARS`."""
    kept: list[tuple[str, str]] = []
    left = HEADERS_CHARS
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1"), raw_value.decode("utf-8", "replace")
        left -= len(name) + len(value)
        if left < 0:
            break
        if name.lower() not in _HIDDEN_HEADERS:
            kept.append((name, value))
    return tuple(kept)


def _missing(progress: RequestProgress) -> str:
    """Which part had not arrived at the timeout."""
    if progress.line.status is not None:
        return f"status {progress.line.status} came, but not its whole answer"
    return "connected, but no answer" if progress.is_connected else "no connection"


def _failure(error: Exception, progress: RequestProgress) -> AttemptResult:
    """Map an exception to a result. Texts never repeat the URL's query or a header's value."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return _no_connection(error)
    status = progress.line.status
    if isinstance(error, aiohttp.ClientResponseError):
        reason = _parser_words(error.message)
        if status is not None and reason.startswith(_BEHIND_THE_ANSWER):
            extra = "a body, which HTTP forbids" if status in WITHOUT_BODY else "more bytes than the answer has"
            return AttemptResult(AttemptEnd.CONNECTION, error=f"status {status} came with {extra}; the status counts")
        words = f"the answer is not HTTP: {reason}"
        return AttemptResult(
            AttemptEnd.CONNECTION, error=words if status is None else f"status {status} came, but {words}"
        )
    if status is not None:
        return AttemptResult(AttemptEnd.CONNECTION, error=f"status {status} came, then the answer broke off")
    if isinstance(error, DroppedError):
        how = "reset" if isinstance(error.__cause__, OSError) else "closed"
        return AttemptResult(AttemptEnd.CONNECTION, error=f"the connection was {how} before an answer came")
    return AttemptResult(AttemptEnd.CONNECTION, error=f"the connection failed: {type(error).__name__}")


def _no_connection(error: aiohttp.ClientConnectorError) -> AttemptResult:
    cause = error.os_error
    if isinstance(cause, RefusedAddressError):
        return AttemptResult(AttemptEnd.BLOCKED, error=cause.reason)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return AttemptResult(AttemptEnd.DNS, error=f"the name {error.host} does not resolve: {cause.strerror or cause}")
    if isinstance(error, aiohttp.ClientSSLError):
        why = getattr(cause, "verify_message", None) or getattr(cause, "reason", None) or "no TLS"
        return AttemptResult(AttemptEnd.CONNECTION, error=f"TLS with {_receiver(error)} failed: {why}")
    why = os.strerror(cause.errno) if cause.errno else str(cause) or "the receiver closed it at once"
    return AttemptResult(AttemptEnd.CONNECTION, error=f"no connection to {_receiver(error)}: {why}")


def _receiver(error: aiohttp.ClientConnectorError) -> str:
    return f"[{error.host}]:{error.port}" if ":" in error.host else f"{error.host}:{error.port}"


def _parser_words(message: str) -> str:
    """The parser's message up to the colon, after which it quotes the receiver's bytes."""
    return message.strip().partition(":")[0][:200]
