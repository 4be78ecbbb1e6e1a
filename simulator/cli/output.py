"""What the verbs print: without characters that would control a terminal, and when it cannot be written.

Texts come from servers, files, names and arguments. In them every control character (C0, DEL, C1), every control of the
writing direction, every line separator and every lone surrogate is written as its escape, so that a text can neither
move the cursor, nor look like another text, nor pretend to be a line of ours.
"""

import json
import os
import re
import sys
from typing import Any, TextIO

import click

from simulator.shortened import whole_line

_UNSAFE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0, DEL, C1
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the direction of writing
    r"\u2028\u2029\ud800-\udfff"  # line separators, surrogates
)
_IN_TEXT = re.compile(rf"[{_UNSAFE}]|\r(?!\n)")


def printable(text: str) -> str:
    """A text of several lines; line feeds and tabs are kept."""
    return _IN_TEXT.sub(_escape, text)


def one_line(text: object) -> str:
    """A text that is shown on one line."""
    return whole_line(str(text))


def printable_json(text: str) -> str:
    """A JSON text with such characters as `\\uXXXX`: it means the same, and stays JSON for whoever reads it."""
    # Between the tokens of a JSON text there may be a carriage return, of all these characters.
    return _IN_TEXT.sub(lambda found: "\n" if found[0] == "\r" else f"\\u{ord(found[0]):04x}", text)


def printable_body(body: bytes) -> bytes:
    """The body of a response: unchanged if it is harmless, else escaped, as JSON if it is JSON."""
    text = body.decode("utf-8", "surrogateescape")
    if _IN_TEXT.search(text) is None:
        return body
    return (printable_json(text) if _is_json(body) else printable(text)).encode()


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as file names and bodies have them
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _is_json(body: bytes) -> bool:
    import msgspec

    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True


def is_coloured(stream: TextIO) -> bool:
    """Return True for a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def echo(text: str, *, nl: bool = True) -> None:
    """Print a text to stdout."""
    click.echo(printable(text), nl=nl)


def echo_safe(line: str) -> None:
    """Print a line whose texts are escaped already, and which may have colours for a terminal."""
    click.echo(line)


def echo_json(text: str) -> None:
    """Print a JSON text to stdout."""
    click.echo(printable_json(text))


def echo_value(value: Any) -> None:
    """Print a value to stdout as JSON."""
    echo_json(json.dumps(value, indent=2))


def open_what_is_closed() -> None:
    """Where a shell closed stdout or stderr (`>&-`), write to nowhere, as without it: else the next socket would have
    that number, and what is started in turn would print into it."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere == number:
                os.set_inheritable(number, True)
            else:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w", closefd=False))


def give_up(stream: TextIO) -> None:
    """Discard what is buffered: writing it would fail again at the exit, and change the exit code."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def print_to_stderr(text: str) -> None:
    """Print a text; when stderr cannot be written, that changes neither what runs nor its exit code."""
    try:
        click.echo(printable(text), err=True)
    except OSError:
        give_up(sys.stderr)
