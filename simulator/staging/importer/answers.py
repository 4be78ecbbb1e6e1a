"""The answers of an account, asked once each: what was answered before an interruption comes from a state file.

The file has one line of JSON for each answer, below a first one that says whose answers they are. A line that was cut
off is asked again. Credentials are never in it.
"""

import hashlib
import os
from collections.abc import Callable
from email.utils import mktime_tz, parsedate_tz
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from simulator.staging.bodies import decoded
from simulator.staging.service import Answer, NoAnswer
from simulator.staging.session import Session
from simulator.wire.money import encode

API_VERSION = "2026-09-16"  # the shape with denominations and plan codes, from which the older one follows (SPEC 9)
FORMAT = "reseller-sim import 1"
HEADERS = {"Accept": "application/json", "X-API-Version": API_VERSION}
TRIES_MAX = 5
WAIT_S_MAX = 300.0
TOO_MANY_REQUESTS, UNAVAILABLE = 429, 503
MEMBERS = {"target", "status", "body"}


class Refused(Exception):
    """The account cannot be read; the text says why."""


class MustWait(Exception):
    """The service asks for a longer pause than this client waits; the text says how long."""


class NotOurs(Exception):
    """The state file is another program's, or cannot be used; the text says which."""


def fingerprint(base_url: str, key: str) -> str:
    """Identifies an account without telling its key."""
    return hashlib.sha256(f"{base_url.rstrip('/')}\n{key}".encode()).hexdigest()[:16]


class State:
    """Answers by target. Use it as `with State(path, account) as state`, then `begin` it.

    `account` is a fingerprint; `mask` hides what must not be written. Raises `NotOurs`.
    """

    def __init__(self, path: Path, account: str, mask: Callable[[str], str]) -> None:
        self._path = path
        self._account = account
        self._mask = mask
        self._found: dict[str, tuple[int, Any]] = {}
        self._file: BinaryIO | None = None

    def __len__(self) -> int:
        return len(self._found)

    def __enter__(self) -> "State":
        """Open the file, which is made if it is absent; only its owner may read it."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError as error:
            raise NotOurs(f"the state file {str(self._path)!r} cannot be written: {error.strerror}") from None
        self._file = os.fdopen(number, "r+b")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, and delete it when nothing was learnt."""
        assert self._file is not None
        is_empty = self._file.seek(0, os.SEEK_END) == 0
        self._file.close()
        if is_empty:
            self.remove()

    def begin(self, updated: str) -> None:
        """Take up the answers of the same account about a catalog that was last updated then; forget all others."""
        assert self._file is not None
        content = self._file.read()
        first, _, rest = content.partition(b"\n")
        header = {"format": FORMAT, "account": self._account, "updated": updated}
        before = decoded(first)
        if first and (not isinstance(before, dict) or before.get("format") != FORMAT):
            raise NotOurs(f"{str(self._path)!r} is not a state file of this command; name another with --state")
        is_same = before == decoded(self._masked(header))
        if is_same:
            whole = [
                one for one in map(decoded, rest.split(b"\n")[:-1]) if isinstance(one, dict) and one.keys() >= MEMBERS
            ]
            self._found = {str(one["target"]): (one["status"], one["body"]) for one in whole}
        self._file.seek(content.rfind(b"\n") + 1 if is_same else 0)
        self._file.truncate()
        if not is_same:
            self._write(header)

    def get(self, target: str) -> tuple[int, Any] | None:
        """The status and the decoded body of an earlier answer."""
        return self._found.get(target)

    def put(self, target: str, status: int, body: Any) -> None:
        """Keep an answer."""
        self._found[target] = (status, body)
        self._write({"target": target, "status": status, "body": body})

    def _write(self, value: Any) -> None:
        assert self._file is not None
        self._file.write(self._masked(value) + b"\n")
        self._file.flush()

    def _masked(self, value: Any) -> bytes:
        return self._mask(encode(value).decode()).encode()

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)


class Answers:
    """Asks an account, each question once. `missing` names what it did not answer, for people."""

    def __init__(self, session: Session, state: State) -> None:
        self.missing: list[str] = []
        self._session = session
        self._state = state

    def ask(self, target: str, *, is_kept: bool = True) -> Any:
        """The decoded body of a 200; None for other answers, which are noted in `missing`.

        Raises `Refused` when the account cannot be read at all, and `NoAnswer` for what may be answered later.
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
            raise Refused(f"GET {target}: {answer.status} {code if isinstance(code, str) else ''}".rstrip())
        if answer.status == TOO_MANY_REQUESTS or answer.status >= 500:
            raise NoAnswer(f"GET {target}: {answer.status}")
        return answer.status, body if answer.status == 200 else None

    def _get(self, target: str) -> Answer:
        """A 429, and a 503, is asked again after its Retry-After, else after 1, 2, 4, 8 seconds; the last one is
        returned. Raises `MustWait`."""
        for tries in range(TRIES_MAX):
            answer = self._session.call("GET", target, headers=HEADERS)
            if answer.status not in (TOO_MANY_REQUESTS, UNAVAILABLE) or tries == TRIES_MAX - 1:
                break
            wait_s = retry_after(answer, self._session.clock.now()) or 2.0**tries
            if wait_s > WAIT_S_MAX:
                raise MustWait(f"the service asks for a pause of {wait_s:g} seconds")
            self._session.clock.wait(wait_s)
        return answer


def retry_after(answer: Answer, now: float) -> float | None:
    """The seconds that an answer's Retry-After names, as a number or as a date; None without a usable one. `now` is in
    Unix seconds."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    date = parsedate_tz(text) if text else None
    return None if date is None else max(0.0, mktime_tz(date) - now)
