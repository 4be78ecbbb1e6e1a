"""Reads a pasted `curl` command: the request that it would send. It is never run, and reads no file by itself."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import quote

from simulator.wire.curl_credentials import BY_EXCHANGE, FROM_FILE, NoHeader, authorization, without_userinfo
from simulator.wire.curl_options import SHORT, SWITCHES, WITH_VALUE
from simulator.wire.sent_target import NotSent, sent_target
from simulator.wire.shell_escapes import PRINTED, printed_bytes
from simulator.wire.shell_words import QuotedForCmd, shell_words

_METHOD, _HEADER, _URL, _QUERY, _TARGET = "--request", "--header", "--url", "--url-query", "--request-target"
_USER, _TOKEN = "--user", "--oauth2-bearer"
_BODIES = ("--data", "--data-ascii", "--data-raw", "--data-binary", "--data-urlencode", "--json")
_NOT_READ = {
    **dict.fromkeys(("--form", "--form-string", "--upload-file"), "curl makes the body: give it with --data-binary"),
    "--config": "it is a file of options: give them in the command",
    "--next": "it begins a second request: give one",
    **dict.fromkeys(BY_EXCHANGE, "curl makes the credentials: give them as a header"),
    **dict.fromkeys(FROM_FILE, "curl reads the credentials from a file: give them with --user"),
}
_AUTHORIZATION = re.compile("authorization[:;]", re.IGNORECASE)
_COMMENTS = re.compile(r"\A(?:\s*#[^\n]*\n(?=\s*\S))+")
_PROMPT = re.compile(r"\A\s*[$%#>]\s+")
_PIPED = re.compile(rf"\s*printf %b '(?P<body>{PRINTED})'\s*\|(?![|&])\s*")
_TOKEN_OF_HTTP = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # of names of headers (RFC 9110 5.6.2)
_BLANK = re.compile(r"[\x00-\x20\x7f]")
_SHOWN_CHARS = 40


class NotCurl(Exception):
    """The text is no curl command that can be read; the text of the exception says why."""


class Pasted(NamedTuple):
    """A request as a client makes it. `target` is a URL, or a path with its query."""

    method: str
    target: str
    headers: tuple[str, ...]
    body: bytes


def stdin_of(text: str) -> tuple[bytes | None, str]:
    """What is piped into a command in the way in which ours are written, `printf %b '...' | curl ...`, and the command.

    None is piped into any other."""
    text = _PROMPT.sub("", _COMMENTS.sub("", text))
    found = _PIPED.match(text)
    return (printed_bytes(found["body"]), text[found.end() :]) if found else (None, text)


def words_of(text: str) -> list[str]:
    """The words of a command, which may continue on further lines, begin with a prompt, and go on with other commands
    and redirections, which are left out. Raises `NotCurl`."""
    try:
        return shell_words(_PROMPT.sub("", _COMMENTS.sub("", text)).strip())
    except QuotedForCmd:
        raise NotCurl("the command is quoted with ^ for cmd of Windows: copy it as cURL for bash") from None
    except ValueError as wrong:
        raise NotCurl(f"the command cannot be read: {wrong}") from None


def no_file(name: str) -> bytes:
    """Refuses the file of a body, for who must not read files of others. Raises `NotCurl`."""
    raise NotCurl(f"the command reads its body from the file {name!r}: write the body in its place")


def read_curl(words: list[str], read_file: Callable[[str], bytes] = no_file, stdin: bytes | None = None) -> Pasted:
    """The request of a curl command; `read_file` reads files of bodies, `stdin` is what is piped into the command.
    Raises `NotCurl`."""
    if not words:
        raise NotCurl("the command is empty: nothing was given")
    if PurePath(words[0]).name not in ("curl", "curl.exe"):
        shown = words[0] if len(words[0]) <= _SHOWN_CHARS else f"{words[0][:_SHOWN_CHARS]}…"
        raise NotCurl(f"the command does not begin with curl, but with {shown!r}: give it from curl on")
    made = _Read(read_file, stdin)
    for name, value in _options(words[1:]):
        made.take(name, value)
    return made.request()


class _Read:
    """What the options say, one after another."""

    def __init__(self, read_file: Callable[[str], bytes], stdin: bytes | None) -> None:
        self._read_file, self._stdin = read_file, stdin
        self._url = ""
        self._method: str | None = None
        self._target: str | None = None
        self._user: str | None = None
        self._token: str | None = None
        self._headers, self._bodies, self._query = list[str](), list[bytes](), list[bytes]()
        self._is_authorized = False  # by a header, also by one that is left out
        self._seen = set[str]()

    def take(self, name: str, value: str) -> None:
        """One option, or the URL. Raises `NotCurl`."""
        self._seen.add(name)
        if name in _NOT_READ:
            raise NotCurl(f"{name} of the command is not read, since {_NOT_READ[name]}")
        if name == _METHOD:
            self._method = _method(value)
        elif name == _HEADER:
            self._headers += _header(value)
            self._is_authorized |= _AUTHORIZATION.match(value) is not None
        elif name == _USER:
            self._user = value
        elif name == _TOKEN:
            self._token = value
        elif name == _TARGET:
            self._target = _target(value)
        elif name in ("", _URL):
            if self._url:
                raise NotCurl(f"the command has two URLs, {self._url!r} and {value!r}: give one request")
            self._url = value
        elif name == _QUERY:
            self._query.append(os.fsencode(value[1:]) if value.startswith("+") else self._encoded(value))
        elif name in _BODIES:
            # Curl puts what follows --json beside what was there.
            self._bodies += [b"&"] if self._bodies and name != "--json" else []
            self._bodies.append(self._data(name, value))
        elif name.startswith("--no-"):
            self._seen.discard(f"--{name.removeprefix('--no-')}")

    def request(self) -> Pasted:
        """The request. Raises `NotCurl` without a URL, and for what curl refuses."""
        if not self._url:
            raise NotCurl("the command has no URL")
        body, has_body = b"".join(self._bodies), bool(self._bodies)
        added = b"&".join(self._query) if self._query else None
        if "--get" in self._seen and has_body:
            added, body, has_body = body, b"", False  # curl leaves --url-query out then
        if "--head" in self._seen and has_body:
            raise NotCurl("curl refuses --head with a body: give one of them")
        usual = "HEAD" if "--head" in self._seen else "POST" if has_body else "GET"
        url, own = self._authorized(self._sent(added))
        target = url if self._target is None else self._target
        return Pasted(usual if self._method is None else self._method, target, (*own, *self._headers), body)

    def _authorized(self, url: str) -> tuple[str, list[str]]:
        """The URL without its userinfo, and the header that curl makes of credentials, unless one was given."""
        try:
            url, userinfo = without_userinfo(url)
            made = authorization(self._user, self._token, userinfo, is_basic="--basic" in self._seen)
        except NoHeader as wrong:
            raise NotCurl(str(wrong)) from None
        return url, [made] if made is not None and not self._is_authorized else []

    def _sent(self, added: bytes | None) -> str:
        more = None if added is None else added.decode("utf-8", "surrogateescape")
        try:
            return sent_target(self._url, more, "--globoff" not in self._seen, "--path-as-is" in self._seen)
        except NotSent as wrong:
            raise NotCurl(f"the command sends no request: {wrong}") from None

    def _data(self, name: str, value: str) -> bytes:
        if name == "--data-urlencode":
            return self._encoded(value)
        if name == "--data-raw" or not value.startswith("@"):
            return os.fsencode(value)
        raw = self._file(value[1:])
        # As it is documented, and done from 8.0 on; before, what is behind these in a line was lost too.
        return raw if name in ("--data-binary", "--json") else raw.translate(None, b"\r\n\0")

    def _encoded(self, value: str) -> bytes:
        """What `--data-urlencode` makes of `content`, `=content`, `name=content`, `@file` or `name@file`."""
        mark = next((one for one in "=@" if one in value), "")
        name, _, rest = value.partition(mark) if mark else ("", "", value)
        content = quote(self._file(rest) if mark == "@" else os.fsencode(rest), safe="").encode()
        content = content.replace(b"%20", b"+")  # as curl has done since 7.75
        return os.fsencode(name) + b"=" + content if name else content

    def _file(self, name: str) -> bytes:
        if name != "-":
            return self._read_file(name)
        if self._stdin is None:
            raise NotCurl("the command reads its body from stdin: give it with --data-binary @FILE")
        read, self._stdin = self._stdin, b""  # it can be read once
        return read


def _method(value: str) -> str:
    if not value or _BLANK.search(value):
        raise NotCurl(f"curl sends the method {value[:_SHOWN_CHARS]!r} as it stands, which no server reads")
    return value


def _target(value: str) -> str:
    """The target of `--request-target`, which curl sends as it stands, also what is behind a #."""
    if not value.startswith(("/", "http://", "https://")):
        raise NotCurl(f"{_TARGET} {value[:_SHOWN_CHARS]!r} does not begin with /, so that no server reads it")
    return value


def _header(line: str) -> list[str]:
    """A header's line, empty where it ends in a semicolon; none without a value, since curl leaves that header out."""
    if line.startswith("@"):
        raise NotCurl(f"--header {line!r} of the command is not read, since it is a file: give each header itself")
    shown = line[:_SHOWN_CHARS]
    if "\n" in line or "\r" in line:
        raise NotCurl(f"the header {shown!r} has a line end: give each header a --header of its own")
    name, colon, value = line.partition(":")
    if colon and name:
        return [_named(name, line)] if value.strip(" \t\v\f") else []
    if line.find(";") == len(line) - 1 > 0:
        return [_named(line[:-1], f"{line[:-1]}:")]
    raise NotCurl(f"the header {shown!r} has no {'name' if colon else 'colon'}, so that curl does not send it")


def _named(name: str, line: str) -> str:
    """The line of a header, which curl sends with any name. Raises `NotCurl` for one that servers refuse."""
    if _TOKEN_OF_HTTP.fullmatch(name):
        return line
    what = "a blank beside its name" if _TOKEN_OF_HTTP.fullmatch(name.strip()) else "a name that HTTP has not"
    raise NotCurl(f"the header {line[:_SHOWN_CHARS]!r} has {what}, so that servers refuse the request with 400")


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Names of options and their values, "" as the name of a URL and as the value of a switch."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from (("", url) for url in rest)
        elif not word.startswith("-") or word == "-":
            yield "", word
        elif word.startswith("--"):
            name, equals, _ = word.partition("=")
            if equals:
                raise NotCurl(f"curl has no option {word[:_SHOWN_CHARS]!r}: give the value of {name} as the next word")
            yield name, _value(name, rest) if name in WITH_VALUE else ""
        else:
            yield from _short_options(word[1:], rest)


def _short_options(letters: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    for at, letter in enumerate(letters):
        if letter in SHORT:
            yield SHORT[letter], letters[at + 1 :] or _value(f"-{letter}", rest)
            return
        yield SWITCHES.get(letter, f"-{letter}"), ""


def _value(name: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise NotCurl(f"{name} of the command has no value")
    return value
