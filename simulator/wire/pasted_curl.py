"""Reads a pasted `curl` command: the request that it would send. It is never run, and reads no file by itself."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import quote

from simulator.wire.curl_options import SHORT, WITH_VALUE
from simulator.wire.shell_words import QuotedForCmd, shell_words

_METHOD, _HEADER, _URL, _QUERY = "--request", "--header", "--url", "--url-query"
_BODIES = ("--data", "--data-ascii", "--data-raw", "--data-binary", "--data-urlencode", "--json")
_NOT_READ = {
    **dict.fromkeys(("--form", "--form-string", "--upload-file"), "curl makes the body: give it with --data-binary"),
    "--config": "it is a file of options: give them in the command",
    "--next": "it begins a second request: give one",
    "--request-target": "it replaces the target: give the URL that is sent",
}
_SWITCHES = {"G": "--get", "I": "--head", ":": "--next"}
_COMMENTS = re.compile(r"\A(?:\s*#[^\n]*\n(?=\s*\S))+")
_PROMPT = re.compile(r"\A\s*[$%#>]\s+")
_SHOWN_CHARS = 40


class NotCurl(Exception):
    """The text is no curl command that can be read; the text of the exception says why."""


class Pasted(NamedTuple):
    """A request as a client makes it. `target` is a URL, or a path with its query."""

    method: str
    target: str
    headers: tuple[str, ...]
    body: bytes


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


def read_curl(words: list[str], read_file: Callable[[str], bytes] = no_file) -> Pasted:
    """The request of a curl command; `read_file` reads files of bodies. Raises `NotCurl`."""
    if not words:
        raise NotCurl("the command is empty: nothing was given")
    if PurePath(words[0]).name not in ("curl", "curl.exe"):
        shown = words[0] if len(words[0]) <= _SHOWN_CHARS else f"{words[0][:_SHOWN_CHARS]}…"
        raise NotCurl(f"the command does not begin with curl, but with {shown!r}: give it from curl on")
    made = _Read(read_file)
    for name, value in _options(words[1:]):
        made.take(name, value)
    return made.request()


class _Read:
    """What the options say, one after another."""

    def __init__(self, read_file: Callable[[str], bytes]) -> None:
        self._read_file = read_file
        self._method, self._url = "", ""
        self._headers, self._bodies, self._query = list[str](), list[bytes](), list[bytes]()
        self._seen = set[str]()

    def take(self, name: str, value: str) -> None:
        """One option, or the URL. Raises `NotCurl`."""
        self._seen.add(name)
        if name in _NOT_READ:
            raise NotCurl(f"{name} of the command is not read, since {_NOT_READ[name]}")
        if name == _METHOD:
            self._method = value
        elif name == _HEADER:
            self._headers.append(_header(value))
        elif name in ("", _URL):
            if self._url:
                raise NotCurl(f"the command has two URLs, {self._url!r} and {value!r}: give one request")
            self._url = value
        elif name == _QUERY:
            self._query.append(
                os.fsencode(value[1:]) if value.startswith("+") else self._data("--data-urlencode", value)
            )
        elif name in _BODIES:
            self._bodies.append(self._data(name, value))

    def request(self) -> Pasted:
        """The request. Raises `NotCurl` without a URL."""
        if not self._url:
            raise NotCurl("the command has no URL")
        body = (b"" if "--json" in self._seen else b"&").join(self._bodies)
        query, has_body = self._query, bool(self._bodies)
        if "--get" in self._seen and has_body:
            query, body, has_body = [*query, body], b"", False
        usual = "HEAD" if "--head" in self._seen else "POST" if has_body else "GET"
        return Pasted(self._method or usual, _with_query(self._url, query), tuple(self._headers), body)

    def _data(self, name: str, value: str) -> bytes:
        if name == "--data-urlencode":
            return self._encoded(value)
        if name == "--data-raw" or not value.startswith("@"):
            return os.fsencode(value)
        raw = self._file(value[1:])
        return raw if name in ("--data-binary", "--json") else raw.translate(None, b"\r\n\0")

    def _encoded(self, value: str) -> bytes:
        """What `--data-urlencode` makes of `content`, `=content`, `name=content`, `@file` or `name@file`."""
        found = re.match(r"([^=@]*)([=@])", value)
        if found is None:
            return quote(os.fsencode(value), safe="").encode()
        name, rest = found[1], value[found.end() :]
        content = quote(self._file(rest) if found[2] == "@" else os.fsencode(rest), safe="").encode()
        return os.fsencode(name) + b"=" + content if name else content

    def _file(self, name: str) -> bytes:
        if name == "-":
            raise NotCurl("the command reads its body from stdin: give it with --data-binary @FILE")
        return self._read_file(name)


def _with_query(url: str, more: list[bytes]) -> str:
    target, mark, fragment = url.partition("#")
    if "://" not in target and not target.startswith("/"):
        target = f"http://{target}"
    for one in more:
        target += ("&" if "?" in target else "?") + one.decode("utf-8", "surrogateescape")
    return target + mark + fragment


def _header(line: str) -> str:
    """A header's line. With a semicolon at its end curl sends it empty."""
    if line.startswith("@"):
        raise NotCurl(f"--header {line!r} of the command is not read, since it is a file: give each header itself")
    return f"{line[:-1]}:" if line.endswith(";") and ":" not in line else line


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Names of options and their values, "" as the name of a URL and as the value of a switch."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            yield "", word
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            yield name, value if equals else _value(name, rest) if name in WITH_VALUE else ""
        else:
            yield from _short_options(word[1:], rest)


def _short_options(letters: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    for at, letter in enumerate(letters):
        if letter in SHORT:
            yield SHORT[letter], letters[at + 1 :] or _value(f"-{letter}", rest)
            return
        yield _SWITCHES.get(letter, f"-{letter}"), ""


def _value(name: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise NotCurl(f"{name} of the command has no value")
    return value
