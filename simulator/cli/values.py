"""Parsers of flag values: durations and numbers within bounds, times, addresses, tokens. Bad text is a usage error."""

import math
import re
import shlex
from datetime import datetime
from ipaddress import IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from reseller_sim.formats import duration
from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import sandbox_time
from simulator.shortened import one_line

SHOWN_CHARS_MAX = 60
EXAMPLES = "a duration such as 90s, 1h30m or 500ms, or a number of seconds"

if TYPE_CHECKING:
    _Seconds = click.ParamType[float]
    _Words = click.ParamType[tuple[str, ...]]
else:
    _Seconds = _Words = click.ParamType  # click 8.2 and older know no types of values

_OF_A_SERVICE = re.compile(r"(?:tcp|udp|sctp)://\S+:\d+")
TOKEN_CHARS_MAX = 4096
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104  # compared with
HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
AMOUNT_DIGITS_MAX = 15
_SERVER = re.compile(r"http://(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,252}|\[[0-9A-Fa-f:.]+\]):\d{1,5}")
NUMBER_DIGITS_MAX = 18


class Span(_Seconds):
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
            self.fail(f"{one_line(value, SHOWN_CHARS_MAX)!r} is not a duration: write {EXAMPLES}", param, ctx)
        if not self._is_allowed(seconds):
            self.fail(f"{one_line(value, SHOWN_CHARS_MAX)!r} is not {self._allowed()}: write {EXAMPLES}", param, ctx)
        return seconds

    def _is_allowed(self, seconds: float) -> bool:
        is_enough = seconds > 0 if self._least_s is None else seconds >= self._least_s
        return is_enough and seconds <= self._most_s

    def _allowed(self) -> str:
        least = "above 0 s" if self._least_s is None else f"at least {self._least_s:g} s"
        return least if self._most_s == math.inf else f"{least} and at most {self._most_s:g} s"


def seconds_of(text: str) -> float:
    """Return the seconds of a duration, or of a plain number. Raises `ValueError` for anything else."""
    is_number = text.isascii() and text.removeprefix("-").replace(".", "", 1).isdecimal()
    return duration(f"{text}s" if is_number else text).total_seconds()


class CommandLine(_Words):
    """The words of a command, quoted as for a shell."""

    name = "command"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the words of a text."""
        if not isinstance(value, str):
            return tuple(value)
        try:
            words = tuple(shlex.split(value))
        except ValueError as error:
            self.fail(f"{one_line(value, SHOWN_CHARS_MAX)!r} is not quoted as for a shell: {error}", param, ctx)
        if not words:
            self.fail("a command must not be empty", param, ctx)
        return words


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """N."""
        return "N"


class Number(click.FloatRange):
    """A number within bounds."""

    name = "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """N."""
        return "N"


class Port(click.Option):
    """A port. Variables that Kubernetes generates are ignored."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return None for `tcp://10.0.0.1:8080`, which every container has if a Service has our name."""
        text = super().resolve_envvar_value(ctx)
        return None if text is not None and _OF_A_SERVICE.fullmatch(text) else text


class ClockMode(NamedTuple):
    """`mode` is `real`, `manual` or `xN`, `rate` the N of `xN`."""

    mode: str
    rate: float


def listening_address(ctx: click.Context, param: click.Parameter, text: str) -> str:
    """Return an address to listen on; one of IPv6 may have its brackets, as in a URL."""
    if text in ("", "*", "0"):
        raise click.BadParameter(f"{text!r} is not an address; write 0.0.0.0 for all addresses", ctx, param)
    host, colon, port = text.rpartition(":")
    if colon and port.isdecimal() and (host.endswith("]") or ":" not in host):
        raise click.BadParameter(f"{text!r} has a port; write --host {host} --port {port}", ctx, param)
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


def server_address(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """Return an address at which other servers reach this one, http://HOST:PORT."""
    if text is not None and _SERVER.fullmatch(text) is None:
        raise click.BadParameter(f"{shown(text)} is not an address such as http://10.0.0.5:8080", ctx, param)
    return text


def gone_shards(ctx: click.Context, param: click.Parameter, text: str | None) -> None:
    """Refuse the flags of servers that shared sandboxes by a list."""
    if text is not None:
        what = "is gone: servers share sandboxes by --store postgresql://..., without a list (docs/scale.md)"
        raise click.BadParameter(what, ctx, param)


def host_names(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return names or addresses as in a `Host` header, without brackets. A value with brackets would never match. A
    text may list several, separated by commas."""
    return tuple(_host_name(ctx, param, name.strip()) for text in texts for name in text.rstrip(",").split(","))


def _host_name(ctx: click.Context, param: click.Parameter, name: str) -> str:
    if HOST_NAME.fullmatch(name):
        return name
    try:
        return str(IPv6Address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        what = "no host name: give it alone, such as sim.example.com, without a scheme, a port or a *"
        text = f"{shown(name)} is {what}"
        raise click.BadParameter(text, ctx, param) from None


def clock_mode(ctx: click.Context, param: click.Parameter, text: str | None) -> ClockMode | None:
    """`real`, `manual`, `x60`."""
    if text is None:
        return None
    from simulator.runtime.clock import parse_mode

    try:
        return ClockMode(*parse_mode(text))
    except Unacceptable as wrong:
        raise click.BadParameter(wrong.message, ctx, param) from None


def time(ctx: click.Context, param: click.Parameter, text: str | None) -> datetime | None:
    """Return an ISO 8601 time with its offset, which a sandbox's clock may show; returned in UTC."""
    if text is None:
        return None
    try:
        return sandbox_time(text)
    except ValueError as wrong:
        raise click.BadParameter(f"{text!r} {wrong}", ctx, param) from None


def amount(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """Return an amount of money above 0 as the service takes it, with at most two decimals; as it was written."""
    if text is None:
        return None
    whole, point, cents = text.partition(".")
    digits = whole + cents
    is_amount = digits.isascii() and digits.isdigit() and bool(whole) and len(whole) <= AMOUNT_DIGITS_MAX
    if not is_amount or len(cents) > 2 or (point and not cents) or not int(digits):
        what = "an amount of money above 0 with at most two decimals such as 500 or 19.90"
        raise click.BadParameter(f"{text!r} is not {what}", ctx, param)
    return text


def ca_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Return a file of certificate authorities in PEM."""
    if path is not None:
        from simulator.http_client.dialer import tls_context

        try:
            tls_context(path)
        except OSError:
            raise click.BadParameter(f"{str(path)!r} has no certificates in PEM", ctx, param) from None
    return path


def target(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """Return an address that callbacks may go to: an http or https URL, or `inbox:NAME`."""
    from simulator.http_client.targets import reason_to_refuse

    if text is None:
        return None
    reason = reason_to_refuse(text) if text.isascii() else "the address has characters other than ASCII: encode them"
    if reason is not None:
        raise click.BadParameter(f"{text!r} cannot be called back: {reason}", ctx, param)
    return text


def token(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """Return a valid value of an Authorization header."""
    if text is not None and not _is_token(text):
        raise click.BadParameter("a token consists of visible ASCII characters", ctx, param)
    return text


class BadToken(ValueError):
    """A file without a valid token. The text describes the expected content."""


class TokenFile(NamedTuple):
    """A file, and the token in it."""

    path: str
    token: str


def token_in_file(ctx: click.Context, param: click.Parameter, path: str | None) -> TokenFile | None:
    """Return the only line of a file, with the characters of a token."""
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            return TokenFile(path, token_of(file.read(TOKEN_CHARS_MAX + 2)))
    except BadToken as wrong:
        raise click.BadParameter(f"{path!r} {wrong}", ctx, param) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a file name"
        raise click.BadParameter(f"{path!r} cannot be read: {why}", ctx, param) from None


def token_of(content: bytes) -> str:
    """Return the token that is a file's only line. Raises `BadToken`."""
    text = content.decode("ascii", "replace").strip()
    if len(text) > TOKEN_CHARS_MAX or not _is_token(text):
        raise BadToken(f"must hold one line with a token of at most {TOKEN_CHARS_MAX} visible ASCII characters")
    return text


def number_of(text: str) -> int | None:
    """Return a number of a request or a tape entry; None for another text. Longer numbers are cut: none is so large."""
    return int(text[:NUMBER_DIGITS_MAX]) if text.isascii() and text.isdigit() else None


def shown(text: str) -> str:
    """Return a text as an error quotes it."""
    return repr(one_line(text, SHOWN_CHARS_MAX))


def _is_token(text: str) -> bool:
    return bool(text) and all("!" <= character <= "~" for character in text)
