"""The words of one command as bash reads it: quotes, backslashes, and `$'...'`, in which browsers copy bodies.

The command ends at an unquoted `;`, `&`, `|` or line end; redirections and comments are no words of it.
"""

import os
import re
from collections.abc import Iterator

# A piece of a word, or what is between words. In single quotes nothing is special. A line that begins with an option
# continues the one before, since nobody's command does, and backslashes get lost where commands are copied.
_PIECE = re.compile(
    r"""(?P<between>(?:[^\S\n]|\\\r?\n|\n\s*+(?=-))+)
    |(?P<redirection>&>>?|<<<|<<-?|>>|>\||<>|[<>]&?)
    |(?P<end>[;&|)\n])
    |'(?P<single>[^']*)'
    |\$'(?P<escaped>(?:[^'\\]|\\.)*)'
    |"(?P<double>(?:[^"\\]|\\.)*)"
    |\\(?P<literal>.)
    |(?P<of_cmd>\^(?="|[ \t]*+\r?\n))
    |(?P<plain>(?:[^\s'"\\$;&|<>^)]|\^(?!"|[ \t]*+\r?\n)|\$(?!'))+)""",
    re.VERBOSE | re.DOTALL,
)
_DESCRIPTOR = re.compile(r"\d+|\{\w+\}")
_IS_CUT = {"&": re.compile(r"[^\s&;|)]"), ";": re.compile(r"[\w.%-]+="), "|": re.compile(r"[\w.%-]+=")}
_AFTER_CHARS = 100
_SHOWN_CHARS = 40
# What a shell replaces before curl sees it. In double quotes a backslash keeps it as it is.
_REPLACED = re.compile(r"\$(?:\w+|[{(?@*#!$-])|`")
_KEPT_IN_DOUBLE = re.compile(r"\\.", re.DOTALL)
_IN_DOUBLE = re.compile(r'\\(\r?\n|["\\$`])')
_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})|(?P<octal>[0-7]{1,3})"
    r"|c(?P<control>.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


class QuotedForCmd(ValueError):
    """The command is quoted for cmd of Windows, with `^`."""


def shell_words(text: str) -> list[str]:
    """The words, with bytes that are no text as surrogates.

    Raises `ValueError` for a quote that is not closed, and for a URL that ends the command at an unquoted `&`.
    """
    made = _Words()
    for kind, piece, after in _pieces(text):
        if kind == "end" or (kind == "plain" and piece.startswith("#") and not made.is_within):
            made.refuse_cut_url(piece, after)
            break
        made.take(kind, piece)
    return made.words()


class _Words:
    """The words as far as they are read, in pieces: adding to a long text again and again would copy it each time."""

    def __init__(self) -> None:
        self.is_within = False
        self._words: list[list[tuple[str, str]]] = []
        self._redirected: list[int] = []  # the numbers of the words that name the files of redirections

    def take(self, kind: str, piece: str) -> None:
        """One piece, in its order."""
        if kind == "redirection":
            if self.is_within and self._is_descriptor():
                self._words.pop()
            self._redirected.append(len(self._words))
        elif kind != "between":
            _refuse_replaced(kind, piece)
            if not self.is_within:
                self._words.append([])
            self._words[-1].append((kind, piece))
        self.is_within = kind not in ("between", "redirection")

    def words(self) -> list[str]:
        """Those that are no file of a redirection."""
        left_out = set(self._redirected)
        return [_text(one) for number, one in enumerate(self._words) if number not in left_out]

    def refuse_cut_url(self, end: str, after: str) -> None:
        """Raise `ValueError` where a URL was meant to go on: `http://host/path?a=1&b=2` without quotes."""
        is_cut = _IS_CUT.get(end)
        if is_cut is None or not self.is_within or not is_cut.match(after):
            return
        word = _text(self._words[-1])
        if "?" in word and self._words[-1][-1][0] == "plain":
            raise ValueError(f"the shell ends it at the {end} behind {word!r}: put the URL in quotes")

    def _is_descriptor(self) -> bool:
        pieces = self._words[-1]
        return len(pieces) == 1 and pieces[0][0] == "plain" and bool(_DESCRIPTOR.fullmatch(pieces[0][1]))


def _refuse_replaced(kind: str, piece: str) -> None:
    """Raise `ValueError` for a variable or a substitution, whose value only the shell knew."""
    if kind not in ("plain", "double"):
        return
    if found := _REPLACED.search(_KEPT_IN_DOUBLE.sub("  ", piece) if kind == "double" else piece):
        shown = piece[found.start() :][:_SHOWN_CHARS]
        raise ValueError(f"the shell replaces {shown!r}: give the command with the value that was sent")


def _text(pieces: list[tuple[str, str]]) -> str:
    return "".join(_read(kind, piece) for kind, piece in pieces)


def _pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """Each piece with its kind and the beginning of what comes after it."""
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            raise ValueError("it ends in a backslash" if text[at] == "\\" else "a quote is not closed")
        at = found.end()
        kind = found.lastgroup or ""
        if kind == "of_cmd":
            raise QuotedForCmd("it is quoted with ^")
        yield kind, found[kind], text[at : at + _AFTER_CHARS]


def _read(kind: str, piece: str) -> str:
    if kind == "double":
        return _IN_DOUBLE.sub(lambda found: found[1].strip("\r\n"), piece)
    return os.fsdecode(_ESCAPE.sub(_escape, piece).encode("utf-8", "surrogateescape")) if kind == "escaped" else piece


def _escape(found: re.Match[str]) -> str:
    """What an escape stands for; a byte above 127 as a surrogate, which becomes a byte again."""
    if digits := found["hex"] or found["octal"]:
        byte = int(digits, 16 if found["hex"] else 8) & 0xFF
        return bytes([byte]).decode("utf-8", "surrogateescape")
    if digits := found["short"] or found["long"]:
        code = int(digits, 16)
        return "\ufffd" if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
    if found["control"]:
        return chr(ord(found["control"]) & 0x1F)
    return _LETTERS.get(found["letter"], found[0])
