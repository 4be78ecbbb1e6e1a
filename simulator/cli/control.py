"""Asks the control API of a running simulator."""

from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import quote, urlsplit

import click

from simulator.cli.flags import CannotStart
from simulator.cli.output import one_line
from simulator.cli.request import DEFAULT_URL
from simulator.options import CONTROL_PATH

TIMEOUT_S = 60.0
OK = 200


def get(verb: str, url: str | None, path: str, token: str | None) -> Any:
    """The decoded answer of `GET /_sim<path>`; `url` may end in `/_sim`. Raises `CannotStart` for anything but a 200
    with JSON; an unusable URL is a usage error."""
    import msgspec

    base = (url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)
    status, body = _exchange(verb, base, CONTROL_PATH + path, token)
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise CannotStart(one_line(f"{verb}: {base} answered {status} without JSON: is it a simulator?")) from None
    if status != OK:
        said = answer.get("message", "") if isinstance(answer, dict) else ""
        raise CannotStart(one_line(f"{verb}: {base} answered {status}: {said}"))
    return answer


def sandbox_path(sandbox: str) -> str:
    """The path of a sandbox below `/_sim`."""
    return f"/sandboxes/{quote(sandbox, safe='')}"


def _exchange(verb: str, base: str, path: str, token: str | None) -> tuple[int, bytes]:
    try:
        parts = urlsplit(base)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ("http", "https"):
        text = f"{base!r} is no http or https URL, such as {DEFAULT_URL}"
        raise click.UsageError(text, click.get_current_context())
    connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        return response.status, response.read()
    except (HTTPException, OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        hint = "start `reseller-sim serve`, or name another address with --url"
        raise CannotStart(one_line(f"{verb}: {base} does not answer ({reason}): {hint}")) from None
    finally:
        connection.close()
