"""Renders a signed request as a `curl` command for a POSIX shell that sends the same bytes."""

from shlex import quote

from simulator.cli.output import printable
from simulator.upstream.signing import SignedRequest

# Linux limits one argument of a command to 128 KiB.
ARGUMENT_BYTES_MAX = 100_000


def curl_command(request: SignedRequest) -> str:
    """The command on one line, unless the body itself has several.

    A body that does not fit an argument, being too long or not text, is piped into it by the shell's `printf`.
    """
    words = ["curl", *_method(request), *_url(request.url)]
    for name, value in request.headers.items():
        words += ["-H", quote(f"{name}: {value}")]
    if not request.body:
        return " ".join(words)
    if len(request.body) <= ARGUMENT_BYTES_MAX and (text := _as_text(request.body)) is not None:
        return " ".join([*words, "--data-raw", quote(text)])
    return " ".join(["printf %b", f"'{_octal(request.body)}'", "|", *words, "--data-binary", "@-"])


def _method(request: SignedRequest) -> list[str]:
    if request.method == "HEAD":
        return ["--head"]
    return [] if request.method == "GET" and not request.body else ["-X", request.method]


def _url(url: str) -> list[str]:
    """The URL, and the options that keep curl from interpreting it."""
    flags = []
    if any(character in url for character in "[]{}"):
        flags.append("--globoff")
    if "/." in url:
        flags.append("--path-as-is")
    return [*flags, quote(url)]


def _as_text(body: bytes) -> str | None:
    """The body as text that a terminal can show and a shell can quote; None when it is not UTF-8 or has control
    characters."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return text if printable(text) == text else None


def _octal(body: bytes) -> str:
    """The body in the notation of `printf %b`."""
    plain = frozenset(b'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ {}[]:,."_-')
    return "".join(chr(byte) if byte in plain else f"\\0{byte:03o}" for byte in body)
