"""Curl commands: a pasted command is read as the request that it sends, and requests are written as commands.

The forms that browsers (for bash), Postman and our own pages write are read; other quoting and other options are
refused with a sentence. A pasted command is never run, and reads no file by itself. A written one sends the same bytes
from a POSIX shell.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Final, NamedTuple
from urllib.parse import quote

SHOWN_CHARS: Final = 40
_METHOD, _HEADER, _URL, _TARGET, _HEAD = "--request", "--header", "--url", "--request-target", "--head"
_BODIES: Final = ("--data", "--data-ascii", "--data-raw", "--data-binary", "--data-urlencode", "--json")
_IGNORED: Final = (
    "--cacert", "--cert", "--connect-timeout", "--cookie", "--cookie-jar", "--dump-header", "--key", "--max-time",
    "--output", "--proxy", "--referer", "--resolve", "--retry", "--user-agent", "--write-out",
)  # fmt: skip
_NOT_READ: Final = (
    "--config", "--form", "--form-string", "--oauth2-bearer", "--upload-file", "--url-query", "--user",
)  # fmt: skip
_SWITCHES_NOT_READ: Final = ("--get", "--netrc", "--next")
WITH_VALUE: Final = frozenset({_METHOD, _HEADER, _URL, _TARGET, *_BODIES, *_IGNORED, *_NOT_READ})
"""The options that take a value. All other options are switches."""
_SHORT: Final = {"X": _METHOD, "H": _HEADER, "d": "--data", "F": "--form", "T": "--upload-file", "K": "--config",
                 "u": "--user", **dict.fromkeys("ADbcemowx", "--output")}  # fmt: skip
_SWITCHES: Final = {"G": "--get", "I": _HEAD, "n": "--netrc", ":": "--next"}

_BEFORE: Final = re.compile(r"(?:\s*#[^\n]*\n(?=\s*\S))*\s*(?:[$%#>]\s+)?")  # comments, and a prompt
# A piece of a word, the space between words, or the end of the command.
_PIECE: Final = re.compile(
    r"""(?P<gap>[ \t\r\n]++)
    |(?P<end>[|;&\#])
    |(?P<joined>\\\r?\n)
    |'(?P<single>[^']*)'
    |\$'(?P<escaped>(?:[^'\\]++|\\.)*+)'
    |"(?P<double>(?:[^"\\$`]++|\\.)*+)"
    |\\(?P<literal>.)
    |(?P<cmd>\^(?="|\r?\n))
    |(?P<plain>[^\s'"\\$`;&|<>()^]+|\^)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE: Final = re.compile(r'\\(\r?\n|["\\$`])')
_ESCAPE: Final = re.compile(rb"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|(.))", re.DOTALL)
_LETTERS: Final = dict(zip(b"abeEfnrtv\\'\"?", b"\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


ReadFile = Callable[[str], bytes]


class NotCurl(Exception):
    """The text is no curl command that can be read; the text of the exception says why."""


class PastedRequest(NamedTuple):
    """A request as a client makes it. `target` is a URL, or a path with its query."""

    method: str
    target: str
    headers: tuple[str, ...]
    body: bytes


def read_command(text: str, read_file: ReadFile | None = None) -> PastedRequest:
    """Return the request of a pasted command, which may have comments, a prompt, and further lines. Raises
    `NotCurl`."""
    text = text[_BEFORE.match(text).end() :]  # type: ignore[union-attr]  # it matches every text
    return read_words(words_of(text), read_file)


def words_of(text: str) -> list[str]:
    """Return the words of a command as bash does. Commands after it are dropped. Raises `NotCurl`."""
    words: list[list[str]] = []
    is_within = False
    for found in _PIECE.finditer(text):
        kind = str(found.lastgroup)
        if kind == "end" and not is_within:
            break
        if kind == "cmd":
            raise NotCurl("the command is quoted with ^ for cmd of Windows: copy it as cURL for bash")
        if kind == "other" or (kind == "end" and found[kind] != "#"):
            rest = text[found.start() :][:SHOWN_CHARS]
            raise NotCurl(
                f"the command cannot be read from {rest!r} on: close quotes, put addresses and values in quotes, and "
                "give the values that a shell would insert"
            )
        if kind == "gap":
            is_within = False
        elif kind != "joined":
            if not is_within:
                words.append([])
            words[-1].append(_READ[kind](found[kind]) if kind in _READ else found[kind])
            is_within = True
    return ["".join(pieces) for pieces in words]


def _unescaped(found: re.Match[bytes]) -> bytes:
    hexadecimal, octal, code, letter = found.groups()
    if code:
        return chr(int(code, 16)).encode("utf-8", "surrogatepass")
    if hexadecimal or octal:
        return bytes([int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF])
    return bytes([_LETTERS[letter[0]]]) if letter[0] in _LETTERS else found[0]


_READ: Final[dict[str, Callable[[str], str]]] = {
    "escaped": lambda piece: os.fsdecode(_ESCAPE.sub(_unescaped, os.fsencode(piece)).replace(b"\0", b"")),
    "double": lambda piece: _IN_DOUBLE.sub(lambda found: found[1].strip("\r\n"), piece),
}


def read_words(words: list[str], read_file: ReadFile | None = None) -> PastedRequest:
    """Return the request of a curl command; `read_file` reads files of bodies, which None refuses. Raises `NotCurl`."""
    if not words or PurePath(words[0]).name not in ("curl", "curl.exe"):
        shown = repr(words[0][:SHOWN_CHARS]) if words else "nothing"
        raise NotCurl(f"the command does not begin with curl, but with {shown}: give it from curl on")
    options = list(_options(words[1:]))
    last = dict(options)
    if unread := next((name for name in last if name in (*_NOT_READ, *_SWITCHES_NOT_READ)), ""):
        raise NotCurl(f"{unread} of the command is not read: give the address, headers and body that curl sends")
    urls = [value for name, value in options if name in ("", _URL)]
    if len(urls) != 1:
        raise NotCurl(f"the command has {len(urls) or 'no'} URLs: give one request")
    target = last.get(_TARGET) or (urls[0] if "://" in urls[0] or urls[0].startswith("/") else f"http://{urls[0]}")
    if not target.startswith(("/", "http://", "https://")):
        raise NotCurl(f"the URL {target[:SHOWN_CHARS]!r} is not an HTTP URL: give a URL with http:// or https://")
    headers = tuple(line for name, value in options if name == _HEADER for line in _header(value))
    parts: list[bytes] = []
    for name, value in options:
        if name in _BODIES:
            parts += [b"&"] if parts and name != "--json" else []  # curl joins --json data without a separator
            parts.append(_data(name, value, read_file))
    method = last.get(_METHOD, "HEAD" if _HEAD in last else "POST" if parts else "GET")
    return PastedRequest(method, target, headers, b"".join(parts))


def _data(name: str, value: str, read_file: ReadFile | None) -> bytes:
    """Return a part of the body."""
    if name == "--data-urlencode":
        key, equals, content = value.partition("=")
        if not equals or "@" in key:
            raise NotCurl(f"--data-urlencode {value[:SHOWN_CHARS]!r} is not read: write it as NAME=VALUE")
        return os.fsencode(key + "=" * bool(key) + quote(os.fsencode(content), safe="").replace("%20", "+"))
    if name == "--data-raw" or not value.startswith("@"):
        return os.fsencode(value)
    if value == "@-":
        raise NotCurl("the command reads its body from stdin: give it with --data-binary @FILE")
    if read_file is None:
        raise NotCurl(f"the command reads its body from the file {value[1:]!r}: write the body into the command")
    raw = read_file(value[1:])
    return raw if name in ("--data-binary", "--json") else raw.translate(None, b"\r\n\0")


def _header(line: str) -> list[str]:
    """Return a header's line, empty if it ends in a semicolon; an empty list for a header without a value, which curl
    omits."""
    name, colon, value = line.partition(":")
    if not colon and line.endswith(";"):
        return [f"{line[:-1]}:"]
    if not colon or not name.strip() or name.startswith("@"):
        raise NotCurl(f"the header {line[:SHOWN_CHARS]!r} is not read: give each header as 'NAME: VALUE'")
    return [line] if value.strip() else []


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of options with their values; "" is the name of a URL, and the value of a switch."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            yield "", word
        elif word.startswith("--"):
            yield word, _value(word, rest) if word in WITH_VALUE else ""
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
    pairs = [header for header in headers if header[0].lower() not in _OF_THE_CONNECTION]
    sent = {name.lower() for name, _ in pairs}
    added = [*_OF_CURL, *((b"Content-Type",) if body else ()), *((b"Expect",) if len(body) >= EXPECT_BYTES_MIN else ())]
    without = [name for name in added if name.lower() not in sent]
    return _command(method, url, pairs, body, without, target)


def call_command(method: str, url: bytes, target: bytes, body: bytes) -> str:
    """`reseller-sim call` on one line, which signs the same request again."""
    words = ["reseller-sim", "call", shlex.quote(method), _word(target), "--url", _word(url)]
    is_plain = body[:1] not in (b"@", b"-") and b"\n" not in body
    return _with_body(words, body, "-d", "-d -", is_plain=is_plain)


def _command(
    method: str,
    url: bytes,
    headers: Iterable[tuple[bytes, bytes]],
    body: bytes,
    without: Iterable[bytes] = (),
    target: bytes = b"",
) -> str:
    words = ["curl"]
    if method == "HEAD" and not body:
        words.append("--head")
    elif method != "GET" or body:
        words += ["-X", shlex.quote(method)]
    if target:
        words += ["--request-target", _word(target)]
    if any(character in url for character in b"[]{}"):
        words.append("--globoff")
    if b"/." in url or b"/%2e" in url.lower():
        words.append("--path-as-is")
    words.append(_word(url))
    for name, value in headers:
        # A name without a value has a semicolon, as curl removes a header that ends in a colon.
        words += ["-H", _word(name + b": " + value if value else name + b";")]
    for name in without:
        words += ["-H", _word(name + b":")]
    return _with_body(words, body, "--data-raw", "--data-binary @-", is_plain=True)


def _with_body(words: list[str], body: bytes, flag: str, of_stdin: str, *, is_plain: bool) -> str:
    """Return a command with a body, given by `flag` if it `is_plain` text, or else piped into the command."""
    if not body:
        return " ".join(words)
    if is_plain and len(body) <= ARGUMENT_BYTES_MAX and (text := _as_text(body)) is not None:
        return " ".join([*words, flag, shlex.quote(text)])
    return " ".join(["printf %b", f"'{_octal(body)}'", "|", *words, of_stdin])


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
