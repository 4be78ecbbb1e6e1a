"""The answers of an account, requested once each: a state file has the answers from before an interruption.

The first line of the file identifies the account, each further line is an answer as JSON. A truncated line is requested
again. The file never contains credentials.
"""

import hashlib
import os
from collections.abc import Callable
from email.utils import mktime_tz, parsedate_tz
from pathlib import Path
from typing import Any

from simulator.staging.bodies import as_dict, decoded
from simulator.staging.service import Answer, NoAnswer, Session
from simulator.wire.money import encode

API_VERSION = "2026-09-16"  # the shape with denominations and plan codes; the older shape follows from it (SPEC 9)
FORMAT = "reseller-sim import 1"
HEADERS = {"Accept": "application/json", "X-API-Version": API_VERSION}
TRIES_MAX = 5
WAIT_S_MAX = 300.0
TOO_MANY_REQUESTS, UNAVAILABLE = 429, 503
MEMBERS = {"target", "status", "body"}


class AccountRefused(Exception):
    """The account cannot be read; the text says why."""


class LongPause(Exception):
    """The service requests a longer pause than this client waits; the text says how long."""


class ForeignStateFile(Exception):
    """The state file belongs to another program, or cannot be used; the text says which."""


def fingerprint(base_url: str, key: str) -> str:
    """Return an identifier of an account that does not reveal its key."""
    return hashlib.sha256(f"{base_url.rstrip('/')}\n{key}".encode()).hexdigest()[:16]


class AnswerFile:
    """Answers by target, in a file; call `begin` first. `account` is a fingerprint; `mask` hides secrets."""

    def __init__(self, path: Path, account: str, mask: Callable[[str], str]) -> None:
        self._path, self._account, self._mask = path, account, mask
        self._found: dict[str, tuple[int, Any]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def begin(self, updated: str) -> None:
        """Load the answers of the same account and the same catalog update, and drop all others. Only the file's owner
        may read it. Raises `ForeignStateFile`."""
        header = self._line({"format": FORMAT, "account": self._account, "updated": updated})
        try:
            content = self._path.read_bytes() if self._path.exists() else b""
            first, _, rest = content.partition(b"\n")
            if first and as_dict(decoded(first)).get("format") != FORMAT:
                raise ForeignStateFile(
                    f"{str(self._path)!r} is not a state file of this command; name another with --state"
                )
            is_same = first + b"\n" == header
            if is_same:
                whole = [as_dict(decoded(line)) for line in rest.split(b"\n")[:-1]]
                self._found = {one["target"]: (one["status"], one["body"]) for one in whole if one.keys() >= MEMBERS}
            number = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(number, "wb") as file:
                file.write(content[: content.rfind(b"\n") + 1] if is_same else header)
        except OSError as error:
            raise ForeignStateFile(f"the state file {str(self._path)!r} cannot be written: {error.strerror}") from None

    def get(self, target: str) -> tuple[int, Any] | None:
        """Return the status and the decoded body of an earlier answer."""
        return self._found.get(target)

    def put(self, target: str, status: int, body: Any) -> None:
        """Store an answer."""
        self._found[target] = (status, body)
        with self._path.open("ab") as file:
            file.write(self._line({"target": target, "status": status, "body": body}))

    def _line(self, value: Any) -> bytes:
        return self._mask(encode(value).decode()).encode() + b"\n"

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


class Answers:
    """Sends each request to an account only once. `missing` describes unanswered requests for users."""

    def __init__(self, session: Session, state: AnswerFile) -> None:
        self.missing: list[str] = []
        self._session = session
        self._state = state

    def ask(self, target: str, *, is_kept: bool = True) -> Any:
        """Return the decoded body of a 200; None for other answers, which are noted in `missing`.

        Raises `AccountRefused` when the account cannot be read at all, and `NoAnswer` for a temporary failure.
        """
        found = self._state.get(target) if is_kept else None
        if found is None:
            found = self._asked(target)
            if is_kept:
                self._state.put(target, *found)
        status, body = found
        if status != 200:
            self.missing.append(f"GET {target}: the answer was {status}")
        elif body is None:
            self.missing.append(f"GET {target}: the answer was not JSON")
        return body

    def _asked(self, target: str) -> tuple[int, Any]:
        answer = self._get(target)
        body = decoded(answer.body)
        if answer.status in (401, 403):
            code = body.get("error") if isinstance(body, dict) else None
            raise AccountRefused(f"GET {target}: {answer.status} {code if isinstance(code, str) else ''}".rstrip())
        if answer.status == TOO_MANY_REQUESTS or answer.status >= 500:
            raise NoAnswer(f"GET {target}: {answer.status}")
        return answer.status, body if answer.status == 200 else None

    def _get(self, target: str) -> Answer:
        """Repeat a request after a 429 or 503, when its Retry-After has passed, else after 1, 2, 4, 8 seconds. Return
        the last answer. Raises `LongPause`."""
        for tries in range(TRIES_MAX):
            answer = self._session.call("GET", target, headers=HEADERS)
            if answer.status not in (TOO_MANY_REQUESTS, UNAVAILABLE) or tries == TRIES_MAX - 1:
                break
            wait_s = retry_after(answer, self._session.clock.now()) or 2.0**tries
            if wait_s > WAIT_S_MAX:
                raise LongPause(f"the service asks for a pause of {wait_s:g} seconds")
            self._session.clock.wait(wait_s)
        return answer


def retry_after(answer: Answer, now: float) -> float | None:
    """Return the seconds in an answer's Retry-After, a number or a date; None without a usable value. `now` is in Unix
    seconds."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    date = parsedate_tz(text) if text else None
    return None if date is None else max(0.0, mktime_tz(date) - now)
