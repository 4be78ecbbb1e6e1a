"""The words of one command as bash reads it: quotes, backslashes, and `$'...'`, in which browsers copy bodies.

The command ends at an unquoted `;`, `&`, `|` or line end; redirections and comments are no words of it.
"""

import re
from collections.abc import Iterator

from simulator.wire.shell_escapes import PRINTED, ansi_c, printed_bytes

# Nothing else runs while one piece is matched.
PLAIN_CHARS_MAX = 4096
# A piece of a word, or what is between words. In single quotes nothing is special. A line that begins with an option
# continues the one before, since nobody's command does, and backslashes get lost where commands are copied.
_PIECE = re.compile(
    r"""(?P<between>(?:[ \t]++|\r(?=\n|\Z)|\n\s*+(?=-))+)
    |(?P<joined>\\\r?\n)
    |(?P<redirection>&>>?|<<<|<<-?|>>|>\||<>|[<>]&?)
    |(?P<end>[;&|)\n])
    |(?P<parenthesis>\()
    |'(?P<single>[^']*)'
    |\$'(?P<escaped>(?:[^'\\]++|\\.)*+)'
    |"\$\(printf[ ]%b[ ]'(?P<printed>PRINTED)'\)"
    |\$?"(?P<double>(?:[^"\\]++|\\.)*+)"
    |\\(?P<literal>.)
    |(?P<replaced>\$(?=[A-Za-z0-9_{(?@*\#!$\[-])|`)
    |(?P<of_cmd>\^(?="|[ \t]*+\r?\n))
    |(?P<plain>[^ \t\r\n'"\\$;&|<>^()`]{1,LONGEST}+|\r|\^|\$(?!['"]))""".replace("PRINTED", PRINTED).replace(
        "LONGEST", str(PLAIN_CHARS_MAX)
    ),
    re.VERBOSE | re.DOTALL,
)
_DESCRIPTOR = re.compile(r"[0-9]{1,9}|\{[A-Za-z_][A-Za-z0-9_]*\}")
_IS_CUT = {"&": re.compile(r"[^\s&;|)]"), ";": re.compile(r"[\w.%-]+="), "|": re.compile(r"[\w.%-]+=")}
_AFTER_CHARS = 100
_SHOWN_CHARS = 40
# What a shell replaces before curl sees it. In double quotes a backslash keeps it as it is.
_REPLACED = re.compile(r"\$[A-Za-z0-9_{(?@*#!$\[-]|`")
_SHOWN = re.compile(r"[^\s'\"]+")
# Where a user's folder may be meant: at the beginning of a word, and in an assignment behind = and :.
_TILDE = re.compile(
    r"~[^/\0]*(?:/|\Z)|[A-Za-z_]\w*(?:\[[^]=]*\])?\+?=(?:.*?:)?~[^/:\0]*(?:[/:]|\Z)", re.ASCII | re.DOTALL
)
_KEPT_IN_DOUBLE = re.compile(r"\\.", re.DOTALL)
_IN_DOUBLE = re.compile(r'\\(\r?\n|["\\$`])')


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
        _refuse_replaced(kind, piece, after)
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
        if kind == "joined":
            return
        if kind == "redirection":
            if self.is_within and self._is_descriptor():
                self._words.pop()
            self._redirected.append(len(self._words))
        elif kind != "between":
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


def _refuse_replaced(kind: str, piece: str, after: str) -> None:
    """Raise `ValueError` for a variable or a substitution, whose value only the shell knew."""
    if kind == "replaced":
        shown = piece + (found[0] if (found := _SHOWN.match(after)) else "")
    elif kind == "double" and (found := _REPLACED.search(_KEPT_IN_DOUBLE.sub("  ", piece))):
        shown = piece[found.start() :]
    else:
        return
    raise ValueError(f"the shell replaces {shown[:_SHOWN_CHARS]!r}: give the command with the value that was sent")


def _text(pieces: list[tuple[str, str]]) -> str:
    """A word. Raises `ValueError` where bash would make several of it, as of `{a,b}` and `{1..3}`, and where it would
    put the name of a folder for `~`."""
    bare = "".join(piece if kind == "plain" else "\0" for kind, piece in pieces)
    if found := _TILDE.match(bare):
        raise ValueError(f"the shell replaces the ~ of {found[0][:_SHOWN_CHARS]!r} by a folder: put it in quotes")
    opened, closed = bare.find("{"), bare.rfind("}")
    if -1 < opened < closed and ("," in (inner := bare[opened:closed]) or ".." in inner):
        raise ValueError(f"the shell expands {bare[opened : closed + 1][:_SHOWN_CHARS]!r}: put it in quotes")
    return "".join(_read(kind, piece) for kind, piece in pieces)


def _pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """Each piece with its kind and the beginning of what comes after it."""
    text = text.replace("\0", "")  # as bash does
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            raise ValueError("it ends in a backslash" if text[at] == "\\" else "a quote is not closed")
        at = found.end()
        kind, after = found.lastgroup or "", text[at : at + _AFTER_CHARS]
        if kind == "of_cmd":
            raise QuotedForCmd("it is quoted with ^")
        if kind == "parenthesis":
            raise ValueError("the shell takes an opening parenthesis for itself: put it in quotes")
        yield kind, found[kind], after


def _read(kind: str, piece: str) -> str:
    if kind == "double":
        return _IN_DOUBLE.sub(lambda found: found[1].strip("\r\n"), piece)
    if kind == "printed":
        return printed_bytes(piece).translate(None, b"\0").rstrip(b"\n").decode("utf-8", "surrogateescape")
    return ansi_c(piece) if kind == "escaped" else piece
