"""Parsers of flag values: durations and numbers within bounds, times, addresses, tokens. Bad text is a usage error."""

import math
import re
import shlex
from collections.abc import Callable
from datetime import datetime
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, NamedTuple

import click

from reseller_sim.formats import duration
from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import sandbox_time
from simulator.short_text import one_line

SHOWN_CHARS_MAX = 60
EXAMPLES = "a duration such as 90s, 1h30m or 500ms, or a number of seconds"

_OF_A_SERVICE = re.compile(r"(?:tcp|udp|sctp)://\S+:\d+")
TOKEN_CHARS_MAX = 4096
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104  # compared with
HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
_AMOUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,2})?")
_SERVER = re.compile(r"http://(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,252}|\[[0-9A-Fa-f:.]+\]):\d{1,5}")


class Span(click.ParamType):  # type: ignore[type-arg]  # click 8.2 and older know no types of values
    """Seconds from `least_s` to `most_s`; without `least_s` any above 0."""

    name = "duration"

    def __init__(self, least_s: float | None = None, most_s: float = math.inf) -> None:
        self._least_s = least_s
        self._most_s = most_s

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds that a text means; numbers are defaults, and stay."""
        if not isinstance(value, str):
            return float(value)
        try:
            seconds = seconds_of(value)
        except ValueError:
            self.fail(f"{shown(value)} is not a duration: write {EXAMPLES}", param, ctx)
        is_enough = seconds > 0 if self._least_s is None else seconds >= self._least_s
        if not is_enough or seconds > self._most_s:
            allowed = "above 0 s" if self._least_s is None else f"at least {self._least_s:g} s"
            allowed += "" if self._most_s == math.inf else f" and at most {self._most_s:g} s"
            self.fail(f"{shown(value)} is not {allowed}: write {EXAMPLES}", param, ctx)
        return seconds


def seconds_of(text: str) -> float:
    """Return the seconds of a duration, or of a plain number. Raises `ValueError` for anything else."""
    is_number = text.isascii() and text.removeprefix("-").replace(".", "", 1).isdecimal()
    return duration(f"{text}s" if is_number else text).total_seconds()


def command_words(text: str) -> tuple[str, ...]:
    """Return the words of a command, which is quoted as for a shell."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"{shown(text)} is not quoted as for a shell: {error}") from None
    if not words:
        raise ValueError("a command must not be empty")
    return words


class _ShownAsN:
    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "N"


class Integer(_ShownAsN, click.IntRange):
    """A whole number within bounds."""

    name = "whole number"


class Number(_ShownAsN, click.FloatRange):
    """A number within bounds."""

    name = "number"


class Port(click.Option):
    """A port. Variables that Kubernetes generates are ignored."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return None for `tcp://10.0.0.1:8080`, which every container has if a Service has our name."""
        text = super().resolve_envvar_value(ctx)
        return None if text is not None and _OF_A_SERVICE.fullmatch(text) else text


Clock = tuple[str, float]
"""A mode, `real`, `manual` or `xN`, and the N of `xN`."""


def parsed(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return the callback of a flag whose text, or whose texts if it may be repeated, `parse` turns into a value. A
    `ValueError` of `parse` is a usage error."""

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as wrong:
            raise click.BadParameter(str(wrong), ctx, param) from None

    return callback


def listening_address(text: str) -> str:
    """Return an address to listen on; one of IPv6 may have its brackets, as in a URL."""
    if text in ("", "*", "0"):
        raise ValueError(f"{text!r} is not an address; write 0.0.0.0 for all addresses")
    if re.fullmatch(r"(\[.*\]|[^:]*):\d+", text):
        raise ValueError(f"{text!r} has a port; give it with --port")
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


def server_address(text: str) -> str:
    """Return an address at which other servers reach this server, http://HOST:PORT."""
    if _SERVER.fullmatch(text) is None:
        raise ValueError(f"{shown(text)} is not an address such as http://10.0.0.5:8080")
    return text


def host_names(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return names or addresses as in a `Host` header, without brackets. A value with brackets would never match. A
    text may list several, separated by commas."""
    found = []
    for name in (name.strip() for text in texts for name in text.rstrip(",").split(",")):
        try:
            found.append(name if HOST_NAME.fullmatch(name) else str(IPv6Address(name.strip("[]"))))
        except ValueError:
            what = "is not a host name: write only the name, such as sim.example.com, without a scheme, a port or a *"
            raise ValueError(f"{shown(name)} {what}") from None
    return tuple(found)


def clock_mode(text: str) -> Clock:
    """`real`, `manual`, `x60`."""
    from simulator.runtime.clock import parse_mode

    try:
        return parse_mode(text)
    except Unacceptable as wrong:
        raise ValueError(wrong.message) from None


def clock_members(clock: Clock | None) -> dict[str, Any]:
    """Return a clock as the control API and scenarios have it; empty for none."""
    mode, rate = clock or ("", 1.0)
    return {"mode": mode, "rate": rate} if mode == "xN" else {"mode": mode} if mode else {}


def time(text: str) -> datetime:
    """Return an ISO 8601 time with its offset, which a sandbox's clock may show; returned in UTC."""
    try:
        return sandbox_time(text)
    except ValueError as wrong:
        raise ValueError(f"{text!r} {wrong}") from None


def amount(text: str) -> str:
    """Return an amount of money above 0 as the service takes it, with at most two decimals; as it was written."""
    if not (_AMOUNT.fullmatch(text) and float(text)):
        what = "an amount of money above 0 with at most two decimals such as 500 or 19.90"
        raise ValueError(f"{text!r} is not {what}")
    return text


def ca_file(path: Path) -> Path:
    """Return a file of certificate authorities in PEM."""
    from simulator.http_client.dialer import tls_context

    try:
        tls_context(path)
    except OSError:
        raise ValueError(f"{str(path)!r} has no certificates in PEM") from None
    return path


def is_database(place: str) -> bool:
    """Return whether a place of sandboxes is the address of a PostgreSQL database, and not a folder."""
    return place.startswith(("postgresql://", "postgres://"))


def target(text: str) -> str:
    """Return an address that callbacks may go to: an http or https URL, or `inbox:NAME`."""
    from simulator.http_client.targets import reason_to_refuse

    reason = reason_to_refuse(text) if text.isascii() else "the address has characters other than ASCII: encode them"
    if reason is not None:
        raise ValueError(f"{text!r} cannot be called back: {reason}")
    return text


def token(text: str) -> str:
    """Return a valid value of an Authorization header."""
    if not text or not all("!" <= character <= "~" for character in text):
        raise ValueError("a token consists of visible ASCII characters")
    return text


class TokenFile(NamedTuple):
    """A file, and the token in it."""

    path: str
    token: str


def token_in_file(path: str) -> TokenFile:
    """Return the only line of a file, with the characters of a token."""
    try:
        with open(path, "rb") as file:
            return TokenFile(path, token_of(file.read(TOKEN_CHARS_MAX + 2)))
    except OSError as error:
        raise ValueError(f"{path!r} cannot be read: {error.strerror}") from None
    except ValueError as wrong:
        raise ValueError(f"{path!r} {wrong}") from None


def token_of(content: bytes) -> str:
    """Return the token that is a file's only line. Raises `ValueError` about other content."""
    text = content.decode("ascii", "replace").strip()
    try:
        return token(text if len(text) <= TOKEN_CHARS_MAX else "")
    except ValueError:
        what = f"must hold one line with a token of at most {TOKEN_CHARS_MAX} visible ASCII characters"
        raise ValueError(what) from None


def number_of(text: str) -> int | None:
    """Return a number of a request or a tape entry; None for another text."""
    return int(text[:18]) if text.isascii() and text.isdigit() else None  # no number is longer


def shown(text: str) -> str:
    """Return a text as an error quotes it."""
    return repr(one_line(text, SHOWN_CHARS_MAX))
