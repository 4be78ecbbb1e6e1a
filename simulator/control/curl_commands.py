"""Renders requests as commands for a POSIX shell: `curl` that sends the same bytes, and `reseller-sim call`."""

from collections.abc import Iterable, Mapping
from shlex import quote

# Linux limits one argument of a command to 128 KiB.
ARGUMENT_BYTES_MAX = 100_000
EXPECT_BYTES_MIN = 1024
"""From here on some versions of curl ask first whether the body may come."""

_OF_THE_CONNECTION = frozenset({b"host", b"content-length", b"connection", b"transfer-encoding", b"keep-alive"})
_OF_CURL = (b"Accept", b"User-Agent")


def curl_command(method: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    """The command on one line, unless the body itself has several; curl adds headers of its own.

    A body that does not fit an argument, being too long or not text, is piped into it by the shell's `printf`.
    """
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return _command(method, url.encode(), pairs, body)


def exact_curl_command(
    method: str, url: bytes, headers: Iterable[tuple[bytes, bytes]], body: bytes, target: bytes = b""
) -> str:
    """The same with exactly these headers, except the headers of the connection itself (Host, the length of a body).
    `target` is the request target, where that is not the path and query of `url`."""
    pairs = [one for one in headers if one[0].lower() not in _OF_THE_CONNECTION or (not body and _is_length_zero(*one))]
    sent = {name.lower() for name, _ in pairs}
    added = [*_OF_CURL, *((b"Content-Type",) if body else ()), *((b"Expect",) if len(body) >= EXPECT_BYTES_MIN else ())]
    without = [name for name in added if name.lower() not in sent]
    return _command(method, url, pairs, body, without, target)


def _is_length_zero(name: bytes, value: bytes) -> bool:
    """Whether this is the header that curl does not send by itself for a request without a body."""
    return name.lower() == b"content-length" and value.strip() == b"0"


def call_command(method: str, url: bytes, target: bytes, body: bytes) -> str:
    """`reseller-sim call` on one line, which signs the same request again."""
    words = ["reseller-sim", "call", quote(method), _word(target), "--url", _word(url)]
    if not body:
        return " ".join(words)
    is_plain = body[:1] not in (b"@", b"-") and b"\n" not in body and _as_text(body) is not None
    if is_plain and len(body) <= ARGUMENT_BYTES_MAX:
        return " ".join([*words, "-d", _word(body)])
    return " ".join(["printf %b", f"'{_octal(body)}'", "|", *words, "-d", "-"])


def _command(
    method: str,
    url: bytes,
    headers: Iterable[tuple[bytes, bytes]],
    body: bytes,
    without: Iterable[bytes] = (),
    target: bytes = b"",
) -> str:
    words = ["curl", *_method(method, body), *(["--request-target", _word(target)] if target else []), *_url(url)]
    for name, value in headers:
        # A name without a value has a semicolon, as curl removes a header that ends in a colon.
        words += ["-H", _word(name + b": " + value if value else name + b";")]
    for name in without:
        words += ["-H", _word(name + b":")]
    if not body:
        return " ".join(words)
    if len(body) <= ARGUMENT_BYTES_MAX and (text := _as_text(body)) is not None:
        return " ".join([*words, "--data-raw", quote(text)])
    return " ".join(["printf %b", f"'{_octal(body)}'", "|", *words, "--data-binary", "@-"])


def _method(method: str, body: bytes) -> list[str]:
    if method == "HEAD" and not body:
        return ["--head"]
    return [] if method == "GET" and not body else ["-X", quote(method)]


def _url(url: bytes) -> list[str]:
    """The URL, and the options that keep curl from interpreting it."""
    flags = []
    if any(character in url for character in b"[]{}"):
        flags.append("--globoff")
    if b"/." in url or b"/%2e" in url.lower():
        flags.append("--path-as-is")
    return [*flags, _word(url)]


def _word(value: bytes) -> str:
    """One word of a command, on one line; `value` has no NUL and does not end with a line feed."""
    text = _as_text(value)
    return f"\"$(printf %b '{_octal(value)}')\"" if text is None or "\n" in text else quote(text)


def _as_text(value: bytes) -> str | None:
    """Bytes as text that a terminal can show and a shell can quote; None when they are not UTF-8 or have control
    characters."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return text if text.replace("\n", "").replace("\t", "").isprintable() else None


def _octal(value: bytes) -> str:
    """Bytes in the notation of `printf %b`."""
    plain = frozenset(b'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ {}[]:,."_-')
    return "".join(chr(byte) if byte in plain else f"\\0{byte:03o}" for byte in value)
