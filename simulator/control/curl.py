"""Curl commands: a pasted one is read as the request that it would send, and requests are written as commands.

A pasted command is never run, and reads no file by itself. A written one sends the same bytes from a POSIX shell.
"""

import os
import re
import shlex
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from simulator.control.shell_words import SHOWN_CHARS, NotCurl, as_text

_METHOD, _HEADER, _URL, _QUERY, _TARGET = "--request", "--header", "--url", "--url-query", "--request-target"
_USER, _TOKEN = "--user", "--oauth2-bearer"
_BODIES: Final = ("--data", "--data-ascii", "--data-raw", "--data-binary", "--data-urlencode", "--json")
_NOT_READ: Final = {
    **dict.fromkeys(("--form", "--form-string", "--upload-file"), "curl makes the body: give it with --data-binary"),
    "--config": "it is a file of options: give them in the command",
    "--next": "it begins a second request: give one",
    **dict.fromkeys(
        ("--digest", "--ntlm", "--negotiate", "--anyauth", "--aws-sigv4", "--netrc", "--netrc-file"),
        "curl makes the credentials: give them as a header",
    ),
}
WITH_VALUE: Final = frozenset({
    _METHOD, _HEADER, _URL, _QUERY, _TARGET, _USER, _TOKEN, *_BODIES, "--form", "--form-string", "--upload-file",
    "--config", "--aws-sigv4", "--netrc-file", "--cacert", "--capath", "--cert", "--cert-type", "--ciphers",
    "--connect-timeout", "--connect-to", "--continue-at", "--cookie", "--cookie-jar", "--dns-servers", "--doh-url",
    "--dump-header", "--expect100-timeout", "--interface", "--keepalive-time", "--key", "--key-type", "--limit-rate",
    "--local-port", "--max-filesize", "--max-redirs", "--max-time", "--noproxy", "--output", "--output-dir", "--pass",
    "--pinnedpubkey", "--proto", "--proto-default", "--proto-redir", "--proxy", "--proxy-cacert", "--proxy-header",
    "--proxy-user", "--range", "--rate", "--referer", "--resolve", "--retry", "--retry-delay", "--retry-max-time",
    "--socks4", "--socks5", "--socks5-hostname", "--speed-limit", "--speed-time", "--stderr", "--time-cond",
    "--tls-max", "--trace", "--trace-ascii", "--unix-socket", "--user-agent", "--write-out",
})  # fmt: skip
"""The options that take a value. Every other one is a switch."""
_SHORT: Final = {
    "X": _METHOD, "H": _HEADER, "u": _USER, "d": "--data", "F": "--form", "T": "--upload-file", "K": "--config",
    **dict.fromkeys("ACDEPQUYbcemortwxyz", "--output"),  # which change nothing that is read
}  # fmt: skip
_SWITCHES: Final = {"G": "--get", "I": "--head", "g": "--globoff", "n": "--netrc", ":": "--next"}
_IS_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch  # a name of a header (RFC 9110 5.6.2)
_BLANK = re.compile(r"[\x00-\x20\x7f]")
_SCHEME = re.compile(r"([A-Za-z][\w+.-]*)://")
_PATTERN = re.compile(r"[{}]|\[(?!\])|(?<!\[)\]")
_DOTS = re.compile(r"/\.\.?(?=/|\Z)")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


class Pasted(NamedTuple):
    """A request as a client makes it. `target` is a URL, or a path with its query."""

    method: str
    target: str
    headers: tuple[str, ...]
    body: bytes


def no_file(name: str) -> bytes:
    """Refuse a body from a file, for callers that must not read local files. Raises `NotCurl`."""
    raise NotCurl(f"the command reads its body from the file {name!r}: write the body in its place")


def read_curl(words: list[str], read_file: Callable[[str], bytes] = no_file, stdin: bytes | None = None) -> Pasted:
    """Return the request of a curl command; `read_file` reads files of bodies, `stdin` is the command's input. Raises
    `NotCurl`."""
    if not words:
        raise NotCurl("the command is empty: nothing was given")
    if PurePath(words[0]).name not in ("curl", "curl.exe"):
        shown = words[0] if len(words[0]) <= SHOWN_CHARS else f"{words[0][:SHOWN_CHARS]}…"
        raise NotCurl(f"the command does not begin with curl, but with {shown!r}: give it from curl on")
    options = list(_options(words[1:]))
    for name, _ in options:
        if name in _NOT_READ:
            raise NotCurl(f"{name} of the command is not read, since {_NOT_READ[name]}")
    return _request(options, _Files(read_file, stdin))


class _Files:
    """Reads the values of options from files, and from stdin, which can be read once."""

    def __init__(self, read_file: Callable[[str], bytes], stdin: bytes | None) -> None:
        self._read_file, self._stdin = read_file, stdin

    def data(self, name: str, value: str) -> bytes:
        """Return a part of the body."""
        if name == "--data-urlencode":
            return self.encoded(value)
        if name == "--data-raw" or not value.startswith("@"):
            return os.fsencode(value)
        raw = self._read(value[1:])
        return raw if name in ("--data-binary", "--json") else raw.translate(None, b"\r\n\0")

    def encoded(self, value: str) -> bytes:
        """Encode as `--data-urlencode` does: `content`, `=content`, `name=content`, `@file` or `name@file`."""
        mark = next((sign for sign in "=@" if sign in value), "")
        name, _, rest = value.partition(mark) if mark else ("", "", value)
        content = quote(self._read(rest) if mark == "@" else os.fsencode(rest), safe="").encode()
        content = content.replace(b"%20", b"+")  # as curl has done since 7.75
        return os.fsencode(name) + b"=" + content if name else content

    def _read(self, name: str) -> bytes:
        if name != "-":
            return self._read_file(name)
        if self._stdin is None:
            raise NotCurl("the command reads its body from stdin: give it with --data-binary @FILE")
        read, self._stdin = self._stdin, b""
        return read


def _request(options: list[tuple[str, str]], files: _Files) -> Pasted:
    names, last = {name for name, _ in options}, dict(options)
    urls = [value for name, value in options if name in ("", _URL)]
    if not urls or not urls[0]:
        raise NotCurl("the command has no URL")
    if len(urls) > 1:
        raise NotCurl(f"the command has two URLs, {urls[0]!r} and {urls[1]!r}: give one request")
    headers = [line for name, value in options if name == _HEADER for line in _header(value)]
    is_authorized = any(name == _HEADER and re.match("(?i)authorization[:;]", value) for name, value in options)
    parts: list[bytes] = []
    for name, value in options:
        if name in _BODIES:
            parts += [b"&"] if parts and name != "--json" else []  # curl joins --json data without a separator
            parts.append(files.data(name, value))
    added = [os.fsencode(value[1:]) if value.startswith("+") else files.encoded(value)
             for name, value in options if name == _QUERY]  # fmt: skip
    if "--get" in names and parts:
        added, parts = [b"".join(parts)], []  # curl leaves --url-query out then
    if "--head" in names and parts:
        raise NotCurl("curl refuses --head with a body: give one of them")
    url, own = _sent_url(urls[0], as_text(b"&".join(added)) if added else None, names)
    user = os.fsencode(last[_USER]) if _USER in last else own
    if _TOKEN in last:
        credentials = [f"Authorization: Bearer {_one_line(last[_TOKEN], _TOKEN)}"]
    elif user is not None and b":" not in user:
        raise NotCurl("curl asks for the password of --user: give --user NAME:PASSWORD")
    else:
        credentials = [] if user is None else [f"Authorization: Basic {b64encode(user).decode()}"]
    method = last.get(_METHOD, "HEAD" if "--head" in names else "POST" if parts else "GET")
    if not method or _BLANK.search(method):
        raise NotCurl(f"curl sends the method {method[:SHOWN_CHARS]!r} as it stands, which no server reads")
    target = last.get(_TARGET, url)
    if not target.startswith(("/", "http://", "https://")):
        raise NotCurl(f"{_TARGET} {target[:SHOWN_CHARS]!r} does not begin with /, so that no server reads it")
    return Pasted(method, target, (*([] if is_authorized else credentials), *headers), b"".join(parts))


def _sent_url(url: str, added: str | None, names: set[str]) -> tuple[str, bytes | None]:
    """Return the URL, or path with its query, as sent, with `added` at the end of its query; and its credentials."""
    if found := _BLANK.search(url + (added or "")):
        raise NotCurl(f"curl refuses a URL with {found[0]!r}: escape it, as a blank by %20")
    rest, before, user = url.partition("#")[0], "", None
    if not rest.startswith("/"):
        before, user, rest = _server(rest)
    path, mark, query = rest.partition("?")
    if "--globoff" not in names and (found := _PATTERN.search(rest)):
        shown = url[:SHOWN_CHARS]
        raise NotCurl(f"curl takes the {found[0]} of {shown!r} for a pattern of URLs: give --globoff, or escape it")
    if _DOTS.search(path) and (added is not None or "--path-as-is" not in names):
        raise NotCurl("curl sends /./ and /../ of a path otherwise: give the path that is sent")
    if added is not None:
        more = _ESCAPED.sub(lambda found: found[0].lower(), added.partition("#")[0])  # as curl writes them then
        query += ("&" if query and not query.endswith("&") else "") + more
        mark = "?" if query else ""
    path = _NOT_ASCII.sub(lambda found: quote(os.fsencode(found[0])).lower(), path or "/")
    return before + path + mark + query, user


def _server(url: str) -> tuple[str, bytes | None, str]:
    """Return scheme and host of a URL, the name and password in it, and the rest."""
    scheme = _SCHEME.match(url)
    name = scheme[1].lower() if scheme else "http"
    if name not in ("http", "https"):
        raise NotCurl(f"the URL {url[:SHOWN_CHARS]!r} is not an HTTP URL: give a URL with http:// or https://")
    rest = url[scheme.end() :] if scheme else url
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    userinfo, at, host = authority.rpartition("@")
    if "@" in userinfo or "%00" in userinfo:
        raise NotCurl("curl refuses a URL with two @, or %00, before its host: write @ in a password as %40")
    user, _, password = map(unquote_to_bytes, os.fsencode(userinfo).partition(b":"))
    return f"{name}://{host}", user + b":" + password if at else None, rest[len(authority) :]


def _one_line(value: str, name: str) -> str:
    if "\n" in value or "\r" in value:
        raise NotCurl(f"the value of {name} has a line end: give it as one line")
    return value


def _header(line: str) -> list[str]:
    """Return a header's line, empty if it ends in a semicolon; an empty list for a header without a value, which curl
    omits."""
    shown = line[:SHOWN_CHARS]
    if line.startswith("@"):
        raise NotCurl(f"--header {shown!r} of the command is not read, since it is a file: give each header itself")
    _one_line(line, _HEADER)
    name, colon, value = line.partition(":")
    if not colon and line.find(";") == len(line) - 1:
        name, colon, line = line[:-1], ":", f"{line[:-1]}:"
    elif colon and not value.strip(" \t\v\f"):
        return []
    if not colon:
        raise NotCurl(f"the header {shown!r} has no colon, so that curl does not send it")
    if not _IS_TOKEN(name):
        raise NotCurl(f"the header {shown!r} has a name that HTTP has not, so that servers refuse the request with 400")
    return [line]


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of options with their values; "" is the name of a URL, and the value of a switch."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from (("", url) for url in rest)
        elif not word.startswith("-") or word == "-":
            yield "", word
        elif word.startswith("--"):
            name, equals, _ = word.partition("=")
            if equals:
                raise NotCurl(f"curl has no option {word[:SHOWN_CHARS]!r}: give the value of {name} as the next word")
            yield name, _value(name, rest) if name in WITH_VALUE else ""
        else:
            for at, letter in enumerate(word[1:], 2):
                if letter in _SHORT:
                    yield _SHORT[letter], word[at:] or _value(f"-{letter}", rest)
                    break
                yield _SWITCHES.get(letter, f"-{letter}"), ""


def _value(name: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise NotCurl(f"{name} of the command has no value")
    return value


# Writing

# Linux limits one argument of a command to 128 KiB.
ARGUMENT_BYTES_MAX = 100_000
EXPECT_BYTES_MIN = 1024
"""From this size, some versions of curl ask before they send the body."""

_OF_THE_CONNECTION = frozenset({b"host", b"content-length", b"connection", b"transfer-encoding", b"keep-alive"})
_OF_CURL = (b"Accept", b"User-Agent")


def curl_command(method: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    """Return the command on a single line, unless the body itself has several; curl adds headers of its own.

    If the body is too long for an argument, or not text, the shell's `printf` pipes it into the command.
    """
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return _command(method, url.encode(), pairs, body)


def exact_curl_command(
    method: str, url: bytes, headers: Iterable[tuple[bytes, bytes]], body: bytes, target: bytes = b""
) -> str:
    """Return a command with exactly these headers, except the headers of the connection itself (Host, the length of a
    body). `target` is the request target if it differs from the path and query of `url`."""
    pairs = [one for one in headers if one[0].lower() not in _OF_THE_CONNECTION or (not body and _is_length_zero(*one))]
    sent = {name.lower() for name, _ in pairs}
    added = [*_OF_CURL, *((b"Content-Type",) if body else ()), *((b"Expect",) if len(body) >= EXPECT_BYTES_MIN else ())]
    without = [name for name in added if name.lower() not in sent]
    return _command(method, url, pairs, body, without, target)


def _is_length_zero(name: bytes, value: bytes) -> bool:
    """Return whether this is the `Content-Length: 0` that curl omits for a request without a body."""
    return name.lower() == b"content-length" and value.strip() == b"0"


def call_command(method: str, url: bytes, target: bytes, body: bytes) -> str:
    """`reseller-sim call` on one line, which signs the same request again."""
    words = ["reseller-sim", "call", shlex.quote(method), _word(target), "--url", _word(url)]
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
        return " ".join([*words, "--data-raw", shlex.quote(text)])
    return " ".join(["printf %b", f"'{_octal(body)}'", "|", *words, "--data-binary", "@-"])


def _method(method: str, body: bytes) -> list[str]:
    if method == "HEAD" and not body:
        return ["--head"]
    return [] if method == "GET" and not body else ["-X", shlex.quote(method)]


def _url(url: bytes) -> list[str]:
    """Return the URL, with the options that keep curl from interpreting it."""
    flags = []
    if any(character in url for character in b"[]{}"):
        flags.append("--globoff")
    if b"/." in url or b"/%2e" in url.lower():
        flags.append("--path-as-is")
    return [*flags, _word(url)]


def _word(value: bytes) -> str:
    """Return a word of a command, on a single line; `value` has no NUL and does not end with a line feed."""
    text = _as_text(value)
    return f"\"$(printf %b '{_octal(value)}')\"" if text is None or "\n" in text else shlex.quote(text)


def _as_text(value: bytes) -> str | None:
    """Return bytes as text that a terminal can show and a shell can quote; None when they are not UTF-8 or have control
    characters."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return text if text.replace("\n", "").replace("\t", "").isprintable() else None


def _octal(value: bytes) -> str:
    """Return bytes in the notation of `printf %b`."""
    plain = frozenset(b'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ {}[]:,."_-')
    return "".join(chr(byte) if byte in plain else f"\\0{byte:03o}" for byte in value)
