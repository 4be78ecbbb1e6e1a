"""Reads a pasted `curl` command: the request that it would send. It is never run."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from simulator.cli.bounded import CannotRead, read_file
from simulator.cli.shell_words import shell_words

# What takes a value, by its long name; the short ones are below. Every other option is taken for a switch.
_METHOD, _HEADER, _URL = "--request", "--header", "--url"
_BODIES = ("--data", "--data-ascii", "--data-raw", "--data-binary", "--data-urlencode", "--json")
_IGNORED = (
    "--user", "--output", "--user-agent", "--referer", "--cookie", "--cookie-jar", "--max-time", "--connect-timeout",
    "--proxy", "--write-out", "--retry", "--retry-delay", "--retry-max-time", "--cacert", "--capath", "--cert", "--key",
    "--resolve", "--connect-to", "--interface", "--config", "--dump-header", "--limit-rate", "--max-redirs",
    "--range", "--unix-socket", "--trace", "--trace-ascii", "--stderr", "--ciphers",
    "--oauth2-bearer", "--noproxy", "--max-filesize", "--speed-limit", "--speed-time", "--tls-max", "--pinnedpubkey",
)  # fmt: skip
_NOT_READ = ("--form", "--form-string", "--upload-file")  # a body that curl makes by itself
_WITH_VALUE = frozenset({_METHOD, _HEADER, _URL, *_BODIES, *_IGNORED, *_NOT_READ})
_SHORT = {
    "X": _METHOD, "H": _HEADER, "d": "--data", "u": "--user", "o": "--output", "A": "--user-agent", "e": "--referer",
    "b": "--cookie", "c": "--cookie-jar", "m": "--max-time", "x": "--proxy", "w": "--write-out", "E": "--cert",
    "K": "--config", "D": "--dump-header", "F": "--form", "T": "--upload-file", "r": "--range",
}  # fmt: skip
_SWITCHES = {"G": "--get", "I": "--head"}
_OF_CMD = re.compile(r'\^(?:"|\s*\r?\n)')


class NotCurl(Exception):
    """The text is no curl command that can be read; the text of the exception says why."""


class Pasted(NamedTuple):
    """A request as a client makes it. `target` is a URL, or a path with its query."""

    method: str
    target: str
    headers: tuple[str, ...]
    body: bytes


def words_of(text: str) -> list[str]:
    """The words of a command, which may continue on further lines and begin with a prompt. Raises `NotCurl`."""
    if _OF_CMD.search(text):
        raise NotCurl("the command is quoted with ^ for cmd of Windows: copy it as cURL for bash")
    try:
        return shell_words(text.strip().removeprefix("$ "))
    except ValueError as wrong:
        raise NotCurl(f"the command cannot be read: {wrong}") from None


def read_curl(words: list[str]) -> Pasted:
    """The request of a curl command; files of bodies are read. Raises `NotCurl`."""
    if not words or Path(words[0]).name not in ("curl", "curl.exe"):
        raise NotCurl("the command does not begin with curl")
    method, target, headers, parts, switches = "", "", list[str](), list[bytes](), set[str]()
    for name, value in _options(words[1:]):
        if name == _METHOD:
            method = value
        elif name == _HEADER:
            headers.append(value)
        elif name in ("", _URL):
            target = value
        elif name in _NOT_READ:
            raise NotCurl(f"{name} of the command is not read, since curl makes the body: give it with --data-binary")
        elif name in _BODIES:
            parts.append(_data(name, value))
            switches.add(name)
        else:
            switches.add(name)
    if not target:
        raise NotCurl("the command has no URL")
    body = (b"" if "--json" in switches else b"&").join(parts)
    if "--get" in switches and parts:
        target += ("&" if "?" in target else "?") + body.decode("utf-8", "surrogateescape")
        body, parts = b"", []
    usual = "HEAD" if "--head" in switches else "POST" if parts else "GET"
    return Pasted(method or usual, target, tuple(headers), body)


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Names of options and their values, "" as the name of a URL and as the value of a switch."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            yield "", word
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            yield name, value if equals else _value(name, rest) if name in _WITH_VALUE else ""
        else:
            yield from _short_options(word[1:], rest)


def _short_options(letters: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    for at, letter in enumerate(letters):
        if letter in _SHORT:
            yield _SHORT[letter], letters[at + 1 :] or _value(f"-{letter}", rest)
            return
        yield _SWITCHES.get(letter, f"-{letter}"), ""


def _value(name: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise NotCurl(f"{name} of the command has no value")
    return value


def _data(name: str, value: str) -> bytes:
    if name == "--data-urlencode":
        key, equals, content = value.partition("=")
        encoded = f"{key}={quote(content, safe='')}" if key and equals else quote(content or key, safe="")
        return encoded.encode()
    if name == "--data-raw" or not value.startswith("@"):
        return os.fsencode(value)
    if value == "@-":
        raise NotCurl("the command reads its body from stdin: give it with --data-binary @FILE")
    try:
        raw = read_file(value[1:])
    except CannotRead as wrong:
        raise NotCurl(str(wrong)) from None
    return raw if name == "--data-binary" else raw.translate(None, b"\r\n\0")
