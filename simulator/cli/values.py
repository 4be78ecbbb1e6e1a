"""Parsers of flag values that click has no type for, as callbacks: invalid text is a usage error."""

import re
from datetime import datetime
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click

from simulator.cli.spans import Span
from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import sandbox_time
from simulator.runtime.clock import parse_mode
from simulator.shortened import one_line

TOKEN_CHARS_MAX = 4096
HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
AMOUNT_DIGITS_MAX = 15
NUMBER_MAX = 2**63 - 1
NUMBER_DIGITS_MAX = 19
STATUS_MAX = 599
SHOWN_CHARS_MAX = 60
SPAN = Span()


class ClockMode(NamedTuple):
    """`mode` is `real`, `manual` or `xN`, `rate` the N of `xN`."""

    mode: str
    rate: float


def listening_address(ctx: click.Context, param: click.Parameter, text: str) -> str:
    """An address to listen on; one of IPv6 may have its brackets, as in a URL."""
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


def host_names(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Names or addresses as `Host` has them, without brackets: one with more would never be found there. Several may
    stand in one text, with commas."""
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
    try:
        return ClockMode(*parse_mode(text))
    except Unacceptable as wrong:
        raise click.BadParameter(wrong.message, ctx, param) from None


def time(ctx: click.Context, param: click.Parameter, text: str | None) -> datetime | None:
    """An ISO 8601 time with its offset, which a sandbox's clock may show; returned in UTC."""
    if text is None:
        return None
    try:
        return sandbox_time(text)
    except ValueError as wrong:
        raise click.BadParameter(f"{text!r} {wrong}", ctx, param) from None


def amount(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """An amount of money above 0 as the service takes it, with at most two decimals; as it was written."""
    if text is None:
        return None
    whole, point, cents = text.partition(".")
    digits = whole + cents
    is_amount = digits.isascii() and digits.isdigit() and bool(whole) and len(whole) <= AMOUNT_DIGITS_MAX
    if not is_amount or len(cents) > 2 or (point and not cents) or not int(digits):
        what = "an amount of money above 0 with at most two decimals such as 500 or 19.90"
        raise click.BadParameter(f"{text!r} is not {what}", ctx, param)
    return text


def request_number(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
    """The number of a request in the journal."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[: NUMBER_DIGITS_MAX + 1]) <= NUMBER_MAX):
        what = "the number of a request: write one of the first column, or the X-Sim-Request-Id of an answer"
        raise click.BadParameter(f"{one_line(text, SHOWN_CHARS_MAX)!r} is not {what}", ctx, param)
    return int(text)


def statuses(ctx: click.Context, param: click.Parameter, text: str | None) -> dict[str, int] | None:
    """The journal's filters that mean one HTTP status, 0 for none, or several."""
    from simulator.control.filters import status_filters  # imported lazily, since it takes a while

    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= len("599") and (int(text) == 0 or 100 <= int(text) <= 599):
        return {"status": int(text)}
    meant = status_filters(text)
    if not meant or any(value > STATUS_MAX for value in meant.values()) or not _is_range(meant):
        what = "a status: write one such as 401, 0 for none, or several as 2xx, 500-599, >=400 or !404"
        raise click.BadParameter(f"{one_line(text, SHOWN_CHARS_MAX)!r} is not {what}", ctx, param)
    return meant


def _is_range(meant: dict[str, int]) -> bool:
    return meant.get("status_min", 0) <= meant.get("status_max", STATUS_MAX)


def replies(ctx: click.Context, param: click.Parameter, text: str | None) -> list[dict[str, Any]] | None:
    """What an inbox answers, in order: statuses with a delay if any, or `disconnect`; "500,200:1.5"."""
    return None if text is None else [_reply(ctx, param, one.strip()) for one in text.split(",")]


def _reply(ctx: click.Context, param: click.Parameter, text: str) -> dict[str, Any]:
    status, colon, delay = text.partition(":")
    if status == "disconnect" and not colon:
        return {"disconnect": True}
    if not (status.isascii() and status.isdigit() and 200 <= int(status[:4]) <= 599):
        example = "such as 500,500,200, 200:1.5s for one after 1.5 seconds, or disconnect"
        raise click.BadParameter(f"{text!r} is no reply {example}", ctx, param)
    return {"status": int(status)} | ({"delay": SPAN.convert(delay, param, ctx)} if colon else {})


def ca_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """A file of certificate authorities in PEM."""
    if path is not None:
        from simulator.http_client.dialer import tls_context

        try:
            tls_context(path)
        except OSError:
            raise click.BadParameter(f"{str(path)!r} has no certificates in PEM", ctx, param) from None
    return path


def target(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """An address that callbacks may go to: an http or https URL, or `inbox:NAME`."""
    from simulator.http_client.targets import reason_to_refuse

    if text is None:
        return None
    reason = reason_to_refuse(text) if text.isascii() else "the address has characters other than ASCII: encode them"
    if reason is not None:
        raise click.BadParameter(f"{text!r} cannot be called back: {reason}", ctx, param)
    return text


def token(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """A valid value of an Authorization header."""
    if text is not None and not _is_token(text):
        raise click.BadParameter("a token is made of visible ASCII characters", ctx, param)
    return text


class BadToken(ValueError):
    """A file that does not hold a token; the text says what it should."""


class TokenFile(NamedTuple):
    """A file, and the token in it."""

    path: str
    token: str


def token_in_file(ctx: click.Context, param: click.Parameter, path: str | None) -> TokenFile | None:
    """The only line of a file; the same characters as a token."""
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
    """The token that is a file's only line. Raises `BadToken`."""
    text = content.decode("ascii", "replace").strip()
    if len(text) > TOKEN_CHARS_MAX or not _is_token(text):
        raise BadToken(f"must hold one line with a token of at most {TOKEN_CHARS_MAX} visible ASCII characters")
    return text


def shown(text: str) -> str:
    """A text as an error quotes it."""
    return repr(one_line(text, SHOWN_CHARS_MAX))


def _is_token(text: str) -> bool:
    return bool(text) and all("!" <= character <= "~" for character in text)


def headers(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """`Name: value` each; the last one of a name wins."""
    return dict(_header(ctx, param, text) for text in texts)


def _header(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    value = value.strip()
    if not colon or not name.replace("-", "").replace("_", "").isalnum() or not text.isascii():
        raise click.BadParameter(f"{text!r} is not a header such as 'X-Api-Version: 2026-09-16'", ctx, param)
    if not value.isprintable():
        raise click.BadParameter(f"the header {name} has control characters", ctx, param)
    return name, value


def account_numbers(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, list[str]]:
    """`PRODUCT=NUMBER` each: the numbers of each product, in their order."""
    found: dict[str, list[str]] = {}
    for text in texts:
        product, _, number = text.partition("=")
        if not product or not number:
            raise click.BadParameter(
                f"{text!r} is not a product and an account number such as DATA=0123456789", ctx, param
            )
        numbers = found.setdefault(product, [])
        if number not in numbers:
            numbers.append(number)
    return found


def http_url(ctx: click.Context, param: click.Parameter, text: str) -> str:
    """A URL with a host, of http or https."""
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise click.BadParameter(f"{text!r} is no http or https URL, such as http://localhost:3000", ctx, param)
    return text


def event_kinds(ctx: click.Context, param: click.Parameter, text: str | None) -> str:
    """Kinds of events with commas between them, each in the singular or the plural; empty for all."""
    if text is None:
        return ""
    kinds = [_KINDS.get(part.strip().lower()) for part in text.split(",")]
    if None in kinds:
        raise click.BadParameter(f"{text!r} is not made of {', '.join(dict.fromkeys(_KINDS.values()))}", ctx, param)
    return ",".join(filter(None, kinds))


_PLURALS = {"status": "statuses", "entry": "entries"}
_KINDS = {
    spelling: kind
    for kind in ("request", "status", "entry", "callback", "webhook", "notification", "action")
    for spelling in (kind, _PLURALS.get(kind, kind + "s"))
}
